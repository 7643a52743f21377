"""Which factors codes respond to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes import (
    Folds,
    least_squares,
    out_of_fold_kernel_ridge,
    out_of_fold_least_squares,
)
from unweave.estimators.regression import KernelName, interaction_kernel
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import (
    FactorBases,
    any_lumps,
    code_scores,
    factor_bases,
    fold_of_rows,
    plain_codes,
    varying_places,
)

KERNELS: tuple[KernelName, ...] = ("pairs", "joint")
PENALTIES = (1e-4, 1e-2, 0.3)
MOST_INTERACTION_ROWS = 500
NEAR = 8  # number of neighbours that are averaged to reduce noise


def local_fits(factor: FactorBases, codes: FloatArray, fold: Folds) -> tuple[FloatArray, FloatArray]:
    """Predictions (n x m each) from three and from eight rows of other folds next to each row along the factor.

    The median of three neighbours follows jumps, and the mean of eight reduces noise. For a factor with levels, both
    predictions are the mean of the rows of the same level.
    """
    if factor.levels:
        means = _level_means(factor.place.astype(np.intp), codes, fold)
        return means, means
    of_three, of_many = np.empty((2, *codes.shape))
    for k in np.unique(fold):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        rows, at = _along(factor, train)
        here = factor.place[test]
        right = np.searchsorted(at, here)
        left = right - 1
        last = len(rows) - 1
        beyond_left, beyond_right = (np.clip(p, 0, last) for p in (left - 1, right + 1))
        left_is_nearer = here - at[beyond_left] < at[beyond_right] - here
        third = np.where((left_is_nearer | (right > last)) & (left >= 0), beyond_left, beyond_right)
        on_left, on_right, next_one = (codes[rows[np.clip(p, 0, last)]] for p in (left, right, third))
        low, high = np.minimum(on_left, on_right), np.maximum(on_left, on_right)
        of_three[test] = np.maximum(low, np.minimum(high, next_one))
        first = np.clip(right - NEAR // 2, 0, max(last + 1 - NEAR, 0))
        of_many[test] = sum(codes[rows[np.minimum(first + step, last)]] for step in range(NEAR)) / NEAR
    return of_three, of_many


def _along(factor: FactorBases, rows: Folds) -> tuple[Folds, FloatArray]:
    """Rows in the order of the factor, and their positions; a circle is extended by half a turn at both ends."""
    rows = rows[np.argsort(factor.place[rows], kind="stable")]
    at = factor.place[rows]
    if not factor.circle:
        return rows, at
    early, late = at < 0.5, at >= 0.5
    return np.concatenate([rows[late], rows, rows[early]]), np.concatenate([at[late] - 1, at, at[early] + 1])


def _level_means(level: Folds, codes: FloatArray, fold: Folds) -> FloatArray:
    """Mean of the rows of the same level in other folds; mean of all rows in other folds if none has this level."""
    n_levels = int(level.max()) + 1
    indicators = (level[:, None] == np.arange(n_levels)).astype(np.float64)
    sums, counts = indicators.T @ codes, indicators.sum(axis=0)
    means = np.empty(codes.shape)
    for k in np.unique(fold):
        test = np.flatnonzero(fold == k)
        left = counts - indicators[test].sum(axis=0)
        of_level = (sums - indicators[test].T @ codes[test]) / np.maximum(left, 1)[:, None]
        of_level[left == 0] = (codes.sum(axis=0) - codes[test].sum(axis=0)) / max(len(codes) - test.size, 1)
        means[test] = of_level[level[test]]
    return means


MODELS = ("one factor, smooth", "one factor, with jumps", "linear", "additive", "pairs", "joint")
SMOOTH, JUMPS, LINEAR, ADDITIVE, PAIRS, JOINT = range(len(MODELS))
NEGLIGIBLE = 0.003  # share of a code's variance; interactions that explain less are ignored

# for each model, the largest excess of its loss over the smallest loss: in standard errors, and as a share of variance
ALLOWED = ((2.0, 0.0), (2.0, 0.0), (1.0, NEGLIGIBLE), (1.0, NEGLIGIBLE))
MOST_OF_IT = 0.5
OF_OTHERS = 0.001  # a code depends on one factor if other factors cause at most this share of its fit's variance
LUCK = 0.01  # probability that any code of pure noise counts as informative
MOST_CODES_AT_ONCE = 128
MOST_ROWS = 1000


@dataclass(frozen=True)
class DistinctFactors:
    """The factors that are used in fits: with one factor all distinct ones, and with several the free ones."""

    alike: NDArray[np.intp]  # for every factor, the first one that is equivalent to it: each determines the other
    # factors that determine all others, each the first of its equivalents: no impossible combination is predicted
    free: NDArray[np.intp]

    @property
    def distinct(self) -> NDArray[np.intp]:
        """The first factor of each set of equivalent factors."""
        return np.unique(self.alike)

    @property
    def places_of_free(self) -> NDArray[np.intp]:
        """Positions of the free factors among the distinct ones."""
        return np.searchsorted(self.distinct, self.free)


@dataclass(frozen=True)
class Responses:
    """What every code responds to."""

    model: NDArray[np.intp]  # index in `MODELS` of the model that was kept
    factor: NDArray[np.intp]  # the factor of models of one factor, -1 for other models
    explained: FloatArray  # out-of-fold R2 of the best model
    informative: NDArray[np.bool_]  # whether any model predicts the code significantly better than chance


@memoised(on="factors")
def distinct_factors(evidence: Evidence) -> DistinctFactors:
    """Which of the factors that vary determine each other, and which determine all others."""
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    known = factor_constraints(evidence)
    alike = known.alike(names)
    return DistinctFactors(alike, np.unique(alike[known.free(names)]))


@memoised(on="both")
def responses_to_factors(evidence: Evidence, n_folds: int, seed: int) -> Responses:
    """Responses of the live codes to the factors that vary.

    Codes are analysed as normal scores of their ranks. If a factor has levels or clusters, codes are also analysed on
    their own scale, because ranks spread out values that lie close together. The analysis that explains more of a code
    is used.
    """
    factors, codes, which = factor_bases(evidence), code_scores(evidence), distinct_factors(evidence)
    fold = fold_of_rows(evidence, n_folds, seed)
    some = np.sort(random_stream(seed, "rows of responses").permutation(evidence.n_rows)[:MOST_ROWS])

    def of(columns: FloatArray) -> Responses:
        return responses(factors, which, columns, fold, some, evidence.row_groups)

    found = of(codes)
    if not any_lumps(evidence) or not codes.shape[1]:
        return found
    plain = of(plain_codes(evidence))
    better = plain.explained > found.explained
    return Responses(**{name: np.where(better, vars(plain)[name], kept) for name, kept in vars(found).items()})


def responses(
    factors: tuple[FactorBases, ...],
    which: DistinctFactors,
    codes: FloatArray,
    fold: Folds,
    some: Folds,
    row_groups: NDArray[np.intp] | None,
) -> Responses:
    """Responses of all codes (n x m); interactions are fitted to ``some`` of the rows."""
    n_codes = codes.shape[1]
    blocks = [
        _simple_responses(factors, which, codes[:, start : start + MOST_CODES_AT_ONCE], fold, row_groups)
        for start in range(0, max(n_codes, 1), MOST_CODES_AT_ONCE)
    ]
    model, factor, losses, residual = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
    explained = 1 - losses / codes.var(axis=0)
    unclear = np.flatnonzero(explained < 1 - NEGLIGIBLE) if which.free.size > 1 else np.empty(0, dtype=np.intp)
    luck = 2 * np.log(max(n_codes, 1) * len(factors) * len(MODELS) / LUCK)  # number of rows times the R2 of noise
    informative = explained > luck / len(codes)
    if unclear.size:
        few = some[:: -(-some.size // MOST_INTERACTION_ROWS)]
        targets, groups = codes[:, unclear][few], None if row_groups is None else row_groups[few]
        fits = _interaction_fits([factors[j] for j in which.free], targets, fold, few)
        errors = [np.square(residual[np.ix_(few, unclear)]), *(np.square(targets - fit) for fit in fits)]
        variances = targets.var(axis=0)
        chosen = _smallest_sufficient(errors, variances, [ALLOWED[LINEAR]] * len(errors), groups)
        model[unclear] = np.where(chosen == 0, model[unclear], ADDITIVE + chosen)
        least = np.array([error.mean(axis=0) for error in errors[1:]]).min(axis=0)
        r2 = 1 - least / np.where(variances > 0, variances, 1.0)
        informative[unclear] |= r2 > luck / len(targets)
        explained[unclear] = np.maximum(explained[unclear], r2)
    return Responses(model, np.where(model <= JUMPS, which.distinct[factor], -1), explained, informative)


def _interaction_fits(factors: list[FactorBases], targets: FloatArray, fold: Folds, rows: Folds) -> list[FloatArray]:
    """Out-of-fold predictions of the targets, which are on these rows, by every kernel with its best penalty."""
    known, best_fits = [factor.kernel[rows] for factor in factors], []
    for name in KERNELS:
        kernel = interaction_kernel(known, known, name)
        fits = list(out_of_fold_kernel_ridge(kernel, targets, fold[rows], PENALTIES))
        best = np.array([np.square(targets - fit).mean(axis=0) for fit in fits]).argmin(axis=0)
        best_fits.append(np.choose(best, fits))
    return best_fits


def _simple_responses(
    factors: tuple[FactorBases, ...],
    which: DistinctFactors,
    codes: FloatArray,
    fold: Folds,
    row_groups: NDArray[np.intp] | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray, FloatArray]:
    """The four models without kernels for a block of codes: model, factor, smallest loss, and residuals (n x m)."""
    m, distinct, free = codes.shape[1], which.distinct, which.free
    fits, used = _one_factor_fits([factors[j] for j in distinct], codes, fold)
    designs = {LINEAR: [factors[j].linear for j in free], ADDITIVE: [factors[j].additive for j in free]}
    for design in designs.values() if free.size > 1 else ():
        fits.append(out_of_fold_least_squares(np.hstack(design), codes, fold))
    model = _smallest_sufficient([np.square(codes - fit) for fit in fits], codes.var(axis=0), ALLOWED, row_groups)
    losses = np.array([np.square(codes - fit).mean(axis=0) for fit in fits])
    residual = codes - np.choose(model, fits)
    factor = used[np.minimum(model, JUMPS), np.arange(m)]
    for kind, design in designs.items():
        those = np.flatnonzero(model == kind)
        if those.size:
            spread = _parts(design, codes[:, those]).var(axis=1)
            # on observed data a correlated factor adds little, so the variances for independent factors decide
            of_one = spread.max(axis=0) >= (1 - OF_OTHERS) * spread.sum(axis=0)
            model[those[of_one]] = SMOOTH
            factor[those[of_one]] = which.places_of_free[spread.argmax(axis=0)[of_one]]
    return model, factor, losses.min(axis=0), residual


def _one_factor_fits(
    factors: list[FactorBases], codes: FloatArray, fold: Folds
) -> tuple[list[FloatArray], NDArray[np.intp]]:
    """Best smooth function and best function with jumps of one factor for each code: fits, and their factors."""
    fits = [np.zeros(codes.shape), np.zeros(codes.shape)]
    least = np.full((2, codes.shape[1]), np.inf)
    used = np.zeros(least.shape, dtype=np.intp)
    for j, factor in enumerate(factors):
        smooth = out_of_fold_least_squares(factor.smooth, codes, fold)
        for kind, fit in ((SMOOTH, smooth), *((JUMPS, near) for near in local_fits(factor, codes, fold))):
            loss = np.square(codes - fit).mean(axis=0)
            better = loss < least[kind]
            least[kind, better], used[kind, better] = loss[better], j
            fits[kind][:, better] = fit[:, better]
    return fits, used


def _parts(design: list[FloatArray], codes: FloatArray) -> FloatArray:
    """The contribution of every factor to a fit to all rows (d x n x m)."""
    weights = least_squares(np.hstack(design), codes)[1:]
    stops = np.cumsum([columns.shape[1] for columns in design])[:-1]
    return np.array([columns @ part for columns, part in zip(design, np.split(weights, stops), strict=True)])


def _smallest_sufficient(
    errors: list[FloatArray],
    variances: FloatArray,
    allowed: Sequence[tuple[float, float]],
    row_groups: NDArray[np.intp] | None,
) -> NDArray[np.intp]:
    """For every code, the first model whose loss exceeds the smallest loss by no more than ``allowed``.

    It must also explain at least half of the variance that the best model explains, because a model that fails on a few
    rows has a large standard error.
    """
    best = np.array([error.mean(axis=0) for error in errors]).argmin(axis=0)
    least = np.choose(best, errors)
    model = best.copy()
    for k in reversed(range(len(errors))):
        excess = errors[k] - least
        standard_errors, negligible = allowed[k]
        within = np.maximum(standard_errors * _standard_error(excess, row_groups), negligible * variances)
        within = np.minimum(within, (1 - MOST_OF_IT) * np.maximum(variances - least.mean(axis=0), 0.0))
        model[(excess.mean(axis=0) <= within) & (k < best)] = k
    return np.asarray(model, dtype=np.intp)


def _standard_error(samples: FloatArray, row_groups: NDArray[np.intp] | None) -> FloatArray:
    """Standard error of the mean over rows; rows of one group count as one."""
    if row_groups is not None:
        order = np.argsort(row_groups, kind="stable")
        starts = np.flatnonzero(np.diff(row_groups[order], prepend=-1))
        samples = np.add.reduceat(samples[order] - samples.mean(axis=0), starts) * (starts.size / len(samples))
    return np.asarray(samples.std(axis=0) / np.sqrt(len(samples)))
