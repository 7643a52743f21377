"""Whether rows are exchangeable: rows of a time series and repeated rows are not.

Permuting rows gives a valid null distribution only if the factors or the codes are exchangeable. Where both are
autocorrelated, as in a video or another time series, unrelated codes correlate with factors by chance far more than
permutations show. Circular shifts keep the autocorrelation of factors and codes and break only their pairing. Repeated
rows have to stay together for the same reason.

A series is recognised by the rank correlation of each row with the row before. Rows in the order of a design, sorted
by a factor or by environments, or with a factor that repeats exactly as in a grid, do not count as a series. Where a
factor is nearly periodic, shifts put it back: row groups are permuted instead, and without groups there is no test.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import norm, rankdata

from unweave.arrays import FloatArray, Rows
from unweave.evidence import Evidence
from unweave.evidence.splits import shuffled_rows
from unweave.findings import Finding
from unweave.memo import memoised

FEWEST_ROWS = 30

MOST_COLUMNS = 64

LEVEL = 0.001

LEAST = 0.1  # smallest lag-1 autocorrelation of a series

FADED = 0.2  # autocorrelation below which rows count as independent

ENOUGH_EFFECTIVE = 20.0

PUT_BACK = 0.5  # rank correlation of a factor with itself after a shift that largely puts it back

SHARE_PUT_BACK = 0.025  # of all shifts: half of the level at which a score is above noise

MOST_PERIODS = 100

FEW_UNITS = 5  # groups of rows whose orders are enumerated


@dataclass(frozen=True, eq=False)
class RowOrder:
    """How the rows depend on each other.

    Attributes
    ----------
    kind : str
        ``exchangeable``, ``series`` (consecutive rows are correlated) or ``repeated`` (rows occur several times).
    lag_of_factors, lag_of_codes : float
        Largest lag-1 autocorrelation of a column's ranks.
    n_effective : float
        Effective number of independent rows for a correlation of factors and codes: n (1 - ab) / (1 + ab) for
        autocorrelations a and b.
    reach : int
        Two rows of a series count as dependent if they are fewer than this number of rows apart.
    same_as : array of n, optional
        Index of the distinct row that each row equals, if rows are repeated.
    period : int
        Shift beyond the reach that best puts a factor of a series back; 0 if few shifts largely do.
    """

    kind: Literal["exchangeable", "series", "repeated"] = "exchangeable"
    lag_of_factors: float = 0.0
    lag_of_codes: float = 0.0
    n_effective: float = math.inf
    reach: int = 0
    same_as: Rows | None = None
    period: int = 0

    @property
    def untestable(self) -> bool:
        """Whether shifts of a series give no test: too few independent rows, or a factor that shifts put back."""
        return self.kind == "series" and (self.n_effective < ENOUGH_EFFECTIVE or self.period > 0)


@memoised(on="both")
def row_order(evidence: Evidence) -> RowOrder:
    """How the rows of this evidence depend on each other.

    >>> rng = np.random.default_rng(0)
    >>> row_order(Evidence(rng.normal(size=(200, 2)), rng.normal(size=(200, 3)))).kind
    'exchangeable'
    >>> walk = rng.normal(size=(200, 2)).cumsum(axis=0)
    >>> row_order(Evidence(walk, walk)).kind
    'series'
    """
    n = evidence.n_rows
    if n < FEWEST_ROWS or not (evidence.n_factors and evidence.n_codes) or evidence.sparse_codes is not None:
        return RowOrder()  # almost all pairs of rows of sparse codes are similar, so they show no order
    if evidence.same_rows is not None:
        return RowOrder("repeated", same_as=evidence.same_rows)
    factors, codes = _factor_columns(evidence), _within_environments(evidence, evidence.codes[:, :MOST_COLUMNS])
    before = _rows_before(evidence)
    if before is not None and not _has_the_order_of_a_design(evidence.factors):
        lags = [_largest_lag(columns, before) for columns in (factors, codes)]
        chance = norm.isf(LEVEL / 2 / (factors.shape[1] + codes.shape[1])) / math.sqrt(before.size)
        if min(lags) > max(chance, LEAST) or _goes_on(evidence, (factors, codes), before):
            lags = [max(lag, 0.0) for lag in lags]
            both = min(lags[0] * lags[1], 1 - 1 / n)
            reach = min(_reach(math.sqrt(both)), n // 4)
            n_effective = n * (1 - both) / (1 + both)
            period = _period(factors, reach) if n_effective >= ENOUGH_EFFECTIVE else 0
            if period and evidence.row_groups is not None:
                return RowOrder()  # shifts would put a factor back, and the groups can be permuted
            return RowOrder("series", lags[0], lags[1], n_effective, reach, period=period)
    return RowOrder()


def null_order(evidence: Evidence, rng: np.random.Generator, index: int = 0) -> Rows | None:
    """A new order of the rows that breaks the pairing and keeps dependent rows together.

    A series is shifted by at least its reach. Row groups and repeated rows are permuted as blocks. If there are few of
    them, draw number ``index`` is the order of this number, so that each order is drawn once. The result is None if
    rows or row groups are exchangeable, so that any permutation is valid.
    """
    known, n = row_order(evidence), evidence.n_rows
    if known.kind == "series":
        return np.roll(np.arange(n), int(rng.integers(known.reach, n - known.reach + 1)))
    units = _few_units(evidence)
    if units is not None:
        orders = list(itertools.permutations(range(int(units.max()) + 1)))
        return shuffled_rows(n, units, rng, orders[1 + index % (len(orders) - 1)])
    return None if known.same_as is None else shuffled_rows(n, known.same_as, rng)


def n_null_orders(evidence: Evidence) -> float:
    """Number of orders of few row groups (or of very few rows), the observed one included; infinite if there are many.

    >>> n_null_orders(Evidence(list(range(6)), list(range(6)), row_groups=[0, 0, 1, 1, 2, 2]))
    6
    """
    units = _few_units(evidence)
    return math.inf if units is None else math.factorial(int(units.max()) + 1)


def _few_units(evidence: Evidence) -> Rows | None:
    """The group of each row if there are so few groups that all their orders are drawn; None otherwise."""
    known = row_order(evidence)
    units = evidence.row_groups if known.same_as is None else known.same_as
    units = np.arange(evidence.n_rows) if units is None else units
    few = known.kind != "series" and 1 < int(units.max(initial=0)) + 1 <= FEW_UNITS
    return units if few else None


@memoised(on="factors")
def block_length(evidence: Evidence) -> int:
    """Number of consecutive rows of a series that are left out together; 1 where rows are not a series.

    It depends on the factors only, so that representations of the same rows are compared on the same parts.

    >>> block_length(Evidence(np.random.default_rng(0).normal(size=(200, 2))))
    1
    """
    n = evidence.n_rows
    if (
        evidence.row_groups is not None
        or n < FEWEST_ROWS
        or not evidence.n_factors
        or _has_the_order_of_a_design(evidence.factors)
    ):
        return 1
    columns = _factor_columns(evidence)
    lag = _largest_lag(columns, np.arange(n - 1))
    if lag <= max(norm.isf(LEVEL / 2 / columns.shape[1]) / math.sqrt(n), LEAST):
        return 1
    return min(2 * _reach(lag), max(n // 10, 1))


def notes_on_order(evidence: Evidence) -> list[Finding]:
    """Caveats about null distributions where rows depend on each other."""
    known = row_order(evidence)
    if known.period:
        return [Finding("series_periodic", period=known.period)]
    if known.untestable:
        return [Finding("series_too_short", n_rows=evidence.n_rows, n_effective=known.n_effective)]
    if known.kind == "series":
        return [Finding("series_shifted", lag_of_factors=known.lag_of_factors, lag_of_codes=known.lag_of_codes)]
    if known.same_as is not None:
        n_distinct = int(known.same_as.max()) + 1
        return [Finding("repeated_rows_together", n_rows=evidence.n_rows, n_distinct=n_distinct)]
    return []


def diagnosed_order(evidence: Evidence) -> list[Finding]:
    """Findings of the diagnosis about the order of rows."""
    known = row_order(evidence)
    if known.kind == "series":
        return [
            Finding(
                "rows_follow_each_other",
                lag_of_factors=known.lag_of_factors,
                lag_of_codes=known.lag_of_codes,
                n_rows=evidence.n_rows,
                n_effective=known.n_effective,
            )
        ]
    if known.same_as is not None:
        return [Finding("rows_come_again", n_rows=evidence.n_rows, n_distinct=int(known.same_as.max()) + 1)]
    return []


def _reach(lag: float) -> int:
    """Number of rows after which the autocorrelation falls below `FADED`, given its value at lag 1."""
    return max(math.ceil(math.log(FADED) / math.log(min(max(lag, 0.01), 0.9999))), 1)


def _factor_columns(evidence: Evidence) -> FloatArray:
    columns = []
    for j in range(min(evidence.n_factors, MOST_COLUMNS)):
        declared, values = evidence.declared_kinds[j], evidence.factors[:, j]
        columns.append(declared.target_columns(values) if declared.kind.is_circular else values)
    return _within_environments(evidence, np.column_stack(columns))


def _within_environments(evidence: Evidence, columns: FloatArray) -> FloatArray:
    """Columns without the means of their environments: rows sorted by what was intervened on are no series."""
    labels = evidence.environments
    if labels is None:
        return columns
    sums = np.stack([np.bincount(labels, column) for column in columns.T], axis=1)
    means = sums / np.maximum(np.bincount(labels), 1)[:, None]  # an environment may be empty where rows were chosen
    left = columns - means[labels]
    return np.asarray(np.where(np.abs(left) > 1e-9 * np.abs(columns).max(axis=0), left, 0.0))


def _rows_before(evidence: Evidence) -> Rows | None:
    """Rows to compare with the next row: all rows, or the last row of each row group, as groups may be independent."""
    groups = evidence.row_groups
    if groups is None:
        return np.arange(evidence.n_rows - 1)
    ends = np.flatnonzero(np.diff(groups))
    if ends.size != int(groups.max()) or ends.size < FEWEST_ROWS - 1:
        return None  # groups are not contiguous, or there are too few
    return ends


def _goes_on(evidence: Evidence, sides: tuple[FloatArray, ...], ends: Rows) -> bool:
    """Whether the end of a row group resembles the next group's start about as much as rows within groups do.

    For a single column, the estimate from few group ends is imprecise, so correlations are averaged over columns. If
    groups are pieces of one series, the average is close to the correlation within groups; if groups are independent,
    it is close to 0.
    """
    groups = evidence.row_groups
    if groups is None:
        return False
    within = np.flatnonzero(np.diff(groups) == 0)
    if within.size < FEWEST_ROWS:
        return False
    means = [[float(np.mean(_lags(columns, rows))) for rows in (within, ends)] for columns in sides]
    return all(inside > LEAST and across > inside / 2 for inside, across in means)


def _largest_lag(columns: FloatArray, before: Rows) -> float:
    """The largest lag-1 autocorrelation of the columns' ranks."""
    return float(np.max(_lags(columns, before)))


