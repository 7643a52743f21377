"""INDIN@k: independence and informativeness of the k best codes.

    INDIN@k = 1/k sum of the k largest I(x, z_i) - I(z_i, z_not_i)

with x the sample, z_i a code and z_not_i all other codes (001, Eq 9 and section 3.2). The information is estimated by
sampling and divided by the entropy of each code on a grid.
"""

from __future__ import annotations

import math

from unweave.card import Count
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.metrics.posterior.grid_settings import GRID, SAMPLING
from unweave.metrics.posterior.separated_information import best_k, separated_metric
from unweave.score import Score


@separated_metric(bounds=(-math.inf, 1.0))
def indin_at_k(
    evidence: Evidence,
    *,
    k: Count = 3,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information of a code about the samples minus what it shares with other codes, over its entropy; best k codes.

    A high score means that at least k codes are informative and independent of the others. It equals `sepin_at_k` for
    encoders whose codes are independent given the sample, and is lower for other encoders.

    Parameters
    ----------
    k : int
        Number of codes to average over. If there are fewer codes, all are used.
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
    >>> round(float(indin_at_k(None, posterior, k=1, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return best_k(evidence, "independent", k, estimator, normalise, grid)
