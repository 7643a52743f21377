"""UniBound: lower bound on the unique information of a code.

    [I(y; z_l) - I(y; z_rest)]+ <= U(y; z_l without z_rest)

with y a factor, z_l a code and z_rest all other codes (002, Eq 5 and 6). The score is the maximum over codes, divided
by H(y) and averaged over factors.
"""

from __future__ import annotations

from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import SAMPLING, bound_metric, positive, summarised
from unweave.score import Score


@bound_metric(best=1.0)
def unibound(evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True) -> Score:
    """Lower bound on the information about a factor that only one code carries, relative to the factor's entropy.

    1 means that one code determines a factor and the other codes carry no information about it, however they are
    combined. Unlike `mig`, the bound falls to 0 when several codes together repeat the best one. It never exceeds the
    gap of `mig` for the same mutual information. Random codes score about 0. A model with sharp posteriors and few rows
    scores about 0 too: if 10 codes carry 22 nats, nine of them identify each of 737,280 images (log N = 13.5) and
    therefore every factor, so that no code is unique. A caveat then states both numbers.

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
    >>> round(float(unibound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: positive(a - b), estimator, normalise)  # 002, Eq 5
