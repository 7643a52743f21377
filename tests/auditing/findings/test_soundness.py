"""Remarks on metrics whose marks are meaningless, for artificial scores."""

import math

import pytest

from unweave.auditing.measurement import NOISE, PERFECT, Case, further_points
from unweave.auditing.properties import remarks_of
from unweave.sweeps import Measurement
from unweave.synthetic.encoders import Noise, PermutedAndScaled
from unweave.synthetic.worlds import Independent

SMALL, LARGE = Case(Independent(2), PermutedAndScaled(), 100), Case(Independent(2), PermutedAndScaled(), 200)
OTHER, WIDE = Case(Independent(2), Noise(2), 100), Case(Independent(2), Noise(4), 100)
POINTS = further_points()


def remarks(outcomes, scores=None):
    """Kinds and quantities of the remarks on these scores by case."""
    rows = {
        case: [Measurement("", math.nan if value is None else value, math.nan) for value in values]
        for case, values in outcomes.items()
    }
    return [(remark.kind, dict(remark.quantities)) for remark in remarks_of(rows, POINTS, scores or {})]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({SMALL: [0.5], LARGE: [0.5]}, [("metric_constant", {"value": 0.5})]),
        ({SMALL: [0.5, 0.5 + 1e-9], LARGE: [0.5]}, [("metric_constant", {"value": 0.5})]),
        ({SMALL: [0.5, 0.5 + 3e-9], LARGE: [0.5]}, []),
        ({SMALL: [0.5], LARGE: [None]}, []),  # a single case shows nothing
        ({SMALL: [0.5], OTHER: [0.5], LARGE: [0.9]}, [("metric_of_rows_alone", {})]),
        ({SMALL: [0.5], OTHER: [0.5], WIDE: [0.6], LARGE: [0.9]}, [("metric_of_sizes_alone", {})]),
        ({SMALL: [0.5], OTHER: [0.6], WIDE: [0.6], LARGE: [0.9]}, []),
        ({SMALL: [0.5], LARGE: [0.9]}, []),  # no two cases of the same size
        ({SMALL: [0.5], OTHER: [0.5], LARGE: [0.9, 0.8]}, []),
    ],
)
def test_what_depends_on_nothing_or_on_sizes_alone_is_told(outcomes, expected):
    assert remarks(outcomes) == expected


@pytest.mark.parametrize(("second", "moved"), [({0: 0.05, 1: -0.05}, None), ({0: 0.0, 1: -0.11}, 0.055), ({}, None)])
def test_a_score_that_moves_by_more_than_a_twentieth_depends_on_the_order(second, moved):
    first, other = (point for point in POINTS if point.name == "order")
    scores = {first: {0: 0.0, 1: 0.0, 2: 5.0}, other: second}
    found = remarks({SMALL: [0.1], LARGE: [0.2]}, scores)
    assert [kind for kind, _ in found] == ["metric_depends_on_order"] * (moved is not None)
    if moved:
        assert found[0][1]["moved"] == pytest.approx(moved)


@pytest.mark.parametrize(
    ("gaps", "blind"),
    [
        # scores of a perfect encoder and of noise at 300, 1,000 and 3,000 rows
        (((0.9, 0.1), (0.8, 0.2), (0.05, 0.0)), None),
        (((0.9, 0.1), (0.5, 0.46), (0.9, 0.0)), (0.5, 0.46, 1000)),
        (((0.02, 0.0), (0.5, 0.49), (0.9, 0.0)), (0.5, 0.49, 1000)),
        (((0.5, 0.6), None, (0.9, 0.0)), (0.5, 0.6, 300)),
    ],
)
def test_a_metric_is_blind_if_noise_scores_like_a_perfect_encoder(gaps, blind):
    scores = {}
    for point in POINTS:
        if point.name == "rows" and point.series in (PERFECT, NOISE):
            gap = gaps[(300, 1000, 3000).index(point.x)]
            middle = None if gap is None else gap[point.series == NOISE]
            scores[point] = {} if middle is None else {0: middle, 1: middle}
    found = remarks({SMALL: [0.1], LARGE: [0.2]}, scores)
    expected = [] if blind is None else [dict(zip(("perfect", "noise", "n_rows"), blind, strict=True))]
    assert [quantities for kind, quantities in found if kind == "metric_blind"] == expected
