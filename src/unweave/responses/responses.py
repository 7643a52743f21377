"""Which factors codes respond to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes import (
    Folds,
    kernel_weights,
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


@dataclass(frozen=True)
class InteractionFit:
    """Fits of codes (r x m) on r rows, one for every kernel, each with its best penalty.

    ``places`` are the positions of these rows among the rows that were passed.
    """

    factors: list[FactorBases]
    codes: FloatArray
    some: Folds
    places: Folds
    do_rows: Folds
    kernels: tuple[FloatArray, ...]
    fitted: tuple[FloatArray, ...]
    penalty: tuple[NDArray[np.intp], ...]

    def do(self, kernel: int, those: NDArray[np.intp], residual_variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First-order shares (d x m) and responses (r x m) of the selected codes for independently set factors.

        Shares are relative to the sum of the variance of the response and the residual variance.
        """
        known = [factor.kernel[self.some] for factor in self.factors]
        moved = [factor.kernel[self.do_rows[:, j]] for j, factor in enumerate(self.factors)]
        across = interaction_kernel(moved, known, KERNELS[kernel])
        response = np.empty((len(across), those.size))
        for place, penalty in enumerate(PENALTIES):
            here = np.flatnonzero(self.penalty[kernel][those] == place)
            if here.size:
                targets = self.codes[:, those[here]]
                mean = targets.mean(axis=0)
                response[:, here] = mean + across @ kernel_weights(self.kernels[kernel], targets - mean, penalty)
        return self._shares(response, residual_variance), response

    def _shares(self, response: FloatArray, residual_variance: FloatArray) -> FloatArray:
        """First-order share of every factor, minus the part that the regression on this factor explains by chance."""
        variance = response.var(axis=0)
        shares = np.empty((len(self.factors), response.shape[1]))
        for j, factor in enumerate(self.factors):
            design = factor.smooth[self.do_rows[:, j]]
            weights = least_squares(design, response)
            explained = (design @ weights[1:]).var(axis=0)
            by_luck = design.shape[1] / len(design) * (variance - explained)
            shares[j] = np.maximum(explained - by_luck, 0.0) / (variance + residual_variance)
        return shares


