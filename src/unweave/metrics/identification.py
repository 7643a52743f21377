"""`identification`: does every factor have codes of its own, beyond what a random mixing gives?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from unweave.arrays import FloatArray
from unweave.card import metric, seed_from
from unweave.estimators.correlation import uniform_scores
from unweave.estimators.probes import Folds, out_of_fold_kernel_ridge, out_of_fold_least_squares
from unweave.estimators.regression import natural_spline
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import CHOSEN, PURITY, varying
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import (
    FactorBases,
    factor_bases,
    fold_of_rows,
    live_codes,
    narrow_codes,
    varying_places,
)
from unweave.responses.responses import (
    JUMPS,
    OF_OTHERS,
    ResponseRows,
    Responses,
    distinct_factors,
    response_rows,
    responses_to_factors,
)
from unweave.score import Score

FUNCTIONS = 8

FEW_VALUES = 12

SHARED = 0.02  # a value that more than this share of the rows have is given an indicator

MOST_SHARED = 8

PENALTIES = (1e-6, 1e-3, 1e-1)

NEAREST = 15

FEW_NEAREST = (3, 5)

NEARLY_ALL = 0.9995


def readouts(codes: FloatArray, scales: tuple[FloatArray, ...], fold: Folds, lengths: list[int]) -> FloatArray:
    """Held-out R2 of a factor from the first k codes, for every k in ``lengths``.

    ``scales`` are alternative encodings of the factor as columns. The result is the largest R2 over regressions and
    scales.

    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(-3, 3, size=(300, 1))
    >>> r2 = readouts(np.hstack([np.sin(angle), np.cos(angle)]), (angle,), np.arange(300) % 5, [1, 2])
    >>> bool(r2[0] < 0.9 < 0.99 < r2[1])
    True
    """
    n = len(codes)
    spreads = [float(np.square(scale - scale.mean(axis=0)).sum()) for scale in scales]
    stops = np.cumsum([scale.shape[1] for scale in scales])[:-1]
    targets = np.hstack(scales)
    places = uniform_scores(codes).astype(np.float32)
    distance = np.empty((0, 0), dtype=np.float32)
    n_placed = 0

    def best_scale(predicted: FloatArray) -> float:
        errors = np.split(np.square(targets - predicted), stops, axis=1)
        return max(1 - float(error.sum()) / spread for error, spread in zip(errors, spreads, strict=True))

    functions: list[FloatArray] = []
    r2 = []
    for length in lengths:
        functions += [_functions_of(codes[:, i]) for i in range(len(functions), length)]
        design = np.hstack(functions)
        found = []
        for penalty in PENALTIES if 2 * design.shape[1] < n else PENALTIES[1:]:
            found.append(best_scale(out_of_fold_least_squares(design, targets, fold, penalty)))
            if found[-1] > NEARLY_ALL:
                break
        if max(found) <= NEARLY_ALL:
            if not n_placed:
                distance = np.where(fold[:, None] == fold, np.float32(np.inf), np.float32(0))
            for i in range(n_placed, length):
                distance += np.square(places[:, i, None] - places[:, i])
            n_placed = length
            found += [best_scale(guess) for guess in _of_neighbours(distance, targets)]
        r2.append(max(found))
    return np.array(r2)


def _functions_of(code: FloatArray) -> FloatArray:
    """Smooth functions of a code, and indicators of the values that many rows share, with mean 0 and variance 1."""
    values, counts = np.unique(code, return_counts=True)
    shared = values if values.size <= FEW_VALUES else values[counts > max(SHARED * code.size, 5)][:MOST_SHARED]
    steps = (code[:, None] == shared).astype(np.float64)
    columns = steps if values.size <= FEW_VALUES else np.hstack([natural_spline(code, FUNCTIONS), steps])
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    return np.asarray(columns[:, spread > 1e-9] / spread[spread > 1e-9])


def _of_neighbours(distance: NDArray[np.float32], targets: FloatArray) -> list[FloatArray]:
    """Predictions by the median of the 3 nearest rows, which preserves jumps, and by the means of 5 and of 15 rows."""
    n_near = min(NEAREST, int(np.isfinite(distance).sum(axis=1).min()))
    if n_near < FEW_NEAREST[0]:
        return []
    near = np.argpartition(distance, n_near - 1, axis=1)[:, :n_near]
    near = np.take_along_axis(near, np.take_along_axis(distance, near, axis=1).argsort(axis=1, kind="stable"), axis=1)
    values = targets[near]
    few, some = FEW_NEAREST
    return [np.median(values[:, :few], axis=1), values[:, :some].mean(axis=1), values.mean(axis=1)]


PURE_ENOUGH = 0.55  # above one half; at one half, a rotation by 45 degrees would have two codes for each factor

MOST_CODES = 128

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64, 96)

NOTHING = 1e-6

RIDGE = 1e-6


@dataclass(frozen=True)
class Recovery:
    """Recovery of every factor, and the codes from which it is predicted.

    Attributes
    ----------
    recovered : array, d
        s of the codes as given.
    unmixed : array, d
        s of the codes without their noise.
    read : array, d
        Held-out R2 of the factor from the chosen codes.
    alone : array of bool, d
        Whether the chosen codes depend on this factor alone.
    chosen : tuple of arrays
        Indices of the codes from which each factor is predicted.
    """

    recovered: FloatArray
    unmixed: FloatArray
    read: FloatArray
    alone: NDArray[np.bool_]
    chosen: tuple[NDArray[np.intp], ...]


def recovery(
    factors: tuple[FactorBases, ...],
    alike: NDArray[np.intp],
    codes: FloatArray,
    found: Responses,
    fold: Folds,
    rows: ResponseRows,
    worth: Callable[[FloatArray, FloatArray], FloatArray],
) -> Recovery:
    """Recovery of every factor; ``codes`` contains only the rows ``rows.some``.

    ``worth`` is a function of s and of s without noise; for each factor, the number of codes k that maximises it is
    chosen.
    """
    recovered, without_noise, read = np.zeros((3, len(factors)))
    alone = np.zeros(len(factors), dtype=bool)
    chosen: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * len(factors)
    unmixed = found.unmixed
    for j, factor in enumerate(factors):
        order = np.argsort(-found.purity[:, j], kind="stable")
        if found.purity[order[:1], j].max(initial=0.0) <= NOTHING:
            continue
        follows = found.factor >= 0
        follows[follows] = alike[found.factor[follows]] == alike[j]
        counts = unmixed[:, j] >= PURE_ENOUGH
        counts[order[0]] = True
        pure, order = order[(counts & follows)[order]][:MOST_CODES], order[counts[order]][:MOST_CODES]
        on_data, on_do = _lengths(pure.size), [] if follows[order].all() else _lengths(order.size)
        some, moved = (tuple(s[at] for s in factor.scales) for at in (rows.some, rows.do[:, j]))
        r2 = np.concatenate([
            readouts(codes[:, pure], some, fold[rows.some], on_data),
            _linear_readouts(found.do_codes[:, order], moved, fold[rows.some], on_do),
        ])  # fmt: skip
        signal = _linear_readouts(found.do_signal[:, order], moved, fold[rows.some], on_do)
        first = [*(pure[:n] for n in on_data), *(order[:n] for n in on_do)]
        graded = np.sqrt([found.purity[used, j].min() for used in first] * np.clip(r2, 0.0, 1.0))
        # codes of this factor alone are unmixed by definition, even if they are noisy or folded
        mixed = np.sqrt([unmixed[used, j].min() for used in first[len(on_data) :]] * np.clip(signal, 0.0, 1.0))
        clean = np.concatenate([np.ones(len(on_data)), mixed])
        best = int(worth(graded, clean).argmax())
        recovered[j], without_noise[j], read[j] = graded[best], clean[best], r2[best]
        alone[j], chosen[j] = best < len(on_data), first[best]
    return Recovery(recovered, without_noise, read, alone, tuple(chosen))


def _linear_readouts(codes: FloatArray, scales: tuple[FloatArray, ...], fold: Folds, lengths: list[int]) -> FloatArray:
    """Held-out R2 of a factor from the first k codes by linear regression, on its best scale, for k in ``lengths``."""
    spreads = [float(np.square(scale - scale.mean(axis=0)).sum()) for scale in scales]
    stops = np.cumsum([scale.shape[1] for scale in scales])[:-1]
    targets = np.hstack(scales)
    spread = codes.std(axis=0)
    codes = codes / np.where(spread > 0, spread, 1.0)
    found = []
    for length in lengths:
        left = np.square(targets - out_of_fold_least_squares(codes[:, :length], targets, fold, RIDGE))
        errors = np.split(left, stops, axis=1)
        found.append(max(1 - float(error.sum()) / total for error, total in zip(errors, spreads, strict=True)))
    return np.array(found)


def _lengths(n: int) -> list[int]:
    """The numbers of codes k to try out of n; the last one is n."""
    return [*(length for length in LENGTHS if length < n), n] if n else []


MOST_DRAWS, FEWEST_DRAWS = 8000, 40

MOST_NUMBERS = 4_000_000

STEP = 1.3  # above 2 d codes, the level is interpolated between numbers of codes with this ratio

QUANTILE = 0.9

HIGHEST_QUANTILE = 1 - 1e-4

HIGHEST_FOR_NOISE = 0.75

LEAK, LOWEST = 0.1, -4.0  # slope of t below 0, and where it ends, so that stronger mixings rank lower

PRESENT = 0.2  # below this recovery a factor counts increasingly as absent (0) instead of mixed (negative)

COPIES = (0.98, 0.999)  # two codes are distinct below the first squared correlation, and copies above the second


@dataclass(frozen=True)
class Luck:
    """Chance level of recovery for random mixings with a given number of codes and factors.

    Attributes
    ----------
    quantile : float
        q, the upper decile of the recovery s of a factor.
    passing : float
        Share of factors for which a random mixing has a code so pure that it counts as a code of one factor.
    """

    quantile: float
    passing: float

    def beyond(self, recovered: FloatArray, unmixed: FloatArray) -> FloatArray:
        """Recovery relative to the chance level (t): -.4 for fully mixed factors, 0 for absent ones, at most 1.

        ``recovered`` is s of every factor, ``unmixed`` is s without the noise of the codes.

        >>> Luck(0.8, 0.0).beyond(np.array([1.0, 0.9, 0.9, 0.0]), np.array([1.0, 0.9, 1.0, 0.0])).round(2).tolist()
        [1.0, 0.5, 0.6, -0.0]
        """
        noiseless = np.divide(recovered, unmixed, out=np.zeros_like(unmixed), where=unmixed > 0)
        lost_to_noise = (1 - np.minimum(noiseless, 1.0)) / (1 - min(self.quantile, HIGHEST_FOR_NOISE))
        height = 1 - (1 - unmixed) / (1 - self.quantile) - lost_to_noise
        below = LEAK * np.maximum(height, LOWEST) * np.minimum(recovered / PRESENT, 1.0)
        return np.where(height > 0, height, below)

    def between(self, other: Luck, share: float) -> Luck:
        """Interpolate linearly between two chance levels; ``share`` is the weight of the other one."""
        mine, theirs = (np.array([each.quantile, each.passing]) for each in (self, other))
        return Luck(*((1 - share) * mine + share * theirs).tolist())


NO_LUCK = Luck(0.0, 0.0)


def share_identified(heights: FloatArray) -> float:
    """Share of the factors that is identified, from the recovery t of every factor relative to chance.

    The share is the mean of the positive t. If these add up to less than one factor, as they may by chance for a random
    mixing, negative t reduce the share. If no t is positive, the share is negative, and stronger mixings rank lower.

    >>> share_identified(np.array([1.0, -0.4, -0.4, 0.0])), round(share_identified(np.array([0.5, -0.4])), 2)
    (0.25, 0.15)
    """
    found, mixed = np.maximum(heights, 0.0), np.minimum(heights, 0.0)
    return float(found.mean() + mixed.mean() * max(0.0, 1.0 - found.sum()))


def luck(n_codes: float, n_factors: int) -> Luck:
    """Chance level for this many codes and factors, interpolated if ``n_codes`` is not an integer; 0 for one factor.

    >>> round(luck(2, 2).quantile, 2), round(luck(2, 2).passing, 2)
    (0.99, 0.04)
    """
    if n_factors < 2:
        return NO_LUCK
    n_codes = max(n_codes, 1.0)
    if n_codes <= 2 * n_factors:
        low, share = int(n_codes), n_codes - int(n_codes)
        high = low + 1
    else:
        step = int(np.log(n_codes / (2 * n_factors)) / np.log(STEP))
        low, high = (round(2 * n_factors * STEP**k) for k in (step, step + 1))
        share = float(np.clip(np.log(n_codes / low) / np.log(high / low), 0.0, 1.0))
    level = _luck_of_mixings(low, n_factors)
    return level if share == 0 else level.between(_luck_of_mixings(high, n_factors), share)


@cache
def _luck_of_mixings(n_codes: int, n_factors: int) -> Luck:
    larger = max(n_codes, n_factors)
    n_draws = int(np.clip(MOST_NUMBERS // (larger * n_factors), FEWEST_DRAWS, MOST_DRAWS))
    rng = random_stream(0, "mixings by chance")
    mixings = np.linalg.qr(rng.normal(size=(n_draws, larger, n_factors)))[0][:, :n_codes]
    recovered = recovery_of_mixings(mixings)
    pure = np.square(mixings / np.linalg.norm(mixings, axis=2, keepdims=True)).max(axis=1) >= 1 - OF_OTHERS
    recovered = np.where(pure, 1.0, recovered)
    return Luck(min(float(np.quantile(recovered, QUANTILE)), HIGHEST_QUANTILE), float(pure.mean()))


def recovery_of_mixings(mixings: FloatArray) -> FloatArray:
    """Recovery s of every factor (b x d) for b linear mixings (b x m x d) of independent factors.

    >>> recovery_of_mixings(np.array([[[0.6, 0.8], [-0.8, 0.6]]])).round(2).tolist()
    [[0.64, 0.64]]
    """
    n_draws, n_codes, n_factors = mixings.shape
    directions = mixings / np.linalg.norm(mixings, axis=2, keepdims=True)
    purity = np.square(directions)
    order = np.argsort(-purity, axis=1)
    spanned = np.zeros((n_draws, n_factors, 0, n_factors))
    read, best = np.zeros((2, n_draws, n_factors))
    for k in range(n_codes):
        lowest = np.take_along_axis(purity, order[:, k, None], axis=1)[:, 0]
        counts: NDArray[np.bool_] = (lowest >= PURE_ENOUGH) | (k == 0)
        if not (counts & (read < 1 - 1e-9)).any():
            break
        new = np.take_along_axis(directions, order[:, k, :, None], axis=1)
        for _ in range(2):  # Gram-Schmidt twice, because one pass loses orthogonality by rounding
            new = new - np.einsum("bjpk,bjp->bjk", spanned, np.einsum("bjpk,bjk->bjp", spanned, new))
        length = np.linalg.norm(new, axis=2, keepdims=True)
        new = np.divide(new, length, out=np.zeros_like(new), where=length > 1e-8)
        spanned = np.concatenate([spanned, new[:, :, None]], axis=2)
        read = np.minimum(read + np.square(np.einsum("bjj->bj", new)), 1.0)
        best = np.maximum(best, np.where(counts, np.sqrt(lowest * read), 0.0))
    return best


def n_distinct(do_codes: FloatArray, factor: NDArray[np.intp]) -> float:
    """Number of distinct directions among informative codes, the columns of ``do_codes``.

    Two codes count as one direction if they are copies up to monotone maps, that is, if they are almost perfectly
    correlated when all factors are set independently, or if both depend on the same factor alone, such as its sine and
    cosine. ``factor`` is the factor of each such code, and -1 for codes that mix factors.

    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> n_distinct(z[:, [0, 1, 1]], np.array([0, 1, 1]))
    2.0
    """
    if not do_codes.shape[1]:
        return 0.0
    centred = do_codes - do_codes.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    centred /= np.where(norms > 0, norms, 1.0)
    likeness = np.square(centred.T @ centred)
    likeness[(factor[:, None] == factor) & (factor >= 0)] = 1.0
    low, high = COPIES
    same = np.clip((likeness - low) / (high - low), 0.0, 1.0)
    np.fill_diagonal(same, 1.0)
    return float((1 / same.sum(axis=1)).sum())


AFFINE_PENALTIES = (1e-6, 1e-3, 1e-1, 10.0)

FAR = 0.99


@dataclass(frozen=True)
class Findings:
    """Results for the codes and factors that are not constant.

    Attributes
    ----------
    identified : array, d
        Recovery of each factor relative to chance: 1 is perfect, 0 is the chance level, and strong mixings reach -.4.
    free : array
        Indices of a smallest set of factors that determines all others. Among several, it is the best recovered set.
    n_distinct : float
        Number of distinct directions among the codes that depend on any factor.
    chosen : array, m x d
        1 for the codes from which a factor is predicted, and 0 for all others.
    affine : array, d
        Held-out R2 of each factor from all codes, or from the chosen codes if that is larger.
    outside : float
        Share of the do-sample (factors drawn independently) that lies outside the data.
    """

    responses: Responses
    recovery: Recovery
    luck: Luck
    identified: FloatArray
    free: NDArray[np.intp]
    n_distinct: float
    chosen: FloatArray
    affine: FloatArray
    outside: float


@memoised(on="both")
def findings(evidence: Evidence, n_folds: int, seed: int) -> Findings:
    """Compute the responses of the codes, the chance level, the recovery of the factors, and the free factors."""
    factors, which = factor_bases(evidence), distinct_factors(evidence)
    fold, rows = fold_of_rows(evidence, n_folds, seed), response_rows(evidence, seed)
    found, codes = responses_to_factors(evidence, n_folds, seed)
    known = np.flatnonzero(found.informative)
    n_codes = n_distinct(found.do_codes[:, known], found.factor[known])
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    constraints = factor_constraints(evidence)
    by_luck = luck(n_codes, len(constraints.free(names)))

    recovered = recovery(factors, which.alike, codes[rows.some], found, fold, rows, by_luck.beyond)
    identified = by_luck.beyond(recovered.recovered, recovered.unmixed)
    chosen = np.zeros((codes.shape[1], len(factors)))
    for j, used in enumerate(recovered.chosen):
        chosen[used, j] = 1.0
    affine = _affine_recovery(factors, codes[np.ix_(rows.some, known)], fold[rows.some], rows.some)
    return Findings(
        responses=found,
        recovery=recovered,
        luck=by_luck,
        identified=identified,
        free=np.array(constraints.free(names, np.maximum(identified, 0.0)), dtype=np.intp),
        n_distinct=n_codes,
        chosen=chosen,
        affine=np.maximum(affine, recovered.read),
        outside=_share_outside([factors[j] for j in which.free], rows, which.free),
    )


def _affine_recovery(factors: tuple[FactorBases, ...], codes: FloatArray, fold: Folds, some: Folds) -> FloatArray:
    """Held-out R2 of every factor from all informative codes by linear regression, which is not affected by mixing."""
    r2 = np.zeros(len(factors))
    if codes.shape[1]:
        blocks = [factor.scales[0][some] for factor in factors]
        stops = np.cumsum([block.shape[1] for block in blocks])[:-1]
        targets = np.hstack(blocks)
        spread = [block.sum() for block in np.split(np.square(targets - targets.mean(axis=0)), stops, axis=1)]
        kernel = codes @ codes.T / codes.shape[1]
        for fit in out_of_fold_kernel_ridge(kernel, targets, fold, AFFINE_PENALTIES):
            errors = [block.sum() for block in np.split(np.square(targets - fit), stops, axis=1)]
            r2 = np.maximum(r2, 1 - np.divide(errors, spread))
    return r2


def _share_outside(factors: list[FactorBases], rows: ResponseRows, places: NDArray[np.intp]) -> float:
    """Share of the do-sample that is further from the data than 99 % of the data are from their nearest neighbour."""
    data = np.hstack([factor.kernel[rows.some] for factor in factors])
    moved = np.hstack([factor.kernel[rows.do[:, j]] for factor, j in zip(factors, places, strict=True)])
    tree = cKDTree(data)
    usual = np.quantile(tree.query(data, k=2)[0][:, 1], FAR)
    return float((tree.query(moved)[0] > usual + 1e-9).mean())


IDENTIFIED, PARTLY = 0.8, 0.1

ABSENT = 0.1  # a factor is absent if its R2 from all codes and its share in the purest code are both below this

MIXED_IN = 0.1  # smallest share of a code for which another factor is named


def factor_findings(evidence: Evidence, found: Findings) -> tuple[Finding, ...]:
    """One finding for every factor that is not constant, in the order of the factors."""
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    return tuple(_of_factor(evidence, found, j, names) for j in range(len(names)))


def _of_factor(evidence: Evidence, found: Findings, j: int, names: list[str]) -> Finding:
    share = max(0.0, float(found.identified[j]))
    used = found.recovery.chosen[j]
    codes = [evidence.code_names[i] for i in live_codes(evidence)[used]]
    if share >= IDENTIFIED:
        return Finding("factor_identified", factors=(names[j],), codes=codes, share=share)
    if j not in found.free:
        return Finding("factor_determined", factors=(names[j],))
    reason, others = _reason(found, j)
    if reason == "absent":
        codes = []
    concerned = (names[j], *(names[k] for k in others))
    if share >= PARTLY:
        return Finding("factor_partly_identified", factors=concerned, codes=codes, share=share, reason=reason)
    return Finding("factor_not_identified", factors=concerned, codes=codes, share=share, reason=reason)


def _reason(found: Findings, j: int) -> tuple[str, list[int]]:
    """The main reason why factor j is not identified, and the factors with which it is mixed."""
    used = found.recovery.chosen[j]
    purest = found.responses.purity[used[0], j] if used.size else 0.0
    if max(found.affine[j], purest) < ABSENT:
        return "absent", []
    if not used.size:
        return "mixed", []
    best = int(used[0])
    noise = 1 - found.responses.signal[best]
    mixing = 0.0 if found.recovery.alone[j] else 1 - found.responses.unmixed[best, j]
    folding = max(found.responses.purity[best, j] - found.recovery.read[j], 0.0) if found.recovery.alone[j] else 0.0
    losses = {"mixed": mixing, "noisy": noise, "folded": folding}
    reason = max(losses, key=lambda name: losses[name])
    if reason != "mixed":
        return reason, []
    shares = found.responses.unmixed[best]
    others = [k for k in np.argsort(-shares, kind="stable").tolist() if k != j and k in found.free]
    return reason, [k for k in others if shares[k] >= MIXED_IN]


MUCH_OUTSIDE = 0.1

KNOWS_NOTHING = -1

MOST_PASSING = 0.07  # largest share of factors for which random mixings may have codes that look pure


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    min_rows=30,
    chance=0.0,
    version=5,
    cost="n m d (about 30 fitted functions per factor), and kernel fits to 500 rows that all codes share",
    fails_when=(
        "codes mix factors that are so dependent in the data that their separate effects must be extrapolated, or a "
        "code depends on several factors jointly in a way that 500 rows do not show"
    ),
    reference="ours (docs/identification.md), after Joshi et al., 'Who Guards the Guardians?' (003), section 3",
    raw_range="down to -.4 for codes that mix all factors more than most random mixings do",
    identity_tolerance=0.01,
    order_tolerance=0.03,
)
def identification(
    evidence: Evidence,
    *,
    n_folds: int = 5,
    rng: int | np.random.Generator | None = 0,
) -> Score:
    """Share of the free factors recovered by codes that depend on no other factor, corrected for chance.

    1 means that every free factor is recovered from codes that are functions of it alone. Copies of codes, several
    codes for one factor, and further codes that are noise or mixtures do not change the score. Each of d free factors
    that is missing costs 1 / d. Noise costs in proportion to its share of the code's variance. Mixing costs in
    proportion to its strength, and a mixing at the upper decile of random mixings scores 0. Most random mixings
    therefore score about 0; a few score higher because they happen to lie near the axes. Noise scores 0. Dependence
    between factors does not change the score, and a factor that other factors determine need not be encoded. With many
    codes and few factors, random mixings can look pure; the score is then nan, with a caveat.

    ``findings`` describe for every factor whether it is identified, partly or not, by which codes, and otherwise why
    not: it is absent, mixed with other factors, noisy or folded. ``per_factor`` has the score of every factor, and
    ``parts`` the steps: ``purity_matrix``, ``chosen_matrix`` (the codes from which a factor is predicted),
    ``free_factors`` (0 or 1 for each), ``recovery`` and ``unmixed_recovery`` (with the noise of the codes and without),
    ``effective_dimension`` (the number of free factors), ``luck_level`` (the recovery at which the score is 0),
    ``distinct_codes``, ``affine_recovery`` (held-out R2 of each factor from all codes, or from the chosen ones if that
    is larger; 1 for a lossless rotation) and ``model_per_code`` (0 one factor, 1 one factor with jumps, 2 linear, 3
    additive, 4 pairs, 5 joint, -1 for a code that depends on no factor).

    Parameters
    ----------
    n_folds : int
        Number of folds of the cross-fitting: every fit predicts only held-out rows.
    rng : int or Generator
        Seed of the folds, of the do-sample (factors drawn independently), and of the rows (at most 1,000) that readouts
        and kernels use.

    Notes
    -----
    identification: the share of the free factors that are recovered by codes that depend on no other factor.

        value = mean over free factors of max(t_j, 0)
        t_j = 1 - (1 - u_j) / (1 - q) - (1 - s_j / u_j) / (1 - min(q, .75))

    with s_j the recovery of factor j from codes that depend on it alone (`recovery`), u_j the same without the noise of
    the codes, and q the upper decile of u over random mixings with as many codes and factors (`chance`). Below 0, t_j
    has a tenth of that slope, and counts only if the positive t_j add up to less than one factor (`share_identified`).
    If every code depends on one factor, u_j = 1, and only noise and folds reduce the score. The free factors are a
    smallest set that determines all others. Values are replaced by ranks; if factors have levels or clusters of values,
    codes are also used without ranks. Derivation and limits: docs/identification.md. The metric answers the open
    problem of 003, in which no metric has all four desired properties.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(float(identification(factors, np.exp(factors[:, ::-1]))), 2)
    1.0
    >>> turned = factors[:, :2] @ [[0.8, 0.6], [-0.6, 0.8]]
    >>> score = identification(factors[:, :2], turned)
    >>> float(score), score.parts["affine_recovery"].round(1).tolist()
    (0.0, [1.0, 1.0])
    """
    seed = seed_from(rng)
    found = findings(evidence, n_folds, seed)
    known = found.responses.informative
    is_free = np.isin(np.arange(found.identified.size), found.free).astype(np.float64)
    purity = _as_given(evidence, found.responses.purity)
    # if no factor is found, no code looks pure by chance, so the score is defined
    told = found.luck.passing <= MOST_PASSING or not (found.identified[found.free] > 0).any()
    return Score(
        raw=share_identified(found.identified[found.free]) if told else math.nan,
        per_factor=dict(zip(evidence.factor_names, _per_factor(evidence, found.identified).tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, np.nanmax(purity, axis=1).tolist(), strict=True)),
        parts={
            "purity_matrix": purity,
            "chosen_matrix": _as_given(evidence, found.chosen),
            "free_factors": _per_factor(evidence, is_free),
            "recovery": _per_factor(evidence, found.recovery.recovered),
            "unmixed_recovery": _per_factor(evidence, found.recovery.unmixed),
            "effective_dimension": np.array(float(found.free.size)),
            "luck_level": np.array(found.luck.quantile),
            "distinct_codes": np.array(found.n_distinct),
            "affine_recovery": _per_factor(evidence, found.affine),
            "model_per_code": _per_code(evidence, np.where(known, found.responses.model, KNOWS_NOTHING)),
        },
        matrices=(PURITY, CHOSEN),
        caveats=_caveats(evidence, found, told=told),
        findings=factor_findings(evidence, found),
    )


def _per_factor(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Expand the numbers of the factors that vary to all factors (d), with nan for constant ones."""
    result = np.full(evidence.n_factors, np.nan)
    result[varying(evidence)] = numbers
    return result


