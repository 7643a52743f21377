"""Tails of the hypergeometric distribution for many cells at once, for Fisher's exact test of a code and a concept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unweave.arrays import FloatArray

NEGLIGIBLE = 1e-16


def upper_tail(hits: NDArray[Any], n_rows: int, n_present: NDArray[Any], n_active: NDArray[Any]) -> FloatArray:
    """P(X >= hits), where X counts the samples with the concept among ``n_active`` samples drawn at random.

    X is hypergeometric: ``n_present`` of the ``n_rows`` samples have the concept. The largest term is computed from
    logarithms of factorials, and the other terms from the ratios of successive terms.

    >>> upper_tail(np.array([2.0]), 4, np.array([2.0]), np.array([2.0])).round(6).tolist()
    [0.166667]
    """
    x, k, m, n = (
        np.array(column, dtype=np.float64) for column in np.broadcast_arrays(hits, n_present, n_active, n_rows)
    )
    highest = np.minimum(k, m)
    mean = k * m / n
    upward = x > mean  # below the mean the terms increase, so the other tail is summed
    start = np.where(upward, x, x - 1)
    lowest = np.maximum(0.0, k + m - n)
    total = np.zeros(x.shape)
    term = np.where((start >= lowest) & (start <= highest), np.exp(_log_mass(start, k, m, n)), 0.0)
    open_cells = np.flatnonzero(term > 0)
    here, terms = start[open_cells].copy(), term[open_cells]
    total[open_cells] = terms
    up, k, m, n = upward[open_cells], k[open_cells], m[open_cells], n[open_cells]
    while open_cells.size:
        rising = (k - here) * (m - here) / ((here + 1) * (n - k - m + here + 1))
        falling = here * (n - k - m + here) / ((k - here + 1) * (m - here + 1))
        terms = terms * np.where(up, rising, falling)
        here = here + np.where(up, 1.0, -1.0)
        total[open_cells] += terms
        go_on = terms > NEGLIGIBLE * total[open_cells]
        open_cells, here, terms, up = open_cells[go_on], here[go_on], terms[go_on], up[go_on]
        k, m, n = k[go_on], m[go_on], n[go_on]
    return np.clip(np.where(upward, total, 1 - total), 0.0, 1.0)


def lower_tail(hits: NDArray[Any], n_rows: int, n_present: NDArray[Any], n_active: NDArray[Any]) -> FloatArray:
    """P(X <= hits), computed as the upper tail of the number of active samples without the concept.

    >>> lower_tail(np.array([0.0]), 4, np.array([2.0]), np.array([2.0])).round(6).tolist()
    [0.166667]
    """
    return upper_tail(np.asarray(n_active) - hits, n_rows, n_rows - np.asarray(n_present), n_active)


def _log_mass(x: FloatArray, k: FloatArray, m: FloatArray, n: FloatArray) -> FloatArray:
    """Logarithm of P(X = x) for x within the support."""
    with np.errstate(invalid="ignore"):
        return _log_choose(k, x) + _log_choose(n - k, m - x) - _log_choose(n, m)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
