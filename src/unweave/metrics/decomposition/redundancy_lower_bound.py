"""Lower bound on the redundancy of a code with all others.

    [i]+ <= R(y; z_l, z_rest)

with a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and i = a + b - c (002, Eq 7). Largest over codes, divided by
H(y), averaged over factors.
"""

from __future__ import annotations

from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import SAMPLING, bound_metric, positive, summarised
from unweave.score import Score


@bound_metric(best=0.0)
def redundancy_lower_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Lower bound on the information about a factor that a code shares with the other codes, relative to its entropy.

    0 means that the codes need not share any information about a factor. Lower is better. Random codes score about 0
    too.

    Parameters
    ----------
    estimator : MixtureSampling or GaussianInformation
        Draws per factor, stratified by its values (continuous factors in 20 bins of equal mass), or closed forms for
        factors and codes that are jointly Gaussian.
    normalise : bool
        Divide by the entropy of each factor; otherwise nats.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(2000, 2)) - 1.0
    >>> codes = np.column_stack([factors, factors[:, 0]])
    >>> round(redundancy_lower_bound(factors, Posterior(codes, 0.05 + 0 * codes)).per_factor["factor 0"], 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: positive(a + b - c), estimator, normalise)  # 002, Eq 7
