"""Totals of blocks of rows, compared with what whole columns give, and the levels and bins they are planned with."""

import numpy as np
import pytest

from unweave.estimators import Histogram
from unweave.estimators import totals as probe
from unweave.estimators.correlation import column_norms, multiple_correlation_matrix, orthonormal_basis
from unweave.estimators.counts import label_entropies
from unweave.estimators.totals import (
    ColumnPlan,
    FactorTotals,
    correlations_from,
    entropies_from,
    folds_of,
    information_from,
    largest_drift,
    never_vary,
    planned_pass,
    totals_of,
)

RNG = np.random.default_rng(0)
N = 200
ROLES = ["number", "levels", "categories", "circle", "levels"]
FACTORS = np.column_stack(
    [RNG.normal(size=N), RNG.integers(0, 3, N), RNG.integers(0, 4, N), RNG.uniform(0, 6, N), np.full(N, 7)]
)
CODES = np.column_stack([5 + 3 * FACTORS[:, 0], FACTORS[:, 2] + FACTORS[:, 1], np.sin(FACTORS[:, 3]), np.full(N, 2.0)])
HISTOGRAM = Histogram(6)
PLAN = planned_pass(FACTORS, CODES, ROLES, [np.nan, np.nan, np.nan, 6.0, np.nan], HISTOGRAM)


def total(plan=PLAN, factors=FACTORS, codes=CODES):
    blocks = [totals_of(plan, factors[rows], codes[rows], 2) for rows in (slice(0, 70), slice(70, None))]
    return blocks[0] + blocks[1]


def test_sums_are_those_of_standardised_columns():
    found = total()
    assert (found.n_rows, found.n_dropped) == (N, 4)
    assert found.moments.code_sums == pytest.approx(np.zeros(4), abs=1e-9)
    assert found.moments.squares == pytest.approx([N, N, N, 0])
    angle = 2 * np.pi * FACTORS[:, 3] / 6
    assert found.moments.feature_sums[2:4] == pytest.approx([np.cos(angle).sum(), np.sin(angle).sum()])
    assert found.moments.among.diagonal()[:2] == pytest.approx([N, N])
    assert found.lowest.tolist() == [*FACTORS.min(axis=0), *CODES.min(axis=0)]
    assert found.highest.tolist() == [*FACTORS.max(axis=0), *CODES.max(axis=0)]
    assert never_vary(found).tolist() == [False] * 4 + [True] + [False] * 3 + [True]
    scaled = (CODES - CODES.mean(axis=0)) / [*CODES[:, :3].std(axis=0), 1.0]
    sums = [scaled[FACTORS[:, 2] == k].sum(axis=0) for k in range(4)]
    assert found.factors[2].code_sums == pytest.approx(np.array(sums))
    assert found.factors[0].code_sums is None


def test_information_and_entropies_are_those_of_all_rows():
    found = total()
    labels = [HISTOGRAM.factor_labels(FACTORS[:, j], role not in ("number", "circle")) for j, role in enumerate(ROLES)]
    exact = HISTOGRAM.code_information(CODES, labels)
    information = information_from(found)
    assert information == pytest.approx(exact)
    assert (information[3] == 0).all()
    assert (information[:, 4] == 0).all()
    of_factors, of_codes = entropies_from(found)
    assert of_factors == pytest.approx(label_entropies(labels))
    assert of_codes == pytest.approx(label_entropies(HISTOGRAM.code_labels(CODES)))


def test_correlations_are_those_of_all_rows():
    angle = 2 * np.pi * FACTORS[:, 3] / 6
    features = [
        FACTORS[:, :1],
        FACTORS[:, 1:2],
        FACTORS[:, 2:3] == np.arange(4),
        np.column_stack([np.cos(angle), np.sin(angle)]),
    ]
    bases = [orthonormal_basis(columns.astype(float)) for columns in features]
    exact = multiple_correlation_matrix(bases, CODES, *column_norms(CODES))
    found = correlations_from(PLAN, total())
    assert found[:, :4] == pytest.approx(exact, abs=1e-7)
    assert (found[:, 4] == 0).all()
    assert found[0, 0] == pytest.approx(1.0)


