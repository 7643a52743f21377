"""Leave-one-out predictions of Gaussian-kernel ridge regression.

    prediction of y_t without row t = y_t - a_t / P_tt,   a = P (y - mean),   P = (K + ridge I)^-1

so that one factorisation gives the predictions of all held-out rows, for any number of targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.special import ndtri

from unweave.arrays import FloatArray
from unweave.estimators.information.entropy import entropy_of_counts

SMALLEST_RIDGE = 1e-8


@dataclass(frozen=True)
class GaussianKernel:
    """exp(-distance^2 / (2 length^2)), with a ridge on the diagonal."""

    length: float
    ridge: float

    def leave_one_out(self, inputs: FloatArray, targets: FloatArray) -> FloatArray:
        """Prediction of every row of the targets from all other rows.

        >>> x = np.linspace(-1, 1, 50)[:, None]
        >>> error = GaussianKernel(0.5, 1e-4).leave_one_out(x, x**2) - x**2
        >>> bool(np.abs(error).max() < 0.01)
        True
        """
        squares = np.square(inputs).sum(axis=1)
        kernel = inputs @ (inputs.T / self.length**2)
        kernel -= squares / (2 * self.length**2)
        kernel -= squares[:, None] / (2 * self.length**2)
        np.exp(kernel, out=kernel)
        return held_out_predictions(kernel, targets, self.ridge)


def held_out_predictions(kernel: FloatArray, targets: FloatArray, ridge: float) -> FloatArray:
    """Leave-one-out predictions of ridge regression with this kernel, which is overwritten.

    >>> held_out_predictions(np.ones((3, 3)), np.array([[1.0], [2.0], [3.0]]), 1e-6).round(2).ravel().tolist()
    [2.5, 2.0, 1.5]
    """
    kernel.flat[:: len(kernel) + 1] += max(ridge, SMALLEST_RIDGE)
    factor, failed = lapack.dpotrf(kernel.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The kernel is not positive definite: raise the ridge.")
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    centred = targets - targets.mean(axis=0)
    return np.asarray(targets - blas.dsymm(1.0, lower, centred, lower=1) / np.diag(lower)[:, None])


def unexplained_variance(targets: FloatArray, predictions: FloatArray, left_out: float = 0.02) -> float:
    """Mean squared error divided by the variance, of all columns together, without the rows of the largest errors.

    Isolated rows in the tails cannot be predicted from others. A share ``left_out`` of the rows is therefore dropped,
    and the mean of the rest is rescaled so that it is the mean squared error if errors are normal.

    >>> x = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> round(unexplained_variance(x, np.zeros_like(x)), 1)
    1.0
    """
    squares = np.square(targets - predictions).sum(axis=1, keepdims=True)
    return float(_without_worst(squares, left_out)[0] / targets.var(axis=0).sum())


def unexplained_variances(targets: FloatArray, predictions: FloatArray, left_out: float = 0.02) -> FloatArray:
    """`unexplained_variance` of every column separately.

    >>> x = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> unexplained_variances(x, np.array([[1.0, 1.0], [1.0, 3.0]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(_without_worst(np.square(targets - predictions), left_out) / targets.var(axis=0))


def _without_worst(squares: FloatArray, left_out: float) -> FloatArray:
    """Mean of every column without its largest entries, rescaled for normal errors."""
    n_rows = len(squares)
    n_kept = n_rows - int(left_out * n_rows)
    return np.asarray(np.sort(squares, axis=0)[:n_kept].mean(axis=0) / _variance_within(n_kept / n_rows))


def _variance_within(share: float) -> float:
    """Mean square of a standard normal variable within its central share."""
    if share == 1:
        return 1.0
    cut = float(ndtri((1 + share) / 2))
    return float(1 - 2 * cut * np.exp(-(cut**2) / 2) / np.sqrt(2 * np.pi) / share)


def unexplained_entropy(labels: NDArray[np.intp], predicted: NDArray[np.intp], n_labels: int) -> float:
    """H(label | predicted label) / H(label), but at least the error rate relative to that of the most common label.

    The lower limit is needed for held-out predictions of balanced labels. The label of the held-out row is the least
    common one among the other rows, so that a majority vote is always wrong. With two labels, a prediction that is
    always wrong determines the label, and the conditional entropy alone would be 0.

    >>> unexplained_entropy(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2)
    0.0
    >>> unexplained_entropy(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    """
    joint = np.bincount(labels * n_labels + predicted, minlength=n_labels**2).reshape(n_labels, n_labels)
    of_label, of_both = entropy_of_counts(joint.sum(axis=1)), entropy_of_counts(joint.ravel())
    if of_label <= 0:
        return np.nan
    given = max(float(of_both - entropy_of_counts(joint.sum(axis=0))), 0.0)
    errors = (labels.size - np.trace(joint)) / (labels.size - joint.sum(axis=1).max())
    return max(given / float(of_label), min(float(errors), 1.0))
