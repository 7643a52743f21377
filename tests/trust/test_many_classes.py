"""A text with very many classes for the rows there are lowers every score: verdicts and caveats know it."""

import warnings

import numpy as np
import pytest

from unweave import Evidence, InputWarning, diagnose, evaluate
from unweave.metrics import mcc, mig, r2
from unweave.trust.verdict import verdicts

RNG = np.random.default_rng(0)


def data(n_rows, n_classes):
    """An amount as text, an independent factor, and codes that have both."""
    amount, other = RNG.integers(0, n_classes, n_rows), RNG.normal(size=n_rows)
    return {"humidity": [f"{k}%" for k in amount], "age": other}, np.column_stack([amount / n_classes, other])


@pytest.mark.filterwarnings("ignore::unweave.InputWarning")
@pytest.mark.parametrize(("n_rows", "n_classes", "crowded"), [(800, 101, True), (800, 20, False), (3000, 101, False)])
def test_very_many_classes_are_a_reason_for_caution(n_rows, n_classes, crowded):
    evidence = Evidence(*data(n_rows, n_classes))
    chosen = {"mcc": mcc, "r2": r2}
    found = verdicts(chosen, {name: metric(evidence) for name, metric in chosen.items()}, evidence, diagnose(evidence))
    for verdict in found.values():
        kinds = [reason.finding.kind for reason in verdict.reasons]
        assert ("classes_crowded" in kinds) is crowded
        if crowded:
            assert verdict.level != "trust"
            reason = verdict.reasons[kinds.index("classes_crowded")]
            assert eval(reason.how, {"evidence": evidence, "np": np}) == reason.measured
            assert "Pass humidity as a number" in reason.instead


def test_many_classes_do_not_correlate_by_chance_alone():
    n_rows = 800
    names = {name: [f"{name}{k}" for k in RNG.integers(0, n, n_rows)] for name, n in (("day", 300), ("humidity", 101))}
    codes = RNG.normal(size=(n_rows, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        apart = mig(Evidence(names, codes))
        same = mig(Evidence(names | {"again": names["humidity"]}, codes))
    assert "factors_correlated" not in [caveat.kind for caveat in apart.caveats]
    assert "factors_correlated" in [caveat.kind for caveat in same.caveats]


def test_directions_are_named_and_stay_arrays():
    turned = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    shape, angle, size = RNG.integers(0, 2, 500), RNG.uniform(0, 360, 500), RNG.normal(size=500)
    codes = np.column_stack([shape, np.cos(np.radians(angle)), np.sin(np.radians(angle)), size]) @ turned
    factors = {"shape": np.array(["heart", "square"])[shape], "angle": angle, "size": size}
    found = evaluate(factors, codes, kinds={"angle": "circular:360"}, metrics="identification", quick=True).directions
    frame = found.to_frame("pandas")
    assert frame["factor"].tolist() == ["shape", "shape", "angle", "angle", "size"]
    assert frame["column"].tolist() == ["heart", "square", "cosine", "sine", ""]
    np.testing.assert_array_equal(frame[[f"code {i}" for i in range(4)]].to_numpy()[2:4], found["angle"].T)
    assert "angle (sine)" in repr(found)
    assert found["size"].shape == (4, 1)
