"""Upper bound on the unique information of a code.

    U(y; z_l without z_rest) <= a - [i]+

with a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and i = a + b - c (002, Eq 7). Largest over codes, divided by
H(y), averaged over factors.
"""

from __future__ import annotations

from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import SAMPLING, bound_metric, positive, summarised
from unweave.score import Score


@bound_metric(best=1.0)
def unique_upper_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Information of a factor that one code has and all others together have not, at most, as a share of its entropy.

    Close to `unibound` where that bound is tight. 002, Table 1 prints the looser I(y; z) - I(y; z_rest), which synergy
    fools; this is the bound of its Eq 7, which is not fooled.

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
    >>> round(float(unique_upper_bound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: a - positive(a + b - c), estimator, normalise)  # 002, Eq 7
