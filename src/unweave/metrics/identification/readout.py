"""Prediction of a factor from a few codes, on held-out rows.

There are two kinds of regression. The first is a sum of smooth functions of single codes, with an indicator for every
value that many rows share. The second averages the nearest rows by the ranks of the codes. It can predict a factor that
is not a sum of functions of single codes, such as an angle from its sine and cosine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.dependence.normal_scores import uniform_scores
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_least_squares
from unweave.estimators.regression.spline_basis import natural_spline

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
