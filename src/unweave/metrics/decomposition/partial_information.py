"""Bounds on the parts of the information that one code and all other codes carry about a factor: six metrics of 002.

    I(y; z) = R(y; z_l, z_rest) + U(y; z_l) + U(y; z_rest) + C(y; z_l, z_rest)          (002, Eq 1)

with y a factor, z_l a code, z_rest all other codes and z all codes. R is redundant, U unique and C complementary
(synergistic) information. With a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and the interaction information
i = a + b - c, every definition with non-negative parts satisfies (002, Eq 7)

    [a - b]+ <= U <= a - [i]+,   [i]+ <= R <= min(a, b),   [-i]+ <= C <= min(a, b) - i

A metric is the maximum of a bound over codes, divided by H(y) and averaged over factors (Eq 6).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined, metric
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation, FactorDraws, PartialInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import varying
from unweave.metrics.sampled_information import (
    ObservedPosterior,
    carried_beyond_limit,
    n_mixed,
    rows_caveat,
    stratum_caveats,
)
from unweave.metrics.shown_matrices import BOUND
from unweave.score import Score

Bound = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

SAMPLING = MixtureSampling(samples=2000)
STEP = 1e-6

# fields of the card that all six metrics have in common
bound_metric = functools.partial(
    metric,
    factor_by_factor=True,
    measures="compactness",
    equivalence="elementwise",
    needs=("factors", "posterior"),
    min_rows=100,
    chance=0.0,
    cost="samples x n densities for each factor and each of 2m + 1 groups of codes",
    fails_when=(
        "posteriors are sharp or a value of a factor has few rows: other codes that carry more than log N nats "
        "identify the sample, and with it every factor, whatever the model"
    ),
    reference="Tokui and Sato (2022), 'Disentanglement Analysis with Partial Information Decomposition' (002)",
    identity_tolerance=0.06,
    order_tolerance=0.02,
    version=2,
)


def positive(numbers: FloatArray) -> FloatArray:
    """max(., 0), written [.]+ in 002."""
    return np.maximum(numbers, 0.0)


@memoised(on="both")
def partial_information(evidence: Evidence, estimator: DecompositionInformation) -> PartialInformation:
    """I(y; z_l), I(y; z_rest) and I(y; z) of every code and factor, by the estimator."""
    return estimator.partial_information(ObservedPosterior(evidence))


def bound_matrix(found: PartialInformation, bound: Bound) -> FloatArray:
    """A bound for every code and factor (m x d).

    Sampled estimates have errors, so they are first made consistent: negative estimates become 0, and I(y; z) becomes
    at least as large as I(y; z_l) and I(y; z_rest).
    """
    single, rest = positive(found.single), positive(found.rest)
    whole = np.maximum(found.whole, np.maximum(single, rest))
    return bound(single, rest, whole)


def summarised(evidence: Evidence, bound: Bound, estimator: DecompositionInformation, normalise: bool) -> Score:
    """Score of a bound: its maximum over codes, divided by H(y), averaged over factors (002, Eq 6).

    ``parts`` has the standard error if the estimator samples.
    """
    found = partial_information(evidence, estimator)
    used = varying(evidence)
    if normalise and found.entropies is None:
        raise MetricUndefined(
            "Bounds cannot be divided by the entropy of a continuous factor: pass normalise=False for nats."
        )
    divisors = found.entropies if normalise and found.entropies is not None else np.ones(evidence.n_factors)
    matrix = np.divide(bound_matrix(found, bound), divisors, out=np.full(found.single.shape, np.nan), where=used)
    per_factor = np.array([column.max() if varies else np.nan for column, varies in zip(matrix.T, used, strict=True)])
    parts = {"bound_matrix": matrix}
    if found.draws is not None:
        errors = _errors(found, found.draws, bound) / np.where(used, divisors, np.nan)
        parts["standard_error"] = np.sqrt(np.nansum(np.square(errors))) / used.sum()
        parts["standard_error_per_factor"] = errors
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, matrix[:, used].max(axis=1).tolist(), strict=True)),
        parts=parts,
        matrices=(BOUND,),
        caveats=(
            *_named_samples(evidence, found, n_mixed(evidence, estimator)),
            *stratum_caveats(evidence, found.within),
            *rows_caveat(evidence, estimator),
        ),
    )


def _named_samples(evidence: Evidence, found: PartialInformation, n_rows: int) -> tuple[Finding, ...]:
    """A caveat if all codes but one identify the sample: sampled estimates, unlike closed forms, are at most log N."""
    if found.draws is None or evidence.posterior is None:
        return ()
    carried = carried_beyond_limit(evidence.posterior, n_rows)
    return (Finding("unique_information_at_limit", carried=carried, limit=math.log(n_rows)),) if carried else ()


def _errors(found: PartialInformation, draws: FactorDraws, bound: Bound) -> FloatArray:
    """Standard error of every factor's largest bound, by the delta method.

    Bounds are piecewise linear, so finite differences give their exact slopes.
    """
    m = len(found.single)
    best = np.argmax(np.nan_to_num(bound_matrix(found, bound), nan=-np.inf), axis=0)
    errors = np.full(len(draws), np.nan)
    for j, sampled in enumerate(draws):
        if sampled is None:
            continue
        i, of_factor = int(best[j]), sampled[0]
        at = np.array([found.single[i, j], found.rest[i, j], found.whole[j]])
        slopes = [float(bound(*(at + STEP * unit)) - bound(*(at - STEP * unit))) / (2 * STEP) for unit in np.eye(3)]
        errors[j] = of_factor.standard_error(of_factor.ratios[:, [i, m + i, 2 * m]] @ slopes)
    return errors
