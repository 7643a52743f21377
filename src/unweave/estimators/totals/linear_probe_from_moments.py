"""Held-out R2 of the linear probe from the moments of the folds, which determine the squared errors of a fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.linear_probes import ROWS_PER_CODE, LinearDesign, ridge_coefficients
from unweave.estimators.totals.moments import Moments
from unweave.estimators.totals.pass_plan import PassPlan
from unweave.estimators.totals.row_totals import RowTotals, never_vary

HEAVY = 25.0  # standard deviations; a code with values further from its mean has heavy tails
MARGIN = 0.5  # how far outside a factor's range one code alone may move a prediction, as a share of the range


def held_out_r2_from(plan: PassPlan, totals: RowTotals) -> FloatArray | None:
    """Held-out R2 of every factor, by cross-validation over the folds; None if moments do not determine it.

    Moments do not determine R2 if there are categorical factors, too many codes or too few rows. They do not determine
    it either if a code with a heavy tail could by itself move a prediction far outside the range of the factor, because
    such predictions are clipped row by row. R2 of a constant factor is nan.
    """
    roles = [entry.role for entry in plan.factors]
    n_codes, constant = len(plan.codes), never_vary(totals)
    fewest = min(totals.n_rows - fold.n_rows for fold in totals.folds)
    if "categories" in roles or not totals.folds[0].gram.size or fewest < ROWS_PER_CODE * max(n_codes, 2):
        return None
    widths = [2 if role == "circle" else 1 for role in roles]
    starts = np.cumsum([0, *widths[:-1]])
    lowest, highest = _extremes(plan, totals)
    errors, deviations = np.zeros((2, sum(widths)))
    everything = totals.moments
    for fold in totals.folds:
        train = everything - fold
        centre, scale, coefficients, intercept = _fitted(train, constant[len(roles) :])
        reach = np.maximum(np.abs(highest - centre), np.abs(lowest - centre)) / scale
        furthest = (np.abs(coefficients) * np.where(reach > HEAVY, reach, 0.0)[:, None]).max(axis=0)
        if (furthest > _room(plan, totals, intercept, starts)).any():
            return None
        slopes = coefficients / scale[:, None]
        errors += _squared_errors(fold, slopes, intercept - centre @ slopes)
        deviations += _squared_errors(fold, np.zeros_like(slopes), intercept)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return np.where(constant[: len(roles)], np.nan, found)


def _fitted(train: Moments, constant: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centres and scales of the codes, coefficients of the standardised codes, and intercepts."""
    n = train.n_rows
    centre, middle = train.code_sums / n, train.feature_sums / n
    gram = train.gram - n * np.outer(centre, centre)
    spread = np.sqrt(np.maximum(gram.diagonal() / n, 0.0))
    scale = np.where((spread > 0) & ~constant, spread, 1.0)
    gram = np.where(constant[:, None] | constant, 0.0, gram / np.outer(scale, scale))
    energies, vectors = np.linalg.eigh(gram)
    design = LinearDesign(centre, scale, np.maximum(energies, 0.0), vectors, np.ones_like(energies)).whitened(n)
    products = (train.cross - np.outer(middle, train.code_sums)).T / scale[:, None]
    products[constant] = 0.0
    total = np.maximum(train.among.diagonal() - n * np.square(middle), 0.0)
    return centre, scale, ridge_coefficients(design, products, total, n), middle


def _squared_errors(fold: Moments, slopes: FloatArray, intercept: FloatArray) -> FloatArray:
    """Sum over the rows of a fold of (feature - intercept - codes @ slopes)^2, for every feature."""
    quadratic = np.einsum("it,ij,jt->t", slopes, fold.gram, slopes)
    linear = np.einsum("it,ti->t", slopes, fold.cross)
    sums = fold.code_sums @ slopes
    shifted = fold.among.diagonal() - 2 * intercept * fold.feature_sums + fold.n_rows * np.square(intercept)
    return np.maximum(shifted - 2 * linear + quadratic + 2 * intercept * sums, 0.0)


def _extremes(plan: PassPlan, totals: RowTotals) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest standardised value of every code."""
    centre, scale = (np.array([getattr(entry, name) for entry in plan.codes]) for name in ("centre", "scale"))
    ends = [(side[len(plan.factors) :] - centre) / scale for side in (totals.lowest, totals.highest)]
    return ends[0], ends[1]


def _room(plan: PassPlan, totals: RowTotals, middle: FloatArray, starts: FloatArray) -> FloatArray:
    """Largest distance of a prediction from the mean of its feature that needs no clipping, for every feature."""
    room = np.full(middle.size, 2 * (1 + MARGIN))  # cosine and sine
    for j, (start, entry) in enumerate(zip(starts.tolist(), plan.factors, strict=True)):
        if entry.role != "circle":
            low, high = ((side[j] - entry.centre) / entry.scale for side in (totals.lowest, totals.highest))
            room[start] = max(high - middle[start], middle[start] - low) + MARGIN * (high - low)
    return room
