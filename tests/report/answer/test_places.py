"""In which codes a direction is: the few that hold most of it, never one that does not vary."""

import numpy as np
import pytest

from unweave import Evaluation, Evidence, compare, evaluate
from unweave.evaluation.loop import carriers
from unweave.evaluation.results import Directions
from unweave.report.answer import answer_of, compared_answer
from unweave.sentences import between, listed

Z = np.random.default_rng(7).normal(size=(600, 3))
NOISE = np.random.default_rng(8).normal(size=(600, 4))


@pytest.fixture(scope="module")
def spread():
    """Two factors turned into codes 0 and 1 with a little in others, one in 4, and a code that never varies."""
    x, y, z = Z.T
    codes = np.column_stack([x + y, x - y, 0.4 * x + NOISE[:, 0], 0.3 * y + NOISE[:, 1], z, np.ones(600)])
    codes[:, :2] += 0.5 * NOISE[:, 2:]
    return evaluate({"x": x, "y": y, "z": z}, codes, metrics=["identification", "r2"], budget=0)


def test_the_main_codes_of_a_direction_are_named_with_their_share(spread):
    rows = {row.factor: row for row in answer_of(spread).factors}
    assert rows["x"].rung == rows["y"].rung == "own direction"
    for name in ("x", "y"):
        assert "all" not in rows[name].where
        assert "code 5" not in rows[name].where
        assert {"code 0", "code 1"} <= set(rows[name].where.replace(" (", ", ").split(", "))
    assert rows["z"].where == "code 4"
    assert Evaluation.from_json(spread.to_json()).data.carriers == spread.data.carriers
    assert any("--json" in step for step in answer_of(spread).next_steps)  # a way that the command line has


def test_the_share_is_that_of_the_variance_of_the_direction():
    """Of independent codes with variance 1 and weights 3 and 0.5, the first has 9 of 9.25 parts."""
    z = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(len(Z))
    (found,) = carriers(Evidence(z[:, 0], z), {"factor 0": np.array([[1.0], [3.0], [2.0]])}).values()
    assert found.codes == ("code 1", "code 2", "code 0")
    assert found.share == pytest.approx(1)
    (found,) = carriers(Evidence(z[:, 0], z), {"factor 0": np.array([[0.5], [3.0], [0.0]])}).values()
    assert (found.codes, found.share) == (("code 1",), pytest.approx(9 / 9.25))
    few = np.column_stack([z, z[:, 0] * 0])
    assert "code 3" not in carriers(Evidence(z[:, 0], few), {"a": np.ones((4, 1))})["a"].codes


def test_directions_are_printed_for_all_codes_with_one_column_for_two_classes():
    weights = {"lit": np.array([[-0.5, 0.5]] * 12), "angle": np.ones((12, 2))}
    columns = {"lit": ("column 0", "column 1"), "angle": ("cosine", "sine")}
    shown = repr(Directions(weights, columns, tuple(f"emb_{i}" for i in range(12))))
    assert "on their own scales" in shown
    assert shown.splitlines()[1].split() == ["code", "lit", "angle", "(cosine)", "angle", "(sine)"]
    assert shown.splitlines()[-1].split() == ["emb_11", "0.5", "1", "1"]


def test_the_report_has_every_factor_with_state_recovery_interval_and_place(spread):
    """One clause for each factor, and the headline is not repeated."""
    checked = evaluate(dict(zip("xyz", Z.T, strict=True)), Z[:, [2, 0, 1]], metrics=["identification", "r2"], budget=20)
    answer = answer_of(checked)
    for row in answer.factors:
        clause = f"{row.factor} one code {row.recovery:.2f} ({between(row.low, row.high)}) in {row.where}"
        assert clause in answer.report
    assert answer.headline.rstrip(".") not in answer.report
    assert checked.answer["report"] == answer.report


def test_a_comparison_names_the_codes_of_each_factor_and_every_factor():
    names = [f"factor_{k}" for k in range(7)]
    z = np.random.default_rng(1).normal(size=(300, 7))
    both = compare(dict(zip(names, z.T, strict=True)), {"a": z, "b": z[:, ::-1]}, metrics="identification", quick=True)
    groups = {row[0]: row[-1] for row in compared_answer(both).table().rows}
    assert groups["b"] == "one code: " + listed([f"factor_{k} (code {6 - k})" for k in range(7)], 8)
    assert "more" not in groups["a"]
