"""Predictions of every code from one factor: by a smooth function, and from neighbouring rows, which allows jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_least_squares
from unweave.responses.factor_bases import FactorBases

NEAR = 8  # number of neighbours that are averaged to reduce noise
# E min((a - b)^2, (a - c)^2) of three standard normal numbers: half of E (x^2 + y^2) - E |x - y| E |x + y|
NEARER_OF_TWO = 2 - 2 * np.sqrt(3) / np.pi


@dataclass(frozen=True)
class LocalFit:
    """Out-of-fold predictions from three or many neighbouring rows (n x m), and the noise variance of each code (m)."""

    of_three: FloatArray
    of_many: FloatArray
    noise: FloatArray


def smooth_fit(factor: FactorBases, codes: FloatArray, fold: Folds) -> FloatArray:
    """Out-of-fold predictions of all codes from smooth functions of one factor."""
    return out_of_fold_least_squares(factor.smooth, codes, fold)


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