def interaction_fit(
    factors: list[FactorBases], codes: FloatArray, fold: Folds, some: Folds, do_rows: Folds
) -> InteractionFit:
    """Fit both kernels to at most 500 of these rows of the codes (n x m)."""
    places = np.arange(0, some.size, -(-some.size // MOST_INTERACTION_ROWS))
    some = some[places]
    targets, known = codes[some], [factor.kernel[some] for factor in factors]
    kernels, fitted, chosen = [], [], []
    for name in KERNELS:
        kernel = interaction_kernel(known, known, name)
        fits = list(out_of_fold_kernel_ridge(kernel, targets, fold[some], PENALTIES))
        best = np.array([np.square(targets - fit).mean(axis=0) for fit in fits]).argmin(axis=0)
        kernels.append(kernel)
        fitted.append(np.choose(best, fits))
        chosen.append(best)
    return InteractionFit(factors, targets, some, places, do_rows, tuple(kernels), tuple(fitted), tuple(chosen))


NEAR = 8  # number of neighbours that are averaged to reduce noise

# E min((a - b)^2, (a - c)^2) of three standard normal numbers: half of E (x^2 + y^2) - E |x - y| E |x + y|
NEARER_OF_TWO = 2 - 2 * np.sqrt(3) / np.pi


@dataclass(frozen=True)
class LocalFit:
    """Out-of-fold predictions from three or many neighbouring rows (n x m), and the noise variance of each code (m)."""

    of_three: FloatArray
    of_many: FloatArray
    noise: FloatArray


def local_fit(factor: FactorBases, codes: FloatArray, fold: Folds) -> LocalFit:
    """Predictions from rows of other folds that are next to each row along the factor.

    The median of three neighbours follows jumps, and the mean of eight reduces noise. The noise is measured by the
    squared difference to the left or right neighbour, whichever is closer in value, so that a jump on one side does not
    count as noise. It is divided by its expectation for standard normal noise, so that it estimates a variance. For a
    factor with levels, both predictions are the mean of the rows of the same level, and the noise is their error.
    """
    if factor.levels:
        means = _level_means(factor.place.astype(np.intp), codes, fold)
        return LocalFit(means, means, np.square(codes - means).mean(axis=0))
    of_three, of_many = np.empty((2, *codes.shape))
    squares = np.zeros(codes.shape[1])
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
        nearer = np.minimum(np.abs(codes[test] - on_left), np.abs(codes[test] - on_right))
        squares += np.square(nearer).sum(axis=0)
    return LocalFit(of_three, of_many, squares / len(codes) / NEARER_OF_TWO)


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
TINY = 1e-12
LUCK = 0.01  # probability that any code of pure noise counts as informative
MOST_CODES_AT_ONCE = 128
MOST_ROWS = 1000
DRAWS = 20


@dataclass(frozen=True)
class ResponseRows:
    """The rows that kernels, readouts and the sample of independent factors use if they do not use all rows."""

    some: Folds
    do: Folds  # len(some) x d: the row from which the value of every factor is taken
    residual: Folds  # for every row of the sample of independent factors, the index in `some` of its residual


@dataclass(frozen=True)
class DistinctFactors:
    """The factors that are used in fits.

    Attributes
    ----------
    alike : array, d
        For every factor, the first factor that is equivalent to it: each determines the other. Equivalent factors have
        the same purity.
    free : array
        Factors that determine all others, each the first of its equivalents. Fits with several factors use these, so
        that no impossible combination of factors is predicted. Fits with one factor use all distinct factors.
    """

    alike: NDArray[np.intp]
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
    """The response of every code to the factors.

    Attributes
    ----------
    model, factor : array, m
        Index in `MODELS` of the model that was kept; and the factor of models of one factor, -1 for other models.
    purity : array, m x d
        First-order Sobol indices; 0 for uninformative codes.
    explained : array, m
        Out-of-fold R2 of the best model.
    informative : array of bool, m
        Whether any model predicts the code significantly better than chance.
    signal : array, m
        Share of the code's variance that the factors explain when they are set independently; the rest is noise.
    do_codes, do_signal : array, rows x m
        The codes for independently set factors, with noise and without. For a model of one factor, both are observed
        codes, with noise.
    """

    model: NDArray[np.intp]
    factor: NDArray[np.intp]
    purity: FloatArray
    explained: FloatArray
    informative: NDArray[np.bool_]
    signal: FloatArray
    do_codes: FloatArray
    do_signal: FloatArray

    @property
    def unmixed(self) -> FloatArray:
        """Purity (m x d) of the part of each code that the factors explain, so that only mixing lowers it."""
        return np.clip(self.purity / np.maximum(self.signal, TINY)[:, None], 0.0, 1.0)

    def replaced(self, other: Responses, those: NDArray[np.bool_]) -> Responses:
        """These responses, with the selected codes replaced by those of ``other``."""
        merged = {}
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            along = (slice(None), those) if entry.name in ("do_codes", "do_signal") else those
            merged[entry.name] = mine.copy()
            merged[entry.name][along] = theirs[along]
        return Responses(**merged)


@memoised(on="factors")
def distinct_factors(evidence: Evidence) -> DistinctFactors:
    """Which of the factors that vary determine each other, and which determine all others."""
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    known = factor_constraints(evidence)
    alike = known.alike(names)
    return DistinctFactors(alike, np.unique(alike[known.free(names)]))


@memoised(on="both")
def response_rows(evidence: Evidence, seed: int) -> ResponseRows:
    """At most 1,000 rows, and for each of them an independently drawn row for every factor.

    Of a few draws for a factor, the one that correlates least with the previous factors is used, because a correlation
    by chance would count as mixing.
    """
    factors, rng = factor_bases(evidence), random_stream(seed, "rows of responses")
    some = np.sort(rng.permutation(evidence.n_rows)[:MOST_ROWS])
    do: list[NDArray[np.intp]] = []
    before = np.empty((some.size, 0))
    for factor in factors:
        draws = [rng.permutation(evidence.n_rows)[:MOST_ROWS] for _ in range(DRAWS)]
        shared = [np.abs(before.T @ factor.linear[draw]).max(initial=0.0) for draw in draws]
        do.append(draws[int(np.argmin(shared))])
        before = np.hstack([before, factor.linear[do[-1]]])
    return ResponseRows(some, np.column_stack(do), rng.permutation(some.size))


@memoised(on="both")
def responses_to_factors(evidence: Evidence, n_folds: int, seed: int) -> tuple[Responses, FloatArray]:
    """Responses of the live codes to the factors that vary, and the codes on the scale on which they were analysed.

    Codes are analysed as normal scores of their ranks. If a factor has levels or clusters, codes are also analysed on
    their own scale, because ranks spread out values that lie close together. The analysis that explains more of a code
    is used.
    """
    factors, codes, which = factor_bases(evidence), code_scores(evidence), distinct_factors(evidence)
    fold, rows = fold_of_rows(evidence, n_folds, seed), response_rows(evidence, seed)

    def of(columns: FloatArray) -> Responses:
        return responses(factors, which, columns, fold, rows, evidence.row_groups)

    found = of(codes)
    if not any_lumps(evidence) or not codes.shape[1]:
        return found, codes
    plain = of(plain_codes(evidence))
    better = plain.explained > found.explained
    return found.replaced(plain, better), np.where(better, plain_codes(evidence), codes)


def responses(
    factors: tuple[FactorBases, ...],
    which: DistinctFactors,
    codes: FloatArray,
    fold: Folds,
    rows: ResponseRows,
    row_groups: NDArray[np.intp] | None,
) -> Responses:
    """Responses of all codes (n x m)."""
    distinct, free = which.distinct, which.free
    n_codes = codes.shape[1]
    blocks = [
        _simple_responses(factors, which, codes[:, start : start + MOST_CODES_AT_ONCE], fold, rows, row_groups)
        for start in range(0, max(n_codes, 1), MOST_CODES_AT_ONCE)
    ]
    found = {name: np.concatenate([block[name] for block in blocks], axis=-1) for name in blocks[0]}
    variances = codes.var(axis=0)
    found["explained"] = 1 - found["loss"] / variances
    unclear = np.flatnonzero(found["explained"] < 1 - NEGLIGIBLE) if free.size > 1 else np.empty(0, dtype=np.intp)
    luck = 2 * np.log(max(n_codes, 1) * len(factors) * len(MODELS) / LUCK)  # number of rows times the R2 of noise
    informative = found["explained"] > luck / len(codes)
    if unclear.size:
        fit = interaction_fit([factors[j] for j in free], codes[:, unclear], fold, rows.some, rows.do[:, free])
        r2 = _take_over(found, fit, unclear, which, rows, row_groups)
        informative[unclear] |= r2 > luck / len(fit.codes)
        found["explained"][unclear] = np.maximum(found["explained"][unclear], r2)
    purity = np.where(informative, np.clip(found["shares"], 0.0, 1.0), 0.0).T
    place = np.searchsorted(distinct, which.alike)
    return Responses(
        model=found["model"],
        factor=np.where(found["model"] <= JUMPS, distinct[found["factor"]], -1),
        purity=purity[:, place],
        explained=found["explained"],
        informative=informative,
        signal=np.clip(found["signal"], 0.0, 1.0),
        do_codes=found["do"],
        do_signal=found["do_signal"],
    )


def _simple_responses(
    factors: tuple[FactorBases, ...],
    which: DistinctFactors,
    codes: FloatArray,
    fold: Folds,
    rows: ResponseRows,
    row_groups: NDArray[np.intp] | None,
) -> dict[str, NDArray[np.generic]]:
    """The four models without kernels, for a block of codes; the last axis of all arrays is that of the codes."""
    m, distinct, free = codes.shape[1], which.distinct, which.free
    fits, used, noise = _one_factor_fits([factors[j] for j in distinct], codes, fold)
    designs = {LINEAR: [factors[j].linear for j in free], ADDITIVE: [factors[j].additive for j in free]}
    for design in designs.values() if free.size > 1 else ():
        fits.append(out_of_fold_least_squares(np.hstack(design), codes, fold))
    model = _smallest_sufficient([np.square(codes - fit) for fit in fits], codes.var(axis=0), ALLOWED, row_groups)
    losses = np.array([np.square(codes - fit).mean(axis=0) for fit in fits])
    residual = codes - np.choose(model, fits)
    kept = losses[model, np.arange(m)]
    factor = used[np.minimum(model, JUMPS), np.arange(m)]
    shares, signal = np.zeros((distinct.size, m)), np.zeros(m)
    do, do_signal = np.empty((2, rows.some.size, m))
    left = np.where(model == JUMPS, np.minimum(noise, kept), kept)
    for kind, design in designs.items():
        those = np.flatnonzero(model == kind)
        if those.size:
            parts = _parts(design, codes[:, those])
            spread = parts.var(axis=1)
            shares[np.ix_(which.places_of_free, those)] = spread / (spread.sum(axis=0) + kept[those])
            signal[those] = spread.sum(axis=0) / (spread.sum(axis=0) + kept[those])
            moved = [part[rows.do[:, j]] for part, j in zip(parts, free, strict=True)]
            do_signal[:, those] = np.sum(moved, axis=0)
            do[:, those] = do_signal[:, those] + residual[rows.some][np.ix_(rows.residual, those)]
            # on observed data a correlated factor adds little, so the variances for independent factors decide
            of_one = spread.max(axis=0) >= (1 - OF_OTHERS) * spread.sum(axis=0)
            model[those[of_one]] = SMOOTH
            factor[those[of_one]] = which.places_of_free[spread.argmax(axis=0)[of_one]]
    alone = np.flatnonzero(model <= JUMPS)
    shares[:, alone] = 0.0
    shares[factor[alone], alone] = signal[alone] = 1 - left[alone] / codes[:, alone].var(axis=0)
    # a code that depends on one factor alone keeps its observed value when the other factors are changed
    do[:, alone] = do_signal[:, alone] = codes[rows.do[:, distinct[factor[alone]]], alone]
    return {
        "model": model, "factor": factor, "shares": shares, "signal": signal, "do": do, "do_signal": do_signal,
        "loss": losses.min(axis=0), "residual": residual[rows.some],
    }  # fmt: skip


def _one_factor_fits(
    factors: list[FactorBases], codes: FloatArray, fold: Folds
) -> tuple[list[FloatArray], NDArray[np.intp], FloatArray]:
    """Best smooth function and best function with jumps of one factor for each code: fits, factors, noise variances."""
    fits = [np.zeros(codes.shape), np.zeros(codes.shape)]
    least = np.full((2, codes.shape[1]), np.inf)
    used = np.zeros(least.shape, dtype=np.intp)
    noise = np.zeros(codes.shape[1])
    for j, factor in enumerate(factors):
        local = local_fit(factor, codes, fold)
        smooth = out_of_fold_least_squares(factor.smooth, codes, fold)
        for kind, fit in ((SMOOTH, smooth), (JUMPS, local.of_three), (JUMPS, local.of_many)):
            loss = np.square(codes - fit).mean(axis=0)
            better = loss < least[kind]
            least[kind, better], used[kind, better] = loss[better], j
            fits[kind][:, better] = fit[:, better]
            if kind == JUMPS:
                noise[better] = local.noise[better]
    return fits, used, noise


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


def _take_over(
    found: dict[str, NDArray[np.generic]],
    fit: InteractionFit,
    those: NDArray[np.intp],
    which: DistinctFactors,
    rows: ResponseRows,
    row_groups: NDArray[np.intp] | None,
) -> FloatArray:
    """Replace simple models where interactions predict held-out rows better; return the best R2 with interactions."""
    groups = None if row_groups is None else row_groups[rows.some][fit.places]
    simple = np.square(found["residual"][np.ix_(fit.places, those)])
    errors = [simple, *(np.square(fit.codes - fitted) for fitted in fit.fitted)]
    losses = np.array([error.mean(axis=0) for error in errors])
    variances = fit.codes.var(axis=0)
    model = _smallest_sufficient(errors, variances, [ALLOWED[LINEAR]] * len(errors), groups)
    for kind in (1, 2):
        taken = np.flatnonzero(model == kind)
        if taken.size:
            shares, moved = fit.do(kind - 1, taken, losses[kind, taken])
            residual = (fit.codes - fit.fitted[kind - 1])[np.ix_(rows.residual % len(fit.codes), taken)]
            found["model"][those[taken]] = (PAIRS, JOINT)[kind - 1]
            found["shares"][:, those[taken]] = 0.0
            found["shares"][np.ix_(which.places_of_free, those[taken])] = shares
            found["signal"][those[taken]] = moved.var(axis=0) / (moved.var(axis=0) + losses[kind, taken])
            found["do_signal"][:, those[taken]] = moved
            found["do"][:, those[taken]] = moved + residual
    return np.asarray(1 - losses[1:].min(axis=0) / np.where(variances > 0, variances, 1.0))
