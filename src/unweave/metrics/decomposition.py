"""Bounds on unique, redundant and synergistic information of a code about a factor (002)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined, metric
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.posteriors import DecompositionInformation, FactorDraws, PartialInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import BOUND, described, varying
from unweave.metrics.sampled_information import (
    ObservedPosterior,
    carried_beyond_limit,
    n_mixed,
    rows_caveat,
    stratum_caveats,
)
from unweave.score import Score

Bound = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
SAMPLING = MixtureSampling(samples=2000)
STEP = 1e-6
OPTIONS = """
estimator : MixtureSampling or GaussianInformation
    MixtureSampling draws codes for each factor, stratified by its values (continuous factors in 20 bins of equal
    mass). GaussianInformation has closed forms for factors and codes that are jointly Gaussian.
normalise : bool
    Whether to divide by the entropy of each factor. If False, the score is in nats.
"""

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


def score_of_bound(evidence: Evidence, bound: Bound, estimator: DecompositionInformation, normalise: bool) -> Score:
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


@bound_metric(best=0.0)
@described(OPTIONS)
def redundancy_lower_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Lower bound on the information about a factor that a code shares with others, relative to the factor's entropy.

    0 means that the codes may share no information about a factor; `redundancy_upper_bound` shows how much they may
    share. Lower is better. Random codes score about 0 too.

    Notes
    -----
    Lower bound on the redundancy of a code with all others.

        [i]+ <= R(y; z_l, z_rest)

    with i = a + b - c, a = I(y; z_l), b = I(y; z_rest), c = I(y; z), y a factor, z_l a code and z_rest all other codes
    (002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> codes = np.column_stack([factors, factors[:, 0]])
    >>> round(redundancy_lower_bound(factors, Posterior(codes, 0.05 + 0 * codes)).per_factor["factor 0"], 1)
    1.0
    """
    return score_of_bound(evidence, lambda a, b, c: positive(a + b - c), estimator, normalise)  # 002, Eq 7


@bound_metric(best=0.0)
@described(OPTIONS)
def redundancy_upper_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Upper bound on the information about a factor that a code shares with others, relative to the factor's entropy.

    0 means that no code shares information about a factor with the other codes. Lower is better. Random codes score
    about 0 too.

    Notes
    -----
    Upper bound on the redundancy of a code with all others.

        R(y; z_l, z_rest) <= min(a, b)

    with a = I(y; z_l), b = I(y; z_rest), y a factor, z_l a code and z_rest all other codes
    (002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> codes = np.column_stack([factors, factors[:, 0]])
    >>> round(redundancy_upper_bound(factors, Posterior(codes, 0.05 + 0 * codes)).per_factor["factor 0"], 1)
    1.0
    """
    return score_of_bound(evidence, lambda a, b, c: np.minimum(a, b), estimator, normalise)  # 002, Eq 7


@bound_metric(best=0.0, chance="by permutation")
@described(OPTIONS)
def synergy_lower_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Lower bound on the information about a factor that codes carry only jointly, relative to the factor's entropy.

    0 means that the codes may have no synergy; `synergy_upper_bound` shows how much they may have. Lower is better.
    Random codes score slightly above 0, because many codes together fit a factor by chance: about .1 with few rows.

    Notes
    -----
    Lower bound on the synergy of a code with all others.

        [-i]+ <= C(y; z_l, z_rest)

    with i = a + b - c, a = I(y; z_l), b = I(y; z_rest), c = I(y; z), y a factor, z_l a code and z_rest all other codes
    (002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> float(synergy_lower_bound(factors, Posterior(factors, 0.05 + 0 * factors))) < 0.1
    True
    """
    return score_of_bound(evidence, lambda a, b, c: positive(c - a - b), estimator, normalise)  # 002, Eq 7


@bound_metric(best=0.0, chance="by permutation")
@described(OPTIONS)
def synergy_upper_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Upper bound on the information about a factor that codes carry only jointly, relative to the factor's entropy.

    0 means that no code has synergy with the other codes about any factor. Lower is better. Random codes score slightly
    above 0, because many codes together fit a factor by chance: about .1 with few rows.

    Notes
    -----
    Upper bound on the synergy of a code with all others.

        C(y; z_l, z_rest) <= min(a, b) - i

    with i = a + b - c, a = I(y; z_l), b = I(y; z_rest), c = I(y; z), y a factor, z_l a code and z_rest all other codes
    (002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> float(synergy_upper_bound(factors, Posterior(factors, 0.05 + 0 * factors))) < 0.1
    True
    """
    return score_of_bound(evidence, lambda a, b, c: np.minimum(a, b) - (a + b - c), estimator, normalise)  # 002, Eq 7


@bound_metric(best=1.0)
@described(OPTIONS)
def unibound(evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True) -> Score:
    """Lower bound on the information about a factor that only one code carries, relative to the factor's entropy.

    1 means that one code determines a factor and the other codes carry no information about it, however they are
    combined. Unlike `mig`, the bound falls to 0 when several codes together repeat the best one. It never exceeds the
    gap of `mig` for the same mutual information. Random codes score about 0. A model with sharp posteriors and few rows
    scores about 0 too: if 10 codes carry 22 nats, nine of them identify each of 737,280 images (log N = 13.5) and
    therefore every factor, so that no code is unique. A caveat then states both numbers.

    Notes
    -----
    UniBound: lower bound on the unique information of a code.

        [I(y; z_l) - I(y; z_rest)]+ <= U(y; z_l without z_rest)

    with y a factor, z_l a code and z_rest all other codes (002, Eq 5 and 6). The score is the maximum over codes,
    divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> round(float(unibound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return score_of_bound(evidence, lambda a, b, c: positive(a - b), estimator, normalise)  # 002, Eq 5


@bound_metric(best=1.0)
@described(OPTIONS)
def unique_upper_bound(
    evidence: Evidence, *, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> Score:
    """Upper bound on the information about a factor that only one code carries, relative to the factor's entropy.

    It is close to `unibound` where that bound is tight. Table 1 of 002 reports the looser bound I(y; z) - I(y; z_rest),
    which also counts synergy. This metric is the bound of Eq 7, which does not.

    Notes
    -----
    Upper bound on the unique information of a code.

        U(y; z_l without z_rest) <= a - [i]+

    with i = a + b - c, a = I(y; z_l), b = I(y; z_rest), c = I(y; z), y a factor, z_l a code and z_rest all other codes
    (002, Eq 7). The score is the maximum over codes, divided by H(y) and averaged over factors.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2)) - 1.0
    >>> round(float(unique_upper_bound(factors, Posterior(factors, 0.05 + 0 * factors))), 1)
    1.0
    """
    return score_of_bound(evidence, lambda a, b, c: a - positive(a + b - c), estimator, normalise)  # 002, Eq 7
