"""Residuals of regressions that leave out one group of regressors, for every group, from one factorisation.

Let W = QR be the regressors, P = (W'W)^-1 = R^-1 R^-T, and D = WP = Q R^-T their duals. Leaving out the columns G gives

    residual without G = (y - QQ'y) + D_G (P_GG)^-1 D_G' y

(Frisch and Waugh 1933; Lovell 1963, for a block of columns). A group then needs products of its own width, but no new
fit.
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

    A ridge of 1e-10 per row hardly changes the regression and keeps it defined for duplicate columns, each of which is
    then predicted by the others up to rounding.

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
        for _ in range(2):  # two rounds of CholeskyQR are as orthogonal as Householder QR, and faster
            gram = basis.T @ basis + len(columns) * RIDGE * (inverse.T @ inverse)
            step = np.linalg.inv(np.linalg.cholesky(gram)).T
            basis, inverse = basis @ step, inverse @ step
        leverages = 1 / len(columns) + np.square(basis).sum(axis=1)
        return cls(basis, basis @ inverse.T, inverse @ inverse.T, leverages)

    def residuals(self, values: FloatArray) -> FloatArray:
        """Residuals of the centred values on all columns."""
        centred = values - values.mean(axis=0)
        return np.asarray(centred - self.basis @ (self.basis.T @ centred))

    def without(self, group: Sequence[int]) -> Remaining:
        """The regression on all columns except those of the group."""
        duals = self.duals[:, group]
        left_out = duals @ np.linalg.inv(self.precision[np.ix_(group, group)])
        leverages = self.leverages - (duals * left_out).sum(axis=1)
        return Remaining(self.residuals, duals, left_out, leverages, self.basis.shape[1] - len(group))


@dataclass(frozen=True)
class Remaining:
    """A regression without one group of columns; ``left_out`` has the group's residuals on the remaining columns."""

    all_residuals: Callable[[FloatArray], FloatArray]
    duals: FloatArray
    left_out: FloatArray
    leverages: FloatArray
    n_columns: int

    def residuals(self, values: FloatArray) -> FloatArray:
        """Residuals of the centred values on the remaining columns."""
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
