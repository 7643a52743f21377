"""Out-of-fold predictions for many targets at once.

The products of a fold are subtracted from the normal equations, so that all folds together cost little more than one
fit. All targets share every factorisation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from unweave.arrays import FloatArray

Folds = NDArray[np.intp]
TINY = 1e-6


def least_squares(design: FloatArray, targets: FloatArray, penalty: float = TINY) -> FloatArray:
    """Coefficients ((1 + p) x m), the intercept first; ``penalty`` is a ridge per row."""
    columns = np.column_stack([np.ones(len(design)), design])
    return np.asarray(_solved(columns.T @ columns, columns.T @ targets, penalty * len(design)))


def out_of_fold_least_squares(
    design: FloatArray, targets: FloatArray, fold: Folds, penalty: float = TINY
) -> FloatArray:
    """Prediction of every row (n x m) by a fit with intercept on the other folds.

    >>> x = np.arange(6.0)[:, None]
    >>> out_of_fold_least_squares(x, 2 * x + 1, np.array([0, 1, 2, 0, 1, 2]), 0.0)[:, 0].round(6).tolist()
    [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    """
    columns = np.column_stack([np.ones(len(design)), design])
    squares, products = columns.T @ columns, columns.T @ targets
    predicted = np.empty(targets.shape)
    for k in np.unique(fold):
        test = np.flatnonzero(fold == k)
        left_out = columns[test]
        rest = squares - left_out.T @ left_out, products - left_out.T @ targets[test]
        predicted[test] = left_out @ _solved(*rest, penalty * (len(design) - test.size))
    return predicted


def _solved(squares: FloatArray, products: FloatArray, ridge: float) -> FloatArray:
    ridges = np.full(len(squares), ridge)
    ridges[0] = 0.0  # the intercept is not penalised
    penalised = squares + np.diag(ridges)
    try:
        return np.asarray(cho_solve(cho_factor(penalised, check_finite=False), products, check_finite=False))
    except np.linalg.LinAlgError:  # columns that are linearly dependent in spite of the penalty
        return np.asarray(np.linalg.lstsq(penalised, products, rcond=None)[0])


def out_of_fold_kernel_ridge(
    kernel: FloatArray, targets: FloatArray, fold: Folds, penalties: tuple[float, ...]
) -> Iterator[FloatArray]:
    """Predictions of every row by kernel ridge regression on the other folds, one array (n x m) per penalty.

    Penalties are relative to the mean of the kernel's diagonal.
    """
    predicted = np.empty((len(penalties), *targets.shape))
    for k in np.unique(fold):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        inner, across = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
        mean = targets[train].mean(axis=0)
        for place, penalty in enumerate(penalties):
            predicted[place, test] = mean + across @ kernel_weights(inner, targets[train] - mean, penalty)
    return iter(predicted)


def kernel_weights(kernel: FloatArray, centred_targets: FloatArray, penalty: float) -> FloatArray:
    """Weights a of the kernel ridge fit k(x, .) a to centred targets."""
    penalised = kernel.copy()
    penalised.flat[:: len(kernel) + 1] += penalty * kernel.trace() / len(kernel)
    factor = cho_factor(penalised, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, centred_targets, check_finite=False))
