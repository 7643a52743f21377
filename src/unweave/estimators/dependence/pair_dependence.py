"""Tests and measures of the dependence of two columns, from orthonormal functions of each.

Let U (p columns) and V (q columns) be orthonormal, centred functions of two columns. If the columns are independent,
n |U'V|^2 (Frobenius) is asymptotically chi-squared with p q degrees of freedom. The largest singular value of U'V is
the canonical correlation.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, fdtrc, stdtr

from unweave.arrays import FloatArray


def independence_p_value(left: FloatArray, right: FloatArray) -> float:
    """p-value of the chi-squared test of independence; nan if there are no functions.

    >>> x = np.linspace(-1, 1, 101)[:, None]
    >>> u = (x**2 - (x**2).mean()) / np.linalg.norm(x**2 - (x**2).mean())
    >>> independence_p_value(x / np.linalg.norm(x), u) > 0.99, independence_p_value(u, u) < 1e-10
    (True, True)
    """
    products = left.T @ right
    return float(chdtrc(products.size, len(left) * np.square(products).sum())) if products.size else np.nan


def canonical_correlation(left: FloatArray, right: FloatArray) -> float:
    """Largest canonical correlation, corrected for its size under independence; between 0 and 1.

    >>> u = np.repeat([[1.0], [-1.0]], 50, axis=0) / 10
    >>> round(canonical_correlation(u, u), 6)
    1.0
    """
    products = left.T @ right
    if not products.size:
        return np.nan
    by_chance = min((np.sqrt(left.shape[1]) + np.sqrt(right.shape[1])) ** 2 / len(left), 0.99)
    largest = min(float(np.linalg.norm(products, 2)), 1.0)
    return float(np.sqrt(max(largest**2 - by_chance, 0.0) / (1 - by_chance)))


def correlation_p_value(correlation: float, n_rows: int) -> float:
    """Two-sided p-value of a correlation of independent normal columns.

    >>> round(correlation_p_value(0.1, 402), 3)
    0.045
    """
    freedom = n_rows - 2
    statistic = abs(correlation) * np.sqrt(freedom / max(1 - correlation**2, 1e-300))
    return float(2 * stdtr(freedom, -statistic))


def curvature(source: FloatArray, functions: FloatArray, target: FloatArray) -> tuple[float, float]:
    """Share of a target's variance that nonlinear functions of a source explain, and its p-value.

    It is the share in addition to that of a linear function, adjusted for the number of functions. ``functions`` are
    orthonormal and centred; their linear part in the source is removed first.

    >>> x = np.linspace(-1, 1, 201)
    >>> u = (x**2 - (x**2).mean())[:, None]
    >>> share, p = curvature(x, u / np.linalg.norm(u), x + x**2)
    >>> round(share, 2), p < 1e-6
    (0.21, True)
    """
    line = source - source.mean()
    line = line / np.linalg.norm(line)
    along = line @ functions
    # orthonormal functions without one direction have the Gram matrix I - along along', which needs no further product
    spread, turn = np.linalg.eigh(np.eye(along.size) - np.outer(along, along))
    kept = spread > 1e-6
    centred = target - target.mean()
    unit = centred / np.linalg.norm(centred)
    n_added = int(kept.sum())
    freedom = target.size - 2 - n_added
    if n_added == 0 or freedom < 1:
        return 0.0, np.nan
    slope = float(line @ unit)
    onto = turn[:, kept].T @ (functions.T @ unit - slope * along) / np.sqrt(spread[kept])
    on_line, added = slope**2, float(np.square(onto).sum())
    left = max(1 - on_line - added, 1e-12)
    p_value = float(fdtrc(n_added, freedom, added / n_added / (left / freedom)))
    return max(added - left * n_added / freedom, 0.0), p_value
