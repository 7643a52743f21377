"""Three-way information: do two codes carry the same information about the samples?

    I(x, z_i, z_j) = I(x, z_i) + I(x, z_j) - I(x, (z_i, z_j)) = I(z_i, z_j) - I(z_i, z_j | x)

with x the sample and z_i, z_j two codes (001, Eq 2: two codes are separable with respect to x if it is 0). All three
terms are estimated from the same draws.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.card import metric
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.posterior.grid_settings import (
    GRID,
    REFERENCE,
    SAMPLING,
    alive,
    grid_entropies,
    named,
    outside_caveat,
)
from unweave.metrics.sampled_information import n_mixed, pair_ratios, rows_caveat
from unweave.metrics.shown_matrices import THREE_WAY
from unweave.score import Score

TOLD_APART = 0.05


@metric(
    measures="independence",
    equivalence="elementwise",
    needs=("posterior",),
    min_rows=100,
    best=0.0,
    chance=0.0,
    cost="samples x n densities for each of m (m + 1) / 2 groups of codes",
    fails_when=(
        "there are few samples: two codes that each identify every sample seem to carry the same information (nan "
        "within .05 nats of log N)"
    ),
    reference=REFERENCE,
    identity_tolerance=0.05,
    order_tolerance=0.02,
    raw_range="below 0 if codes are correlated given the sample, and slightly below 0 by sampling error",
    undefined_with=("one code",),
)
def three_way_information(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information about the samples that two codes both carry, relative to the smaller entropy, averaged over pairs.

    0 means that no two codes carry the same information about the samples. Lower is better. Random codes score 0 too:
    read the score together with `informativeness`. For codes that are independent given the sample, as those of most
    encoders, it is the mutual information I(z_i, z_j), which `separability` measures between a code and all others at
    once. It can be negative if codes are correlated given the sample; ``value`` is then 0 and ``raw`` is negative.

    Parameters
    ----------
    estimator : MixtureSampling
        Number of draws, and their seed.
    normalise : bool
        Whether to divide by the smaller entropy of the two codes on ``grid``. If False, the score is in nats.
    grid : QuantisedPosterior
        Grid on which these entropies are computed.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(1000, 1)) @ [[1.0, 1.0]]
    >>> score = three_way_information(None, Posterior(mean, 0.5 + 0 * mean), normalise=False)
    >>> round(float(score), 1), round(-0.5 * math.log(1 - 0.8**2), 1)  # the draws correlate by 1 / (1 + .25)
    (0.5, 0.5)
    """
    m, used = evidence.n_codes, alive(evidence)
    first, second = np.triu_indices(m, k=1)
    sampled = pair_ratios(evidence, estimator)
    at_draws = sampled.ratios[:, first] + sampled.ratios[:, second] - sampled.ratios[:, m:]  # 001, Eq 2
    if normalise:
        entropies = grid_entropies(evidence, grid)
        at_draws = at_draws / np.minimum(entropies[first], entropies[second])
    limit = math.log(n_mixed(evidence, estimator))
    counted = used[first] & used[second]
    told_apart = counted & (sampled.mean(sampled.ratios[:, m:]) > limit - TOLD_APART)
    defined = counted & ~told_apart
    per_pair = np.where(told_apart, np.nan, sampled.mean(at_draws))
    matrix = np.full((m, m), np.nan)
    matrix[first, second] = matrix[second, first] = per_pair
    apart = Finding("pairs_told_apart", n_pairs=int(told_apart.sum()), of=int(counted.sum()), limit=limit)
    per_code = [np.nanmean(row) if np.isfinite(row).any() else np.nan for row in matrix]
    error = sampled.standard_error(at_draws[:, defined].mean(axis=1)) if defined.any() else np.array(math.nan)
    return Score(
        raw=float(per_pair[defined].mean()) if defined.any() else math.nan,
        per_code=named(evidence.code_names, np.array(per_code)),
        parts={"three_way_matrix": matrix, "standard_error": error},
        matrices=(THREE_WAY,),
        caveats=(
            *((apart,) if told_apart.any() else ()),
            *((Finding("one_code_in_pairs"),) if used.sum() < 2 else ()),
            *rows_caveat(evidence, estimator),
            *(outside_caveat(evidence, grid) if normalise else ()),
        ),
    )
