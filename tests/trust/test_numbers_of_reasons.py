"""Every number in every reason can be computed again with the line of Python that the reason states."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from made_up_metrics import made_up
from test_row_order import unrelated
from test_trained_encoders import of_small_sprites

import unweave
from unweave import Evidence
from unweave.metrics import infomec_modularity, mcc, mig, minimality, r2
from unweave.score import Score
from unweave.synthetic.encoders import Copied, Mixed, PermutedAndScaled
from unweave.synthetic.worlds import Correlated, Independent, OneFactorConstraint
from unweave.trust import diagnose, noise_floor, verdicts
from unweave.trust.reasons import _effects

SETTINGS = ("enough", "further")  # quantities that are not measured
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 600))
CORRELATED = RNG.normal(size=(1000, 2)) @ [[1.0, 0.95], [0.0, 0.3]]
TURNED = CORRELATED @ [[1.0, 1.0], [1.0, -1.0]]


def of_world(world, encoder, n_rows=600):
    factors = world.sample(n_rows, rng=0)
    return Evidence(factors, encoder.encode(factors, rng=1))


def correlation(evidence):
    return abs(np.corrcoef(evidence.factors, rowvar=False)[0, 1])


def observed(evidence):
    """Whether these are the observed codes, or those of some of the rows."""
    return np.isin(evidence.codes, TURNED).all()


@made_up(bounds=(0.0, 1.0))
def off_here(evidence):
    """1 for the observed codes, .5 for all others, and .45 if factors do not correlate."""
    return Score(1.0 if observed(evidence) else 0.5 if correlation(evidence) > 0.5 else 0.45)


@made_up(bounds=(0.0, 1.0))
def a_little_off(evidence):
    """The score of modelled codes has an error of .08, and independent factors change the score by .12."""
    if observed(evidence):
        return Score(0.5)
    return Score(0.58 if correlation(evidence) > 0.5 else 0.46)


NOISE = Evidence(RNG.normal(size=(100, 3)), RNG.normal(size=(100, 6)))
CASES = {
    "dependence, codes and rows": (mig, lambda: of_world(Correlated(3, rho=0.9), Copied(2.0), 300)),
    "dependence": (mcc, lambda: of_world(Correlated(3, rho=0.97), Mixed(), 1000)),
    "constraint": (mig, lambda: of_world(OneFactorConstraint(4), PermutedAndScaled())),
    "redundant factor": (r2, lambda: Evidence({"x": X, "y": Y, "area": X * Y}, np.column_stack([X, Y]))),
    "stable": (mcc, lambda: of_world(Correlated(3, rho=0.9), PermutedAndScaled(), 1000)),
    "nothing": (mcc, lambda: of_world(Independent(2), PermutedAndScaled(), 1000)),
    "few rows": (mcc, lambda: of_world(Independent(3), PermutedAndScaled(), 40)),
    "control": (off_here, lambda: Evidence(CORRELATED, TURNED)),
    "model error": (a_little_off, lambda: Evidence(CORRELATED, TURNED)),
    "collapsed": (minimality, lambda: of_small_sprites("beta_vae-beta=16-seed=0")("free", 1000, 0)),
    "noise": (mcc, lambda: NOISE),
    "high floor": (infomec_modularity, lambda: NOISE),
    "short series": (mcc, lambda: unrelated(300, 0.99, 0)),
}
FLOORS = ("noise", "high floor", "short series")
UNTRIED = {
    "correlated": (mig, lambda: of_world(Correlated(3, rho=0.9), Mixed(ratio=3), 300)),
    "redundant": (mcc, lambda: of_world(OneFactorConstraint(3), PermutedAndScaled(), 300)),
    "crowded": (mcc, lambda: Evidence(RNG.normal(size=(60, 3)), RNG.normal(size=(60, 30)))),
}
MET = {
    "depends_on_dependence", "depends_on_redundant_codes", "depends_on_number_of_rows", "depends_on_constraint",
    "depends_on_redundant_factors", "score_stable", "nothing_moves_score", "too_few_rows_to_test", "control_failed",
    "within_model_error", "collapsed_codes_count", "not_above_noise", "series_too_short",
    "correlated_by_audit", "redundant_by_audit", "many_codes_by_audit", "crowded_by_audit",
}  # fmt: skip


def reasons(metric, evidence, floor=False):
    floors = {"it": noise_floor(metric, evidence, n_draws=19)} if floor else None
    scores = {"it": metric(evidence)}
    return verdicts({"it": metric}, scores, evidence, diagnose(evidence), floors)["it"].reasons


def numbers_in(item):
    """All numbers in the result of a line."""
    if isinstance(item, bool | str) or item is None:
        return []
    if isinstance(item, int | float | np.number):
        return [float(item)]
    if dataclasses.is_dataclass(item):
        return numbers_in([getattr(item, field.name) for field in dataclasses.fields(item)])
    if isinstance(item, dict):
        return numbers_in(list(item.values()))
    if hasattr(item, "quantities"):
        return numbers_in(dict(item.quantities))
    return [number for part in item for number in numbers_in(part)]


def _is_measured(name, value):
    """Whether a quantity is a measured number of the sentence."""
    return isinstance(value, int | float) and name not in SETTINGS and not (name == "n_rows" and value == 0)


def checked(found, metric, evidence):
    """The kinds of these reasons, after checking that the line of each reason gives all of its numbers."""
    kinds = set()
    for reason in found:
        kinds.add(reason.finding.kind)
        wanted = {name: value for name, value in reason.finding.quantities.items() if _is_measured(name, value)}
        # the line of "codes per free factor" gives both terms of this ratio
        if reason.quantity != "codes per free factor" and not math.isnan(reason.measured):
            wanted["measured"] = reason.measured
        if wanted:
            known = numbers_in(eval(reason.how, {"unweave": unweave, "evidence": evidence, "metric": metric}))
            for name, number in wanted.items():
                assert np.isclose(number, known, atol=1e-9, rtol=1e-9).any(), (name, reason.finding, known)
    return kinds


def test_every_number_can_be_computed_again(monkeypatch):
    # several reasons of a verdict state the same functions, which are computed once for each evidence
    diagnosed = functools.cache(diagnose)
    monkeypatch.setattr("unweave.diagnose", diagnosed)
    monkeypatch.setattr("unweave.trust.reasons.diagnose", diagnosed)
    monkeypatch.setattr("unweave.trust.reasons._effects", functools.cache(_effects))
    kinds = set()
    for name, (metric, make) in CASES.items():
        evidence = make()
        kinds |= checked(reasons(metric, evidence, floor=name in FLOORS), metric, evidence)
    monkeypatch.setattr("unweave.trust.verdict.check_steps", lambda evidence, diagnosis, seed: None)
    for metric, make in UNTRIED.values():
        evidence = make()
        kinds |= checked(reasons(metric, evidence), metric, evidence)
    assert MET - kinds == set()


@pytest.mark.parametrize(("value", "floor"), [(0.9, 0.3), (0.7, 0.69), (0.995, 0.995), (0.2, 0.6), (0.03, 0.03)])
def test_reasons_of_floors_have_one_line(value, floor):
    """The line of every reason of a floor gives the score, the floor, the p-value and the calibrated score."""
    from test_floor_in_verdict import judged

    line = judged(value, floor, 0.005 if value > floor else 0.7).reasons[0].how
    assert line == "float(metric(evidence)), unweave.trust.noise_floor(metric, evidence, n_draws=1)"
