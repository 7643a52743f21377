"""A user-defined metric with the name of one of the package: its score has its own card, and it is computed once."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import unweave
from unweave import Evidence, Score, compare, evaluate
from unweave.evaluation import Evaluation
from unweave.metrics import r2 as catalogued_r2
from unweave.trust import diagnose, verdicts
from unweave.trust.verdict import audited_name

SEEN = Counter()
RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(120, 2))
CODES = np.column_stack([FACTORS + 0.3 * RNG.normal(size=(120, 2)), RNG.normal(size=(120, 3))])
OWN = {
    "measures": "closeness of means",
    "equivalence": "any",
    "min_rows": 2,
    "chance": "by permutation",
    "cost": "none",
    "fails_when": "never",
    "reference": "Somebody (2031), 'Means considered closely'",
}


@unweave.metric(**OWN)
def mcc(evidence: Evidence) -> Score:
    """One minus the distance of two means, which has nothing to do with matching."""
    SEEN[evidence.codes.tobytes(), evidence.factors.tobytes()] += 1
    value = float(np.mean(evidence.factors[:, 0] * evidence.codes[:, 0]))
    return Score(raw=value, caveats=("Means were compared.",))


@pytest.fixture(scope="module")
def evaluation():
    SEEN.clear()
    return evaluate(FACTORS, CODES, metrics=[mcc], budget=1e6)


def test_every_score_is_computed_once(evaluation):
    """It is computed once on the evidence itself: floors, intervals and verdicts reuse the score."""
    assert SEEN[CODES.tobytes(), FACTORS.tobytes()] == 1


def test_every_score_of_a_comparison_is_computed_once():
    SEEN.clear()
    both = {"one": CODES, "other": 2 * CODES}
    compare(FACTORS, both, metrics=[mcc], budget=1e6)
    assert [SEEN[codes.tobytes(), FACTORS.tobytes()] for codes in both.values()] == [1, 1]


def test_its_own_card_is_on_the_page(evaluation):
    summary = evaluation.to_summary()["metrics"][0]
    assert summary["summary"] == "One minus the distance of two means, which has nothing to do with matching."
    assert summary["reference"] == OWN["reference"]
    assert summary["measures"] == "closeness of means"
    for page in (evaluation.to_html(), evaluation.to_markdown()):
        assert "Hyvärinen" not in page
        assert "Hyv{" not in page
    assert "nothing to do with matching" in evaluation.to_html()
    assert "Means were compared." in evaluation.to_markdown()


def test_its_card_survives_json(evaluation):
    back = Evaluation.from_json(evaluation.to_json())
    assert back == evaluation
    assert back.rows[0].card.summary == mcc.card.summary
    assert back.to_html() == evaluation.to_html()


@unweave.metric(**OWN)
def r2(evidence: Evidence) -> Score:
    """Always one half."""
    return Score(raw=0.5)


def test_what_the_audit_found_is_of_the_other_one():
    """40 rows are too few to recompute scores, so the audit decides, and it has no results for this metric."""
    assert (audited_name(catalogued_r2), audited_name(r2)) == ("r2", "")
    evidence = Evidence(np.random.default_rng(1).normal(size=(40, 2)), np.random.default_rng(2).normal(size=(40, 60)))
    metrics = {"own": r2, "ours": catalogued_r2}
    scores = {label: metric(evidence) for label, metric in metrics.items()}
    found = verdicts(metrics, scores, evidence, diagnose(evidence))
    kinds = {label: {reason.finding.kind for reason in verdict.reasons} for label, verdict in found.items()}
    assert "crowded_by_audit" in kinds["own"]
    assert "crowded_by_audit" not in kinds["ours"]


@pytest.fixture(scope="module")
def far_below():
    """Held-out R2 of few rows, whose nulls lie far below the lower bound."""
    factors = np.random.default_rng(3).normal(size=(60, 2))
    codes = np.column_stack([factors + np.random.default_rng(4).normal(size=(60, 2)), RNG.normal(size=(60, 8))])
    return evaluate(factors, codes, metrics=["r2", "mcc", "mig"], budget=5.0)


def test_one_floor_everywhere(far_below):
    summary = {metric["label"]: metric["cells"][0] for metric in far_below.to_summary()["metrics"]}
    frame = far_below.to_frame("polars")
    saved = Evaluation.from_json(far_below.to_json())
    for row in far_below.rows:
        draws = np.array(row.noise_floor.draws)
        expected = float(np.clip(draws, *row.score.bounds).mean())
        floors = [
            row.noise_floor.floor,
            summary[row.label]["floor"]["mean"],
            frame.filter(pl.col("metric") == row.label)["floor"].item(),
            saved.row(row.label, "codes").noise_floor.floor,
        ]
        assert floors == pytest.approx([expected] * 4, abs=1e-12)
        calibrated = (row.score.value - expected) / (row.score.best - expected)
        assert row.noise_floor.calibrated == pytest.approx(calibrated)
        line = next(line for line in str(far_below).splitlines() if line.split()[:1] == [row.label])
        assert f"{expected:.3f}" in line.split()
        assert f"{expected:.3f}" in far_below.to_markdown()
    lowest = np.array(far_below.row("r2", "codes").noise_floor.draws)
    assert lowest.mean() < -0.01 < 0 <= far_below.row("r2", "codes").noise_floor.floor  # raw and shown means differ
