"""Estimates from sums over blocks of rows."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unweave.arrays import FloatArray
from unweave.estimators.correlation import RANK_TOLERANCE, Pearson
from unweave.estimators.counts import bin_edges, edges_passed, joint_tables
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import ROWS_PER_CODE, LinearDesign, ridge_coefficients

N_FOLDS = 5  # contiguous parts of every block, with separate moments so that a probe can hold out one
WIDEST_GRAM = 64  # largest number of codes whose products with each other are computed


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, sums of features and codes, and sums of their products.

    Features are the numeric columns that represent the factors. ``cross`` contains their products with the codes,
    ``among`` those with each other, and ``squares`` the squares of the codes. ``gram`` contains the products of the
    codes with each other, or is empty (0 x 0) if there are too many codes.
    """

    n_rows: int
    feature_sums: FloatArray
    code_sums: FloatArray
    cross: FloatArray
    among: FloatArray
    squares: FloatArray
    gram: FloatArray

    def __add__(self, other: Moments) -> Moments:
        return self._with(other, 1)

    def __sub__(self, other: Moments) -> Moments:
        return self._with(other, -1)

    def _with(self, other: Moments, sign: int) -> Moments:
        return Moments(
            self.n_rows + sign * other.n_rows,
            self.feature_sums + sign * other.feature_sums,
            self.code_sums + sign * other.code_sums,
            self.cross + sign * other.cross,
            self.among + sign * other.among,
            self.squares + sign * other.squares,
            self.gram + sign * other.gram,
        )


def moments_of(columns: FloatArray, n_features: int) -> Moments:
    """Moments of transposed columns (columns x rows), the features before the codes.

    >>> found = moments_of(np.array([[1.0, 2.0], [3.0, 4.0]]), 1)
    >>> found.cross.tolist(), found.gram.tolist(), found.n_rows
    ([[11.0]], [[25.0]], 2)
    """
    sums, n_codes = columns.sum(axis=1), len(columns) - n_features
    features, codes = columns[:n_features], columns[n_features:]
    if n_codes <= WIDEST_GRAM:
        products = columns @ columns.T
        cross, among = products[:n_features, n_features:], products[:n_features, :n_features]
        gram = products[n_features:, n_features:]
        squares = gram.diagonal().copy()
    else:
        cross, among, gram = features @ codes.T, features @ features.T, np.empty((0, 0))
        squares = np.einsum("ij,ij->i", codes, codes)
    return Moments(columns.shape[1], sums[:n_features], sums[n_features:], cross, among, squares, gram)


def folds_of(columns: FloatArray, n_features: int) -> tuple[Moments, ...]:
    """Moments of each of five contiguous parts of the rows."""
    stops = np.arange(N_FOLDS + 1) * columns.shape[1] // N_FOLDS
    return tuple(moments_of(columns[:, a:b], n_features) for a, b in itertools.pairwise(stops))


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

    >>> from unweave.estimators.information import Histogram
    >>> from unweave.estimators.totals import planned_pass
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


