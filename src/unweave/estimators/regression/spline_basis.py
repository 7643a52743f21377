"""Natural cubic splines: smooth functions of a column that are linear beyond the outer knots."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray

OUTER_KNOTS = (0.02, 0.98)


def natural_spline(column: FloatArray, n_functions: int) -> FloatArray:
    """Basis of at most ``n_functions`` functions (n x k), the first the column itself; knots are its quantiles.

    With t the K knots and T the last one, d_i(x) = ((x - t_i)+^3 - (x - T)+^3) / (T - t_i); the other functions are
    d_i - d_(K - 1).

    >>> natural_spline(np.linspace(0, 1, 50), 4).shape
    (50, 4)
    """
    knots = np.unique(np.quantile(column, np.linspace(*OUTER_KNOTS, n_functions + 1)))
    if n_functions < 2 or len(knots) < 3:
        return column[:, None]
    cubes = np.maximum(column[:, None] - knots, 0.0) ** 3
    pieces = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return np.column_stack([column, pieces[:, :-1] - pieces[:, -1:]])


def orthonormal_columns(columns: FloatArray, tolerance: float = 1e-8) -> FloatArray:
    """Columns with mean 0, variance 1 and no correlation that span the same functions as the centred columns.

    >>> orthonormal_columns(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])).shape
    (3, 1)
    """
    left, spread, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    kept = spread > tolerance * max(spread.max(initial=0.0), np.finfo(np.float64).tiny)
    return np.asarray(left[:, kept] * np.sqrt(len(columns)))
