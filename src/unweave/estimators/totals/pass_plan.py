"""Plan of one pass over the rows: bin edges, centres and scales, which are fixed before the pass begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import Pearson
from unweave.estimators.information.binning import bin_edges, edges_passed
from unweave.estimators.information.histogram import Histogram

Role = Literal["number", "levels", "categories", "circle"]
COUNTED = Histogram()  # the estimator whose counts every pass computes
CORRELATED = Pearson()  # the correlation whose products every pass computes


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """How one column is counted and summed.

    A number is standardised and binned. Levels are standardised too, and every value is a label. Categories are used as
    labels only. A circle is represented by its cosine and sine, and binned like a number. ``values`` are the bin edges,
    or the levels that are known so far, and ``masses`` the share of the planning rows in every bin.
    """

    role: Role
    values: FloatArray
    masses: FloatArray | None = None
    centre: float = 0.0
    scale: float = 1.0
    period: float = np.nan

    def features(self, column: FloatArray) -> list[FloatArray]:
        """Columns whose products are summed."""
        if self.role == "circle":
            angle = 2 * np.pi * column / self.period
            return [np.cos(angle), np.sin(angle)]
        return [] if self.role == "categories" else [(column - self.centre) / self.scale]

    def labels(self, column: FloatArray) -> tuple[NDArray[np.uint16], FloatArray]:
        """Label of every entry, and the edges or levels that the labels refer to; new levels are added.

        >>> ColumnPlan("levels", np.array([0.0, 2.0])).labels(np.array([2.0, 1.0]))
        (array([2, 1], dtype=uint16), array([0., 1., 2.]))
        """
        if self.role in ("number", "circle"):
            return edges_passed(column, self.values), self.values
        place = np.searchsorted(self.values[:-1], column)
        if self.values.size and (self.values[place] == column).all():
            return place.astype(np.uint16), self.values
        levels = np.union1d(self.values, column)
        return np.searchsorted(levels, column).astype(np.uint16), levels


@dataclass(frozen=True, eq=False)
class PassPlan:
    """The plan of every factor and of every code."""

    factors: tuple[ColumnPlan, ...]
    codes: tuple[ColumnPlan, ...]


def planned_pass(
    factors: FloatArray, codes: FloatArray, roles: Sequence[Role], periods: Sequence[float], estimator: Histogram
) -> PassPlan:
    """Plan a pass from some rows of the factors and codes, whose order statistics are the bin edges.

    >>> rows = np.arange(100.0)[:, None]
    >>> planned_pass(rows, rows, ["number"], [np.nan], Histogram(2)).codes[0].values.tolist()
    [50.0]
    """
    return PassPlan(
        tuple(
            _column_plan(factors[:, j], role, period, estimator)
            for j, (role, period) in enumerate(zip(roles, periods, strict=True))
        ),
        tuple(_column_plan(codes[:, i], "number", np.nan, estimator) for i in range(codes.shape[1])),
    )


def _column_plan(column: FloatArray, role: Role, period: float, estimator: Histogram) -> ColumnPlan:
    is_cut = role in ("number", "circle")
    values = bin_edges(column, estimator.bins, estimator.binning) if is_cut else np.unique(column)
    masses = np.bincount(edges_passed(column, values), minlength=values.size + 1) / column.size if is_cut else None
    if role in ("categories", "circle"):
        return ColumnPlan(role, values, masses, period=period)
    spread = float(column.std())
    return ColumnPlan(role, values, masses, float(column.mean()), spread if spread > 0 else 1.0)
