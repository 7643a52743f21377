"""UniBound: lower bound on the unique information of a code.

    [I(y; z_l) - I(y; z_rest)]+ <= U(y; z_l without z_rest)

with a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and i = a + b - c (002, Eq 5 and 6). Largest over codes, divided by
H(y), averaged over factors.
"""

from __future__ import annotations

from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import SAMPLING, bound_metric, positive, summarised
from unweave.score import Score


@bound_metric(best=1.0)
def unibound(evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True) -> Score:
    """Information of a factor that one code has and all others together have not, at least, as a share of its entropy.

    1 means that one code tells a factor and nothing else does, however the other codes are combined: unlike `mig` it
    falls to 0 when several codes together repeat the best one. Never above the gap of `mig` for the same informations.
    Noise gets about 0. So does every model with sharp posteriors and few rows: of 10 codes that carry 22 nats the
    others name every one of 737,280 images (log N = 13.5), and then no code is unique. A note gives both figures.

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
    >>> round(float(unibound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return summarised(evidence, lambda a, b, c: positive(a - b), estimator, normalise)  # 002, Eq 5