def test_drift_is_the_largest_change_of_the_share_of_a_bin():
    """Ten of twenty planning rows lie below the median; of all rows, 15 of 20 factors and 13 of 20 codes do."""
    rows = np.arange(20.0)[:, None]
    plan = planned_pass(rows, rows, ["number"], [np.nan], Histogram(2))
    assert largest_drift(plan, totals_of(plan, rows, rows)) == 0.0
    factors, codes = (np.r_[np.zeros(n), np.full(20 - n, 19.0)][:, None] for n in (15, 13))
    assert largest_drift(plan, totals_of(plan, factors, codes)) == pytest.approx(0.25)
    assert largest_drift(plan, totals_of(plan, codes, factors)) == pytest.approx(0.25)
    assert largest_drift(plan, totals_of(plan, codes, codes)) == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("known", "column", "labels", "levels"),
    [
        ([0.0, 2.0], [2.0, 0.0], [1, 0], [0.0, 2.0]),
        ([0.0, 2.0], [5.0, 2.0], [2, 1], [0.0, 2.0, 5.0]),
        ([0.0, 2.0], [-1.0], [0], [-1.0, 0.0, 2.0]),
        ([], [3.0, 1.0], [1, 0], [1.0, 3.0]),
    ],
)
def test_levels_that_are_new_are_added(known, column, labels, levels):
    found, values = ColumnPlan("levels", np.array(known)).labels(np.array(column))
    assert (found.tolist(), values.tolist()) == (labels, levels)


def test_totals_of_different_levels_add_up_level_by_level():
    one = FactorTotals(np.array([0.0, 2.0]), np.array([[[1, 2], [3, 4]]]), np.array([[1.0], [2.0]]))
    other = FactorTotals(np.array([1.0, 2.0]), np.array([[[5, 0], [0, 6]]]), np.array([[4.0], [8.0]]))
    both = one + other
    assert both.values.tolist() == [0.0, 1.0, 2.0]
    assert both.tables.tolist() == [[[1, 2], [5, 0], [3, 10]]]
    assert both.code_sums.tolist() == [[1.0], [4.0], [10.0]]
    same = one + one
    assert (same.tables.tolist(), same.code_sums.tolist()) == ([[[2, 4], [6, 8]]], [[2.0], [4.0]])
    without = FactorTotals(one.values, one.tables, None)
    assert (without + one).code_sums is None
    assert (without + FactorTotals(other.values, other.tables, None)).tables.tolist() == both.tables.tolist()
    places = one.renumbered(np.array([7.0, 8.0, 3.0]))
    assert places.values.tolist() == [3.0, 7.0]
    assert (places.tables.tolist(), places.code_sums.tolist()) == ([[[3, 4], [1, 2]]], [[2.0], [1.0]])


def test_another_factor_changes_the_ends_of_its_own_column_alone():
    found = total()
    other = FactorTotals(np.array([-9.0, 1.0, 99.0]), found.factors[1].tables, None)
    changed = found.with_factor(1, other)
    assert (changed.lowest[1], changed.highest[1]) == (-9.0, 99.0)
    assert np.delete(changed.lowest, 1).tolist() == np.delete(found.lowest, 1).tolist()
    assert [entry is other for entry in changed.factors] == [False, True, False, False, False]
    assert (changed.n_dropped, changed.n_rows) == (4, N)
    assert found.lowest[1] == 0.0


def test_folds_are_contiguous_fifths():
    folds = folds_of(np.arange(24.0).reshape(2, 12), 1)
    assert [fold.n_rows for fold in folds] == [2, 2, 3, 2, 3]
    assert [fold.feature_sums[0] for fold in folds] == [1.0, 5.0, 15.0, 15.0, 30.0]