def correlations_from(plan: PassPlan, totals: RowTotals) -> FloatArray:
    """Multiple correlation of every code (rows) with every factor (columns); 0 for constant codes and factors.

    >>> from unweave.estimators.information import Histogram
    >>> from unweave.estimators.totals import planned_pass
    >>> from unweave.estimators.totals import totals_of
    >>> rows = np.arange(8.0)[:, None]
    >>> plan = planned_pass(rows, rows, ["number"], [np.nan], Histogram(2))
    >>> correlations_from(plan, totals_of(plan, rows, -2 * rows)).round(9).tolist()
    [[1.0]]
    """
    moments = totals.moments
    n, means = moments.n_rows, moments.code_sums / moments.n_rows
    constant = never_vary(totals)[len(plan.factors) :]
    squares = np.where(constant, 0.0, moments.squares - n * np.square(means))
    cross = moments.cross - np.outer(moments.feature_sums, means)
    among = moments.among - np.outer(moments.feature_sums, moments.feature_sums) / n
    explained = np.zeros((len(plan.codes), len(plan.factors)))
    place = 0
    for j, entry in enumerate(plan.factors):
        sums = totals.factors[j].code_sums
        if entry.role == "categories" and sums is not None:
            sizes = totals.factors[j].tables[0].sum(axis=1)[:, None]
            explained[:, j] = (sizes * np.square(sums / np.maximum(sizes, 1) - means)).sum(axis=0)
            continue
        width = 2 if entry.role == "circle" else 1
        columns = slice(place, place + width)
        inverse = np.linalg.pinv(among[columns, columns], rcond=RANK_TOLERANCE**2, hermitian=True)
        explained[:, j] = np.einsum("ai,ab,bi->i", cross[columns], inverse, cross[columns])
        place += width
    shares = np.divide(explained, squares[:, None], out=np.zeros_like(explained), where=squares[:, None] > 0)
    return np.sqrt(np.clip(shares, 0.0, 1.0))


def information_from(totals: RowTotals) -> FloatArray:
    """Plug-in mutual information of every code's bins (rows) with every factor's labels (columns), in nats."""
    n, n_codes = totals.n_rows, totals.factors[0].tables.shape[0]
    information = np.zeros((n_codes, len(totals.factors)))
    for j, factor in enumerate(totals.factors):
        tables = factor.tables
        margins, margin = tables.sum(axis=1), tables[0].sum(axis=1)
        together = xlogy(tables, tables).sum(axis=(1, 2))
        of_codes, of_factor = xlogy(margins, margins).sum(axis=1), xlogy(margin, margin).sum()
        vary = ((margins > 0).sum(axis=1) > 1) & ((margin > 0).sum() > 1)
        information[:, j] = (np.log(n) + (together - of_codes - of_factor) / n) * vary
    return np.maximum(information, 0.0)


def entropies_from(totals: RowTotals) -> tuple[FloatArray, FloatArray]:
    """Entropy of every factor's labels, and of every code's bins, in nats."""
    n = totals.n_rows
    margins = [factor.tables[0].sum(axis=1) for factor in totals.factors]
    of_codes = totals.factors[0].tables.sum(axis=1)
    of_factors = np.array([np.log(n) - xlogy(margin, margin).sum() / n for margin in margins])
    return np.maximum(of_factors, 0.0), np.maximum(np.log(n) - xlogy(of_codes, of_codes).sum(axis=1) / n, 0.0)


def largest_drift(plan: PassPlan, totals: RowTotals) -> float:
    """Largest difference between the share of all rows in a bin and the share of the planning rows in it.

    A few thousandths are usual for a random sample. More means that the planning rows are not representative,
    because the rows are not in random order.
    """
    tables = totals.factors[0].tables
    shares = [tables[i].sum(axis=0)[: entry.values.size + 1] for i, entry in enumerate(plan.codes)]
    shares += [factor.tables[0].sum(axis=1) for factor in totals.factors]
    return max(
        (
            float(np.abs(counts / totals.n_rows - entry.masses).max())
            for entry, counts in zip((*plan.codes, *plan.factors), shares, strict=True)
            if entry.masses is not None
        ),
        default=0.0,
    )


HEAVY_TAIL_DEVIATIONS = 25.0  # standard deviations; a code with values further from its mean has heavy tails
MARGIN = 0.5  # how far outside a factor's range one code alone may move a prediction, as a share of the range


