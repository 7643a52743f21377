"""Agreement of the codes of two runs, and dependence among the codes of one run; factors are not used.

Let R be the absolute rank correlations of every active code a of one run with every active code b of another run. Then
(Duan et al., Unsupervised model selection for variational disentangled representation learning, 2020)

    UDR = 1 / (d_a + d_b) [ sum_b max_a R_ab^2 / sum_a R_ab + sum_a max_b R_ab^2 / sum_b R_ab ]

With C the correlation matrix of the codes' normal scores, the total correlation of a Gaussian copula is

    TC = -1/2 log det C
"""

from __future__ import annotations

import math

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.dependence.normal_scores import normal_scores

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

    >>> rng = np.random.default_rng(0)
    >>> both = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=20_000)
    >>> bool(abs(total_correlation(both) + 0.5 * np.log(1 - 0.8**2)) < 0.02)
    True
    """
    if codes.shape[1] < 2:
        return 0.0
    scores = normal_scores(codes)
    sign, log_determinant = np.linalg.slogdet(scores.T @ scores / len(scores))
    return float(max(-0.5 * log_determinant, 0.0)) if sign > 0 else math.inf


def divergence_from_prior(mean: FloatArray, std: FloatArray) -> FloatArray:
    """KL divergence of every code's Gaussian posterior from a standard normal prior, averaged over samples, in nats.

    >>> divergence_from_prior(np.zeros((2, 1)), np.ones((2, 1))).tolist()
    [0.0]
    """
    variance = np.maximum(std**2, np.finfo(float).tiny)
    return np.asarray(0.5 * (mean**2 + variance - 1 - np.log(variance)).mean(axis=0))
