"""WINDIN: weighted independence and informativeness.

    WINDIN = sum_i rho_i (I(x, z_i) - I(z_i, z_not_i)),   rho_i = I(x, z_i) / sum_j I(x, z_j)

with x the sample, z_i a code and z_not_i all other codes (001, Eq 9 and section 3.2). The information is estimated by
sampling and divided by the entropy of each code on a grid.
"""

from __future__ import annotations

import math

from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.metrics.posterior.grid_settings import GRID, SAMPLING
from unweave.metrics.posterior.separated_information import separated_metric, weighted
from unweave.score import Score


@separated_metric(bounds=(-math.inf, 1.0))
def windin(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information of a code about the samples minus what it shares with other codes, over its entropy; weighted mean.

    A high score means that informative codes are independent of each other; codes are weighted by the information that
    they carry. The score equals `wsepin` for encoders whose codes are independent given the sample. For other encoders
    it is lower and may be negative, because correlation within the posterior lowers it.

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
    >>> round(float(windin(None, posterior, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return weighted(evidence, "independent", estimator, normalise, grid)
