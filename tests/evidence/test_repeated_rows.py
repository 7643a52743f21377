"""Rows that are repeated are recognised if they cannot be equal by chance, on both sides of every limit."""

import numpy as np
import pytest

from unweave import Evidence, evaluate
from unweave.evidence.splits import clusters, same_rows
from unweave.metrics import dci_informativeness, r2


def repeated(n_distinct, n_rows, n_values=None):
    """Factors that differ between the distinct rows, and a code with so many values that are not integers."""
    row = np.arange(n_rows) % n_distinct
    code = row % (n_values or n_distinct) + 0.5
    return row[:, None].astype(float), np.column_stack([np.zeros(n_rows), code])


@pytest.mark.parametrize(
    ("n_distinct", "n_rows", "n_values", "found"),
    [
        (15, 30, None, True),
        (14, 29, None, False),  # fewer than 30 rows
        (10, 40, None, True),
        (9, 36, None, False),  # fewer than 10 values
        (90, 100, None, True),
        (91, 100, None, False),  # fewer than a tenth of the rows repeat another one
        (20, 60, 18, True),
        (20, 60, 17, False),  # the code has fewer than nine tenths as many values as there are rows
        (95, 100, 87, False),  # the code repeats its values, and the rows do not
    ],
)
def test_limits(n_distinct, n_rows, n_values, found):
    same = same_rows(*repeated(n_distinct, n_rows, n_values))
    if found:
        np.testing.assert_array_equal(same, np.arange(n_rows) % n_distinct)
    else:
        assert same is None


def test_codes_that_are_integers_may_be_equal_by_chance():
    factors, codes = repeated(20, 60)
    assert same_rows(factors, codes + 0.5) is None
    assert same_rows(factors, codes / 2 + 0.25) is not None  # every second value is an integer


def test_both_sides_are_needed():
    factors, codes = repeated(20, 60)
    assert same_rows(factors[:, :0], codes) is None
    assert same_rows(factors, codes[:, :0]) is None


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize(("n_subjects", "n_each"), [(15, 20), (25, 40), (100, 5)])
def test_subjects_are_noticed_and_held_out_as_a_whole(seed, noise, n_subjects, n_each):
    """Factors of a subject, and codes that are a random vector for each subject: nothing can be learned from others."""
    rng = np.random.default_rng(seed)
    subject = rng.permutation(np.repeat(np.arange(n_subjects), n_each))
    factors, codes = rng.normal(size=(n_subjects, 2))[subject], rng.normal(size=(n_subjects, 6))[subject]
    evidence = Evidence(factors, codes + noise * rng.normal(size=codes.shape), kinds="continuous")
    np.testing.assert_array_equal(np.unique(subject * 1000 + evidence.same_rows).size, n_subjects)
    for train, test in [*evidence.folds(5, 0), evidence.split(0.2, 0), *evidence.permuted(1).folds(5, 0)]:
        assert not set(subject[train]) & set(subject[test])
    assert r2(evidence).raw < 0.2
    assert any(caveat.kind == "rows_come_again" for caveat in r2(evidence).caveats)


def test_the_identity_of_subjects_is_not_trusted():
    rng = np.random.default_rng(1)
    subject = rng.permutation(np.repeat(np.arange(25), 16))
    factors, codes = rng.normal(size=(25, 2))[subject], rng.normal(size=(25, 8))[subject]
    found = evaluate(factors, codes, metrics=["identification", "r2", "mcc"], progress=False)
    assert all(row.score.value < 0.1 or row.level != "trust" for row in found.rows)


@pytest.mark.parametrize("seed", range(10))
def test_designs_samples_and_factors_that_do_not_apply_are_not_subjects(seed):
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, [6, 10, 3], size=(900, 3)).astype(float)
    there = rng.integers(2, size=900)
    sampled = rng.normal(size=(900, 2))
    rounded = np.round(10 * sampled)
    absent = np.column_stack([there, there * sampled[:, 0]])
    sometimes = np.column_stack([levels, (levels[:, 0] > 2) * sampled[:, 0]])
    for factors in (levels, sampled, rounded, absent, sometimes, levels[:, :1]):
        for codes in (factors, factors + 1e-6 * rng.normal(size=factors.shape)):
            assert same_rows(factors, codes) is None


def test_codes_that_are_the_factors_score_one_if_a_factor_does_not_always_apply():
    rng = np.random.default_rng(0)
    there = rng.integers(2, size=600)
    factors = np.column_stack([there, there * rng.normal(size=600)])
    assert r2(factors, factors).raw == pytest.approx(1.0)
    assert dci_informativeness(factors, factors).raw > 0.95


@pytest.mark.parametrize(
    ("n_subjects", "n_each", "levels", "found"),
    [
        (15, 5, (15, 15), True),
        (14, 9, (14, 14), False),  # fewer than 15 clusters
        (30, 4, (30, 30), False),  # fewer than 5 rows in a cluster
        (20, 6, (20, 2), False),  # half of all combinations
        (20, 6, (20, 3), True),
        (20, 6, (9, 7), False),  # no factor tells the clusters apart
    ],
)
def test_limits_of_clusters(n_subjects, n_each, levels, found):
    row = np.repeat(np.arange(n_subjects), n_each)
    factors = np.column_stack([row % levels[0], row % levels[1]]).astype(float)
    assert (clusters(factors) is not None) is found
