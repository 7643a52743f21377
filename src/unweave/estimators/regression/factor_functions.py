"""Columns that represent a factor in a regression: normal scores and polynomials, harmonics, or indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import eval_legendre, ndtr, ndtri

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import ranks


@dataclass(frozen=True)
class GradedColumns:
    """Functions of one factor, ``per_degree`` of them for every degree: 1 for a number, 2 for an angle.

    For a category ``per_degree`` is 0: its indicators have no degree, and are not multiplied with other factors.
    """

    values: FloatArray
    per_degree: int

    def up_to(self, degree: int) -> FloatArray:
        """The first ``degree`` columns (complete harmonics, at least one), or all indicators."""
        if self.per_degree == 0:
            return self.values
        return self.values[:, : max(self.per_degree, degree - degree % self.per_degree)]

    def weights(self, degree: int) -> FloatArray:
        """Bounded columns that represent the factor in products; none for a category."""
        if self.per_degree == 0:
            return self.values[:, :0]
        columns = self.up_to(degree)
        return np.column_stack([bounded(columns[:, :1]), columns[:, 1:]]) if self.per_degree == 1 else columns


def indicators(column: FloatArray) -> GradedColumns:
    """Indicators of every level except the first.

    >>> indicators(np.array([2.0, 0.0, 1.0])).values.tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return GradedColumns((column[:, None] == np.unique(column)[1:]).astype(np.float64), 0)


def harmonics(angle: FloatArray, n_harmonics: int) -> GradedColumns:
    """Cosine and sine of the first multiples of an angle.

    >>> harmonics(np.array([0.0, np.pi]), 1).values.round(3).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    waves = [wave(k * angle) for k in range(1, n_harmonics + 1) for wave in (np.cos, np.sin)]
    return GradedColumns(np.column_stack(waves), 2)


def normal_scores(column: FloatArray) -> FloatArray:
    """Normal quantiles of the ranks.

    >>> normal_scores(np.array([10.0, -1.0, 3.0])).round(3).tolist()
    [0.967, -0.967, 0.0]
    """
    return np.asarray(ndtri((ranks(column) - 0.5) / column.size))


def bounded(scores: FloatArray) -> FloatArray:
    """Normal scores mapped to (-1, 1)."""
    return np.asarray(2 * ndtr(scores) - 1)


def polynomials(scores: FloatArray, degree: int) -> FloatArray:
    """Legendre polynomials of degree 1 to ``degree`` of normal scores mapped to (-1, 1).

    >>> polynomials(np.array([0.0]), 2).round(6).tolist()
    [[0.0, -0.5]]
    """
    place = bounded(scores)
    return np.column_stack([eval_legendre(power, place) for power in range(1, degree + 1)])


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products of every column of ``left`` with every column of ``right``."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))


def places(factors: Sequence[GradedColumns]) -> list[list[int]]:
    """Indices of every factor's columns when the columns of all factors are concatenated."""
    ends = np.cumsum([factor.values.shape[1] for factor in factors]).tolist()
    starts = [0, *ends]
    return [list(range(start, end)) for start, end in zip(starts, ends, strict=False)]
