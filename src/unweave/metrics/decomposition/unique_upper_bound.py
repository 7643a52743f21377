"""Upper bound on the unique information of a code.

    U(y; z_l without z_rest) <= a - [i]+

with a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and i = a + b - c (002, Eq 7). Largest over codes, divided by
H(y), averaged over factors.
"""

from __future__ import annotations

from unweave.arrays import FloatArray
from unweave.card import ANY_KIND, metric
from unweave.estimators.information.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import (
    COST,
    FAILS,
    REFERENCE,
    SAMPLING,
    positive,
    summarised,
)
from unweave.score import Score


@metric(
    measures="compactness",
    equivalence="elementwise",
    factor_kinds=ANY_KIND,
    needs=("factors", "posterior"),
    min_rows=100,
    bounds=(0.0, 1.0),
    best=1.0,
    chance=0.0,
    cost=COST,
    fails_when=FAILS,
    reference=REFERENCE,
    identity_tolerance=0.06,
    order_tolerance=0.02,
)
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
    >>> codes = factors
    >>> round(float(unique_upper_bound(factors, Posterior(codes, 0.05 + 0 * codes))), 1)
    1.0
    """
    return summarised(evidence, unique_at_most, estimator, normalise)


def unique_at_most(single: FloatArray, rest: FloatArray, whole: FloatArray) -> FloatArray:
    """a - [a + b - c]+."""
    return single - positive(single + rest - whole)
