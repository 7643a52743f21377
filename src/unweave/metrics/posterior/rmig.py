"""Robust mutual information gap.

    RMIG(y_k) = I(z_i1, y_k) - I(z_i2, y_k)

with i1 and i2 the codes that have the largest and second largest mutual information with y_k. The mutual information is
that of the whole posterior and p(y | x), not of points (001, Eq 10). It is divided by H(y_k) and averaged over factors.
"""

from __future__ import annotations

import numpy as np

from unweave.card import metric
from unweave.estimators.posteriors.posterior_protocols import PosteriorInformation
from unweave.evidence import Evidence
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import varying
from unweave.metrics.posterior.factor_gaps import error_parts, factor_gaps
from unweave.metrics.posterior.grid_settings import GRID, REFERENCE, named
from unweave.metrics.shown_matrices import MUTUAL_INFORMATION
from unweave.score import Score


@metric(
    measures="compactness",
    equivalence="permutation and scale",
    needs=("factors", "posterior"),
    min_rows=40,
    chance=0.0,
    cost="n x m x bins probabilities, or samples x n densities for each code and factor",
    fails_when=(
        "factors are correlated, several codes carry the same factor, or posteriors are much narrower than a bin"
    ),
    reference=REFERENCE,
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.02,
    order_tolerance=1e-6,
    takes_factor_tables=True,
    version=3,
    factor_by_factor=True,
)
def rmig(evidence: Evidence, *, estimator: PosteriorInformation = GRID, normalise: bool = True) -> Score:
    """Gap in mutual information between the two codes whose posteriors carry most about a factor, normalised; mean.

    1 means that samples from one code's posterior determine each factor, and that no other code carries information
    about it. A wide posterior lowers the score, so that `mig` of the posterior means is higher for the same model.
    Random codes score about 0.

    Parameters
    ----------
    estimator : QuantisedPosterior or MixtureSampling
        100 bins over the range of every code by default. ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives
        the numbers of the published code.
    normalise : bool
        Whether to divide by the entropy of each factor. If False, the score is in nats.

    Examples
    --------
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(5000, 2))
    >>> round(float(rmig(factors, Posterior(factors - 1.5, 0.01 + 0 * factors))), 2)
    1.0
    """
    found = factor_gaps(evidence, estimator)
    divisors = found.factor_entropies if normalise else np.ones(evidence.n_factors)
    per_factor = np.divide(found.gaps, divisors, out=np.full(evidence.n_factors, np.nan), where=varying(evidence))
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=named(evidence.factor_names, per_factor),
        parts={"mutual_information_matrix": found.information, **error_parts(evidence, found.errors, divisors)},
        matrices=(MUTUAL_INFORMATION,),
        caveats=found.caveats,
    )
