"""Average ranks of sparse columns, in which all zeros of a column are tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.sparse.sparse_columns import SparseColumns


@dataclass(frozen=True, eq=False)
class SparseRanks:
    """Ranks of the nonzero entries minus the rank of the zeros of their column, and the rank of the zeros.

    For a column without zeros, ``of_zeros`` is the rank that they would have.
    """

    above_zeros: SparseColumns
    of_zeros: FloatArray

    def squares(self) -> FloatArray:
        """Sum of squared centred ranks of every column."""
        n = self.above_zeros.n_rows
        shift = self.of_zeros - (n + 1) / 2
        values = self.above_zeros.values
        linear, quadratic = self.above_zeros.sums(values), self.above_zeros.sums(np.square(values))
        return quadratic + 2 * shift * linear + n * np.square(shift)


def sparse_ranks(columns: SparseColumns) -> SparseRanks:
    """Average ranks from 1 to n, as `scipy.stats.rankdata` gives for the dense columns.

    >>> columns = SparseColumns(4, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 2]))
    >>> found = sparse_ranks(columns)  # of -1, 0, 5, 0
    >>> (found.above_zeros.values + found.of_zeros[0]).tolist(), found.of_zeros.tolist()
    ([4.0, 1.0], [2.5])
    """
    column = columns.column_of_entry
    order = columns.ascending_order()
    ascending, of_column = columns.values[order], column[order]
    negative = columns.sums((columns.values < 0).astype(np.float64))
    place = np.arange(ascending.size) - columns.starts[of_column] + 1.0  # rank among the nonzero entries
    new = np.r_[True, (ascending[1:] != ascending[:-1]) | (of_column[1:] != of_column[:-1])][: ascending.size]
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    size = np.diff(np.r_[first, ascending.size])
    average = (place[first] + (size - 1) / 2)[run] if ascending.size else place
    average += np.where(ascending > 0, columns.n_zeros[of_column], 0)
    of_zeros = negative + (columns.n_zeros + 1) / 2
    ranks = np.empty_like(ascending)
    ranks[order] = average - of_zeros[of_column]
    return SparseRanks(columns.with_values(ranks), of_zeros)
