"""Informativeness, separability and the metrics built on them (001)."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Count, metric
from unweave.estimators.counts import entropy_of_counts
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.posteriors import PosteriorInformation, Sampled
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import MISJED, THREE_WAY, described, posterior_of, quantised_codes
from unweave.metrics.rmig import (
    GRID,
    NOTHING_TOLD,
    REFERENCE,
    SAMPLING,
    alive,
    grid_entropies,
    log_sizes,
    numbers_by_name,
    outside_caveat,
)
from unweave.metrics.sampled_information import (
    ObservedPosterior,
    carried_beyond_limit,
    limit_caveat,
    n_mixed,
    pair_ratios,
    rows_caveat,
    sample_ratios,
    shared_given_sample,
)
from unweave.score import Score


@metric(
    measures="informativeness",
    equivalence="permutation and scale",
    needs=("posterior",),
    min_rows=20,
    chance=0.0,
    cost="n x m x bins probabilities, or samples x n densities for each code",
    fails_when="the posterior of a code is much narrower than a bin, or a few samples are outliers",
    reference=REFERENCE,
    identity_tolerance=0.75,
    order_tolerance=1e-6,
    version=3,
)
def informativeness(
    evidence: Evidence,
    *,
    of: Literal["codes", "all"] = "codes",
    estimator: PosteriorInformation = GRID,
    normalise: bool = True,
    sampling: MixtureSampling = SAMPLING,
) -> Score:
    """Mutual information of a code and the samples, relative to the largest entropy of the grid; mean over codes.

    1 means that every posterior lies in one bin and that samples are spread evenly over the bins of every code. A code
    whose posterior is nearly the same for every sample scores 0, and a code whose posterior is exactly the same is left
    out. The score does not use factors: codes that mix all factors are informative too.

    Parameters
    ----------
    of : {'codes', 'all'}
        The mean of I(x, z_i) over codes, or I(x, z) of all codes together, which is estimated by sampling.
    estimator : QuantisedPosterior or MixtureSampling
        100 bins over the range of every code by default. ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives
        the numbers of the published code.
    normalise : bool
        Whether to divide by log #bins, or by log N for all codes together. If False, the score is in nats.
    sampling : MixtureSampling
        Number of draws, and their seed, for ``of='all'``.

    Notes
    -----
    Informativeness: how much information do codes carry about the samples?

        I(x, z_i) = H(z_i) - H(z_i | x) = E log q(z_i | x) / q(z_i)

    with x the sample, z_i a code and q(z_i) = 1/N sum_n q(z_i | x_n) (001, Eq 1). On a grid it is divided by log #bins.
    I(x, z) of all codes together is divided by log N, which no estimate from N samples can exceed.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(2000, 1))
    >>> score = informativeness(None, Posterior(mean, 0.5 + 0 * mean), normalise=False)
    >>> round(float(score), 1), round(0.5 * math.log(5), 1)  # the closed form of Gaussians
    (0.8, 0.8)
    """
    if of == "all":
        return _of_all_codes(evidence, sampling, normalise)
    if of != "codes":
        raise ValueError(f"of={of!r} is not known: use 'codes' or 'all'.")
    used, divisors = alive(evidence), np.ones(evidence.n_codes)
    if normalise:
        divisors = log_sizes(evidence, estimator.grid or GRID)
    told = estimator.sample_information(ObservedPosterior(evidence))
    shares = told.shares(divisors)
    return Score(
        raw=float(shares[used].mean()) if used.any() else math.nan,
        per_code=numbers_by_name(evidence.code_names, shares),
        parts=told.standard_errors(divisors, used),
        caveats=(
            *outside_caveat(evidence, estimator.grid),
            *rows_caveat(evidence, estimator),
            *(() if used.any() else (NOTHING_TOLD,)),
        ),
    )


def _of_all_codes(evidence: Evidence, sampling: MixtureSampling, normalise: bool) -> Score:
    sampled = sample_ratios(evidence, sampling)
    information = float(sampled.mean(sampled.ratios[:, -1]))
    divisor = math.log(min(evidence.n_rows, sampling.most_rows)) if normalise else 1.0
    return Score(
        raw=information / divisor,
        parts={"standard_error": sampled.standard_error(sampled.ratios[:, -1]) / divisor},
        caveats=limit_caveat(information, evidence, sampling),
    )


@metric(
    measures="independence",
    equivalence="permutation and scale",
    needs=("posterior",),
    min_rows=20,
    best=0.0,
    chance=0.857,
    cost="n x m x bins probabilities and n m^2 counts",
    fails_when=(
        "there are few rows for the squared number of bins, because the joint entropy cannot exceed log n, or unused "
        "codes are noise"
    ),
    reference=REFERENCE,
    identity_tolerance=0.3,
    order_tolerance=1e-6,
    version=3,
    undefined_with=("one code",),
)
def misjed(evidence: Evidence, *, estimator: QuantisedPosterior = GRID, normalise: bool = True) -> Score:
    """Entropies of two codes minus the joint entropy of their means, relative to its maximum; mean over pairs.

    0 means that codes are independent and their posteriors narrow. Lower is better: two informative codes score lower
    than an informative and a noisy one, and these score lower than two noisy ones. The score is not a mutual
    information, and it can be negative, by less than .01, where the means are spread evenly over the grid.

    Parameters
    ----------
    estimator : QuantisedPosterior
        By default 100 bins over the range of every code, which this metric raises to 101: with an even number of bins,
        an edge lies at the mean of every code and divides the means of a noisy code between two bins.
        ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives the numbers of the published code.
    normalise : bool
        Whether to divide by 2 log #bins. If False, the score is in nats.

    Notes
    -----
    MISJED: mutual information sums joint entropy difference.

        MISJED(z_i, z_j) = H(z_i) + H(z_j) - H(mean_i, mean_j)

    with the entropies of the codes from their posteriors on a grid, and the joint entropy from the posterior means
    alone, on the same grid (001, Eq 7). It is small only if two codes are both independent and informative. It is
    divided by 2 log #bins.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> float(misjed(None, Posterior(mean, 0.01 + 0 * mean))) < 0.1
    True
    """
    if estimator.limits == "fitted":
        estimator = replace(estimator, bins=estimator.bins | 1)  # odd, so that no edge lies at the mean
    entropies = quantised_codes(evidence, estimator).entropies
    matrix = entropies[:, None] + entropies - mean_entropy_matrix(evidence, estimator)
    if normalise:
        sizes = log_sizes(evidence, estimator)
        matrix = matrix / (sizes[:, None] + sizes)
    np.fill_diagonal(matrix, np.nan)
    used = np.flatnonzero(alive(evidence))
    pairs = matrix[np.ix_(used, used)][np.triu_indices(used.size, k=1)]
    lone = (Finding("one_code_in_pairs"),) if used.size < 2 else ()
    per_code = np.array([np.nanmean(row) if used.size > 1 else np.nan for row in matrix[:, used]])
    return Score(
        raw=math.nan if lone else float(pairs.mean()),
        per_code=numbers_by_name(evidence.code_names, per_code),
        parts={"misjed_matrix": matrix},
        matrices=(MISJED,),
        caveats=(*outside_caveat(evidence, estimator), *lone),
    )


@memoised(on="codes")
def mean_entropy_matrix(evidence: Evidence, estimator: QuantisedPosterior) -> FloatArray:
    """H(mean_i, mean_j) on the grid (m x m) in nats; a categorical code is represented by its most probable value."""
    posterior = posterior_of(evidence, estimator)
    labels = evidence.codes.copy()
    gaussian = labels[:, : posterior.n_gaussian]
    low, high = estimator.ranges_of(posterior.mean, posterior.std) if posterior.n_gaussian else np.empty((2, 0))
    gaussian[:] = np.clip((gaussian - low) // ((high - low) / estimator.bins), 0, estimator.bins - 1)
    columns = [column.astype(np.intp) for column in labels.T]
    sizes = [int(column.max()) + 1 for column in columns]
    matrix = np.zeros((len(columns), len(columns)))
    for i, j in zip(*np.triu_indices(len(columns), k=1), strict=True):
        counts = np.bincount(columns[i] * sizes[j] + columns[j])
        matrix[i, j] = matrix[j, i] = float(entropy_of_counts(counts))
    return matrix


TOLD_APART = 0.05
OPTIONS = """
estimator : MixtureSampling
    Number of draws, and their seed.
