"""Many variants of the same evidence: how many are scored, and in which order."""

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.score import Score
from unweave.trust.scoring import scores_of_variants

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


def scored(most, n_jobs=1, seen=None, **options):
    found = scores_of_variants(
        {"code": first_code, "failing": failing},
        variant,
        most,
        n_jobs=n_jobs,
        watch=lambda *numbers: None if seen is None else seen.append(numbers),
        **options,
    )
    return {label: [None if score is None else score.raw for score in scores] for label, scores in found.items()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_variants_are_scored_in_order_and_a_failure_is_no_score(n_jobs):
    seen = []
    found = scored({"code": 5, "failing": 5}, n_jobs, seen)
    assert found == {"code": [0.0, 1.0, 2.0, 3.0, 4.0], "failing": [1.0, None, 1.0, None, 1.0]}
    assert seen == [(start, 5) for start in range(1, 6, n_jobs)]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_every_metric_stops_at_its_number_or_when_it_is_decided(n_jobs):
    seen = []
    assert scored({"code": 3, "failing": 1}, n_jobs, seen) == {"code": [0.0, 1.0, 2.0], "failing": [1.0]}
    assert seen[-1][1] == 3
    assert scored({"code": 2, "failing": 0}, n_jobs)["failing"] == []
    found = scored({"code": 9, "failing": 9}, n_jobs, decided={"code": lambda scores: len(scores) > 1})
    assert {label: len(scores) for label, scores in found.items()} == {"code": 2, "failing": 9}
    assert scores_of_variants({}, variant, {}) == {}
