"""Models of codes given factors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import ndtr

from unweave.arrays import FloatArray, Rows
from unweave.estimators.correlation import best_matching, normal_scores
from unweave.estimators.regression import harmonics
from unweave.evidence import Evidence
from unweave.evidence.splits import clusters
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import live_codes, varying_places
from unweave.responses.responses import distinct_factors, responses_to_factors

Part = Literal["plain", "powers", "ranks", "smooth"]

ROWS_PER_STEP = 15

MOST_STEPS = 20

ROWS_PER_KNOT = 40

MOST_KNOTS = 8

TINY = 1e-12

FAR = 6.0  # robust standard deviations from the median, beyond which a value is a fault if no model expects it

MOST_FAULTS = 0.1  # share of the rows; more values of this kind are no faults

FEWEST_DROPPED, MOST_DROPPED = 0.02, 0.9  # share of the rows with one and the same value

JUMPS = 0.1  # share of a code's variance that its best model leaves, above which neighbours are tried

N_NEAR, ROWS_NEAR = 4, 1000  # neighbours, and rows that are searched for them

EXACT = 1e-3  # standard deviation of residuals, relative to that of the code

OWN_VALUES = 0.95  # share of different values, below which drawn codes repeat values as often as the given ones


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """Functions of one factor for every row: the factor, powers, ranks, smooth functions, and step functions."""

    plain: FloatArray
    powers: FloatArray
    ranks: FloatArray
    smooth: FloatArray
    flexible: FloatArray
    in_steps: bool = False  # whether the factor is categorical or has few values

    def at(self, places: Places) -> FactorDesign:
        """The same functions at these places."""
        return FactorDesign(
            plain=places.of(self.plain),
            powers=places.of(self.powers),
            ranks=places.of(self.ranks),
            smooth=places.of(self.smooth),
            flexible=places.of(self.flexible),
            in_steps=self.in_steps,
        )

    def part(self, name: Part) -> FloatArray:
        """The columns of this name."""
        return {"plain": self.plain, "powers": self.powers, "ranks": self.ranks, "smooth": self.smooth}[name]


@dataclass(frozen=True, eq=False)
class Places:
    """Where values of one factor are taken: at rows, or interpolated between two rows with adjacent values."""

    low: Rows
    high: Rows
    weight: FloatArray

    @classmethod
    def at_rows(cls, rows: Rows) -> Places:
        """Places at these rows, without interpolation."""
        return cls(rows, rows, np.zeros(rows.size))

    @classmethod
    def between_rows(
        cls, column: FloatArray, n_places: int, generator: np.random.Generator, rows: Rows | None = None
    ) -> Places:
        """Random places between the smallest and the largest value, distributed like the rows, without repetition.

        With ``rows``, places lie between these rows only.

        >>> places = Places.between_rows(np.array([3.0, 1.0, 2.0]), 100, np.random.default_rng(0))
        >>> drawn = places.of(np.array([3.0, 1.0, 2.0]))
        >>> bool(drawn.min() >= 1), bool(drawn.max() <= 3), np.unique(drawn).size
        (True, True, 100)
        """
        rows = np.arange(column.size) if rows is None else rows
        order = rows[np.argsort(column[rows], kind="stable")]
        position = generator.uniform(0, order.size - 1, n_places)
        below = position.astype(np.intp)
        return cls(order[below], order[below + 1], position - below)

    def of(self, columns: FloatArray) -> FloatArray:
        """Values of one column or of several columns at the places, interpolated linearly between two rows."""
        if not self.weight.any():
            return columns[self.low]
        weight = self.weight if columns.ndim == 1 else self.weight[:, None]
        return np.asarray((1 - weight) * columns[self.low] + weight * columns[self.high])


@dataclass(frozen=True)
class JointModel:
    """A linear model in functions of every factor and, optionally, in products of functions of two factors.

    ``of_code`` is True if it predicts a code itself, and False if it predicts the code's normal scores.
    """

    of_code: bool
    sums: Part
    products: Part | None = None

    def width(self, designs: Sequence[FactorDesign]) -> int:
        """Number of columns, computed without creating them."""
        widths = [design.part(self.products).shape[1] for design in designs] if self.products else []
        return sum(design.part(self.sums).shape[1] for design in designs) + sum(
            first * second for first, second in combinations(widths, 2)
        )

    def factors_of_columns(self, designs: Sequence[FactorDesign]) -> NDArray[np.bool_]:
        """Which factors each column is a function of (columns x d)."""
        own = np.eye(len(designs), dtype=bool)
        sums = [own[[j] * design.part(self.sums).shape[1]] for j, design in enumerate(designs)]
        widths = [design.part(self.products).shape[1] for design in designs] if self.products else []
        pairs = combinations(range(len(widths)), 2)
        return np.vstack([*sums, *((own[[j]] | own[[k]]).repeat(widths[j] * widths[k], 0) for j, k in pairs)])

    def columns(self, designs: Sequence[FactorDesign]) -> FloatArray:
        """The design matrix (n x columns)."""
        factors = [design.part(self.products) for design in designs] if self.products else []
        products = [
            (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
            for first, second in combinations(factors, 2)
        ]
        return np.column_stack([*(design.part(self.sums) for design in designs), *products])


# from the simplest to the most flexible
JOINT_MODELS = (
    JointModel(True, "plain"),
    JointModel(True, "powers"),
    JointModel(True, "powers", "plain"),
    JointModel(False, "ranks"),
    JointModel(False, "smooth"),
    JointModel(False, "smooth", "ranks"),
)


def factor_design(evidence: Evidence, j: int) -> FactorDesign:
    """Functions of factor j.

    >>> factor_design(Evidence({"side": [0.0, 1.0, 0.0, 1.0]}), 0).smooth.ravel().tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    column, declared, n = evidence.factors[:, j], evidence.declared_kinds[j], evidence.n_rows
    if declared.kind.is_circular:
        waves = harmonics(declared.angle(column), 3).values
        circle = waves[:, :2]
        return FactorDesign(circle, waves, circle, waves, np.column_stack([waves, _steps(column, n)]))
    levels = np.unique(column)
    if declared.kind.is_categorical or levels.size <= MOST_STEPS:
        classes = (column[:, None] == levels[1:]).astype(np.float64)
        plain = classes if declared.kind.is_categorical else column[:, None]
        return FactorDesign(plain, classes, plain, classes, classes, in_steps=True)
    number = (column - column.mean()) / max(column.std(), TINY)
    ranks = normal_scores(column[:, None])[:, 0]
    n_knots = int(np.clip(n // ROWS_PER_KNOT, 3, MOST_KNOTS))
    knots = np.quantile(ranks, np.linspace(0, 1, n_knots + 2)[1:-1])
    bends = [np.maximum(ranks - knot, 0) ** 3 for knot in knots]
    return FactorDesign(
        plain=number[:, None],
        powers=_powers(number),
        ranks=ranks[:, None],
        smooth=np.column_stack([_powers(ranks), *bends[::2]]),
        flexible=np.column_stack([_powers(ranks), *bends, _steps(column, n)]),
    )


def _powers(column: FloatArray) -> FloatArray:
    return np.column_stack([column, column**2, column**3])


def _steps(column: FloatArray, n_rows: int) -> FloatArray:
    """Indicators of bins with equal numbers of rows; no columns if there are few rows."""
    n_steps = min(n_rows // ROWS_PER_STEP, MOST_STEPS)
    if n_steps < 4:
        return np.empty((n_rows, 0))
    edges = np.quantile(column, np.linspace(0, 1, n_steps + 1)[1:-1])
    return (np.searchsorted(edges, column)[:, None] == np.arange(1, n_steps)).astype(np.float64)


ALIKE = 0.8  # share of a factor's variance that smooth functions of another one explain

NEEDED = 0.02  # share of a code's variance; a factor that explains more in addition to a similar one is needed

MORE = 0.5  # a factor is also needed if the error without it is larger by more than this share

MOST_PAIRS = 6

Columns = NDArray[np.bool_]


class Fit(Protocol):
    """A function that fits linear models; ``used`` selects columns and ``of`` selects targets."""

    def __call__(self, *, used: Columns | None = None, of: Columns | None = None) -> tuple[FloatArray, FloatArray]:
        """Return held-out predictions (n x targets) and weights, those of the constant first."""


def alike_pairs(designs: Sequence[FactorDesign]) -> list[tuple[int, int]]:
    """Pairs of factors of which one explains most of the other's variance, the closest first; at most six pairs."""
    found = []
    for j, design in enumerate(designs):
        for k in range(j):
            share = max(_explained(design, designs[k]), _explained(designs[k], design))
            if share >= ALIKE:
                found.append((share, k, j))
    return [(k, j) for _, k, j in sorted(found, reverse=True)[:MOST_PAIRS]]


def _explained(source: FactorDesign, target: FactorDesign) -> float:
    """Share of the target's variance that smooth functions of the source explain."""
    columns = source.smooth - source.smooth.mean(axis=0)
    aside = target.ranks - target.ranks.mean(axis=0)
    left = aside - columns @ np.linalg.lstsq(columns, aside, rcond=1e-8)[0]
    return float(1 - np.square(left).sum() / max(np.square(aside).sum(), TINY))


def without_rivals(
    fit: Fit, targets: FloatArray, factors_of: Columns, pairs: Sequence[tuple[int, int]]
) -> tuple[FloatArray, FloatArray]:
    """Predictions and weights if every target uses only one of two similar factors, unless it needs both."""
    predictions, weights = fit()
    dropped = np.zeros((targets.shape[1], factors_of.shape[1]), dtype=bool)
    for pair in pairs:
        squares = np.square(targets - predictions)
        for gone in np.unique(dropped, axis=0):
            if gone[list(pair)].any():
                continue  # one of them is already dropped
            of = (dropped == gone).all(axis=1)
            trials = []
            for j in pair:
                without = gone.copy()
                without[j] = True
                trials.append((without, *fit(used=np.asarray(~factors_of[:, without].any(axis=1)), of=of)))
            errors = np.stack([np.square(targets[:, of] - found) for _, found, _ in trials])
            better = errors.mean(axis=1).argmin(axis=0)
            more = np.take_along_axis(errors, better[None, None, :], axis=0)[0] - squares[:, of]
            little = np.minimum(MORE * squares[:, of].mean(axis=0), NEEDED * targets[:, of].var(axis=0))
            spare = np.maximum(more.std(axis=0) / np.sqrt(len(more)), little)
            enough = more.mean(axis=0) <= spare + TINY
            for place in np.flatnonzero(enough):
                code = np.flatnonzero(of)[place]
                without, found, fitted = trials[better[place]]
                predictions[:, code], weights[:, code] = found[:, place], fitted[:, place]
                dropped[code] = without
    return predictions, weights


N_FOLDS = 5

RIDGE = 1e-4

NO_RIDGE = 1e-9

ROWS_PER_COLUMN = 3

NO_FACTOR = -1


@dataclass(frozen=True, eq=False)
class CodeModels:
    """Fitted models of all codes.

    Attributes
    ----------
    owner : array of m
        Index of the factor that a code belongs to; -1 for none.
    silent : array of m
        Whether no model explains the code.
    model : array of m
        Index of the joint model in `JOINT_MODELS` that generates the code if it depends on several factors.
    fitted, left : array, n x m
        Normal scores predicted from the factor that a code belongs to, and the residuals on held-out rows.
    of_codes : array of m
        Whether the joint model predicts the code itself (True) or its normal scores (False).
    residuals : array, n x m
        Residuals of the joint model on held-out rows.
    weights : dict of index to array
        Weights of each joint model, those of the constant first.
    factor_scores, code_scores : array, n x d and n x m
        Normal scores, for a categorical factor those of its class numbers.
    best_left : array, n x m
        Residuals of each code's best model on held-out rows, in normal scores.
    collapsed : array of m
        Whether the code is known to carry almost no information.
    settled : array of m
        Whether the code is linear in a factor and in a function of it, so that its dependence on both is known.
    codes, given : array, n x m
        The codes that the models were fitted to, with predictions in place of odd values; and the codes as given.
    near : tuple of m tuples
        Factors in which neighbouring rows tell a code much better than any model does; none for most codes.
    odd : array, n x m
        Which values of codes have nothing to do with the factors of their rows, such as faults and dropped values.
    blocks : tuple of arrays
        Indices of the codes of every block.
    """

    factors: FloatArray
    codes: FloatArray
    designs: tuple[FactorDesign, ...]
    factor_scores: FloatArray
    code_scores: FloatArray
    owner: NDArray[np.intp]
    silent: NDArray[np.bool_]
    model: NDArray[np.intp]
    fitted: FloatArray
    left: FloatArray
    of_codes: NDArray[np.bool_]
    residuals: FloatArray
    weights: dict[int, FloatArray]
    best_left: FloatArray
    collapsed: NDArray[np.bool_]
    settled: NDArray[np.bool_]
    given: FloatArray
    odd: NDArray[np.bool_]
    near: tuple[tuple[int, ...], ...] = ()
    blocks: tuple[Rows, ...] = ()

    def predicted(self, places: Sequence[Places]) -> dict[int, FloatArray]:
        """Predictions of every model if each factor takes its values from its own places."""
        return _predicted(self.designs, self.weights, places)

    def followed(self, factor: int) -> bool:
        """Whether any code depends on this factor alone, or needs it together with other factors."""
        live = ~self.silent & ~self.collapsed
        return bool((live & (self.owner == factor)).any()) or any(
            self._share(int(code), factor) >= NEEDED for code in np.flatnonzero(live & (self.owner == NO_FACTOR))
        )

    def _share(self, code: int, factor: int) -> float:
        """Variance of the factor's terms in the model of the code, relative to the variance of the code."""
        form, fitted = JOINT_MODELS[self.model[code]], self.weights[self.model[code]][1:, code]
        own = form.factors_of_columns(self.designs)[:, factor]
        known = self.codes[:, code] if self.of_codes[code] else self.code_scores[:, code]
        return float((form.columns(self.designs)[:, own] @ fitted[own]).var() / max(known.var(), TINY))


def code_models(evidence: Evidence, *, seed: int = 0) -> CodeModels:
    """Fit and compare the models.

    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> noise = np.random.default_rng(1).normal(size=500)
    >>> found = code_models(Evidence(z, np.column_stack([z[:, 1] ** 3, z[:, 0] + z[:, 1], noise])))
    >>> found.owner.tolist(), found.silent.tolist()
    ([1, -1, -1], [False, False, True])
    """
    found = _fitted(evidence, seed)
    odd = _odd_values(evidence, found, seed)
    if not odd.any():
        return replace(found, near=_near_factors(found, seed))
    # a few faults would decide least squares, so the models are fitted to the other values
    cleaned = evidence.codes.copy()
    for i in map(int, np.flatnonzero(odd.any(axis=0))):
        gone, kept = np.flatnonzero(odd[:, i]), np.flatnonzero(~odd[:, i])
        rows = random_stream(seed, "residuals of odd values", i).choice(kept, size=gone.size)
        scores = found.code_scores[:, i] - found.best_left[:, i]
        cleaned[gone, i] = from_scores(scores[gone] + found.best_left[rows, i], found, i, kept)
    again = replace(_fitted(evidence.recoded(cleaned), seed), given=evidence.codes, odd=odd)
    return replace(again, near=_near_factors(again, seed))


def from_scores(scores: FloatArray, found: CodeModels, code: int, rows: Rows | None = None) -> FloatArray:
    """Normal scores transformed to the code's own scale, extrapolated linearly beyond its range.

    A value that several rows share, as in a quantised or a saturated code, stands for all scores of its ranks. With
    ``rows``, only values of these rows are taken.
    """
    known, values = np.sort(found.code_scores[:, code]), np.sort(found.codes[:, code])
    if rows is not None:
        known, values = np.sort(found.code_scores[rows, code]), np.sort(found.codes[rows, code])
    elif np.unique(values).size < OWN_VALUES * values.size:
        place = np.clip(ndtr(scores) * values.size - 0.5, 0, values.size - 1)
        low = np.minimum(place.astype(np.intp), values.size - 2)
        repeated = np.isin(values, values[1:][values[1:] == values[:-1]])
        share = np.where(repeated[low] | repeated[low + 1], np.round(place - low), place - low)
        return np.asarray((1 - share) * values[low] + share * values[low + 1])
    slope = values.std() / max(known.std(), TINY)
    inside = np.interp(scores, known, values)
    beyond = np.maximum(scores - known[-1], 0) + np.minimum(scores - known[0], 0)
    return np.asarray(inside + slope * beyond)


def with_shared_values(drawn: FloatArray, found: CodeModels, code: int) -> FloatArray:
    """Values of a code; those of a quantised one at its levels, and none beyond an end that several rows share."""
    values, counts = np.unique(found.codes[:, code], return_counts=True)
    if values.size >= OWN_VALUES * len(found.codes) or values.size < 2:
        return drawn
    drawn = np.clip(drawn, values[0] if counts[0] > 1 else None, values[-1] if counts[-1] > 1 else None)
    # a code of a few levels is rounded, unless its levels are those of the factors
    if (
        values.size > max(len(found.codes) / ROWS_PER_STEP, MOST_STEPS)
        or found.residuals[:, code].std() < EXACT * values.std()
    ):
        return drawn
    return np.asarray(values[np.searchsorted((values[1:] + values[:-1]) / 2, drawn)])


def _odd_values(evidence: Evidence, found: CodeModels, seed: int) -> NDArray[np.bool_]:
    """Which values of codes the factors of their rows do not account for (n x m).

    These are values far from all others that no model expects, such as faults; and one value that many rows share, if
    the factors do not tell which rows, such as the zeros of dropped activations. Odd values do not depend on factors.
    """
    codes, middle = found.codes, np.median(found.codes, axis=0)
    low, high = np.quantile(codes, [0.25, 0.75], axis=0)
    spread = (high - low) / 1.35
    far = np.abs(codes - middle)
    odd = (far > FAR * spread) & (spread > 0)
    for i in map(int, np.flatnonzero(odd.any(axis=0))):
        expected = from_scores(found.code_scores[:, i] - found.best_left[:, i], found, i)
        joint = codes[:, i] - found.residuals[:, i] if found.of_codes[i] else expected
        error = np.minimum(np.abs(codes[:, i] - expected), np.abs(codes[:, i] - joint))
        odd[:, i] &= error > far[:, i] / 2
        odd[:, i] &= odd[:, i].mean() <= MOST_FAULTS  # more are the tail of a distribution
    shared = np.zeros_like(odd)
    for i in range(codes.shape[1]):
        values, counts = np.unique(codes[:, i], return_counts=True)
        most = counts.argmax()
        if values.size > MOST_STEPS and FEWEST_DROPPED <= counts[most] / len(codes) <= MOST_DROPPED:
            shared[:, i] = codes[:, i] == values[most]
    dropped = np.flatnonzero(shared.any(axis=0))
    if dropped.size:
        form = next(f for f in (*JOINT_MODELS[:3:-1], JOINT_MODELS[3]) if f is JOINT_MODELS[3] or _fits(f, found))
        folds = [test for _, test in evidence.folds(N_FOLDS, seed)]
        which = shared[:, dropped].astype(np.float64)
        left = np.square(which - out_of_fold(form.columns(found.designs), which, folds)[0]).mean(axis=0)
        odd[:, dropped] |= shared[:, dropped] & (left >= (1 - NEEDED) * which.var(axis=0))
    return np.asarray(odd)


def coordinates(designs: Sequence[FactorDesign]) -> list[FloatArray]:
    """Columns of each factor, in which rows are near each other; every factor has the same spread."""
    aside = [design.ranks - design.ranks.mean(axis=0) for design in designs]
    return [columns / max(np.sqrt(np.square(columns).sum() / len(columns)), TINY) for columns in aside]


def _near_factors(found: CodeModels, seed: int) -> tuple[tuple[int, ...], ...]:
    """Two or three factors for each code that no model follows, such as z0 sign(z1): rows near in them have its values.

    Neighbours are used where they leave less than half of the error of the best model.
    """
    left = np.square(found.best_left).mean(axis=0)
    spread = np.maximum(np.square(found.code_scores).mean(axis=0), TINY)
    open_ones = np.flatnonzero((found.owner == NO_FACTOR) & ~found.silent & (left > JUMPS * spread))
    near: list[tuple[int, ...]] = [()] * left.size
    if open_ones.size == 0 or len(found.designs) < 2 or clusters(found.factors) is not None:
        return tuple(near)
    rows = random_stream(seed, "rows of neighbours").permutation(len(found.codes))[:ROWS_NEAR]
    at, scores = [columns[rows] for columns in coordinates(found.designs)], found.code_scores[np.ix_(rows, open_ones)]

    @functools.cache
    def errors(factors: tuple[int, ...]) -> FloatArray:
        points = np.hstack([at[j] for j in factors])
        others = KDTree(points).query(points, N_NEAR + 1)[1][:, 1:]
        return np.asarray(np.square(scores - scores[others].mean(axis=1)).mean(axis=0))

    pairs = list(combinations(range(len(at)), 2))
    of_pairs = np.stack([errors(pair) for pair in pairs])
    for place, code in enumerate(open_ones):
        best: tuple[int, ...] = pairs[int(of_pairs[:, place].argmin())]
        if errors(best)[place] >= left[code]:
            continue  # mostly noise
        triples = [tuple(sorted((*best, j))) for j in range(len(at)) if j not in best]
        best = min([best, *triples], key=lambda factors: errors(factors)[place])
        if errors(best)[place] < left[code] / 2:
            near[code] = best
    return tuple(near)


def _fits(form: JointModel, found: CodeModels) -> bool:
    return form.width(found.designs) * ROWS_PER_COLUMN <= len(found.codes)


def _fitted(evidence: Evidence, seed: int) -> CodeModels:
    """The models of all codes as given."""
    n, spread = evidence.n_rows, evidence.codes.std(axis=0)
    scales = np.where(spread > 0, spread, 1.0)
    codes = evidence.codes / scales
    scores = normal_scores(codes)
    folds = [test for _, test in evidence.folds(N_FOLDS, seed)]
    designs = tuple(factor_design(evidence, j) for j in range(evidence.n_factors))
    alone, on_rows = zip(*(_of_one_factor(design, scores, folds) for design in designs), strict=True)
    joint, weights, alike = {}, {}, alike_pairs(designs)
    for k, form in enumerate(JOINT_MODELS):
        if k == 0 or form.width(designs) * ROWS_PER_COLUMN <= n:
            # polynomials are not shrunk, because shrinkage would leave residuals in codes that are polynomials
            targets, ridge = (codes, NO_RIDGE) if form.of_code else (scores, RIDGE)
            fit = functools.partial(out_of_fold, form.columns(designs), targets, folds, ridge)
            joint[k], weights[k] = without_rivals(fit, targets, form.factors_of_columns(designs), alike)
    in_scores = [_in_scores(joint[k], codes, scores) if JOINT_MODELS[k].of_code else joint[k] for k in joint]
    errors = _Errors(scores, np.stack([np.square(scores - each) for each in (*alone, *in_scores)]), len(alone))
    model = np.array(list(joint))[errors.simplest_joint()]
    belongs, silent = _belonging(evidence, seed)
    owner = _owners(evidence, belongs, errors.explained()[: len(alone)].T)
    owner = _of_coarser_factors(evidence, owner, designs, codes, (joint[0], weights[0]), folds)
    settled = (owner == NO_FACTOR) & belongs.any(axis=1)
    model = np.where(settled, 0, model)
    of_codes = np.array([JOINT_MODELS[k].of_code for k in model])
    fitted = [on_rows[max(j, 0)][:, i] for i, j in enumerate(owner)]
    residuals = np.where(of_codes, codes, scores) - np.column_stack([joint[k][:, i] for i, k in enumerate(model)])
    return CodeModels(
        factors=evidence.factors,
        codes=evidence.codes,
        designs=designs,
        factor_scores=normal_scores(evidence.factors),
        code_scores=scores,
        owner=owner,
        silent=silent,
        collapsed=np.zeros(evidence.n_codes, dtype=bool),
        settled=settled,
        blocks=tuple(members for members in evidence.code_units.values() if members.size > 1),
        model=model,
        fitted=np.column_stack(fitted),
        left=scores - np.column_stack([alone[max(j, 0)][:, i] for i, j in enumerate(owner)]),
        of_codes=of_codes,
        residuals=residuals * np.where(of_codes, scales, 1.0),
        best_left=scores - errors.of_best((*alone, *in_scores)),
        given=evidence.codes,
        odd=np.zeros(evidence.codes.shape, dtype=bool),
        weights={k: fitted * scales if JOINT_MODELS[k].of_code else fitted for k, fitted in weights.items()},
    )


@dataclass(frozen=True, eq=False)
class _Errors:
    """Squared errors of every model (k x n x m) on held-out rows; the models of single factors come first."""

    scores: FloatArray
    squares: FloatArray
    n_alone: int

    def explained(self) -> FloatArray:
        """Share of each code's variance that each model explains on held-out rows (k x m)."""
        return np.asarray(1 - self.squares.mean(axis=1) / np.maximum(np.square(self.scores).mean(axis=0), TINY))

    @cached_property
    def best(self) -> FloatArray:
        """Squared errors of each code's best model (n x m)."""
        return self.of_best(self.squares)

    def of_best(self, of_models: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """The columns of each code's best model, from an array (n x m) of each model."""
        chosen = self.squares.mean(axis=1).argmin(axis=0)
        return np.column_stack([of_models[k][:, i] for i, k in enumerate(chosen)])

    def simplest_joint(self) -> NDArray[np.intp]:
        """Index of the first joint model within one standard error of the best model, else of the best joint model."""
        good = self._as_good()[self.n_alone :]
        best_joint = self.squares[self.n_alone :].mean(axis=1).argmin(axis=0)
        return np.where(good.any(axis=0), good.argmax(axis=0), best_joint)

    def _as_good(self) -> NDArray[np.bool_]:
        """Whether the error of each model is within one standard error of the error of the best model."""
        return np.stack([_within_error(squares, self.best) for squares in self.squares])


def _belonging(evidence: Evidence, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which factors each code belongs to (m x d), several if they determine each other; and which codes are silent."""
    which, live, varying = distinct_factors(evidence), live_codes(evidence), varying_places(evidence)
    found = responses_to_factors(evidence, N_FOLDS, seed)
    belongs = np.zeros((evidence.n_codes, evidence.n_factors), dtype=bool)
    silent = np.ones(evidence.n_codes, dtype=bool)
    silent[live] = ~found.informative
    owned = np.flatnonzero((found.factor >= 0) & found.informative)
    belongs[np.ix_(live[owned], varying)] = which.alike[found.factor[owned]][:, None] == which.alike
    return belongs, silent


def _predicted(
    designs: Sequence[FactorDesign], weights: dict[int, FloatArray], places: Sequence[Places]
) -> dict[int, FloatArray]:
    drawn = [design.at(where) for design, where in zip(designs, places, strict=True)]
    return {k: _with_ones(JOINT_MODELS[k].columns(drawn)) @ fitted for k, fitted in weights.items()}


def _in_scores(predictions: FloatArray, codes: FloatArray, scores: FloatArray) -> FloatArray:
    """Predictions of codes, transformed to normal scores."""
    return np.column_stack(
        [np.interp(predictions[:, i], np.sort(codes[:, i]), np.sort(scores[:, i])) for i in range(codes.shape[1])]
    )


def _owners(evidence: Evidence, belongs: NDArray[np.bool_], explained: FloatArray) -> NDArray[np.intp]:
    """One factor for each code that belongs to any, a different one for each code as far as possible.

    Where factors determine each other, a code belongs to all of them. The factor that it depends on linearly is
    preferred.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        lines = np.corrcoef(evidence.codes, evidence.factors, rowvar=False)[: belongs.shape[0], belongs.shape[0] :]
    preference = np.where(belongs, explained + 0.1 * np.nan_to_num(np.abs(lines)), -1.0)
    owner = np.where(belongs.any(axis=1), preference.argmax(axis=1), NO_FACTOR)
    rows, columns = best_matching(preference)
    matched = belongs[rows, columns]
    owner[rows[matched]] = columns[matched]
    return owner


def _of_coarser_factors(
    evidence: Evidence,
    owner: NDArray[np.intp],
    designs: Sequence[FactorDesign],
    codes: FloatArray,
    linear: tuple[FloatArray, FloatArray],
    folds: Sequence[Rows],
) -> NDArray[np.intp]:
    """The owners, where codes that are linear in a factor and in a function of it belong to the function or to both.

    "Is there an object" is a function of its size. A code that is linear in both is a function of the size with a jump
    as well, but the simpler model shows what it depends on. ``linear`` are its predictions and weights.
    """
    plain, found = JOINT_MODELS[0], owner.copy()
    predictions, weights = linear
    for constraint in factor_constraints(evidence).constraints:
        if constraint.invertible or not constraint.is_single:
            continue
        coarse, fine = map(evidence.factor_names.index, (constraint.determined, constraint.by[0]))
        own = plain.factors_of_columns(designs)[:, coarse]
        share = (plain.columns(designs)[:, own] @ weights[1:][own]).var(axis=0)  # the codes have variance 1
        both = np.flatnonzero((owner == fine) & (share >= NEEDED))
        errors = {
            j: np.square(codes[:, both] - out_of_fold(designs[j].flexible, codes[:, both], folds)[0])
            for j in (coarse, fine)
        }
        simple = _within_error(np.square(codes - predictions)[:, both], errors[fine])
        of_coarse = _within_error(errors[coarse], errors[fine])
        found[both] = np.where(of_coarse, coarse, np.where(simple, NO_FACTOR, fine))
    return found


def _within_error(squares: FloatArray, best: FloatArray) -> NDArray[np.bool_]:
    """Whether squared errors exceed others by no more than one standard error of the difference (columns)."""
    more = squares - best
    return np.asarray(more.mean(axis=0) <= more.std(axis=0) / np.sqrt(len(more)) + TINY)


def _of_one_factor(design: FactorDesign, scores: FloatArray, folds: Sequence[Rows]) -> tuple[FloatArray, FloatArray]:
    """Held-out predictions of every code from one factor, and the fit to all rows.

    Of a linear, a smooth and a step function, the one with the smallest held-out error is used, because a step function
    fits the noise if there are few rows.
    """
    held_out, fitted = [], []
    for columns in (design.ranks, design.smooth, design.flexible):
        predictions, weights = out_of_fold(columns, scores, folds)
        held_out.append(predictions)
        fitted.append(_with_ones(columns) @ weights)
    best = np.array([np.square(scores - each).mean(axis=0) for each in held_out]).argmin(axis=0)
    return np.choose(best, held_out), np.choose(best, fitted)


def out_of_fold(
    columns: FloatArray,
    targets: FloatArray,
    folds: Sequence[Rows],
    ridge: float = RIDGE,
    *,
    used: NDArray[np.bool_] | None = None,
    of: NDArray[np.bool_] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Predictions for every fold from the other folds, and the weights of a fit to all rows (the constant first).

    ``used`` selects columns (the weights of all others are 0), and ``of`` selects targets.
    """
    if used is not None:
        predictions, some = out_of_fold(columns[:, used], targets[:, of], folds, ridge)
        weights = np.zeros((1 + used.size, some.shape[1]))
        weights[np.concatenate([[True], used])] = some
        return predictions, weights
    centre, scale = columns.mean(axis=0), columns.std(axis=0)
    scale = np.where(scale > 1e-12 * (np.abs(centre) + 1), scale, 1.0)
    standard = (columns - centre) / scale
    middle = targets.mean(axis=0)
    aside = targets - middle
    gram, cross = standard.T @ standard, standard.T @ aside
    penalty = ridge * len(columns) * np.eye(len(gram))
    predictions = np.empty_like(targets)
    for test in folds:
        part = standard[test]
        weights = np.linalg.solve(gram - part.T @ part + penalty, cross - part.T @ aside[test])
        predictions[test] = part @ weights + middle
    weights = np.linalg.solve(gram + penalty, cross) / scale[:, None]
    return predictions, np.vstack([middle - centre @ weights, weights])


def _with_ones(columns: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(columns)), columns])


FORMS = (4, 5)  # of JOINT_MODELS: smooth functions of ranks, without and with products

RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)  # the strongest first


def shared_models(evidence: Evidence, found: CodeModels, *, seed: int = 0) -> CodeModels | None:
    """The models with codes shared between factors that are nearly equivalent; None if there are no such codes.

    The first fit in the order of `FORMS` and `RIDGES` is used whose error is within one standard error of the smallest
    error of all other models. A code keeps its model if there is no such fit, or if it belongs to a factor without an
    equivalent.

    >>> from unweave.trust.code_models import code_models
    >>> x, difference, noise = np.random.default_rng(13).normal(size=(3, 500))
    >>> y = x + 0.03 * difference
    >>> evidence = Evidence({"x": x, "y": y}, (x + y + 0.5 * noise)[:, None])
    >>> found = code_models(evidence)
    >>> shared = shared_models(evidence, found)
    >>> found.owner.tolist(), shared.owner.tolist()
    ([0], [-1])
    """
    alike, scores = alike_pairs(found.designs), found.code_scores
    if not alike:
        return None
    open_ones = ~found.silent & ~found.settled & ((found.owner == NO_FACTOR) | np.isin(found.owner, alike))
    folds = [test for _, test in evidence.folds(N_FOLDS, seed)]
    shared = np.zeros(open_ones.shape, dtype=bool)
    model, residuals, weights = found.model.copy(), found.residuals.copy(), dict(found.weights)
    for k in FORMS:
        if k not in weights:
            continue  # too many columns for so few rows
        columns, weights[k] = JOINT_MODELS[k].columns(found.designs), weights[k].copy()
        for ridge in RIDGES:
            predictions, fitted = out_of_fold(columns, scores, folds, ridge)
            as_good = _within_error(np.square(scores - predictions), np.square(found.best_left))
            new = open_ones & as_good & ~shared
            shared |= new
            model[new], weights[k][:, new] = k, fitted[:, new]
            residuals[:, new] = (scores - predictions)[:, new]
    if not shared.any():
        return None
    owner = np.where(shared, NO_FACTOR, found.owner)
    return replace(
        found, owner=owner, model=model, of_codes=found.of_codes & ~shared, residuals=residuals, weights=weights
    )
