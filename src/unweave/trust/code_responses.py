"""How every code responds to the factors: to one of them alone, to several, or to none.

Models of rising flexibility are fitted to all codes at once and compared on rows they have not seen: one factor alone
(smooth and in steps); polynomials of all factors, with and without products of two; and the same smoothly, on the scale
of ranks. A code *belongs* to a
factor if that factor alone explains it as well as any model does, or if next to nothing of it would come from the
others were the factors independent: of factors that correlate by .97, any one explains a mixture of all quite well. A
code is *silent* if no model explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.factor_functions import harmonics, normal_scores
from unweave.estimators.matching import best_matching
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.splits import Rows

FloatArray = NDArray[np.float64]

N_FOLDS = 5
RIDGE = 1e-4
NO_RIDGE = 1e-9
ROWS_PER_STEP = 15
MOST_STEPS = 20
ROWS_PER_KNOT = 40
MOST_KNOTS = 8
ROWS_PER_COLUMN = 3
SAME = 0.01  # of a code's variance: a smaller share of others does not make a code depend on them
MOST_OF_IT = 0.5  # of what the best model explains, a factor has to explain alone, however uncertain the difference
ROWS_FOR_SHARES = 1000
SILENT = 0.02
STANDARD_ERRORS = 2.0
TINY = 1e-12
NO_FACTOR = -1


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """Functions of one factor, row by row: as it is, its powers, its ranks, smooth, and smooth with steps."""

    plain: FloatArray
    powers: FloatArray
    line: FloatArray
    smooth: FloatArray
    flexible: FloatArray

    def rows(self, index: Rows) -> FactorDesign:
        """The same functions for these rows."""
        kept = (columns[index] for columns in (self.plain, self.powers, self.line, self.smooth, self.flexible))
        return FactorDesign(*kept)


@dataclass(frozen=True, eq=False)
class CodeResponses:
    """What the codes respond to.

    Attributes
    ----------
    owner : array of m
        The factor that a code belongs to; -1 for none.
    silent : array of m
        Whether nothing explains the code.
    model : array of m
        Number of the model that codes of several factors are drawn from; `of_codes` says whether it predicts the code
        itself, or its normal scores.
    residuals : array, n x m
        What that model leaves, on rows it has not seen.
    factor_scores, code_scores : array, n x d and n x m
        Normal scores (the numbers of the classes' order for categories).
    """

    factors: FloatArray
    codes: FloatArray
    designs: tuple[FactorDesign, ...]
    factor_scores: FloatArray
    code_scores: FloatArray
    owner: NDArray[np.intp]
    silent: NDArray[np.bool_]
    model: NDArray[np.intp]
    residuals: FloatArray
    weights: dict[int, FloatArray]

    @property
    def of_codes(self) -> NDArray[np.bool_]:
        """Whether a code's model predicts the code itself."""
        return self.model < N_OF_CODES

    def predicted(self, rows_per_factor: Sequence[Rows]) -> dict[int, FloatArray]:
        """Predictions of every model where each factor takes its values from rows of its own."""
        return _predicted(self.designs, self.weights, rows_per_factor)


def code_responses(evidence: Evidence, *, seed: int = 0) -> CodeResponses:
    """Fit and compare the models.

    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> noise = np.random.default_rng(1).normal(size=500)
    >>> found = code_responses(Evidence(z, np.column_stack([z[:, 1] ** 3, z[:, 0] + z[:, 1], noise])))
    >>> found.owner.tolist(), found.silent.tolist()
    ([1, -1, -1], [False, False, True])
    """
    n, m = evidence.codes.shape
    scales = np.where(evidence.codes.std(axis=0) > 0, evidence.codes.std(axis=0), 1.0)
    codes = evidence.codes / scales
    scores = np.column_stack([normal_scores(column) for column in codes.T])
    folds = [test for _, test in evidence.folds(N_FOLDS, seed)]
    designs = tuple(_design(evidence, j) for j in range(evidence.n_factors))
    alone = [_held_out(design.flexible, scores, folds)[0] for design in designs]
    error_alone = np.stack([np.square(scores - predictions) for predictions in alone])  # d x n x m
    joint, weights = {}, {}
    for k, columns in _joint_designs(designs, range(len(MODELS))).items():
        if k and columns.shape[1] * ROWS_PER_COLUMN > n:
            continue
        # polynomials need no help, and any shrinkage would show as residuals of codes that are exactly polynomials
        of_code = k < N_OF_CODES
        joint[k], weights[k] = _held_out(columns, codes if of_code else scores, folds, NO_RIDGE if of_code else RIDGE)
    in_scores = [_in_scores(joint[k], codes, scores) if k < N_OF_CODES else joint[k] for k in joint]
    error_joint = np.stack([np.square(scores - predictions) for predictions in in_scores])
    silent, place, best = _decided(scores, error_alone, error_joint)
    model = np.array(list(joint))[place]
    shares = _independent_shares(designs, weights, model, np.random.default_rng(seed))
    variance = np.maximum(np.square(scores).mean(axis=0), TINY)
    explained = 1 - error_alone.mean(axis=1).T / variance[:, None]  # m x d
    as_good = _as_good(error_alone, best).T & (explained >= MOST_OF_IT * (1 - best.mean(axis=0) / variance)[:, None])
    belongs = (as_good | (shares >= 1 - SAME)) & ~silent[:, None]
    owner = _owners(evidence, belongs, explained)
    of_codes = model < N_OF_CODES
    targets = np.where(of_codes, codes, scores)
    residuals = np.column_stack([targets[:, i] - joint[model[i]][:, i] for i in range(m)]) * np.where(
        of_codes, scales, 1
    )
    rescaled = {k: fitted * scales if k < N_OF_CODES else fitted for k, fitted in weights.items()}
    return CodeResponses(
        factors=evidence.factors,
        codes=evidence.codes,
        designs=designs,
        factor_scores=np.column_stack([normal_scores(column) for column in evidence.factors.T]),
        code_scores=scores,
        owner=owner,
        silent=silent,
        model=model,
        residuals=residuals,
        weights=rescaled,
    )


def _decided(
    scores: FloatArray, error_alone: FloatArray, error_joint: FloatArray
) -> tuple[NDArray[np.bool_], NDArray[np.intp], FloatArray]:
    """Whether each code is silent, its simplest joint model among the best, and errors of the best of all."""
    n, m = scores.shape
    variance = np.maximum(np.square(scores).mean(axis=0), TINY)  # a dead code has none, and is silent
    everything = np.concatenate([error_alone, error_joint])
    best = everything[everything.mean(axis=1).argmin(axis=0), :, np.arange(m)].T  # n x m
    explained = np.square(scores) - best
    certain = explained.mean(axis=0) / (explained.std(axis=0) / np.sqrt(n) + 1e-12)
    share = explained.mean(axis=0) / variance
    # held out, flexible models of noise lose more than chance gives them, however many codes there are
    silent = (share < SILENT) | (certain < STANDARD_ERRORS)
    good_enough = _as_good(error_joint, best, standard_errors=1)
    model = np.where(good_enough.any(axis=0), good_enough.argmax(axis=0), error_joint.mean(axis=1).argmin(axis=0))
    return silent, model, best


def _as_good(errors: FloatArray, best: FloatArray, standard_errors: float = STANDARD_ERRORS) -> NDArray[np.bool_]:
    """Whether each model errs no more than the best, but for so many standard errors of the mean difference."""
    gaps = errors - best
    return np.asarray(gaps.mean(axis=1) <= standard_errors * gaps.std(axis=1) / np.sqrt(errors.shape[1]) + TINY)


def _independent_shares(
    designs: Sequence[FactorDesign],
    weights: dict[int, FloatArray],
    model: NDArray[np.intp],
    generator: np.random.Generator,
) -> FloatArray:
    """Share of each code's model (m x d) that every factor alone would account for, were the factors independent.

    Twice the factors are drawn from rows of their own, all but one anew: what the draws share comes from that one.
    """
    n, m = len(designs[0].line), model.size
    n_drawn = min(n, ROWS_FOR_SHARES)
    once, again = ([generator.permutation(n)[:n_drawn] for _ in designs] for _ in range(2))

    def of_codes(rows: list[Rows]) -> FloatArray:
        found = _predicted(designs, weights, rows)
        chosen = np.column_stack([found[model[i]][:, i] for i in range(m)])
        return np.asarray(chosen - chosen.mean(axis=0))

    first = of_codes(once)
    shares = np.empty((m, len(designs)))
    for j in range(len(designs)):
        second = of_codes([once[k] if k == j else again[k] for k in range(len(designs))])
        norms = np.sqrt(np.square(first).sum(axis=0) * np.square(second).sum(axis=0))
        shares[:, j] = (first * second).sum(axis=0) / np.maximum(norms, TINY)
    return shares


def _predicted(
    designs: Sequence[FactorDesign], weights: dict[int, FloatArray], rows_per_factor: Sequence[Rows]
) -> dict[int, FloatArray]:
    drawn = [design.rows(rows) for design, rows in zip(designs, rows_per_factor, strict=True)]
    return {k: _with_ones(columns) @ weights[k] for k, columns in _joint_designs(drawn, weights).items()}


def _in_scores(predictions: FloatArray, codes: FloatArray, scores: FloatArray) -> FloatArray:
    """Predictions of codes as normal scores."""
    return np.column_stack(
        [np.interp(predictions[:, i], np.sort(codes[:, i]), np.sort(scores[:, i])) for i in range(codes.shape[1])]
    )


def _owners(evidence: Evidence, belongs: NDArray[np.bool_], explained: FloatArray) -> NDArray[np.intp]:
    """One factor for each code that belongs to any, different ones for different codes as far as that goes.

    Where factors determine each other, a code belongs to all of them alike; the one it follows in a line comes first.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        lines = np.corrcoef(evidence.codes, evidence.factors, rowvar=False)[: belongs.shape[0], belongs.shape[0] :]
    preference = np.where(belongs, explained + 0.1 * np.nan_to_num(np.abs(lines)), -1.0)
    owner = np.where(belongs.any(axis=1), preference.argmax(axis=1), NO_FACTOR)
    rows, columns = best_matching(preference)
    matched = belongs[rows, columns]
    owner[rows[matched]] = columns[matched]
    return owner


def _design(evidence: Evidence, j: int) -> FactorDesign:
    column, declared, n = evidence.factors[:, j], evidence.declared_kinds[j], evidence.n_rows
    if declared.kind is FactorKind.CIRCULAR:
        waves = harmonics(2 * np.pi * column / declared.period, 3).values
        circle = waves[:, :2]
        return FactorDesign(circle, waves, circle, waves, np.column_stack([waves, _steps(column, n)]))
    levels = np.unique(column)
    if declared.kind is FactorKind.CATEGORICAL or levels.size <= MOST_STEPS:
        classes = (column[:, None] == levels[1:]).astype(np.float64)
        line = classes if declared.kind is FactorKind.CATEGORICAL else column[:, None]
        return FactorDesign(line, classes, line, classes, classes)
    plain = (column - column.mean()) / max(column.std(), TINY)
    line = normal_scores(column)
    n_knots = int(np.clip(n // ROWS_PER_KNOT, 3, MOST_KNOTS))
    knots = np.quantile(line, np.linspace(0, 1, n_knots + 2)[1:-1])
    powers = [line, line**2, line**3]
    bends = [np.maximum(line - knot, 0) ** 3 for knot in knots]
    smooth = np.column_stack([*powers, *bends[::2]])
    flexible = np.column_stack([*powers, *bends, _steps(column, n)])
    return FactorDesign(plain[:, None], np.column_stack([plain, plain**2, plain**3]), line[:, None], smooth, flexible)


def _steps(column: FloatArray, n_rows: int) -> FloatArray:
    """Indicators of bins of equal mass, none where rows are few."""
    n_steps = min(n_rows // ROWS_PER_STEP, MOST_STEPS)
    if n_steps < 4:
        return np.empty((n_rows, 0))
    edges = np.quantile(column, np.linspace(0, 1, n_steps + 1)[1:-1])
    return (np.searchsorted(edges, column)[:, None] == np.arange(1, n_steps)).astype(np.float64)


def _products(columns: Sequence[FloatArray]) -> list[FloatArray]:
    """Products of any column of one factor with any of another."""
    pairs = combinations(columns, 2)
    return [(first[:, :, None] * second[:, None, :]).reshape(len(first), -1) for first, second in pairs]


# columns of all factors, each a model of the codes; the first three of the codes themselves, the others of their ranks
MODELS: tuple[Callable[[Sequence[FactorDesign]], list[FloatArray]], ...] = (
    lambda designs: [design.plain for design in designs],
    lambda designs: [design.powers for design in designs],
    lambda designs: [*(design.powers for design in designs), *_products([design.plain for design in designs])],
    lambda designs: [design.line for design in designs],
    lambda designs: [design.smooth for design in designs],
    lambda designs: [*(design.smooth for design in designs), *_products([design.line for design in designs])],
)
N_OF_CODES = 3


def _joint_designs(designs: Sequence[FactorDesign], numbers: Iterable[int]) -> dict[int, FloatArray]:
    """Columns of the models of these numbers."""
    return {k: np.column_stack(MODELS[k](designs)) for k in numbers}


def _held_out(
    columns: FloatArray, targets: FloatArray, folds: Sequence[Rows], ridge: float = RIDGE
) -> tuple[FloatArray, FloatArray]:
    """Predictions for every fold from the others, and the weights of a fit to all rows (the constant first)."""
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
