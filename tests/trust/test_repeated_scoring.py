"""Many variants of the same evidence: how many are scored, in which order, and within which time."""

import types

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.score import Score
from unweave.trust.scoring import Quota, _within_budget, fair_share, scores_of_variants

COLUMN = np.arange(4.0)


@made_up()
def first_code(evidence):
    """The first code of the first row."""
    return Score(float(evidence.codes[0, 0]))


@made_up()
def failing(evidence):
    """It fails on every second variant."""
    if evidence.codes[0, 0] % 2:
        raise ValueError("no")
    return Score(1.0)


def variant(index):
    return Evidence(COLUMN, COLUMN + index, kinds="continuous")


def scored(n_variants, n_jobs=1, seen=None, **options):
    seen = [] if seen is None else seen
    found = scores_of_variants(
        {"code": first_code, "failing": failing},
        variant,
        n_variants,
        n_jobs=n_jobs,
        watch=lambda *numbers: seen.append(numbers),
        **{"fewest": 2, "budget": None} | options,
    )
    return {label: [None if score is None else score.raw for score in scores] for label, scores in found.items()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_variants_are_scored_in_order_and_a_failure_is_no_score(n_jobs):
    seen = []
    found = scored(5, n_jobs, seen)
    assert found == {"code": [0.0, 1.0, 2.0, 3.0, 4.0], "failing": [1.0, None, 1.0, None, 1.0]}
    assert seen == [(start, 5) for start in range(1, 6, n_jobs)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_quota_is_kept_for_every_metric(n_jobs):
    seen = []
    found = scored(9, n_jobs, seen, quota=Quota({"code": 3, "failing": 1}, 1.0))
    assert found == {"code": [0.0, 1.0, 2.0], "failing": [1.0]}
    assert seen[-1] == (3, 3)
    assert scored(2, n_jobs, quota=Quota({"code": 3, "failing": 1}, 1.0))["code"] == [0.0, 1.0]
    stops = iter([False, True])
    assert len(scored(9, quota=Quota({"code": 3, "failing": 3}, 1.0, lambda: next(stops)))["code"]) == 1
    assert scores_of_variants({}, variant, 3, fewest=2, budget=None, quota=Quota({}, 1.0)) == {}


@pytest.mark.parametrize(
    ("spent", "budget", "left"),
    [
        ((1.0, 3.0), None, ["a", "b"]),
        ((1.0, 3.0), 100.0, ["a", "b"]),
        ((1.0, 3.0), 12.0, ["a", "b"]),  # ten of the first take 5 seconds, so that 7 are left for the second
        ((1.0, 5.0), 12.0, ["a"]),  # 5 seconds, and 2.5 for the next variant, are more than 7
        ((1.0, 4.0), 11.0, ["a", "b"]),  # 6 of 6 seconds
        ((1.0, 4.0), 10.9, ["a"]),
        ((1.0, 4.0), 0.0, []),
    ],
)
def test_the_next_variant_must_fit_into_the_share_of_a_metric(spent, budget, left):
    scores = {"a": [None] * 2, "b": [None] * 2}
    assert _within_budget(scores, dict(zip("ab", spent, strict=True)), 10, 2, budget) == left
    assert _within_budget(scores, dict(zip("ab", spent, strict=True)), 10, 3, budget) == ["a", "b"]


def test_a_metric_that_stopped_does_not_go_on():
    scores = {"a": [None] * 3, "b": [None] * 2}
    assert _within_budget(scores, {"a": 3.0, "b": 2.0}, 10, 2, 100.0) == ["a"]
    assert _within_budget({}, {}, 10, 2, 100.0) == []


def test_seconds_of_several_workers_are_divided_by_their_number(monkeypatch):
    """Every score takes a second; two workers use half a second of the budget for each."""
    clock = iter(np.arange(1000.0))
    monkeypatch.setattr("unweave.trust.scoring.time", types.SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr("unweave.trust.scoring.joblib.effective_n_jobs", lambda n_jobs: 2)
    found = scores_of_variants({"code": first_code}, variant, 20, fewest=2, budget=4.0)
    assert len(found["code"]) == 8


@pytest.mark.parametrize(
    ("needs", "budget", "share"),
    [
        ([], 1.0, np.inf),
        ([2.0], 2.0, np.inf),
        ([2.1], 2.0, 2.0),
        ([1.0, 4.0, 4.0], 7.0, 3.0),
        ([3.0, 3.0], 6.0, np.inf),
    ],
)
def test_what_small_needs_leave_is_shared_by_large_ones(needs, budget, share):
    assert fair_share(needs, budget) == share
