"""Correlation of sparse codes with factors, from products over the nonzero entries.

The factors' bases are centred, so that sum_i (x_i - mean) b_i = sum over nonzero entries of x_i b_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_ranks import sparse_ranks

ROUNDING = 1e-13


def sparse_correlation_matrix(bases: Sequence[FloatArray], codes: SparseColumns, ranked: bool = False) -> FloatArray:
    """Multiple correlation of every code (rows) with every orthonormal, centred basis (columns); 0 for constant codes.

    >>> codes = SparseColumns(4, np.array([1.0, 2.0]), np.array([1, 3]), np.array([0, 2]))
    >>> factor = np.array([0.0, 1.0, 0.0, 2.0]) - 0.75
    >>> sparse_correlation_matrix([(factor / np.linalg.norm(factor))[:, None]], codes).round(9).tolist()
    [[1.0]]
    """
    stops = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    everything = np.concatenate(bases, axis=1)
    matrix = np.zeros((codes.shape[1], len(bases)))
    for block in codes.blocks():
        part = codes.columns(block)
        taken, norms = _ranked(part) if ranked else _as_they_are(part)
        products = np.divide(
            taken.products(everything), norms[:, None], out=np.zeros((len(norms), stops[-1])), where=norms[:, None] > 0
        )
        for j in range(len(bases)):
            on_basis = products[:, stops[j] : stops[j + 1]]
            matrix[block, j] = np.sqrt(np.square(on_basis).sum(axis=1))
    return np.minimum(matrix, 1.0)


def _as_they_are(codes: SparseColumns) -> tuple[SparseColumns, FloatArray]:
    """The columns and their centred norms, computed around the mean of the nonzero entries to reduce cancellation."""
    n = codes.n_rows
    total, size = codes.sums(codes.values), np.maximum(codes.n_entries, 1)
    centre = total / size
    spread = codes.sums(np.square(codes.values - centre[codes.column_of_entry]))
    between = np.square(centre) * codes.n_entries * codes.n_zeros / n  # variation between nonzero entries and zeros
    squares = spread + between
    squares[squares <= ROUNDING * codes.sums(np.square(codes.values))] = 0.0
    return codes, np.sqrt(squares)


def _ranked(codes: SparseColumns) -> tuple[SparseColumns, FloatArray]:
    ranks = sparse_ranks(codes)
    squares = ranks.squares()
    squares[squares <= ROUNDING * codes.n_rows**3] = 0.0
    return ranks.above_zeros, np.sqrt(squares)