def held_out(factors, codes, roles=("number", "circle")):
    plan = planned_pass(factors, codes, list(roles), [np.nan, 6.0], HISTOGRAM)
    return probe.held_out_r2_from(plan, totals_of(plan, factors, codes))


def test_held_out_r2_is_that_of_least_squares_fold_by_fold():
    rng = np.random.default_rng(1)
    factors = np.column_stack([rng.normal(size=500), rng.uniform(0, 6, 500)])
    angle = 2 * np.pi * factors[:, 1] / 6
    targets = np.column_stack([factors[:, 0], np.cos(angle), np.sin(angle)])
    codes = targets @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(500, 4)) + 3
    errors, deviations = np.zeros((2, 3))
    for fold in np.split(np.arange(500), 5):
        train = np.delete(np.arange(500), fold)
        design = np.column_stack([np.ones(500), codes])
        fitted = design @ np.linalg.lstsq(design[train], targets[train])[0]
        errors += np.square(targets - fitted)[fold].sum(axis=0)
        deviations += np.square(targets - targets[train].mean(axis=0))[fold].sum(axis=0)
    exact = [1 - errors[0] / deviations[0], 1 - errors[1:].sum() / deviations[1:].sum()]
    assert held_out(factors, codes) == pytest.approx(exact, abs=1e-3)  # the ridge is small


def test_moments_do_not_determine_r2_of_few_rows_or_of_categories():
    """At least five rows for each code, and for two codes if there is one, must remain without any fold."""
    codes = RNG.normal(size=(N, 4))
    factors = FACTORS[:, [0, 3]]
    assert held_out(factors[:25], codes[:25]) is not None  # 20 rows remain
    assert held_out(factors[:24], codes[:24]) is None
    assert held_out(factors[:13], codes[:13, :1]) is not None
    assert held_out(factors[:12], codes[:12, :1]) is None
    assert held_out(FACTORS[:, [2, 3]], codes, ("categories", "circle")) is None
    still = held_out(FACTORS[:, [4, 3]], codes, ("levels", "circle"))
    assert np.isnan(still).tolist() == [True, False]


@pytest.mark.parametrize(("outlier", "is_known"), [(20.0, True), (60.0, False)])
def test_moments_do_not_determine_r2_if_one_row_of_a_code_could_move_a_prediction_far_away(outlier, is_known):
    """The code is the first of two factors apart from one row, which is 18 or 36 standard deviations from its mean."""
    factors = np.random.default_rng(2).normal(size=(2000, 2))
    codes = factors[:, :1].copy()
    codes[7] = outlier
    plan = planned_pass(factors, codes, ["number", "number"], [np.nan, np.nan], HISTOGRAM)
    assert (probe.held_out_r2_from(plan, totals_of(plan, factors, codes)) is not None) is is_known
    plan = planned_pass(factors, -codes, ["number", "number"], [np.nan, np.nan], HISTOGRAM)
    assert (probe.held_out_r2_from(plan, totals_of(plan, factors, -codes)) is not None) is is_known


def test_predictions_may_leave_the_range_of_a_factor_by_half_of_it():
    """A number from 0 to 4 with mean 3 and variance 3, and a circle."""
    factors = np.array([[0.0, 0.0], [4.0, 1.0], [4.0, 2.0], [4.0, 3.0]])
    plan = planned_pass(factors, factors, ["number", "circle"], [np.nan, 6.0], HISTOGRAM)
    totals = totals_of(plan, factors, factors)
    low, high = -3 / np.sqrt(3), 1 / np.sqrt(3)
    for middle in (0.0, 0.2, -2.0):
        found = probe._room(plan, totals, np.array([middle, 0.1, 0.1]), np.array([0, 1]))
        assert found == pytest.approx([max(high - middle, middle - low) + 0.5 * (high - low), 3.0, 3.0])
