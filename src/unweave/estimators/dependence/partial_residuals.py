"""Residuals of columns on all regressors but one group's, for every group, from one factorisation.

With W = QR the regressors, P = (W'W)^-1 = R^-1 R^-T and D = WP = Q R^-T their duals, leaving out the columns G gives

    residual without G = (y - QQ'y) + D_G (P_GG)^-1 D_G' y

(Frisch and Waugh 1933; Lovell 1963, for a block of columns), so that a group costs its own width and not a new fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray

RIDGE = 1e-10


@dataclass(frozen=True)
class Regressors:
    """Standardised regressors with an intercept, factored once.

    A ridge of 1e-10 per row leaves a regression as it is and lets columns that copy each other through: each is then
    predicted by the others up to rounding.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -2.0]])
    >>> fitted = Regressors.of(x)
    >>> fitted.residuals(x).round(6).any(), fitted.without([1]).leverages.round(2).tolist()
    (np.False_, [0.75, 0.25, 0.75, 0.25])
    """

    basis: FloatArray
    duals: FloatArray
    precision: FloatArray
    leverages: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Regressors:
        """Factor the columns."""
        basis, inverse = standardised(columns), np.eye(columns.shape[1])
        for _ in range(2):  # Cholesky twice is as orthogonal as Householder, at the speed of matrix products
            gram = basis.T @ basis + len(columns) * RIDGE * (inverse.T @ inverse)
            step = np.linalg.inv(np.linalg.cholesky(gram)).T
            basis, inverse = basis @ step, inverse @ step
        leverages = 1 / len(columns) + np.square(basis).sum(axis=1)
        return cls(basis, basis @ inverse.T, inverse @ inverse.T, leverages)

    def residuals(self, values: FloatArray) -> FloatArray:
        """What all columns leave of the centred values."""
        centred = values - values.mean(axis=0)
        return np.asarray(centred - self.basis @ (self.basis.T @ centred))

    def without(self, group: Sequence[int]) -> Remaining:
        """The regression on all columns but the group's."""
        duals = self.duals[:, group]
        left_out = duals @ np.linalg.inv(self.precision[np.ix_(group, group)])
        leverages = self.leverages - (duals * left_out).sum(axis=1)
        return Remaining(self.residuals, duals, left_out, leverages, self.basis.shape[1] - len(group))


@dataclass(frozen=True)
class Remaining:
    """A regression from which a group of columns was left out; ``left_out`` is what the others leave of the group."""

    all_residuals: Callable[[FloatArray], FloatArray]
    duals: FloatArray
    left_out: FloatArray
    leverages: FloatArray
    n_columns: int

    def residuals(self, values: FloatArray) -> FloatArray:
        """What the remaining columns leave of the centred values."""
        return np.asarray(self.all_residuals(values) + self.left_out @ (self.duals.T @ values))


def standardised(columns: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; a constant column becomes 0, and huge entries do not overflow.

    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]])).round(6).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    largest = np.abs(columns).max(axis=0)
    centred = columns / np.where(largest > 0, largest, 1.0)
    centred = centred - centred.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-12))
