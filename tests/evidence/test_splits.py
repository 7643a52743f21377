"""Splits do not undo a shuffle of the user, and have every class in equal shares."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from unweave import Evidence
from unweave.evidence.splits import fold_of_each_row, train_and_test_rows
from unweave.metrics import CATALOGUE

SEEDS = range(100)


def by_python(seed, n):
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return np.array(order)


def by_torch(seed, n):
    torch = pytest.importorskip("torch")
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed)).numpy()


SHUFFLES = {
    "default_rng": lambda seed, n: np.random.default_rng(seed).permutation(n),
    "RandomState": lambda seed, n: np.random.RandomState(seed).permutation(n),
    "random": by_python,
    "torch": by_torch,
}


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("undone", [False, True])
def test_folds_are_unrelated_to_the_order_before_a_shuffle(shuffle, undone):
    """For sorted rows that were shuffled with the seeds 0 to 99, a fold is neither a residue nor a stretch of rows."""
    n, p_values = 500, []
    for seed in SEEDS:
        order = SHUFFLES[shuffle](seed, n)
        before = np.argsort(order) if undone else order
        fold = fold_of_each_row(n, None, 5, seed=0)
        for part in (before % 5, before * 5 // n):
            p_values.append(chi2_contingency(np.histogram2d(fold, part, bins=5)[0]).pvalue)
    assert min(p_values) > 1e-6
    assert 0.3 < np.mean(p_values) < 0.7


@given(
    st.integers(10, 300), st.integers(2, 8), st.lists(st.integers(2, 8), max_size=4), st.integers(0, 99), st.booleans()
)
@settings(max_examples=200, deadline=None)
def test_folds_have_equal_sizes_and_equal_shares_of_the_rarest_class(n, n_folds, n_levels, seed, grouped):
    rng = np.random.default_rng([7, seed])
    unit_of_row = np.sort(np.r_[np.arange(n), rng.integers(0, n, n)]) if grouped else np.arange(n)
    classes = [rng.integers(0, levels, n)[unit_of_row] for levels in n_levels]
    fold = fold_of_each_row(unit_of_row.size, unit_of_row if grouped else None, n_folds, seed, classes)
    first = np.unique(unit_of_row, return_index=True)[1]
    assert (fold == fold[first][unit_of_row]).all()
    sizes = np.bincount(fold[first], minlength=n_folds)
    assert np.ptp(sizes) <= 1
    tables = [np.unique(column[first], return_inverse=True)[1] for column in classes]
    if tables:
        rarest = min(tables, key=lambda labels: np.bincount(labels).min())
        if 1 < rarest.max() + 1 <= n // n_folds:
            for label in range(rarest.max() + 1):
                shares = np.bincount(fold[first][rarest == label], minlength=n_folds)
                assert np.ptp(shares) <= 2  # by sizes of folds that differ by one, and by rounding


@given(st.integers(20, 300), st.floats(0.1, 0.6), st.integers(2, 6), st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_training_and_test_rows_have_the_share_of_every_class(n, share, n_levels, seed):
    labels = np.random.default_rng([8, seed]).integers(0, n_levels, n)
    train, test = train_and_test_rows(n, None, share, seed, [labels])
    assert sorted([*train, *test]) == list(range(n))
    assert test.size == round(share * n)
    for label in range(n_levels):
        assert abs((labels[test] == label).sum() - test.size / n * (labels == label).sum()) < 2


@pytest.mark.parametrize("n_folds", [2, 4, 5, 8, 25])
def test_no_fold_of_a_grid_is_a_level(n_folds):
    """Each cell of this grid has one row; dealing the cells in their order would make folds of levels."""
    grid = np.array(list(np.ndindex(8, 25, 5)))
    for seed in range(20):
        fold = fold_of_each_row(1000, None, n_folds, seed, list(grid.T))
        for column in grid.T:
            inside = np.histogram2d(column, fold, bins=(column.max() + 1, n_folds))[0]
            expected = inside.sum(axis=1, keepdims=True) / n_folds
            assert (np.abs(inside - expected) <= 5 * np.sqrt(expected)).all()


def test_as_many_folds_as_rows_are_single_rows():
    assert sorted(fold_of_each_row(7, None, 7, 0, [np.arange(7)]).tolist()) == list(range(7))


@pytest.mark.parametrize("kind", ["continuous", "categorical"])
def test_permutations_are_split_like_any_other_evidence(kind):
    """The classes of a permutation have equal shares as well, or its score would not be comparable."""
    labels = np.repeat(np.arange(4), 25)
    evidence = Evidence({"y": labels}, np.arange(100.0), kinds={"y": kind})
    for seed in range(5):
        permuted = evidence.permuted(seed)
        fresh = Evidence({"y": permuted.factors[:, 0]}, np.arange(100.0), kinds={"y": kind})
        for (train, test), (fresh_train, fresh_test) in zip(permuted.folds(5, 0), fresh.folds(5, 0), strict=True):
            np.testing.assert_array_equal(train, fresh_train)
            np.testing.assert_array_equal(test, fresh_test)
            if kind == "categorical":
                assert np.bincount(fresh.factors[test, 0].astype(int)).tolist() == [5, 5, 5, 5]
        assert CATALOGUE["r2"](permuted).raw == CATALOGUE["r2"](fresh).raw


@pytest.mark.parametrize("seed", [0, 1])
def test_scores_of_sorted_classes_do_not_depend_on_the_seed_of_the_shuffle(seed):
    """With seed 0, dci_informativeness of these near-perfect codes was 0.000."""
    order = np.random.default_rng(seed).permutation(500)
    labels = np.repeat(np.arange(5), 100)[order]
    codes = np.eye(5)[labels] + 0.05 * np.random.default_rng(100).normal(size=(500, 5))
    evidence = Evidence({"y": labels}, codes, kinds={"y": "categorical"})
    for name in ("dci_informativeness", "infomec_explicitness", "r2", "identification"):
        assert CATALOGUE[name](evidence).value > 0.95, name


@pytest.mark.parametrize("seed", [0, 1])
def test_scores_of_a_shuffled_grid_do_not_depend_on_the_seed_of_the_shuffle(seed):
    """With seed 0, every fold was a shape: its r2 and infomec_explicitness were below 0."""
    grid = np.array(list(np.ndindex(8, 25, 5)))[np.random.default_rng(seed).permutation(1000)]
    codes = np.column_stack([grid[:, :2], np.eye(5)[grid[:, 2]]]) + 0.02 * np.random.default_rng(7).normal(
        size=(1000, 7)
    )
    evidence = Evidence({"x": grid[:, 0], "y": grid[:, 1], "shape": grid[:, 2]}, codes, kinds={"shape": "categorical"})
    for name in ("r2", "identification", "infomec_explicitness"):
        assert min(CATALOGUE[name](evidence).per_factor.values()) > 0.9, name
