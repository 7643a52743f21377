"""WSEPIN: weighted separability and informativeness.

    WSEPIN = sum_i rho_i I(x, z_i | z_not_i),   rho_i = I(x, z_i) / sum_j I(x, z_j)

with I(x, z_i | z_not_i) = I(x, z) - I(x, z_not_i), x the sample, z_i a code and z_not_i all other codes (001, section
3.2). The information is estimated by sampling and divided by the entropy of each code on a grid.
"""

from __future__ import annotations

from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.metrics.posterior.grid_settings import GRID, SAMPLING
from unweave.metrics.posterior.separated_information import separated_metric, weighted
from unweave.score import Score


@separated_metric()
def wsepin(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information about the samples that only one code carries, relative to its entropy; weighted mean over codes.

    A high score means that informative codes do not repeat each other. Codes are weighted by the information that they
    carry, so that additional codes that are noise do not change the score. For an encoder whose codes are independent
    given the sample, it is the weighted mean of I(x, z_i) - I(z_i, z_not_i). The score does not use factors: the codes
    may be separate without corresponding to factors that a person would name.

    Parameters
    ----------
    estimator : MixtureSampling
        Number of draws, and their seed.
    normalise : bool
        Whether to divide by the entropy of each code on ``grid``. If False, the score is in nats.
    grid : QuantisedPosterior
        Grid on which these entropies are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> posterior = Posterior(mean, [[0.5, 0.5]] * 600)
    >>> round(float(wsepin(None, posterior, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return weighted(evidence, "separated", estimator, normalise, grid)
