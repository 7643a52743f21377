"""Sparse tables for linear probes.

The codes are standardised when a product is computed, so that the stored matrix stays sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.estimators.sparse.sparse_columns import SparseColumns


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A sparse table (rows x codes); indexing with rows returns the table of these rows.

    >>> table = SparseTable.of(SparseColumns(3, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 1, 2])))
    >>> table.shape, table[np.array([0, 2])].shape
    ((3, 2), (2, 2))
    """

    matrix: Any

    @classmethod
    def of(cls, columns: SparseColumns) -> SparseTable:
        """The table of these columns."""
        from scipy.sparse import csc_array

        return cls(csc_array((columns.values, columns.rows, columns.starts), shape=columns.shape).tocsr())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of codes."""
        n_rows, n_codes = self.matrix.shape
        return n_rows, n_codes

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Rows) -> SparseTable:
        return SparseTable(self.matrix[rows])

    def centre_and_scale(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of every code; the deviation is 1 for codes that are constant up to rounding."""
        columns = self.matrix.tocsc()
        n, entries = len(self), np.diff(columns.indptr)
        column = np.repeat(np.arange(entries.size), entries)
        totals = np.bincount(column, columns.data, minlength=entries.size)
        middle = totals / np.maximum(entries, 1)  # mean of the nonzero entries: cancels less than the mean of all
        within = np.bincount(column, np.square(columns.data - middle[column]), minlength=entries.size)
        spread = np.sqrt((within + np.square(middle) * entries * (n - entries) / n) / n)
        largest = np.zeros(entries.size)
        np.maximum.at(largest, column, np.abs(columns.data))
        return totals / n, np.where(spread > 1e-12 * largest, spread, 1.0)

    def standardised(self, centre: FloatArray, scale: FloatArray) -> StandardisedTable:
        """The table minus ``centre``, divided by ``scale``."""
        return StandardisedTable(self.matrix, centre, scale)


@dataclass(frozen=True, eq=False)
class StandardisedTable:
    """A table of standardised codes, which supports matrix products."""

    matrix: Any
    centre: FloatArray
    scale: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of codes."""
        n_rows, n_codes = self.matrix.shape
        return n_rows, n_codes

    @property
    def T(self) -> TransposedTable:
        """The transposed table."""
        return TransposedTable(self)

    def __matmul__(self, coefficients: FloatArray) -> FloatArray:
        scaled = (coefficients.T / self.scale).T
        return np.asarray(self.matrix @ scaled - self.centre @ scaled)

    def gram(self, by_rows: bool) -> FloatArray:
        """Inner products of all pairs of codes, or of all pairs of rows."""
        n_rows = self.matrix.shape[0]
        shift = self.centre / self.scale
        scaled = self.matrix.multiply(1 / self.scale).tocsr()
        if not by_rows:
            return np.asarray((scaled.T @ scaled).toarray() - n_rows * np.outer(shift, shift))
        sums = scaled @ shift
        return np.asarray((scaled @ scaled.T).toarray() - sums[:, None] - sums + shift @ shift)


@dataclass(frozen=True, eq=False)
class TransposedTable:
    """The transpose of a standardised table."""

    table: StandardisedTable

    def __matmul__(self, targets: FloatArray) -> FloatArray:
        sums = self.table.matrix.T @ targets - np.outer(self.table.centre, targets.sum(axis=0))
        return np.asarray(sums / self.table.scale[:, None])
