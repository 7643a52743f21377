"""Entropies and mutual informations of Gaussian vectors in closed form, from covariances, in nats.

    H(u) = 1/2 log((2 pi e)^n |S|),   I(u, v) = 1/2 log |S_u| |S_v| / |S_uv|

002, appendix B prints 2 pi e without its exponent n; in mutual informations it cancels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.posteriors.posterior_protocols import (
    DecompositionInformation,
    PartialInformation,
    PosteriorObservations,
)


def gaussian_entropy(covariance: FloatArray) -> float:
    """Differential entropy of a Gaussian vector.

    >>> round(gaussian_entropy(np.eye(1)), 4)
    1.4189
    """
    return 0.5 * (len(covariance) * math.log(2 * math.pi * math.e) + _log_determinant(covariance))


def gaussian_information(covariance: FloatArray, first: Sequence[int], second: Sequence[int]) -> float:
    """Mutual information of two parts of a Gaussian vector.

    >>> round(gaussian_information(np.array([[1.0, 0.6], [0.6, 1.0]]), [0], [1]), 4)  # -1/2 log(1 - .6^2)
    0.2231
    """
    parts = [np.asarray(part, dtype=np.intp) for part in (first, second, [*first, *second])]
    one, other, both = (_log_determinant(covariance[np.ix_(part, part)]) for part in parts)
    return max(0.5 * (one + other - both), 0.0)


def _log_determinant(covariance: FloatArray) -> float:
    return float(np.linalg.slogdet(covariance)[1])


@dataclass(frozen=True)
class GaussianInformation(DecompositionInformation):
    """Mutual information of factors and codes from their joint covariance; exact if all are jointly Gaussian.

    The covariance of the codes is that of the posterior means plus the mean posterior covariance.

    >>> factor = np.array([[-1.0], [1.0]])
    >>> round(float(GaussianInformation().information(factor, factor, 0.25 * np.eye(1))[0][0, 0]), 4)  # 1/2 log(1 + 4)
    0.8047
    """

    def partial_information(self, observed: PosteriorObservations) -> PartialInformation:
        """Information of one code, of all others, and of all codes together about every factor, without entropies."""
        return PartialInformation(*self.information(*observed.numeric_moments(self)))

    def information(
        self, factors: FloatArray, mean: FloatArray, posterior_covariance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """I(y_j, z_i) and I(y_j, z_not_i) (codes x factors), and I(y_j, z) (factors)."""
        d, m = factors.shape[1], mean.shape[1]
        covariance = np.atleast_2d(np.cov(np.column_stack([factors, mean]), rowvar=False, bias=True))
        covariance[d:, d:] += posterior_covariance
        single, rest, whole = np.empty((m, d)), np.empty((m, d)), np.empty(d)
        codes = list(range(d, d + m))
        for j in range(d):
            whole[j] = gaussian_information(covariance, [j], codes)
            for i, code in enumerate(codes):
                others = [other for other in codes if other != code]
                single[i, j] = gaussian_information(covariance, [j], [code])
                rest[i, j] = gaussian_information(covariance, [j], others)
        return single, rest, whole
