"""Sparse tables: blocks of columns, and correlations of columns with one entry."""

import numpy as np
import pytest

from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_correlation import sparse_correlation_matrix

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
