"""How every code responds to the factors: to one of them alone, to several, or to none.

Models of rising flexibility are fitted to all codes at once and compared on rows they have not seen: one factor alone
(smooth and in steps), all factors in a line, all smoothly, all smoothly with products of two. A code *belongs* to a
factor if that factor alone explains it as well as any model does; it is *silent* if no model explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
SAME = 0.01  # of a code's variance: a smaller loss does not make a code depend on a second factor
SILENT = 0.02
STANDARD_ERRORS = 2.0
TINY = 1e-12
NO_FACTOR = -1


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """Functions of one factor, row by row: as it is, in a line, smooth, and smooth with steps."""

    plain: FloatArray
    line: FloatArray
    smooth: FloatArray
    flexible: FloatArray

    def rows(self, index: Rows) -> FactorDesign:
        """The same functions for these rows."""
        return FactorDesign(self.plain[index], self.line[index], self.smooth[index], self.flexible[index])


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
        Number of the model that codes of several factors are drawn from; 0 predicts the code itself, the others its
        normal scores.
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
    weights: tuple[FloatArray, ...]

    def predicted(self, rows_per_factor: Sequence[Rows]) -> list[FloatArray]:
        """Predictions of every model where each factor takes its values from rows of its own."""
        drawn = [design.rows(rows) for design, rows in zip(self.designs, rows_per_factor, strict=True)]
        # a product with few rows is of fewer models, in the same order
        return [
            _with_ones(columns) @ weights for columns, weights in zip(_joint_designs(drawn), self.weights, strict=False)
        ]


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
    joint, weights = [], []
    for k, columns in enumerate(_joint_designs(designs)):
        if k and columns.shape[1] * ROWS_PER_COLUMN > n:
            break
        # lines need no help, and any shrinkage would show as residuals of codes that are exactly linear
        predictions, fitted = _held_out(columns, scores if k else codes, folds, RIDGE if k > 1 else NO_RIDGE)
        joint.append(predictions)
        weights.append(fitted)
    of_plain = np.column_stack(
        [np.interp(joint[0][:, i], np.sort(codes[:, i]), np.sort(scores[:, i])) for i in range(m)]
    )
    error_joint = np.stack([np.square(scores - predictions) for predictions in (of_plain, *joint[1:])])
    owner, silent, model = _decided(evidence, scores, error_alone, error_joint)
    targets = [codes if k == 0 else scores for k in model]
    residuals = np.column_stack([targets[i][:, i] - joint[model[i]][:, i] for i in range(m)])
    residuals[:, model == 0] *= scales[model == 0]
    rescaled = (weights[0] * scales, *weights[1:])
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
    evidence: Evidence, scores: FloatArray, error_alone: FloatArray, error_joint: FloatArray
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.intp]]:
    """Owner of each code, whether it is silent, and the simplest model that is as good as the best."""
    n, m = scores.shape
    variance = np.maximum(np.square(scores).mean(axis=0), TINY)  # a dead code has none, and is silent
    everything = np.concatenate([error_alone, error_joint])
    best = everything[everything.mean(axis=1).argmin(axis=0), :, np.arange(m)].T  # n x m
    explained = np.square(scores) - best
    certain = explained.mean(axis=0) / (explained.std(axis=0) / np.sqrt(n) + 1e-12)
    share = explained.mean(axis=0) / variance
    # held out, flexible models of noise lose more than chance gives them, however many codes there are
    silent = (share < SILENT) | (certain < STANDARD_ERRORS)
    more, error = _excess(error_joint, best)
    good_enough = more <= error + 1e-12
    model = np.where(good_enough.any(axis=0), good_enough.argmax(axis=0), error_joint.mean(axis=1).argmin(axis=0))
    more, error = _excess(error_alone, best)
    belongs = ((more <= 2 * error + SAME * variance) & ~silent).T  # m x d
    return _owners(evidence, belongs, 1 - error_alone.mean(axis=1).T / variance[:, None]), silent, model


def _excess(errors: FloatArray, best: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of what each model errs more than the best, and the standard error of that mean."""
    gaps = errors - best
    return gaps.mean(axis=1), gaps.std(axis=1) / np.sqrt(errors.shape[1])


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
        return FactorDesign(waves[:, :2], waves[:, :2], waves, np.column_stack([waves, _steps(column, n)]))
    levels = np.unique(column)
    if declared.kind is FactorKind.CATEGORICAL or levels.size <= MOST_STEPS:
        classes = (column[:, None] == levels[1:]).astype(np.float64)
        line = classes if declared.kind is FactorKind.CATEGORICAL else column[:, None]
        return FactorDesign(line, line, classes, classes)
    line = normal_scores(column)
    n_knots = int(np.clip(n // ROWS_PER_KNOT, 3, MOST_KNOTS))
    knots = np.quantile(line, np.linspace(0, 1, n_knots + 2)[1:-1])
    powers = [line, line**2, line**3]
    bends = [np.maximum(line - knot, 0) ** 3 for knot in knots]
    smooth = np.column_stack([*powers, *bends[::2]])
    return FactorDesign(column[:, None], line[:, None], smooth, np.column_stack([*powers, *bends, _steps(column, n)]))


def _steps(column: FloatArray, n_rows: int) -> FloatArray:
    """Indicators of bins of equal mass, none where rows are few."""
    n_steps = min(n_rows // ROWS_PER_STEP, MOST_STEPS)
    if n_steps < 4:
        return np.empty((n_rows, 0))
    edges = np.quantile(column, np.linspace(0, 1, n_steps + 1)[1:-1])
    return (np.searchsorted(edges, column)[:, None] == np.arange(1, n_steps)).astype(np.float64)


def _joint_designs(designs: Sequence[FactorDesign]) -> list[FloatArray]:
    """Columns of all factors: as they are, in a line, smooth, and smooth with products of two."""
    smooth = np.column_stack([design.smooth for design in designs])
    pairs = [
        (first.line[:, :, None] * second.line[:, None, :]).reshape(len(smooth), -1)
        for first, second in combinations(designs, 2)
    ]
    return [
        np.column_stack([design.plain for design in designs]),
        np.column_stack([design.line for design in designs]),
        smooth,
        np.column_stack([smooth, *pairs]),
    ]


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
