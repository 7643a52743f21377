"""Upper bound on the unique information of a code.

    U(y; z_l without z_rest) <= a - [i]+

with i = a + b - c, a = I(y; z_l), b = I(y; z_rest), c = I(y; z), y a factor, z_l a code and z_rest all other codes
(002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.
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
    """Upper bound on the information about a factor that only one code carries, relative to the factor's entropy.

    It is close to `unibound` where that bound is tight. Table 1 of 002 reports the looser bound I(y; z) - I(y; z_rest),
    which also counts synergy. This metric is the bound of Eq 7, which does not.

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
    >>> round(float(unique_upper_bound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: a - positive(a + b - c), estimator, normalise)  # 002, Eq 7
