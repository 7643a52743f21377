"""Whether lower scores are better is respected in scores, tables, floors, p-values, verdicts, ties and reports."""

import functools
import math

import numpy as np
import pytest

import unweave
from unweave import Evaluation, Evidence, Posterior, Score, compare, evaluate
from unweave.metrics import CATALOGUE, jemmig, t_mex
from unweave.trust import noise_floor

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(150, 3))
NOISE = RNG.normal(size=(150, 3))
GOOD = FACTORS + 0.1 * NOISE
POOR = np.column_stack([FACTORS[:, 0] + 0.5 * NOISE[:, 0], NOISE[:, 1:]])  # one of three factors
ALIGNMENT = "t_mex (score=alignment)"


@unweave.metric(
    measures="errors", equivalence="any", min_rows=2, bounds=(0.0, 2.0), best=0.0, chance=1.0,
    cost="none", fails_when="never", reference="none",
)  # fmt: skip
def distance(evidence):
    """One minus the correlation of the first code with each factor."""
    errors = [1 - abs(np.corrcoef(evidence.codes[:, 0], column)[0, 1]) for column in evidence.factors.T]
    return Score(min(errors), per_factor=dict(zip(evidence.factor_names, errors, strict=True)))


@pytest.fixture(scope="module")
def compared():
    metrics = ["t_mex", "t_mex:score=alignment", distance]
    return compare(FACTORS, {"poor": POOR, "good": GOOD}, metrics=metrics, budget=60)


def test_scores_know_what_is_best_with_their_options():
    for options, bounds, best, downwards in (
        ({}, (0.0, math.inf), 0.0, True),
        ({"score": "mismatches"}, (0.0, math.inf), 0.0, True),
        ({"score": "alignment"}, (0.0, 1.0), 1.0, False),
    ):
        score = t_mex(FACTORS, GOOD, **options)
        assert (score.bounds, score.best, score.lower_is_better) == (bounds, best, downwards)
        assert score.raw == best
        assert Score.from_json(score.to_json()).lower_is_better == downwards
    for entry in CATALOGUE.values():
        nats = entry.card.under({"normalise": False})
        assert nats.lower_is_better == entry.card.lower_is_better


def test_parts_of_an_alignment_point_the_same_way():
    score = t_mex(FACTORS, POOR, score="alignment")
    assert score.raw == pytest.approx(1 / 3)
    assert list(score.per_factor.values()) == [1.0, 0.0, 0.0]
    assert sorted(score.per_code.values()) == [0.0, 0.0, 1.0]
    few = t_mex(FACTORS, GOOD[:, :2], score="alignment")  # there is no code for the third factor
    assert few.raw == 1.0
    assert [*few.per_factor.values()][:2] == [1.0, 1.0]
    assert math.isnan([*few.per_factor.values()][2])


def test_tables_say_it(compared):
    measures = {row.label: row.measures for row in compared.rows}
    assert measures == {
        "t_mex": "one-to-one recovery (lower is better)",
        ALIGNMENT: "one-to-one recovery",
        "distance": "errors (lower is better)",
    }


def test_a_metric_that_failed_says_it_too():
    failed = evaluate(FACTORS[:20], GOOD[:20], metrics=["t_mex", "t_mex:score=alignment"], quick=True)
    assert [row.score for row in failed.rows] == [None, None]
    assert [row.measures for row in failed.rows] == ["one-to-one recovery (lower is better)", "one-to-one recovery"]
    assert [metric["lower_is_better"] for metric in failed.to_summary()["metrics"]] == [True, False]


@pytest.mark.parametrize("label", ["t_mex", ALIGNMENT, "distance"])
def test_floors_verdicts_and_ties_agree(compared, label):
    good, downwards = compared.row(label, "good"), label != ALIGNMENT
    floor = good.noise_floor
    assert (floor.p_value, floor.calibrated > 0.8) == (floor.resolution, True)
    assert floor.upper == pytest.approx(np.quantile(floor.draws, 0.05 if downwards else 0.95))
    assert (floor.floor > floor.raw) == downwards
    # a count has no range; the noise floor of the distance is high, so the calibrated score has to be read
    levels = {"t_mex": "no verdict", ALIGNMENT: "trust", "distance": "caution"}
    assert good.verdict.level == levels[label]
    assert list(compared.data.comparison[label].scores) == ["good", "poor"]


def test_an_alignment_is_tried_elsewhere_as_it_has_a_range(compared):
    verdict = compared.row(ALIGNMENT, "good").verdict
    assert verdict.elsewhere == 1.0
    assert math.isnan(compared.row("t_mex", "good").verdict.elsewhere)  # a count has none


def test_reports_know_it_of_every_metric(compared):
    summary = Evaluation.from_json(compared.to_json()).to_summary()
    by_label = {metric["label"]: metric for metric in summary["metrics"]}
    assert {label: metric["lower_is_better"] for label, metric in by_label.items()} == {
        "t_mex": True,
        ALIGNMENT: False,
        "distance": True,
    }
    assert {label: (metric["best"], metric["domain"]) for label, metric in by_label.items()} == {
        "t_mex": (0.0, [0.0, by_label["t_mex"]["domain"][1]]),
        ALIGNMENT: (1.0, [0.0, 1.0]),
        "distance": (0.0, [0.0, 2.0]),
    }
    noise = {
        chart["label"]: [bar["within_noise"] for bar in chart["bars"]]
        for chart in summary["charts"]
        if chart["representation"] == "poor"
    }
    assert noise == {"t_mex": [False, True, True], ALIGNMENT: [False, True, True], "distance": [False, True, True]}


def test_in_nats_there_is_a_direction_and_no_best():
    levels = np.random.default_rng(1).integers(0, 4, size=(400, 1)).astype(float)
    evidence = Evidence(levels, Posterior(levels - 1.5, np.full((400, 1), 0.1)), kinds="categorical")
    score = jemmig(evidence, normalise=False)
    assert (score.best, score.lower_is_better) == (-math.inf, True)
    floor = noise_floor(functools.partial(jemmig, normalise=False), evidence, n_draws=19)
    assert floor.p_value == 0.05
    assert floor.raw < floor.upper <= floor.floor
    assert math.isnan(floor.calibrated)
    row = evaluate(evidence, metrics="jemmig:normalise=false", quick=True)
    assert row.rows[0].measures.endswith("(lower is better)")
    assert row.to_summary()["metrics"][0]["best"] is None
