"""MCC of linear maps of correlated factors (003, appendix F.1)."""

from __future__ import annotations

import math

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.matching import best_matching


def mcc_of_mixed_pair(rho: float, epsilon: float) -> float:
    """MCC of (z1, z2 + e z3, e z2 + z3), with corr(z2, z3) = rho and z1 independent (003, Eq 39; Eq 51 for e = 1).

        MCC = (1 + 2 (1 + e rho) / sqrt(1 + e^2 + 2 e rho)) / 3

    As a function of rho it has its minimum at rho = -e. It rises to 1 at rho = 1 and, if e < 1, also at rho = -1:
    correlated factors hide a constant mixing.

    >>> round(mcc_of_mixed_pair(0.0, 0.5), 4), round(mcc_of_mixed_pair(-0.99, 0.5), 4)
    (0.9296, 0.9936)
    """
    return (1 + 2 * (1 + epsilon * rho) / math.sqrt(1 + epsilon**2 + 2 * epsilon * rho)) / 3


def least_mcc_of_mixed_pair(epsilon: float) -> float:
    """Minimum of `mcc_of_mixed_pair` over rho, (1 + 2 sqrt(1 - e^2)) / 3, at rho = -e (003, Eq 43 to 45).

    >>> round(least_mcc_of_mixed_pair(0.5), 4)
    0.9107
    """
    return (1 + 2 * math.sqrt(1 - epsilon**2)) / 3


def mcc_of_linear_map(matrix: FloatArray, covariance: FloatArray) -> float:
    """MCC of codes A z, for infinitely many samples of factors with this covariance.

    >>> round(mcc_of_linear_map(np.array([[1.0, 0.5], [0.5, 1.0]]), np.eye(2)), 4)
    0.8944
    """
    covariances = matrix @ covariance  # of codes and factors
    code_scales = np.sqrt(np.einsum("if,if->i", covariances, matrix))
    correlations = np.abs(covariances) / code_scales[:, None] / np.sqrt(np.diag(covariance))
    return float(correlations[best_matching(correlations)].mean())
