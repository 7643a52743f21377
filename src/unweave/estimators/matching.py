"""The best one-to-one matching of codes and factors, and the agreement of runs."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma

from unweave.arrays import FloatArray
from unweave.estimators.correlation import normal_scores
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


SWITCHED_OFF = 0.01  # nats; codes with a smaller KL divergence from the prior are inactive (Duan et al. 2020)


def disentanglement_ranking(similarity_matrix: FloatArray) -> float:
    """UDR of two runs from the similarities of their codes; 1 if the similarities are a permutation matrix.

    >>> disentanglement_ranking(np.eye(3)), disentanglement_ranking(np.full((2, 2), 0.5))
    (1.0, 0.25)
    """
    matrix = np.nan_to_num(np.abs(similarity_matrix))
    if not matrix.size:
        return math.nan
    shares = [_one_partner(matrix, axis=axis) for axis in (0, 1)]
    return float(sum(share.sum() for share in shares) / sum(matrix.shape))


def _one_partner(matrix: FloatArray, axis: int) -> FloatArray:
    total = matrix.sum(axis=axis)
    return np.divide(matrix.max(axis=axis) ** 2, total, out=np.zeros_like(total), where=total > 0)


def total_correlation(codes: FloatArray) -> float:
    """Total correlation of the codes under a Gaussian copula, in nats; infinite if one code duplicates another.

    With few rows for many codes, log det of the sample correlations is too low. For Gaussian codes its bias depends on
    n and m alone, and is subtracted: 1/2 sum_j psi((n - 1) / 2) - psi((n - j) / 2). It is nan without more rows
    than codes.

    >>> rng = np.random.default_rng(0)
    >>> both = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=20_000)
    >>> bool(abs(total_correlation(both) + 0.5 * np.log(1 - 0.8**2)) < 0.02)
    True
    """
    if codes.shape[1] < 2:
        return 0.0
    n_rows, n_codes = codes.shape
    if n_rows <= n_codes:
        return math.nan
    bias = 0.5 * float((digamma((n_rows - 1) / 2) - digamma((n_rows - np.arange(1, n_codes + 1)) / 2)).sum())
    scores = normal_scores(codes)
    sign, log_determinant = np.linalg.slogdet(scores.T @ scores / len(scores))
    return float(max(-0.5 * log_determinant - bias, 0.0)) if sign > 0 else math.inf


def divergence_from_prior(mean: FloatArray, std: FloatArray) -> FloatArray:
    """KL divergence of every code's Gaussian posterior from a standard normal prior, averaged over samples, in nats.

    >>> divergence_from_prior(np.zeros((2, 1)), np.ones((2, 1))).tolist()
    [0.0]
    """
    variance = np.maximum(std**2, np.finfo(float).tiny)
    return np.asarray(0.5 * (mean**2 + variance - 1 - np.log(variance)).mean(axis=0))
