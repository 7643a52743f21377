"""Correlations of codes: of posterior means, of one draw per sample, and in the limit of many draws (001, A.5).

    corr(z_i, z_j) = (cov(mean_i, mean_j) + E cov(z_i, z_j | x)) / (s_i s_j),   s_i^2 = var(mean_i) + E var(z_i | x)

The posterior means of a noisy code hardly vary, but a correlation does not depend on scale. The means of two noisy
codes can therefore correlate strongly although their draws are almost uncorrelated. Codes with a correlation of 0
need not be independent, because correlations measure linear dependence only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.randomness import random_stream


@dataclass(frozen=True)
class CodeCorrelations:
    """Correlation matrices of Gaussian codes (codes x codes); nan for a code that does not vary.

    ``means`` is the matrix of the posterior means, and ``draws`` that of one draw from the posterior of every sample,
    as in 001. ``expected`` is the limit for infinitely many draws, in closed form.

    >>> means = np.repeat([[-0.1, -0.1], [0.1, 0.1]], 500, axis=0)
    >>> found: CodeCorrelations = code_correlations(means, np.ones_like(means))
    >>> found.draws.shape
    (2, 2)
    """

    means: FloatArray
    draws: FloatArray
    expected: FloatArray


def code_correlations(
    mean: FloatArray, std: FloatArray, covariance: FloatArray | None = None, seed: int = 0
) -> CodeCorrelations:
    """Correlations of the codes of a Gaussian posterior (rows x codes, or rows x codes x codes for the covariance).

    >>> means = np.repeat([[-0.1, -0.1], [0.1, 0.1]], 500, axis=0)
    >>> found = code_correlations(means, np.ones_like(means))
    >>> found.means[0, 1].round(3), found.expected[0, 1].round(3)
    (np.float64(1.0), np.float64(0.01))
    """
    rng = random_stream(seed, "codes of a posterior")
    noise = rng.normal(size=mean.shape)
    if covariance is None:
        drawn, within = mean + std * noise, np.diag(np.square(std).mean(axis=0))
    else:
        drawn = mean + np.einsum("nij,nj->ni", np.linalg.cholesky(covariance), noise)
        within = covariance.mean(axis=0)
    between = np.cov(mean, rowvar=False, bias=True).reshape(within.shape)
    drawn_covariance = np.cov(drawn, rowvar=False, bias=True).reshape(within.shape)
    return CodeCorrelations(_correlation(between), _correlation(drawn_covariance), _correlation(between + within))


def _correlation(covariance: FloatArray) -> FloatArray:
    spread = np.sqrt(np.diagonal(covariance))
    scale = np.where(spread > 0, spread, np.nan)
    return np.asarray(covariance / scale / scale[:, None])
