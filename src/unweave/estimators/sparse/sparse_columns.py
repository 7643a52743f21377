"""A sparse matrix that is stored by columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows

ENTRIES_IN_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """Nonzero entries, column after column: their values, their rows, and where each column starts.

    >>> columns = SparseColumns(3, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 1, 2]))
    >>> columns.shape, columns.n_zeros.tolist(), columns.dense(slice(0, 2)).tolist()
    ((3, 2), [2, 2], [[0.0, -1.0], [0.0, 0.0], [5.0, 0.0]])
    """

    n_rows: int
    values: FloatArray
    rows: NDArray[np.integer[Any]]
    starts: NDArray[np.integer[Any]]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.starts.size - 1

    @property
    def n_entries(self) -> NDArray[np.integer[Any]]:
        """Number of nonzero entries of every column."""
        return np.diff(self.starts)

    @property
    def n_zeros(self) -> NDArray[np.integer[Any]]:
        """Number of zeros of every column."""
        return self.n_rows - self.n_entries

    @property
    def column_of_entry(self) -> NDArray[np.intp]:
        """Column of every entry."""
        return np.repeat(np.arange(self.starts.size - 1), self.n_entries)

    def blocks(self, most: int = ENTRIES_IN_BLOCK) -> Iterator[slice]:
        """Slices of adjacent columns that together have about this many entries, from the first column to the last."""
        first, n_columns = 0, self.starts.size - 1
        while first < n_columns:
            last = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            last = min(max(last, first + 1), n_columns)
            yield slice(first, last)
            first = last

    def columns(self, which: slice) -> SparseColumns:
        """Adjacent columns, as views of the entries."""
        first, last = self.starts[which.start], self.starts[which.stop]
        return SparseColumns(
            self.n_rows,
            self.values[first:last],
            self.rows[first:last],
            self.starts[which.start : which.stop + 1] - first,
        )

    def chosen(self, which: Rows) -> SparseColumns:
        """The table restricted to these columns, in this order."""
        sizes = self.n_entries[which]
        starts = np.r_[0, np.cumsum(sizes)]
        places = np.repeat(self.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])
        return SparseColumns(self.n_rows, self.values[places], self.rows[places], starts)

    def some_rows(self, kept: Rows) -> SparseColumns:
        """The table restricted to these rows, whose indices have to be in ascending order."""
        place = np.full(self.n_rows, -1, dtype=np.intp)
        place[kept] = np.arange(kept.size)
        stay = place[self.rows] >= 0
        counts = np.r_[0, np.cumsum(stay)]
        return SparseColumns(kept.size, self.values[stay], place[self.rows[stay]], counts[self.starts])

    def ascending_order(self) -> NDArray[np.intp]:
        """Order of the entries by column and then by value."""
        sizes = self.n_entries
        if sizes.size and (sizes == sizes[0]).all() and sizes[0]:
            within = self.values.reshape(sizes.size, -1).argsort(axis=1)
            return np.asarray((within + self.starts[:-1, None]).ravel())
        return np.lexsort((self.values, self.column_of_entry))

    def dense(self, which: slice) -> FloatArray:
        """Adjacent columns as a dense array."""
        part = self.columns(which)
        found = np.zeros((self.n_rows, which.stop - which.start), order="F")
        found[part.rows, part.column_of_entry] = part.values
        return found

    def with_values(self, values: FloatArray) -> SparseColumns:
        """The same nonzero positions with other values."""
        return SparseColumns(self.n_rows, values, self.rows, self.starts)

    def products(self, others: FloatArray) -> FloatArray:
        """Inner product of every column with every column of a dense table (n x k): columns x k."""
        from scipy.sparse import csc_array

        matrix = csc_array((self.values, self.rows, self.starts), shape=self.shape)
        return np.asarray(matrix.T @ np.ascontiguousarray(others))

    def products_with_ones(self, others: FloatArray) -> FloatArray:
        """`products` with every nonzero entry replaced by 1: sums over the rows in which a column is not zero."""
        return self.with_values(np.ones(self.values.size)).products(others)

    def sums(self, of_entries: FloatArray) -> FloatArray:
        """Sum of ``of_entries``, one number per nonzero entry, over every column."""
        sums = np.bincount(self.column_of_entry, weights=of_entries, minlength=self.starts.size - 1)
        return np.asarray(sums, dtype=np.float64)
