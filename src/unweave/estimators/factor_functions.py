"""A factor as columns to regress on: normal scores and polynomials, harmonics, indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import eval_legendre, ndtr, ndtri

from unweave.estimators.correlation import FloatArray, ranks


@dataclass(frozen=True)
class FactorColumns:
    """Functions of one factor, the first ``n_leading`` of which may be multiplied with other factors'."""

    values: FloatArray
    n_leading: int

    def weights(self, degree: int) -> FloatArray:
        """The columns that stand for the factor in products: bounded, and none of a category."""
        columns = self.up_to(degree)[:, : self.n_leading * self.values.shape[1]]
        return np.column_stack([bounded(columns[:, :1]), columns[:, 1:]]) if self.n_leading == 1 else columns

    def up_to(self, degree: int) -> FloatArray:
        """As many columns as the degree asks for, whole harmonics only; every indicator."""
        return (
            self.values[:, : max(self.n_leading, degree - degree % self.n_leading)] if self.n_leading else self.values
        )


def indicators(column: FloatArray) -> FactorColumns:
    """Indicators of every level but the first.

    >>> indicators(np.array([2.0, 0.0, 1.0])).values.tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return FactorColumns((column[:, None] == np.unique(column)[1:]).astype(np.float64), 0)


def harmonics(angle: FloatArray, n_harmonics: int) -> FactorColumns:
    """Cosine and sine of the first multiples of an angle.

    >>> harmonics(np.array([0.0, np.pi]), 1).values.round(3).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    waves = [wave(k * angle) for k in range(1, n_harmonics + 1) for wave in (np.cos, np.sin)]
    return FactorColumns(np.column_stack(waves), 2)


def normal_scores(column: FloatArray) -> FloatArray:
    """Normal quantiles of the ranks.

    >>> normal_scores(np.array([10.0, -1.0, 3.0])).round(3).tolist()
    [0.967, -0.967, 0.0]
    """
    return np.asarray(ndtri((ranks(column) - 0.5) / column.size))


def bounded(scores: FloatArray) -> FloatArray:
    """Normal scores to places within (-1, 1)."""
    return np.asarray(2 * ndtr(scores) - 1)


def polynomials(scores: FloatArray, degree: int) -> FloatArray:
    """Legendre polynomials 1 to ``degree`` of the places of the scores.

    >>> polynomials(np.array([0.0]), 2).round(6).tolist()
    [[0.0, -0.5]]
    """
    place = bounded(scores)
    return np.column_stack([eval_legendre(power, place) for power in range(1, degree + 1)])


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Every column of the one times every column of the other."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))


def places(factors: Sequence[FactorColumns]) -> list[list[int]]:
    """Places of every factor's columns when all are laid side by side."""
    ends = np.cumsum([factor.values.shape[1] for factor in factors]).tolist()
    starts = [0, *ends]
    return [list(range(start, end)) for start, end in zip(starts, ends, strict=False)]
