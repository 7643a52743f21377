"""How strongly a code follows a factor: multiple correlation of columns, or of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

FloatArray = NDArray[np.float64]
FAR_FROM_ZERO = 1e4


@dataclass(frozen=True)
class Pearson:
    """Linear correlation of the columns as they are."""

    def column(self, column: FloatArray) -> FloatArray:
        """The column to correlate."""
        return column


@dataclass(frozen=True)
class Spearman:
    """Linear correlation of ranks; ties share their average rank."""

    def column(self, column: FloatArray) -> FloatArray:
        """The column's ranks."""
        return ranks(column)


def ranks(column: FloatArray) -> FloatArray:
    """Average ranks from 1 to n.

    >>> ranks(np.array([10.0, 30.0, 10.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    order = np.argsort(column)
    ascending = column[order]
    if (ascending[1:] == ascending[:-1]).any():
        return np.asarray(rankdata(column), dtype=np.float64)
    places = np.empty(column.size)
    places[order] = np.arange(1, column.size + 1)
    return places


def orthonormal_basis(columns: FloatArray, tolerance: float) -> FloatArray:
    """Orthonormal basis of the centred columns' span, by singular values above ``tolerance`` times the largest.

    >>> orthonormal_basis(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), 1e-6).shape
    (3, 1)
    """
    centred = columns - columns.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    largest = spread[0] if spread.size else 0.0
    noise = np.finfo(np.float64).eps * np.abs(columns).max(initial=0.0) * len(columns)
    return np.asarray(left[:, spread > max(tolerance * largest, noise)])


def column_norms(codes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of every column and norm of what is left without it, a column at a time so that nothing is copied."""
    means, norms = np.empty(codes.shape[1]), np.empty(codes.shape[1])
    for i in range(codes.shape[1]):
        column = codes[:, i]
        means[i] = column.mean()
        centred = column - means[i]
        largest = max(centred.max(), -centred.min())
        # squares of huge codes overflow, so these are scaled first
        norms[i] = np.sqrt(centred @ centred) if largest < 1e150 else largest * np.linalg.norm(centred / largest)
    return means, norms


def multiple_correlation_matrix(
    bases: Sequence[FloatArray], codes: FloatArray, means: FloatArray, norms: FloatArray
) -> FloatArray:
    """Multiple correlation of every code (rows) with every orthonormal, centred basis (columns).

    With one basis column this is the absolute correlation. Only the block between the two sides is formed.
    """
    stacked = np.column_stack(bases)
    projections = stacked.T @ codes  # bases are centred, so centring the codes would change nothing ...
    far = np.flatnonzero(np.abs(means) * np.sqrt(codes.shape[0]) > FAR_FROM_ZERO * norms)
    if far.size:  # ... but rounding, when a code sits far from zero
        projections[:, far] = stacked.T @ (codes[:, far] - means[far])
    projections = np.divide(projections, norms, out=np.zeros_like(projections), where=norms > 0)
    matrix = np.empty((codes.shape[1], len(bases)))
    start = 0
    for j, basis in enumerate(bases):
        rows = projections[start : start + basis.shape[1]]
        matrix[:, j] = np.abs(rows[0]) if len(rows) == 1 else np.sqrt(np.square(rows).sum(axis=0))
        start += basis.shape[1]
    return np.minimum(matrix, 1.0)


def held_out_correlation(
    factor: tuple[FloatArray, FloatArray], code: tuple[FloatArray, FloatArray], tolerance: float
) -> float:
    """Correlation on test rows of the pair of directions that correlate most on training rows.

    ``factor`` and ``code`` are (training, test) feature columns. The sign is learned too, so noise averages to zero.
    """
    (factor_train, factor_test), (code_train, code_test) = factor, code
    factor_direction, code_direction = _canonical_directions(factor_train, code_train, tolerance)
    left = (factor_test - factor_test.mean(axis=0)) @ factor_direction
    right = (code_test - code_test.mean(axis=0)) @ code_direction
    scale = np.linalg.norm(left) * np.linalg.norm(right)
    return float(left @ right / scale) if scale > 0 else 0.0


def _canonical_directions(left: FloatArray, right: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    whitened = []
    for columns in (left, right):
        basis, spread, axes = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
        kept = spread > max(tolerance * spread[0], np.finfo(np.float64).tiny)
        whitened.append((basis[:, kept], axes[kept].T / spread[kept]))
    (left_basis, left_map), (right_basis, right_map) = whitened
    if not (left_basis.size and right_basis.size):
        return np.zeros(left.shape[1]), np.zeros(right.shape[1])
    turn_left, _, turn_right = np.linalg.svd(left_basis.T @ right_basis)
    return left_map @ turn_left[:, 0], right_map @ turn_right[0]