def _per_code(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Expand the numbers of the codes that vary to all codes (m), with -1 for constant ones."""
    result = np.full(evidence.n_codes, float(KNOWS_NOTHING))
    result[live_codes(evidence)] = numbers
    return result


def _as_given(evidence: Evidence, matrix: FloatArray) -> FloatArray:
    """Expand the matrix to all codes and factors (m x d), with nan for constant factors and 0 for constant codes."""
    result = np.zeros((evidence.n_codes, evidence.n_factors))
    result[np.ix_(live_codes(evidence), np.flatnonzero(varying(evidence)))] = matrix
    result[:, ~varying(evidence)] = np.nan
    return result


def _caveats(evidence: Evidence, found: Findings, *, told: bool) -> tuple[Finding, ...]:
    known = found.responses.informative
    if not known.any():
        return (Finding("codes_uninformative_here"),)
    narrow = narrow_codes(evidence)
    caveats = [Finding("codes_narrow", codes=narrow)] if narrow else []
    mixed = int((found.responses.model[known] > JUMPS).sum())
    if not told:
        n_codes, n_free, passing = found.n_distinct, found.free.size, found.luck.passing
        caveats.append(Finding("mixing_passes_for_pure", n_codes=n_codes, n_factors=n_free, passing=passing))
    elif mixed and found.outside > MUCH_OUTSIDE:
        caveats.append(Finding("combinations_extrapolated", share=found.outside, n_mixed=mixed))
    return tuple(caveats)