normalise : bool
    Whether to divide by the entropy of each code on ``grid``. If False, the score is in nats.
grid : QuantisedPosterior
    Grid on which these entropies are computed.
"""


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
@described(OPTIONS)
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

    Notes
    -----
    Separability: how much information does a code share with all other codes?

        I(z_i, z_not_i) = I(x, z_i) + I(x, z_not_i) - I(x, z) + I(z_i, z_not_i | x)

    with x the sample, z_i a code and z_not_i all other codes. The last term is zero for encoders whose codes are
    independent given the sample, and exact for Gaussian posteriors with covariances (001, section 2 and Eq 8).

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
        per_code=numbers_by_name(evidence.code_names, per_code),
        parts={"standard_error": np.array(error), "standard_error_per_code": sampled.standard_error(shared / divisors)},
        caveats=(
            *((Finding("samples_told_apart", information=told, limit=limit),) if saturated else ()),
            *(rows_caveat(evidence, estimator) if saturated else limit_caveat(told, evidence, estimator)),
            *(outside_caveat(evidence, grid) if normalise else ()),
            *(() if used.any() else (NOTHING_TOLD,)),
        ),
    )


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
    n_live = int(alive(evidence).sum()) or evidence.n_codes  # a constant code is none of the best
    few = (Finding("fewer_codes_than_k", n_codes=n_live, k=k),) if k > n_live else ()
    sampled, at_draws, per_code = _parts(evidence, part, estimator, normalise, grid)
    best = np.argsort(-per_code, kind="stable")[: min(k, n_live)]  # nan is sorted last
    return Score(
        raw=float(per_code[best].mean()),
        per_code=numbers_by_name(evidence.code_names, per_code),
        parts={
            "standard_error": sampled.standard_error(at_draws[:, best].mean(axis=1)),
            "standard_error_per_code": sampled.standard_error(at_draws),
        },
        caveats=(*_caveats(evidence, sampled, estimator, grid if normalise else None), *few),
    )


def score_weighted_by_information(
    evidence: Evidence, part: Part, estimator: MixtureSampling, normalise: bool, grid: QuantisedPosterior
) -> Score:
    """Score that is the mean over codes, weighted by I(x, z_i); codes without information have no weight."""
    sampled, at_draws, per_code = _parts(evidence, part, estimator, normalise, grid)
    told = sampled.ratios[:, : evidence.n_codes]
    information = np.maximum(sampled.mean(told), 0.0)
    total = float(information.sum())
    if total <= 0:
        return Score(math.nan, per_code=numbers_by_name(evidence.code_names, per_code), caveats=(NOTHING_TOLD,))
    weights = information / total
    used = weights > SMALLEST_WEIGHT
    raw = float(weights[used] @ per_code[used])
    # delta method, because the weights are estimated from the same draws
    influence = ((told - information)[:, used] * (per_code[used] - raw)).sum(axis=1) / total
    return Score(
        raw=raw,
        per_code=numbers_by_name(evidence.code_names, per_code),
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


@separated_metric(bounds=(-math.inf, 1.0), version=4)
@described(OPTIONS)
def indin_at_k(
    evidence: Evidence,
    *,
    k: Count = 3,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information of a code about the samples minus what it shares with other codes, over its entropy; best k codes.

    A high score means that at least k codes are informative and independent of the others. It equals `sepin_at_k` for
    encoders whose codes are independent given the sample, and is lower for other encoders.

    Parameters
    ----------
    k : int
        Number of codes to average over. If there are fewer codes, all are used.

    Notes
    -----
    INDIN@k: independence and informativeness of the k best codes.

        INDIN@k = 1/k sum of the k largest I(x, z_i) - I(z_i, z_not_i)

    with x the sample, z_i a code and z_not_i all other codes (001, Eq 9 and section 3.2). The information is estimated
    by sampling and divided by the entropy of each code on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> posterior = Posterior(mean, [[0.5, 0.5]] * 600)
    >>> round(float(indin_at_k(None, posterior, k=1, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return best_k(evidence, "independent", k, estimator, normalise, grid)


@separated_metric(version=4)
@described(OPTIONS)
def sepin_at_k(
    evidence: Evidence,
    *,
    k: Count = 3,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information about the samples that only one code carries, relative to its entropy; mean of the best k codes.

    A high score means that at least k codes carry information that no other code repeats. Additional codes that are
    noise do not change the score, as long as k codes are informative.

    Parameters
    ----------
    k : int
        Number of codes to average over. If there are fewer codes, all are used.

    Notes
    -----
    SEPIN@k: separability and informativeness of the k best codes.

        SEPIN@k = 1/k sum of the k largest I(x, z_i | z_not_i)

    with I(x, z_i | z_not_i) = I(x, z) - I(x, z_not_i), x the sample, z_i a code and z_not_i all other codes (001,
    section 3.2). The information is estimated by sampling and divided by the entropy of each code on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> posterior = Posterior(mean, [[0.5, 0.5]] * 600)
    >>> round(float(sepin_at_k(None, posterior, k=1, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return best_k(evidence, "separated", k, estimator, normalise, grid)


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

    Notes
    -----
    Three-way information: do two codes carry the same information about the samples?

        I(x, z_i, z_j) = I(x, z_i) + I(x, z_j) - I(x, (z_i, z_j)) = I(z_i, z_j) - I(z_i, z_j | x)

    with x the sample and z_i, z_j two codes (001, Eq 2: two codes are separable with respect to x if it is 0). All
    three terms are estimated from the same draws.

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
        per_code=numbers_by_name(evidence.code_names, np.array(per_code)),
        parts={"three_way_matrix": matrix, "standard_error": error},
        matrices=(THREE_WAY,),
        caveats=(
            *((apart,) if told_apart.any() else ()),
            *((Finding("one_code_in_pairs"),) if used.sum() < 2 else ()),
            *rows_caveat(evidence, estimator),
            *(outside_caveat(evidence, grid) if normalise else ()),
        ),
    )


@separated_metric(bounds=(-math.inf, 1.0))
@described(OPTIONS)
def windin(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information of a code about the samples minus what it shares with other codes, over its entropy; weighted mean.

    A high score means that informative codes are independent of each other; codes are weighted by the information that
    they carry. The score equals `wsepin` for encoders whose codes are independent given the sample. For other encoders
    it is lower and may be negative, because correlation within the posterior lowers it.

    Notes
    -----
    WINDIN: weighted independence and informativeness.

        WINDIN = sum_i rho_i (I(x, z_i) - I(z_i, z_not_i)),   rho_i = I(x, z_i) / sum_j I(x, z_j)

    with x the sample, z_i a code and z_not_i all other codes (001, Eq 9 and section 3.2). The information is estimated
    by sampling and divided by the entropy of each code on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> posterior = Posterior(mean, [[0.5, 0.5]] * 600)
    >>> round(float(windin(None, posterior, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return score_weighted_by_information(evidence, "independent", estimator, normalise, grid)


@separated_metric()
@described(OPTIONS)
def wsepin(
    evidence: Evidence,
    *,
    estimator: MixtureSampling = SAMPLING,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Information about the samples that only one code carries, relative to its entropy; weighted mean over codes.

    A high score means that informative codes do not repeat each other. Codes are weighted by the information that they
    carry, so that additional codes that are noise do not change the score. For an encoder whose codes are independent
    given the sample, it is the weighted mean of I(x, z_i) - I(z_i, z_not_i). The score does not use factors: the codes
    may be separate without corresponding to factors that a person would name.

    Notes
    -----
    WSEPIN: weighted separability and informativeness.

        WSEPIN = sum_i rho_i I(x, z_i | z_not_i),   rho_i = I(x, z_i) / sum_j I(x, z_j)

    with I(x, z_i | z_not_i) = I(x, z) - I(x, z_not_i), x the sample, z_i a code and z_not_i all other codes (001,
    section 3.2). The information is estimated by sampling and divided by the entropy of each code on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(600, 2))
    >>> posterior = Posterior(mean, [[0.5, 0.5]] * 600)
    >>> round(float(wsepin(None, posterior, normalise=False)), 1)  # 1/2 log 5 = .80
    0.8
    """
    return score_weighted_by_information(evidence, "separated", estimator, normalise, grid)
