"""Counts, moments and products of the rows of a block, which add up over blocks in any order."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information.joint_counts import joint_tables
from unweave.estimators.totals.moments import Moments, folds_of
from unweave.estimators.totals.pass_plan import PassPlan

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactorTotals:
    """Levels or edges of one factor, its joint counts with every code (codes x labels x bins), and sums of the codes.

    ``code_sums`` (labels x codes) has the sum of every code over the rows of each label. It is None except for
    categories, which have no products with the codes.
    """

    values: FloatArray
    tables: Counts
    code_sums: FloatArray | None

    def __add__(self, other: FactorTotals) -> FactorTotals:
        if self.values.size == other.values.size and (self.values == other.values).all():
            sums = None if self.code_sums is None or other.code_sums is None else self.code_sums + other.code_sums
            return FactorTotals(self.values, self.tables + other.tables, sums)
        levels = np.union1d(self.values, other.values)
        return self._on(levels) + other._on(levels)

    def renumbered(self, places: FloatArray) -> FactorTotals:
        """The same counts with renumbered levels; ``places`` has the new number for every old one."""
        values = places[self.values.astype(np.intp)]
        order = np.argsort(values)
        sums = None if self.code_sums is None else self.code_sums[order]
        return FactorTotals(values[order], self.tables[:, order], sums)

    def _on(self, levels: FloatArray) -> FactorTotals:
        """The same counts on a larger set of levels."""
        place = np.searchsorted(levels, self.values)
        tables = np.zeros((self.tables.shape[0], levels.size, self.tables.shape[2]), dtype=np.int64)
        tables[:, place] = self.tables
        if self.code_sums is None:
            return FactorTotals(levels, tables, None)
        sums = np.zeros((levels.size, self.code_sums.shape[1]))
        sums[place] = self.code_sums
        return FactorTotals(levels, tables, sums)


@dataclass(frozen=True, eq=False)
class RowTotals:
    """Results of a pass: number of dropped rows, moments of every fold, extremes of the columns, and joint counts."""

    n_dropped: int
    folds: tuple[Moments, ...]
    lowest: FloatArray
    highest: FloatArray
    factors: tuple[FactorTotals, ...]

    @property
    def moments(self) -> Moments:
        """Moments of all rows."""
        return functools.reduce(operator.add, self.folds)

    @property
    def n_rows(self) -> int:
        """Number of rows without a missing value."""
        return sum(fold.n_rows for fold in self.folds)

    def with_factor(self, j: int, factor: FactorTotals) -> RowTotals:
        """The same totals with another entry for factor j."""
        factors = (*self.factors[:j], factor, *self.factors[j + 1 :])
        ends = factor.values[[0, -1]]
        lowest, highest = self.lowest.copy(), self.highest.copy()
        lowest[j], highest[j] = ends
        return RowTotals(self.n_dropped, self.folds, lowest, highest, factors)

    def __add__(self, other: RowTotals) -> RowTotals:
        return RowTotals(
            self.n_dropped + other.n_dropped,
            tuple(mine + theirs for mine, theirs in zip(self.folds, other.folds, strict=True)),
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            tuple(mine + theirs for mine, theirs in zip(self.factors, other.factors, strict=True)),
        )


def totals_of(plan: PassPlan, factors: FloatArray, codes: FloatArray, n_dropped: int = 0) -> RowTotals:
    """Totals of the rows of one block (rows x factors, rows x codes), which have no missing values.

    >>> from unweave.estimators.information.histogram import Histogram
    >>> from unweave.estimators.totals.pass_plan import planned_pass
    >>> rows = np.arange(8.0)[:, None]
    >>> plan = planned_pass(rows, rows, ["number"], [np.nan], Histogram(2))
    >>> (totals_of(plan, rows[:3], rows[:3]) + totals_of(plan, rows[3:], rows[3:])).factors[0].tables.tolist()
    [[[4, 0], [0, 4]]]
    """
    features = [feature for j, entry in enumerate(plan.factors) for feature in entry.features(factors[:, j])]
    columns = np.empty((len(features) + codes.shape[1], len(codes)))
    for place, feature in enumerate(features):
        columns[place] = feature
    scaled = columns[len(features) :]
    for i, entry in enumerate(plan.codes):
        np.subtract(codes[:, i], entry.centre, out=scaled[i], dtype=np.float64)
        scaled[i] *= 1 / entry.scale
    both = [factors, codes]
    return RowTotals(
        n_dropped=n_dropped,
        folds=folds_of(columns, len(features)),
        lowest=np.concatenate([side.min(axis=0) for side in both]),
        highest=np.concatenate([side.max(axis=0) for side in both]),
        factors=_factor_totals(plan, factors, codes, scaled),
    )


def _factor_totals(
    plan: PassPlan, factors: FloatArray, codes: FloatArray, scaled: FloatArray
) -> tuple[FactorTotals, ...]:
    labelled = [entry.labels(factors[:, j]) for j, entry in enumerate(plan.factors)]
    of_codes = [entry.labels(codes[:, i])[0] for i, entry in enumerate(plan.codes)]
    n_bins = max(entry.values.size for entry in plan.codes) + 1
    is_cut = [entry.role in ("number", "circle") for entry in plan.factors]
    sizes = [values.size + cut for (_, values), cut in zip(labelled, is_cut, strict=True)]
    tables = [np.zeros((len(of_codes), size, n_bins), dtype=np.int64) for size in sizes]
    for chosen, j, counts in joint_tables(of_codes, [labels for labels, _ in labelled]):
        tables[j][chosen, : counts.shape[1], : counts.shape[2]] = counts
    return tuple(
        FactorTotals(
            values,
            tables[j],
            _sums_by_label(labels, scaled, sizes[j]) if plan.factors[j].role == "categories" else None,
        )
        for j, (labels, values) in enumerate(labelled)
    )


def _sums_by_label(labels: NDArray[np.uint16], scaled: FloatArray, n_labels: int) -> FloatArray:
    columns = [np.bincount(labels, weights=column, minlength=n_labels) for column in scaled]
    return np.stack(columns, axis=1).astype(np.float64)


def never_vary(totals: RowTotals) -> NDArray[np.bool_]:
    """Mask of the columns with one value only, factors first and then codes."""

    return np.asarray(totals.lowest == totals.highest)