def held_out_r2_from(plan: PassPlan, totals: RowTotals) -> FloatArray | None:
    """Held-out R2 of every factor, by cross-validation over the folds; None if moments do not determine it.

    Moments do not determine R2 if there are categorical factors, too many codes or too few rows. They do not determine
    it either if a code with a heavy tail could by itself move a prediction far outside the range of the factor, because
    such predictions are clipped row by row. R2 of a constant factor is nan.
    """
    roles = [entry.role for entry in plan.factors]
    n_codes, constant = len(plan.codes), never_vary(totals)
    fewest = min(totals.n_rows - fold.n_rows for fold in totals.folds)
    if "categories" in roles or not totals.folds[0].gram.size or fewest < ROWS_PER_CODE * max(n_codes, 2):
        return None
    widths = [2 if role == "circle" else 1 for role in roles]
    starts = np.cumsum([0, *widths[:-1]])
    lowest, highest = _extremes(plan, totals)
    errors, deviations = np.zeros((2, sum(widths)))
    everything = totals.moments
    for fold in totals.folds:
        train = everything - fold
        centre, scale, coefficients, intercept = _fitted(train, constant[len(roles) :])
        reach = np.maximum(np.abs(highest - centre), np.abs(lowest - centre)) / scale
        furthest = (np.abs(coefficients) * np.where(reach > HEAVY_TAIL_DEVIATIONS, reach, 0.0)[:, None]).max(axis=0)
        if (furthest > _room(plan, totals, intercept, starts)).any():
            return None
        slopes = coefficients / scale[:, None]
        errors += _squared_errors(fold, slopes, intercept - centre @ slopes)
        deviations += _squared_errors(fold, np.zeros_like(slopes), intercept)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return np.where(constant[: len(roles)], np.nan, found)


def _fitted(train: Moments, constant: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centres and scales of the codes, coefficients of the standardised codes, and intercepts."""
    n = train.n_rows
    centre, middle = train.code_sums / n, train.feature_sums / n
    gram = train.gram - n * np.outer(centre, centre)
    spread = np.sqrt(np.maximum(gram.diagonal() / n, 0.0))
    scale = np.where((spread > 0) & ~constant, spread, 1.0)
    gram = np.where(constant[:, None] | constant, 0.0, gram / np.outer(scale, scale))
    energies, vectors = np.linalg.eigh(gram)
    design = LinearDesign(centre, scale, np.maximum(energies, 0.0), vectors, np.ones_like(energies)).whitened(n)
    products = (train.cross - np.outer(middle, train.code_sums)).T / scale[:, None]
    products[constant] = 0.0
    total = np.maximum(train.among.diagonal() - n * np.square(middle), 0.0)
    return centre, scale, ridge_coefficients(design, products, total, n), middle


def _squared_errors(fold: Moments, slopes: FloatArray, intercept: FloatArray) -> FloatArray:
    """Sum over the rows of a fold of (feature - intercept - codes @ slopes)^2, for every feature."""
    quadratic = np.einsum("it,ij,jt->t", slopes, fold.gram, slopes)
    linear = np.einsum("it,ti->t", slopes, fold.cross)
    sums = fold.code_sums @ slopes
    shifted = fold.among.diagonal() - 2 * intercept * fold.feature_sums + fold.n_rows * np.square(intercept)
    return np.maximum(shifted - 2 * linear + quadratic + 2 * intercept * sums, 0.0)


def _extremes(plan: PassPlan, totals: RowTotals) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest standardised value of every code."""
    centre, scale = (np.array([getattr(entry, name) for entry in plan.codes]) for name in ("centre", "scale"))
    ends = [(side[len(plan.factors) :] - centre) / scale for side in (totals.lowest, totals.highest)]
    return ends[0], ends[1]


def _room(plan: PassPlan, totals: RowTotals, middle: FloatArray, starts: FloatArray) -> FloatArray:
    """Largest distance of a prediction from the mean of its feature that needs no clipping, for every feature."""
    room = np.full(middle.size, 2 * (1 + MARGIN))  # cosine and sine
    for j, (start, entry) in enumerate(zip(starts.tolist(), plan.factors, strict=True)):
        if entry.role != "circle":
            low, high = ((side[j] - entry.centre) / entry.scale for side in (totals.lowest, totals.highest))
            room[start] = max(high - middle[start], middle[start] - low) + MARGIN * (high - low)
    return room
