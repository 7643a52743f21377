"""SEPIN@k: separability and informativeness of the k best codes.

    SEPIN@k = 1/k sum of the k largest I(x, z_i | z_not_i)

with I(x, z_i | z_not_i) = I(x, z) - I(x, z_not_i), x the sample, z_i a code and z_not_i all other codes (001, section
3.2). The information is estimated by sampling and divided by the entropy of each code on a grid.
"""

from __future__ import annotations

from unweave.card import Count
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.metrics.posterior.grid_settings import GRID, SAMPLING
from unweave.metrics.posterior.separated_information import best_k, separated_metric
from unweave.score import Score


@separated_metric()
def sepin_at_k(
    evidence: Evidence,
    *,
    k: Count = 3,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information about the samples that only one code carries, relative to its entropy; mean of the best k codes.

    A high score means that at least k codes carry information that no other code repeats. Additional codes that are
    noise do not change the score, as long as k codes are informative.

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
    >>> round(float(sepin_at_k(None, posterior, k=1, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return best_k(evidence, "separated", k, estimator, normalise, grid)