def _lags(columns: FloatArray, before: Rows) -> FloatArray:
    """Lag-1 autocorrelation of the ranks of every column that varies; a single 0 if none varies."""
    varying = columns[:, np.ptp(columns, axis=0) > 0]
    if not varying.shape[1]:
        return np.zeros(1)
    ranked = rankdata(varying, axis=0)
    first, second = ranked[before], ranked[before + 1]
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    spread = np.sqrt(np.square(first).sum(axis=0) * np.square(second).sum(axis=0))
    return np.asarray((first * second).sum(axis=0) / np.where(spread > 0, spread, 1.0))


def _has_the_order_of_a_design(factors: FloatArray) -> bool:
    """Whether the rows have the order of a design: a factor that varies is monotone, or repeats exactly."""
    varying = factors[:, np.ptp(factors, axis=0) > 0]
    steps = np.diff(varying, axis=0)
    if ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).any():
        return True
    return any(_repeats(column) for column in varying.T)


def _repeats(column: FloatArray) -> bool:
    """Whether the column consists of at least three equal pieces, the last of which may be cut off."""
    starts = np.flatnonzero(column[1 : len(column) // 3 + 1] == column[0]) + 1
    return any(np.array_equal(column[period:], column[:-period]) for period in starts[:MOST_PERIODS])


def _period(columns: FloatArray, reach: int) -> int:
    """The shift beyond the reach that best puts a column back, if more than a fortieth of the shifts do; or 0."""
    n = len(columns)
    ranked = rankdata(columns[:, np.ptp(columns, axis=0) > 0], axis=0)
    ranked = (ranked - ranked.mean(axis=0)) / ranked.std(axis=0)
    spectrum = np.abs(np.fft.rfft(ranked, axis=0)) ** 2
    circular = (np.fft.irfft(spectrum, n, axis=0)[reach : n - reach + 1] / n).max(axis=1)
    return reach + int(np.argmax(circular)) if np.mean(circular > PUT_BACK) > SHARE_PUT_BACK else 0
