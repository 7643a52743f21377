"""Upper bound on the redundancy of a code with all others.

    R(y; z_l, z_rest) <= min(a, b)

with a = I(y; z_l), b = I(y; z_rest), y a factor, z_l a code and z_rest all other codes
(002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.
"""

from __future__ import annotations

import numpy as np

from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import SAMPLING, bound_metric, summarised
from unweave.score import Score


@bound_metric(best=0.0)
def redundancy_upper_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Upper bound on the information about a factor that a code shares with others, relative to the factor's entropy.

    0 means that no code shares information about a factor with the other codes. Lower is better. Random codes score
    about 0 too.

    Parameters
    ----------
    estimator : MixtureSampling or GaussianInformation
        MixtureSampling draws codes for each factor, stratified by its values (continuous factors in 20 bins of equal
        mass). GaussianInformation has closed forms for factors and codes that are jointly Gaussian.
    normalise : bool
        Whether to divide by the entropy of each factor. If False, the score is in nats.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> codes = np.column_stack([factors, factors[:, 0]])
    >>> round(redundancy_upper_bound(factors, Posterior(codes, 0.05 + 0 * codes)).per_factor["factor 0"], 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: np.minimum(a, b), estimator, normalise)  # 002, Eq 7
