"""Separability: how much information does a code share with all other codes?

    I(z_i, z_not_i) = I(x, z_i) + I(x, z_not_i) - I(x, z) + I(z_i, z_not_i | x)

with x the sample, z_i a code and z_not_i all other codes. The last term is zero for encoders whose codes are
independent given the sample, and exact for Gaussian posteriors with covariances (001, section 2 and Eq 8).
"""

from __future__ import annotations

import math

import numpy as np

from unweave.card import metric
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import posterior_of
from unweave.metrics.posterior.grid_settings import (
    GRID,
    NOTHING_TOLD,
    REFERENCE,
    SAMPLING,
    alive,
    grid_entropies,
    named,
    outside_caveat,
)
from unweave.metrics.sampled_information import (
    limit_caveat,
    n_mixed,
    rows_caveat,
    sample_ratios,
    shared_given_sample,
)
from unweave.score import Score

TOLD_APART = 0.05


@metric(
    measures="independence",
    equivalence="elementwise",
    needs=("posterior",),
    min_rows=100,
    best=0.0,
    chance=0.0,
    cost="samples x n densities for each of 2m + 1 groups of codes",
    fails_when=(
        "there are few samples: narrow posteriors distinguish every sample, I(x, z) reaches log N, and all codes then "
        "seem to share their information (nan within .05 nats of log N)"
    ),
    reference=REFERENCE,
    identity_tolerance=0.05,
    order_tolerance=0.02,
    version=3,
    raw_range="slightly outside by sampling error, and above 1 where a code shares more than its entropy on the grid",
)
def separability(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Mutual information of a code and all other codes, relative to its entropy on a grid; mean over codes.

    0 means that every code is independent of all others. Lower is better, but random codes score 0 too: read the score
    together with `informativeness`, or use `wsepin`, which combines both. The score is undefined if all codes together
    identify every sample. I(x, z) is then log N, however much more the codes carry, and the information that codes
    share cannot be estimated.

    Parameters
    ----------
    estimator : MixtureSampling
        Number of draws, and their seed.
    normalise : bool
        Whether to divide by the entropy of each code on ``grid``. If False, the score is in nats.
    grid : QuantisedPosterior
        Grid on which these entropies are computed.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> float(separability(None, Posterior(mean, 0.5 + 0 * mean))) < 0.02
    True
    """
    m, used = evidence.n_codes, alive(evidence)
    sampled = sample_ratios(evidence, estimator)
    alone, others, whole = sampled.ratios[:, :m], sampled.ratios[:, m : 2 * m], sampled.ratios[:, [-1]]
    shared = alone + others - whole
    divisors = grid_entropies(evidence, grid) if normalise else np.ones(m)
    per_code = (sampled.mean(shared) + shared_given_sample(posterior_of(evidence, estimator))) / divisors
    told, limit = float(sampled.mean(whole[:, 0])), math.log(n_mixed(evidence, estimator))
    saturated = told > limit - TOLD_APART
    error = sampled.standard_error((shared / divisors)[:, used].mean(axis=1)) if used.any() else math.nan
    return Score(
        raw=float(per_code[used].mean()) if used.any() and not saturated else math.nan,
        per_code=named(evidence.code_names, per_code),
        parts={"standard_error": np.array(error), "standard_error_per_code": sampled.standard_error(shared / divisors)},
        caveats=(
            *((Finding("samples_told_apart", information=told, limit=limit),) if saturated else ()),
            *(rows_caveat(evidence, estimator) if saturated else limit_caveat(told, evidence, estimator)),
            *(outside_caveat(evidence, grid) if normalise else ()),
            *(() if used.any() else (NOTHING_TOLD,)),
        ),
    )
