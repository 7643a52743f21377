"""Optimal one-to-one matching of codes and factors, and its expected value for unrelated columns."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from unweave.arrays import FloatArray
from unweave.randomness import random_stream

CHANCE_DRAWS = 32
ENTRIES_DRAWN = 2_000_000


def best_matching(similarity_matrix: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the one-to-one matching with the largest sum; min(rows, columns) pairs.

    >>> best_matching(np.array([[0.1, 0.9], [0.8, 0.7]]))[1].tolist()
    [1, 0]
    """
    rows, columns = linear_sum_assignment(similarity_matrix, maximize=True)
    return rows, columns


@functools.cache
def matched_correlation_by_chance(n_rows: int, n_codes: int, n_factors: int) -> float:
    """Expected mean absolute correlation of matched pairs of unrelated columns, by simulation.

    The correlations r are drawn from their exact null distribution for n Gaussian rows, r^2 ~ Beta(1/2, (n - 2) / 2).

    >>> 0.05 < matched_correlation_by_chance(1000, 20, 5) < 0.07
    True
    """
    rng = random_stream(0, "matched correlations by chance")
    draws = []
    # a mean over many pairs varies little, so that fewer draws suffice
    for _ in range(min(CHANCE_DRAWS, max(2, ENTRIES_DRAWN // (n_codes * n_factors)))):
        correlations = np.sqrt(rng.beta(0.5, max(n_rows - 2, 1) / 2, size=(n_codes, n_factors)))
        draws.append(correlations[best_matching(correlations)].mean())
    return float(np.mean(draws))
