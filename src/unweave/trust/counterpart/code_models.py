"""Models that generate codes for unobserved factor combinations: codes of one factor, of several, or of none.

`unweave.responses` measures which factors a code responds to. A code *belongs* to a factor if this factor explains it
as well as any model does, and it is *silent* if no model explains it. For all other codes, polynomials of all factors
and smooth functions of their ranks, both with and without products of two factors, are fitted to all codes at once.
They are compared on held-out rows, and the simplest model within one standard error of the best one is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.matching import best_matching
from unweave.estimators.regression.factor_functions import normal_scores
from unweave.evidence import Evidence
from unweave.responses.code_responses import distinct_factors, responses_to_factors
from unweave.responses.factor_bases import live_codes, varying_places
from unweave.trust.counterpart.alike_factors import NEEDED, alike_pairs, without_rivals
from unweave.trust.counterpart.factor_designs import JOINT_MODELS, TINY, FactorDesign, Places, factor_design

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
    least : array, n x m
        Squared errors of each code's best model on held-out rows, in normal scores.
    collapsed : array of m
        Whether the code is known to carry almost no information.
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
    least: FloatArray
    collapsed: NDArray[np.bool_]

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
    n, spread = evidence.n_rows, evidence.codes.std(axis=0)
    scales = np.where(spread > 0, spread, 1.0)
    codes = evidence.codes / scales
    scores = np.column_stack([normal_scores(column) for column in codes.T])
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
    of_codes = np.array([JOINT_MODELS[k].of_code for k in model])
    owner = _owners(evidence, belongs, errors.explained()[: len(alone)].T)
    fitted = [on_rows[max(j, 0)][:, i] for i, j in enumerate(owner)]
    residuals = np.where(of_codes, codes, scores) - np.column_stack([joint[k][:, i] for i, k in enumerate(model)])
    return CodeModels(
        factors=evidence.factors,
        codes=evidence.codes,
        designs=designs,
        factor_scores=np.column_stack([normal_scores(column) for column in evidence.factors.T]),
        code_scores=scores,
        owner=owner,
        silent=silent,
        collapsed=np.zeros(evidence.n_codes, dtype=bool),
        model=model,
        fitted=np.column_stack(fitted),
        left=scores - np.column_stack([alone[max(j, 0)][:, i] for i, j in enumerate(owner)]),
        of_codes=of_codes,
        residuals=residuals * np.where(of_codes, scales, 1.0),
        least=errors.best,
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
        chosen = self.squares.mean(axis=1).argmin(axis=0)
        return np.asarray(self.squares[chosen, :, np.arange(chosen.size)].T)

    def simplest_joint(self) -> NDArray[np.intp]:
        """Index of the first joint model within one standard error of the best model, else of the best joint model."""
        good = self._as_good()[self.n_alone :]
        best_joint = self.squares[self.n_alone :].mean(axis=1).argmin(axis=0)
        return np.where(good.any(axis=0), good.argmax(axis=0), best_joint)

    def _as_good(self) -> NDArray[np.bool_]:
        """Whether the error of each model is within one standard error of the error of the best model."""
        more = self.squares - self.best
        return np.asarray(more.mean(axis=1) <= more.std(axis=1) / np.sqrt(more.shape[1]) + TINY)


def _belonging(evidence: Evidence, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which factors each code belongs to (m x d), several if they determine each other; and which codes are silent."""
    which, live, varying = distinct_factors(evidence), live_codes(evidence), varying_places(evidence)
    found, _ = responses_to_factors(evidence, N_FOLDS, seed)
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
