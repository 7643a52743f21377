"""The steps of the ladder: the quick part, and what completes it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError
from unweave.estimators.correlation import tail_index
from unweave.evidence import Evidence
from unweave.identifiability import readouts as read
from unweave.identifiability.dependence import dependence_gains, family_p_values
from unweave.identifiability.interactions import JointShare, joint_shares
from unweave.identifiability.responses import (
    MOST_FUNCTIONS,
    ROWS_PER_FUNCTION,
    CodeResponses,
    CodeTable,
    FactorTerms,
    Readout,
    ResponseModel,
    Sample,
    block_of,
    code_responses,
    code_table,
    factor_of,
    has_scale,
    no_readout,
    own_axes,
    sample_of,
    scales_of,
    white,
)
from unweave.identifiability.rotations import Axes, Loadings
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import collapsed_codes, varying_places
from unweave.threads import one_thread

ROWS_ANALYSED, MOST_ROWS_OF_MANY_CODES, MANY_CODES = 5_000, 2_000, 1_024

FEWEST_UNITS = 10

PERMUTATIONS = 49

DEPENDENT = 0.02  # squared correlation of two factors above which directions are fitted for independent factors

NONLINEAR_ROWS = 1_000

ROWS_OF_PRODUCTS = 600

ENOUGH_LINEAR = 0.98  # recovery of all factors above which readouts of ranks are not tried

HEAVY_TAIL_INDEX = 2.5  # tail index of a factor below which factors and codes are analysed by their ranks alone

ENOUGH = 0.95  # recovery above which trees are not tried

PRESENT = 0.02  # largest p-value, and smallest recovery, of a factor that is present


_Fitted = tuple[Readout, Callable[[], Readout], FloatArray, Callable[[Rows], FloatArray]]


@dataclass(frozen=True, eq=False)
class Direction:
    """The linear readout of one factor, which is fitted when it is first asked for.

    Attributes
    ----------
    predicted : array, n x q
        Held-out predictions on the rows as they are.
    plain_r2 : float
        Their R2.
    null_r2 : array
        The same for permuted targets.
    fitted : function
        Returns readout, refits, weights and held-out values. A random draw needs none of them for most factors.
    ranked : function
        Returns the recovery by ranks.
    """

    predicted: FloatArray
    plain_r2: float
    null_r2: FloatArray
    fitted: Callable[[], _Fitted]
    ranked: Callable[[], float]

    @property
    def readout(self) -> Readout:
        """Response of held-out predictions to all factors, in the smallest sufficient model."""
        return self.fitted()[0]

    @property
    def interval(self) -> Readout:
        """The same in a model of all factors, with standard errors that include the refits."""
        return self.fitted()[1]()

    @property
    def weights(self) -> FloatArray:
        """Weights (m x q) on the codes as given, from all rows."""
        return self.fitted()[2]

    def held_out(self, rows: Rows) -> FloatArray:
        """Values of the readout (rows x q), each by the fit without the fold of the row."""
        return self.fitted()[3](rows)

    @property
    def rank_r2(self) -> float:
        """Recovery by a linear readout of the normal scores of all codes, or by this one if that is larger."""
        return self.ranked()


@dataclass(frozen=True, eq=False)
class QuickPart:
    """Responses, directions and own codes of the free factors, of which the ladder is made.

    Attributes
    ----------
    names, factors : tuple of d
        All factors that vary.
    free : array
        Indices of the free factors, which ``model`` and the lists have in this order.
    implied : dict of int to (tuple of str, float)
        For every other factor, the factors that determine it, and its held-out R2 from all codes.
    whitening : array, m x m, or None
        Map from the codes as given to the analysed ones, which are uncorrelated inside blocks; None without blocks.
    """

    evidence: Evidence
    seed: int
    sample: Sample
    names: tuple[str, ...]
    factors: tuple[FactorTerms, ...]
    free: Rows
    implied: dict[int, tuple[tuple[str, ...], float]]
    model: ResponseModel
    codes: CodeTable
    responses: CodeResponses
    directions: tuple[Direction, ...]
    own: tuple[read.OwnCodes, ...]
    loadings: Loadings
    axes: Axes
    whitening: FloatArray | None = None


@memoised(on="both")
def quick_part(evidence: Evidence, seed: int) -> QuickPart:
    """Everything but kernels, trees, the test of dependence and the rotations of codes."""
    with one_thread():
        evidence = _few_enough_rows(evidence, seed)
        if not evidence.has_blocks:
            return _quick_part(evidence, seed)
        return replace(_quick_part(_with_white_blocks(evidence), seed), whitening=block_whitening(evidence))


def _with_white_blocks(evidence: Evidence) -> Evidence:
    """The evidence with uncorrelated codes of equal variance in every block, whose basis then does not matter.

    A permutation shares what is computed for its original.
    """
    if evidence.permuted_from is not None:
        original, order = evidence.permuted_from
        return _with_white_blocks(original).permuted(0, order)
    return _white_blocks(evidence)


@memoised(on="codes")
def _white_blocks(evidence: Evidence) -> Evidence:
    return evidence.recoded((evidence.codes - evidence.codes.mean(axis=0)) @ block_whitening(evidence))


@memoised(on="codes")
def block_whitening(evidence: Evidence) -> FloatArray:
    """Map from the codes as given to uncorrelated codes inside every block (m x m); 0 for directions without variance.

    >>> codes = np.random.default_rng(0).normal(size=(50, 2)) @ [[1.0, 2.0], [0.0, 0.1]]
    >>> np.cov(codes @ block_whitening(Evidence(codes=codes, code_groups={"a": [0, 1]})), rowvar=False, ddof=0).round(9)
    array([[1., 0.],
           [0., 1.]])
    """
    whitening = np.eye(evidence.n_codes)
    for members in evidence.code_units.values():
        if members.size > 1:
            block = evidence.codes[:, members] - evidence.codes[:, members].mean(axis=0)
            scale = np.abs(block).max(axis=0)
            scale = np.where(scale > 0, scale, 1.0)
            _, sizes, right = np.linalg.svd(block / scale, full_matrices=False)
            sizes = sizes / np.sqrt(evidence.n_rows)
            inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 1e-8 * sizes[0])
            own = right.T * inverse / scale[:, None]
            whitening[np.ix_(members, members)] = 0.0
            whitening[np.ix_(members, members[: sizes.size])] = own @ own_axes(block @ own)
    return whitening


def _few_enough_rows(evidence: Evidence, seed: int) -> Evidence:
    if evidence.n_rows <= (MOST_ROWS_OF_MANY_CODES if evidence.n_codes > MANY_CODES else ROWS_ANALYSED):
        return evidence
    if evidence.permuted_from is None or evidence.row_groups is not None:
        return _some_rows(evidence, seed)[0]
    original, order = evidence.permuted_from
    few, chosen = _some_rows(original, seed)
    # a permutation of these rows alone, so that they share what is computed for the original
    return few.permuted(0, np.argsort(np.argsort(order[chosen])))


@memoised(on="both")
def _some_rows(evidence: Evidence, seed: int) -> tuple[Evidence, Rows]:
    most = MOST_ROWS_OF_MANY_CODES if evidence.n_codes > MANY_CODES else ROWS_ANALYSED
    chosen = np.sort(random_stream(seed, "rows of the ladder").permutation(evidence.n_rows)[:most])
    return evidence.rows(chosen), chosen


@memoised(on="factors")
def _units(evidence: Evidence) -> dict[str, tuple[int, ...]]:
    """The factors that vary of every unit: of a block of factors, or one factor in no block."""
    varying = set(varying_places(evidence).tolist())
    units = {name: tuple(j for j in own.tolist() if j in varying) for name, own in evidence.factor_units.items()}
    return {name: own for name, own in units.items() if own}


def _checked_sample(evidence: Evidence, varying: Rows, seed: int) -> Sample:
    if not evidence.n_factors or not evidence.n_codes:
        raise InputError("The ladder needs factors and codes: pass both.")
    if not varying.size:
        raise InputError("No factor varies, so nothing can be identified: pass rows in which factors differ.")
    groups = evidence.row_groups
    n_units = evidence.n_rows if groups is None else int(groups.max()) + 1
    if n_units <= varying.size or n_units < FEWEST_UNITS:
        what = "rows" if groups is None else "row groups"
        needed = max(FEWEST_UNITS, varying.size + 1)
        raise InputError(
            f"The ladder of {varying.size} factors needs at least {needed} {what} and there are {n_units}: "
            "pass more samples or fewer factors."
        )
    classes = np.array([not has_scale(evidence.factors[:, j], evidence.declared_kinds[j]) for j in varying])
    return sample_of(evidence.factors[:, varying], classes, groups, seed)


@dataclass(frozen=True, eq=False)
class _Linear:
    """Held-out ridge regressions of all factors that vary: ``scales`` are those of each that are predicted best.

    ``places`` are their columns in ``targets``, and ``all_places`` those of all scales.
    """

    sample: Sample
    codes: CodeTable
    path: read.Path
    targets: FloatArray
    scales: tuple[int, ...]
    all_places: tuple[tuple[slice, ...], ...]

    @property
    def places(self) -> list[slice]:
        return [own[scale] for own, scale in zip(self.all_places, self.scales, strict=True)]


@memoised(on="codes")
def _live_codes(evidence: Evidence) -> CodeTable:
    collapsed = collapsed_codes(evidence) if evidence.sparse_codes is None else evidence.dead_codes
    alive = np.flatnonzero(~np.isin(evidence.code_names, collapsed))
    return code_table(evidence, alive, np.arange(evidence.n_rows))


@memoised(on="factors", by_row=True)
def _scales(evidence: Evidence, own: tuple[int, ...], ranks_alone: bool) -> tuple[FloatArray, ...]:
    of_factors = [scales_of(evidence.factors[:, j], evidence.declared_kinds[j], ranks_alone) for j in own]
    if len(own) == 1:
        return of_factors[0]
    return (white(np.hstack([scales[-1] for scales in of_factors])),)


@memoised(on="both")
def _linear(evidence: Evidence, seed: int) -> _Linear:
    varying = varying_places(evidence)
    sample, codes = _checked_sample(evidence, varying, seed), _live_codes(evidence)
    if not codes.n_codes:
        raise InputError("No code varies, so nothing can be identified: pass codes that differ between rows.")
    ranked = _has_heavy_tails(evidence)
    codes = codes.as_scores() if ranked else codes
    scales = [_scales(evidence, own, ranked) for own in _units(evidence).values()]
    stacked = np.hstack([scale for each in scales for scale in each])
    path = read.linear_path(codes, stacked, sample.fold, stacked.shape[1])
    chosen, places, start = [], [], 0
    for each in scales:
        stops = start + np.cumsum([scale.shape[1] for scale in each])
        slices = tuple(slice(stop - scale.shape[1], stop) for stop, scale in zip(stops.tolist(), each, strict=True))
        start = slices[-1].stop
        chosen.append(int(np.argmax([read.held_out_r2(path, own, stacked) for own in slices])))
        places.append(slices)
    return _Linear(sample, codes, path, stacked, tuple(chosen), tuple(places))


@memoised(on="factors")
def _permuted_r2(evidence: Evidence, seed: int) -> tuple[FloatArray, ...]:
    """Held-out R2 of permutations of every factor that varies, each on the scale that is predicted best.

    Permutations of the evidence share it: a permuted factor has no other law if the factor was permuted before.
    """
    found = _linear(evidence, seed)
    orders = found.sample.permutations(PERMUTATIONS, random_stream(seed, "permuted factors"))
    scales = [found.targets[:, own] for places in found.all_places for own in places]
    r2 = read.permuted_r2s(found.codes, scales, found.sample.fold, orders)
    stops = np.cumsum([len(places) for places in found.all_places])
    return tuple(of_scales.max(axis=0) for of_scales in np.split(r2, stops[:-1]))


def _quick_part(evidence: Evidence, seed: int) -> QuickPart:
    varying = varying_places(evidence)
    linear = _linear(evidence, seed)
    sample, codes, path = linear.sample, linear.codes, linear.path
    factors = _factors(evidence, varying, sample, linear.scales)
    names = tuple(factor.name for factor in factors)
    free, by = _free_factors(evidence, names, factors, codes)
    model = ResponseModel([factors[j] for j in free], sample)
    null_r2 = _permuted_r2(evidence, seed)
    directions = _directions(model, linear, [linear.places[j] for j in free], [null_r2[j] for j in free])
    responses = code_responses(model, codes)
    few = read.FewRows(model, read.some_rows(sample, read.KERNEL_ROWS, seed, "rows of kernels"))
    own = tuple(read.own_codes(model, k, codes, responses, few) for k in range(free.size))
    loadings = Loadings(model, codes, seed)
    axes = loadings.factor_side()
    implied = {j: (by[j], max(0.0, read.held_out_r2(path, linear.places[j], linear.targets))) for j in by}
    return QuickPart(
        evidence, seed, sample, names, factors, free, implied, model, codes, responses, directions, own, loadings, axes
    )


def own_codes_in_exchange(part: QuickPart, j: int) -> tuple[read.OwnCodes, FloatArray]:
    """Own codes of an implied factor in place of a free one that determines it, and the noise of every code then.

    Of four indicators of four classes three are free, and a code of the fourth would otherwise count as mixed.
    """
    out = next((k for k in part.free if part.names[k] in part.implied[j][0]), None)
    free = [j if k == out else int(k) for k in part.free]
    if out is None:
        return read.OwnCodes(), part.responses.noise
    model = ResponseModel([part.factors[k] for k in free], part.sample)
    responses = code_responses(model, part.codes)
    some = read.some_rows(part.sample, read.KERNEL_ROWS, part.seed, "rows of kernels")
    few = read.FewRows(model, some)
    return read.own_codes(model, free.index(j), part.codes, responses, few), responses.noise


@memoised(on="factors")
def _has_heavy_tails(evidence: Evidence) -> bool:
    """Whether a number among the factors has such heavy tails that a few rows decide every variance.

    All factors and codes are then analysed by their ranks alone, which no monotone map of a code changes.
    """
    numbers = [j for j in varying_places(evidence) if evidence.kinds[j].is_numeric]
    return any(tail_index(evidence.factors[:, j]) < HEAVY_TAIL_INDEX for j in numbers)


def _factors(evidence: Evidence, varying: Rows, sample: Sample, scales: tuple[int, ...]) -> tuple[FactorTerms, ...]:
    factors = []
    for (name, own), scale in zip(_units(evidence).items(), scales, strict=True):
        levels = max(np.unique(evidence.factors[:, j]).size for j in own)
        varied = max(sample.n_effective, levels)  # a factor may vary inside units
        n_functions = int(np.clip(varied // (ROWS_PER_FUNCTION * varying.size), 1, MOST_FUNCTIONS))
        n_classes = max(2, varied // (ROWS_PER_FUNCTION * varying.size))
        terms = _terms(evidence, name, scale, n_functions, n_classes)
        factors.append(terms if evidence.permuted_from is None else terms.permuted(evidence.permuted_from[1]))
    return tuple(factors)


@memoised(on="factors")
def _terms(evidence: Evidence, name: str, scale: int, n_functions: int, n_classes: int) -> FactorTerms:
    """The factor as columns; those of permuted evidence have another order of rows."""
    own, ranked = _units(evidence)[name], _has_heavy_tails(evidence)
    target = _scales(evidence, own, ranked)[scale]
    if len(own) > 1:
        given = np.hstack([_scales(evidence, (j,), ranked)[-1] for j in own])
        return block_of(name, given, target, n_functions * len(own))
    j = own[0]
    return factor_of(name, evidence.factors[:, j], evidence.declared_kinds[j], target, n_functions, n_classes)


def _worth(factors: tuple[FactorTerms, ...], codes: CodeTable) -> FloatArray:
    """The largest share of any code that functions of each factor explain."""
    worth = np.zeros(len(factors))
    for block in codes.blocks():
        for columns in codes.views(block):
            for j, factor in enumerate(factors):
                explained = np.square(factor.functions.T @ columns / len(columns)).sum(axis=0)
                worth[j] = max(worth[j], float(explained.max(initial=0.0)))
    return worth


def _free_factors(
    evidence: Evidence, names: tuple[str, ...], factors: tuple[FactorTerms, ...], codes: CodeTable
) -> tuple[Rows, dict[int, tuple[str, ...]]]:
    """A smallest set of factors that determines all others, those with codes first; and what determines each other."""
    # a part of a sample has the constraints of the whole, which are searched once
    constraints = factor_constraints(evidence.whole or evidence)
    if not constraints.found:
        return np.arange(len(names)), {}
    units = list(_units(evidence).values())
    unit_of = {evidence.factor_names[j]: k for j, k in sorted((j, k) for k, own in enumerate(units) for j in own)}
    worth = _worth(factors, codes)
    worth[[len(own) > 1 for own in units]] = 2.0  # factors outside a block that it determines are implied
    columns = list(unit_of)
    free = np.unique([unit_of[columns[i]] for i in constraints.free(columns, worth[list(unit_of.values())])])
    by: dict[int, tuple[str, ...]] = {}
    sources_of: list[tuple[int, set[int]]] = []
    for each in constraints.constraints:
        k = unit_of[each.determined]
        sources_of.append((k, {unit_of[name] for name in each.by} - {k}))
        by[k] = tuple(
            dict.fromkeys([*by.get(k, ()), *(names[unit_of[name]] for name in each.by if unit_of[name] != k)])
        )
    implied = {j: by.get(j, ()) for j in range(len(names)) if j not in free}
    for j, sources in implied.items():
        if not sources:  # after an exchange, the factor that it helped to determine does so, with the other sources
            exchanged = [[k, *sorted(others - {j})] for k, others in sources_of if j in others and k in free]
            implied[j] = tuple(names[k] for k in min(exchanged, key=len, default=free.tolist()))
    return free, implied


def _directions(
    model: ResponseModel, linear: _Linear, places: list[slice], null_r2: list[FloatArray]
) -> tuple[Direction, ...]:
    codes, path = linear.codes, linear.path
    refitted = (_wide if codes.n_codes > codes.rows.size else _refitted)(model, codes, path, places)

    @functools.cache
    def ranks() -> Callable[[int, float], float]:
        return _rank_recoveries(model, codes)

    @functools.cache
    def fitted(j: int) -> _Fitted:
        return refitted(j)

    @functools.cache
    def rank_r2(j: int) -> float:
        known = fitted(j)[0].r2
        if codes.n_codes > codes.rows.size or (
            known >= ENOUGH_LINEAR and all(fitted(k)[0].r2 >= ENOUGH_LINEAR for k in range(len(places)))
        ):
            return known
        return ranks()(j, known)

    return tuple(
        Direction(
            path.readout(own, linear.sample.fold),
            read.held_out_r2(path, own, linear.targets),
            null_r2[j],
            functools.partial(fitted, j),
            functools.partial(rank_r2, j),
        )
        for j, own in enumerate(places)
    )


def _rank_recoveries(model: ResponseModel, codes: CodeTable) -> Callable[[int, float], float]:
    """Recovery of a factor by linear readouts of the normal scores of all codes, if larger than the known one.

    Own codes are read up to monotone maps of codes, so what they are compared with must not depend on such maps either.
    """
    fits = read.DirectionFits(model, codes.as_scores())
    paths = [fits.held_out(kind, read.DIRECTION_PENALTIES) for kind in ("standard", "independent")]
    steps = [list(step) for folds in paths for step in zip(*folds, strict=True)]
    return lambda j, known: max(known, *fits.r2s(j, steps))


def _refitted(model: ResponseModel, codes: CodeTable, path: read.Path, places: list[slice]) -> Callable[[int], _Fitted]:
    """Readout, readout with standard errors from refits when called, and weights of a factor."""

    @functools.cache
    def shared() -> tuple[read.DirectionFits, read.Refits, Any]:
        fits = read.DirectionFits(model, codes)
        by_step = np.array(fits.held_out("independent", read.DIRECTION_PENALTIES), dtype=object)  # folds x penalties
        return fits, read.Refits(fits), by_step

    def of_factor(j: int) -> _Fitted:
        fits, refits, by_step = shared()
        steps, n_steps = path.choice(places[j]), len(read.PENALTIES)
        kind = "standard" if np.median(steps) >= n_steps else "given"
        penalties = read.PENALTIES[steps % n_steps]
        chosen = [refits(kind, float(p), None)[k] for k, p in enumerate(penalties)]
        # in one model for all: a model of one factor hides the leakage by which readouts differ
        *rivals, known = fits.r2s(j, [*by_step.T, chosen], several=True)
        best = int(np.argmax(rivals))
        if len(places) > 1 and rivals[best] > known:
            kind, chosen = "independent", list(by_step[:, best])
            penalties = np.full(model.sample.n_folds, read.DIRECTION_PENALTIES[best])
        interval = functools.cache(functools.partial(fits.intervals, j, kind, penalties, refits))
        everything = np.ones(model.sample.n_blocks, dtype=bool)
        of_weights = read.DirectionFits(model, codes.as_given()) if codes.ranked else fits
        weights = of_weights.weights(kind, penalties[:1], everything)[0].weights[:, fits.columns[j]]
        return (
            fits.readout(j, chosen),
            interval,
            weights / codes.as_given().spread[:, None],
            functools.partial(fits.predicted, j, chosen),
        )

    return of_factor


def _wide(model: ResponseModel, codes: CodeTable, path: read.Path, places: list[slice]) -> Callable[[int], _Fitted]:
    """The same for more codes than rows, with standard errors that hold the readouts fixed."""

    @functools.cache
    def shared() -> tuple[read.WideDirections, FloatArray] | None:
        if not _are_dependent(model):
            return None
        independent = read.WideDirections(model, codes)
        return independent, independent.held_out()

    def of_factor(j: int) -> _Fitted:
        predicted, weights = path.readout(places[j], model.sample.fold), None
        readout = model.readout(j, predicted)
        found = shared()
        if found is not None:
            own = model.target_columns[j]
            others = [model.readout(j, each[:, own]) for each in found[1]]
            best = int(np.argmax([other.r2 for other in others]))
            if others[best].r2 > readout.r2:
                readout, predicted = others[best], found[1][best][:, own]
                weights = found[0].weights(float(read.DIRECTION_PENALTIES[best]))[:, own]
        if weights is None:
            target = model.factors[j].target
            weights = read.wide_ridge_weights(codes, target, int(np.median(path.choice(places[j]))))
        return readout, functools.partial(replace, readout), weights, predicted.__getitem__

    return of_factor


def _are_dependent(model: ResponseModel) -> bool:
    """Whether any two targets correlate more than by chance."""
    largest = 0.0
    for j, factor in enumerate(model.factors):
        for other in model.factors[:j]:
            left, right = (each.target / np.maximum(each.target.std(axis=0), 1e-12) for each in (factor, other))
            largest = max(largest, float(np.square(left.T @ right / len(left)).max()))
    return largest > DEPENDENT + 4 / model.sample.n_units


@dataclass(frozen=True)
class Nonlinear:
    """The best readout of one factor by a kernel or by trees.

    Attributes
    ----------
    probe : str
        "kernel" or "trees", whichever predicts better.
    readout : Readout
        Its response to all factors.
    plain_r2 : float
        Its held-out R2 on the rows as they are.
    null_r2 : array
        Held-out R2 of the kernel for permuted targets.
    """

    probe: str
    readout: Readout
    plain_r2: float
    kernel_r2: float
    null_r2: FloatArray


@memoised(on="both")
def nonlinear_readouts(evidence: Evidence, seed: int) -> tuple[Nonlinear, ...]:
    """Kernel and trees for all free factors, on at most 1,000 rows.

    Where a linear readout reads every factor, kernels are left out if they are clearly behind it after a fold, as trees
    are: a probe that is better is left out so with a probability of about .02 for each of four folds.
    """
    with one_thread():
        part = quick_part(evidence, seed)
        rows = read.some_rows(part.sample, NONLINEAR_ROWS, seed, "rows of probes")
        is_whole = rows.size == part.sample.n_rows
        factors = part.model.factors if is_whole else [factor.rows(rows) for factor in part.model.factors]
        sample = part.sample if is_whole else part.sample.rows(rows)
        targets, fold = [factor.target for factor in factors], sample.fold
        linear = [
            direction.predicted[rows] - factor.target[rows].mean(axis=0)
            for direction, factor in zip(part.directions, part.model.factors, strict=True)
        ]
        orders = sample.permutations(PERMUTATIONS, random_stream(seed, "permuted factors of probes"))
        every = np.hstack([*targets, *(target[order] for target in targets for order in orders)])
        path = read.nonlinear_path(part.codes, rows, every, fold, linear, may_stop=_all_are_read(part))
        null_r2, at = [], part.model.target_columns[-1].stop
        for width in [target.shape[1] for target in targets]:
            nulls = slice(at, at + PERMUTATIONS * width)
            at = nulls.stop
            null_r2.append(read.held_out_r2s(path, nulls, width, every) if path else np.full(PERMUTATIONS, -np.inf))
        inputs = read.tree_inputs(part.codes, rows)

        @functools.cache
        def model() -> ResponseModel:
            return part.model if is_whole else ResponseModel(factors, sample)

        found = []
        for j, (target, columns) in enumerate(zip(targets, part.model.target_columns, strict=True)):
            probe, plain, predictions, rivals = "kernel", -np.inf, None, [linear[j]]
            if path is not None:
                plain, predictions = read.held_out_r2(path, columns, every), path.readout(columns, fold)
                rivals.append(predictions)
            kernel_r2 = plain
            if max(plain, part.directions[j].plain_r2) < ENOUGH:
                guessed = read.tree_readout(inputs, target, rivals, fold, seed, j)
                if guessed is not None:
                    r2 = 1 - float(np.square(target - guessed).sum() / np.square(target).sum())
                    if r2 > plain:
                        probe, plain, predictions = "trees", r2, guessed
            readout = no_readout(len(targets), sample.n_blocks)
            if predictions is not None:
                readout = model().readout(j, predictions)
            found.append(Nonlinear(probe, readout, plain, kernel_r2, null_r2[j]))
        return tuple(found)


def _all_are_read(part: QuickPart) -> bool:
    """Whether a linear readout reads every free factor significantly, so that no kernel is needed to show it."""
    r2 = np.array([each.plain_r2 for each in part.directions])
    return bool((family_p_values(r2, [each.null_r2 for each in part.directions]) <= PRESENT).all())


@memoised(on="both")
def joint_responses(evidence: Evidence, seed: int) -> tuple[JointShare, ...]:
    """For the direction of every free factor, how much of what is not additive in it factors cause together."""
    with one_thread():
        part = quick_part(evidence, seed)
        sample, model = part.sample, part.model
        if len(model.factors) < 2:
            return (JointShare(),) * len(model.factors)
        rows = np.arange(sample.n_rows)
        if sample.n_effective < sample.n_rows:  # rows of a unit share noise, which would count as a response
            rows = np.unique(sample.units, return_index=True)[1]
        if rows.size > ROWS_OF_PRODUCTS:
            rows = np.sort(random_stream(seed, "rows of products").permutation(rows)[:ROWS_OF_PRODUCTS])
        places = varying_places(part.evidence)[part.free]
        factors = [(part.evidence.factors[rows, j], part.evidence.declared_kinds[j]) for j in places]
        additive = model.design[rows, 1 : model.stops[len(factors) - 1]]
        readouts = [each.held_out(rows) for each in part.directions]
        return tuple(joint_shares(additive, factors, readouts, random_stream(seed, "signs of readouts")))


@dataclass(frozen=True)
class AnyDependence:
    """The largest gain of any code from a factor, the same for permuted factors, and the factor of most products."""

    gain: float
    null: FloatArray
    partner: str


@memoised(on="both")
def any_dependence(evidence: Evidence, seed: int, j: int) -> AnyDependence:
    """How much codes depend on free factor j in any way, and with which other factor most ("" if with none)."""
    with one_thread():
        part = quick_part(evidence, seed)
        model, d = part.model, part.free.size
        gains = dependence_gains(model, j, part.codes, random_stream(seed, "permuted factor", j))
        involved = [i for i, pair in enumerate(model.pairs) if j in pair]
        strongest = np.zeros(len(involved))
        for block in part.codes.blocks() if involved else ():
            variances = model.variances(model.fit(part.codes.views(block)[0]))[-1]
            strongest = np.maximum(strongest, variances[:, [d + i for i in involved]].max(axis=0, initial=0.0))
        if not strongest.max(initial=0.0) > 0:
            return AnyDependence(*gains, "")
        a, b = model.pairs[involved[int(strongest.argmax())]]
        return AnyDependence(*gains, part.names[part.free[b if a == j else a]])
