"""Sparse tables against dense ones: blocks of columns, correlations, ranks, bins, information and products."""

import numpy as np
import pytest
from scipy.stats import rankdata

from unweave.estimators import Histogram
from unweave.estimators.counts import binned, label_entropies
from unweave.estimators.sparse import (
    SparseColumns,
    SparseTable,
    bins_of_entries,
    sparse_correlation_matrix,
    sparse_information_matrix,
    sparse_ranks,
)
from unweave.metrics.screening import columns_of_dense

DENSE = np.zeros((5, 4))
DENSE[[0, 3], 0], DENSE[[0, 1, 4], 1], DENSE[2, 2], DENSE[1:, 3] = (2, -1), (1, 3, -2), 5, (1, 2, 3, 4)
COLUMNS = SparseColumns(5, DENSE.T[DENSE.T != 0], np.nonzero(DENSE.T)[1], np.array([0, 2, 5, 6, 10]))


@pytest.mark.parametrize(
    ("most", "ends"),
    [(1, [1, 2, 3, 4]), (4, [1, 3, 4]), (5, [2, 4]), (6, [3, 4]), (9, [3, 4]), (10, [4]), (1 << 20, [4])],
)
def test_blocks_hold_as_many_entries_as_they_may(most, ends):
    """The columns have 2, 3, 1 and 4 entries; a column that has too many is a block of its own."""
    blocks = list(COLUMNS.blocks(most))
    assert [(block.start, block.stop) for block in blocks] == list(zip([0, *ends[:-1]], ends, strict=True))
    for block in blocks:
        assert COLUMNS.dense(block).tolist() == DENSE[:, block].tolist()


def test_columns_with_one_entry_have_the_correlation_of_dense_ones():
    targets = np.random.default_rng(0).normal(size=(5, 2))
    bases = [(column - column.mean())[:, None] / np.linalg.norm(column - column.mean()) for column in targets.T]
    exact = np.abs(np.corrcoef(DENSE, targets, rowvar=False)[:4, 4:])
    assert sparse_correlation_matrix(bases, COLUMNS) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("binning", ["equal_mass", "equal_width"])
@pytest.mark.parametrize("bins", [2, 3, 5, 12])
def test_bins_of_sparse_columns_are_those_of_dense_ones(bins, binning):
    """Columns of 40 rows: with no zeros, some or only zeros; with few and with many values; of one or both signs."""
    rng, columns = np.random.default_rng(bins), []
    for n_zeros in (0, 1, 13, 30, 39, 40):
        for low, high, decimals in ((1, 4, 0), (-4, 4, 0), (-9, -1, 0), (-1, 1, 6)):
            entries = np.round(rng.uniform(low, high, 40 - n_zeros), decimals)
            columns.append(rng.permutation(np.r_[np.where(entries == 0, 1.0, entries), np.zeros(n_zeros)]))
    dense = np.column_stack(columns)
    sparse = columns_of_dense(dense)
    cells, of_zeros, starts = bins_of_entries(sparse, bins, binning)
    for i, column in enumerate(columns):
        entries = slice(sparse.starts[i], sparse.starts[i + 1])
        found = np.full(40, of_zeros[i])
        found[sparse.rows[entries]] = cells[entries]
        assert starts[i] <= found.min() <= found.max() < np.r_[starts, np.inf][i + 1]
        exact = np.unique(binned(column, bins, binning), return_inverse=True)[1]
        assert np.unique(found, return_inverse=True)[1].tolist() == exact.tolist()


def test_a_sparse_table_is_scaled_like_a_dense_one():
    """The last two columns never vary up to rounding; the second to last one has no zero."""
    dense = np.column_stack([DENSE, np.full(5, -0.1), np.zeros(5)])
    dense[0, 4] -= 1e-14
    table = SparseTable.of(columns_of_dense(dense))
    centre, scale = table.centre_and_scale()
    assert centre == pytest.approx(dense.mean(axis=0))
    assert scale[:4] == pytest.approx(dense[:, :4].std(axis=0))
    assert scale[4:].tolist() == [1.0, 1.0]
    standardised = (dense - centre) / scale
    lazy = table.standardised(centre, scale)
    weights = np.arange(12.0).reshape(6, 2)
    assert lazy @ weights == pytest.approx(standardised @ weights)
    assert lazy.T @ dense[:, :2] == pytest.approx(standardised.T @ dense[:, :2])
    assert lazy.gram(by_rows=False) == pytest.approx(standardised.T @ standardised, abs=1e-12)
    assert lazy.gram(by_rows=True) == pytest.approx(standardised @ standardised.T, abs=1e-12)
    assert (lazy.shape, table.shape, len(table), len(table[np.array([1, 4])])) == ((5, 6), (5, 6), 5, 2)


def test_chosen_columns_and_rows_are_those_of_the_dense_table():
    chosen = COLUMNS.chosen(np.array([3, 0, 2]))
    assert chosen.dense(slice(0, 3)).tolist() == DENSE[:, [3, 0, 2]].tolist()
    some = COLUMNS.some_rows(np.array([0, 1, 4]))
    assert some.dense(slice(0, 4)).tolist() == DENSE[[0, 1, 4]].tolist()
    assert COLUMNS.columns(slice(1, 3)).dense(slice(0, 2)).tolist() == DENSE[:, 1:3].tolist()
    assert COLUMNS.products_with_ones(np.arange(5.0)[:, None])[:, 0].tolist() == [3.0, 5.0, 2.0, 10.0]


def test_ranks_of_sparse_columns_are_those_of_dense_ones():
    dense = np.array([[0, 2, 0, -1], [3, 2, 0, -1], [-2, 5, 0, 0], [3, 7, 0, 4], [0, 2, 0, 4], [-2, 1, 0, 0.0]])
    found = sparse_ranks(columns_of_dense(dense))
    exact = rankdata(dense, axis=0)
    assert found.of_zeros[[0, 2, 3]].tolist() == [3.5, 3.5, 3.5]
    ranks = found.above_zeros.dense(slice(0, 4)) + found.of_zeros
    assert ranks.tolist() == exact.tolist()
    assert found.squares() == pytest.approx(np.square(exact - 3.5).sum(axis=0))


def test_information_of_sparse_codes_is_that_of_dense_ones():
    rng = np.random.default_rng(3)
    dense = np.round(rng.normal(size=(60, 5)), 1) * (rng.random((60, 5)) < [0.1, 0.5, 0.9, 0.0, 1.0])
    labels = [rng.integers(0, 3, 60).astype(np.uint16), np.zeros(60, dtype=np.uint16)]
    dense[:, 4] = labels[0] + 1
    for binning in ("equal_mass", "equal_width"):
        estimator = Histogram(4, binning)
        information, entropies = sparse_information_matrix(columns_of_dense(dense), labels, 4, binning)
        assert information == pytest.approx(estimator.code_information(dense, labels), abs=1e-12)
        assert entropies == pytest.approx(label_entropies(estimator.code_labels(dense)), abs=1e-12)
        assert (information[:, 1] == 0).all()
        assert (information[3], entropies[3]) == (pytest.approx([0.0, 0.0], abs=0), 0.0)
