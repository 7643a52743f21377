"""Information about the samples that only one code carries, for SEPIN@k, INDIN@k, WSEPIN and WINDIN.

    I(x, z_i | z_not_i) = I(x, z) - I(x, z_not_i)                                             (001, Eq 8)
    I(x, z_i) - I(z_i, z_not_i) = I(x, z_i | z_not_i) - I(z_i, z_not_i | x)                   (001, Eq 9)

with x the sample, z_i a code and z_not_i all other codes. The two differ only for encoders whose codes are correlated
given the sample.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import metric
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.posterior_protocols import Sampled
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import posterior_of
from unweave.metrics.posterior.grid_settings import NOTHING_TOLD, REFERENCE, grid_entropies, named, outside_caveat
from unweave.metrics.sampled_information import (
    carried_beyond_limit,
    limit_caveat,
    n_mixed,
    sample_ratios,
    shared_given_sample,
)
from unweave.score import Score

Part = Literal["separated", "independent"]
SMALLEST_WEIGHT = 1e-9

# fields of the card that all four metrics have in common
separated_metric = functools.partial(
    metric,
    measures="independence",
    equivalence="elementwise",
    needs=("posterior",),
    min_rows=100,
    chance=0.0,
    cost="samples x n densities for each of 2m + 1 groups of codes",
    fails_when=(
        "there are few samples: I(x, z) cannot exceed log N, so with narrow posteriors all codes seem to share their "
        "information"
    ),
    reference=REFERENCE,
    identity_tolerance=0.5,
    order_tolerance=0.01,
    raw_range="slightly outside by sampling error",
    version=3,
)


def best_k(
    evidence: Evidence, part: Part, k: int, estimator: MixtureSampling, normalise: bool, grid: QuantisedPosterior
) -> Score:
    """Score that is the mean over the k codes with the largest values."""
    few = (Finding("fewer_codes_than_k", n_codes=evidence.n_codes, k=k),) if k > evidence.n_codes else ()
    sampled, at_draws, per_code = _parts(evidence, part, estimator, normalise, grid)
    best = np.argsort(-per_code, kind="stable")[:k]  # nan is sorted last
    return Score(
        raw=float(per_code[best].mean()),
        per_code=named(evidence.code_names, per_code),
        parts={
            "standard_error": sampled.standard_error(at_draws[:, best].mean(axis=1)),
            "standard_error_per_code": sampled.standard_error(at_draws),
        },
        caveats=(*_caveats(evidence, sampled, estimator, grid if normalise else None), *few),
    )


def weighted(
    evidence: Evidence, part: Part, estimator: MixtureSampling, normalise: bool, grid: QuantisedPosterior
) -> Score:
    """Score that is the mean over codes, weighted by I(x, z_i); codes without information have no weight."""
    sampled, at_draws, per_code = _parts(evidence, part, estimator, normalise, grid)
    told = sampled.ratios[:, : evidence.n_codes]
    information = np.maximum(sampled.mean(told), 0.0)
    total = float(information.sum())
    if total <= 0:
        return Score(math.nan, per_code=named(evidence.code_names, per_code), caveats=(NOTHING_TOLD,))
    weights = information / total
    used = weights > SMALLEST_WEIGHT
    raw = float(weights[used] @ per_code[used])
    # delta method, because the weights are estimated from the same draws
    influence = ((told - information)[:, used] * (per_code[used] - raw)).sum(axis=1) / total
    return Score(
        raw=raw,
        per_code=named(evidence.code_names, per_code),
        parts={
            "weights": weights,
            "standard_error": sampled.standard_error(at_draws[:, used] @ weights[used] + influence),
            "standard_error_per_code": sampled.standard_error(at_draws),
        },
        caveats=_caveats(evidence, sampled, estimator, grid if normalise else None),
    )


def _caveats(
    evidence: Evidence, sampled: Sampled, estimator: MixtureSampling, grid: QuantisedPosterior | None
) -> tuple[Finding, ...]:
    told = float(sampled.mean(sampled.ratios[:, -1]))
    n_rows = n_mixed(evidence, estimator)
    carried = carried_beyond_limit(posterior_of(evidence, estimator), n_rows)
    at_limit = Finding("separated_information_at_limit", carried=carried, limit=math.log(n_rows))
    return (
        *limit_caveat(told, evidence, estimator),
        *((at_limit,) if carried else ()),
        *outside_caveat(evidence, grid),
    )


def _parts(
    evidence: Evidence, part: Part, estimator: MixtureSampling, normalise: bool, grid: QuantisedPosterior
) -> tuple[Sampled, FloatArray, FloatArray]:
    """The draws, the values of Eq 8 or 9 at every draw (draws x codes), and their mean for every code."""
    m = evidence.n_codes
    sampled = sample_ratios(evidence, estimator)
    at_draws = sampled.ratios[:, [-1]] - sampled.ratios[:, m : 2 * m]  # 001, Eq 8
    if part == "independent":
        at_draws = at_draws - shared_given_sample(posterior_of(evidence, estimator))  # 001, Eq 9
    if normalise:
        at_draws = at_draws / grid_entropies(evidence, grid)
    return sampled, at_draws, sampled.mean(at_draws)
