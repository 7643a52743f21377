"""Correlation, ranks and counts of sparse columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.counts import Binning

ENTRIES_IN_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """Nonzero entries, column after column: their values, their rows, and where each column starts.

    >>> columns = SparseColumns(3, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 1, 2]))
    >>> columns.shape, columns.n_zeros.tolist(), columns.dense(slice(0, 2)).tolist()
    ((3, 2), [2, 2], [[0.0, -1.0], [0.0, 0.0], [5.0, 0.0]])
    """

    n_rows: int
    values: FloatArray
    rows: NDArray[np.integer[Any]]
    starts: NDArray[np.integer[Any]]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.starts.size - 1

    @property
    def n_entries(self) -> NDArray[np.integer[Any]]:
        """Number of nonzero entries of every column."""
        return np.diff(self.starts)

    @property
    def n_zeros(self) -> NDArray[np.integer[Any]]:
        """Number of zeros of every column."""
        return self.n_rows - self.n_entries

    @property
    def column_of_entry(self) -> NDArray[np.intp]:
        """Column of every entry."""
        return np.repeat(np.arange(self.starts.size - 1), self.n_entries)

    def blocks(self, most: int = ENTRIES_IN_BLOCK) -> Iterator[slice]:
        """Slices of adjacent columns that together have about this many entries, from the first column to the last."""
        first, n_columns = 0, self.starts.size - 1
        while first < n_columns:
            last = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            last = min(max(last, first + 1), n_columns)
            yield slice(first, last)
            first = last

    def columns(self, which: slice) -> SparseColumns:
        """Adjacent columns, as views of the entries."""
        first, last = self.starts[which.start], self.starts[which.stop]
        return SparseColumns(
            self.n_rows,
            self.values[first:last],
            self.rows[first:last],
            self.starts[which.start : which.stop + 1] - first,
        )

    def chosen(self, which: Rows) -> SparseColumns:
        """The table restricted to these columns, in this order."""
        sizes = self.n_entries[which]
        starts = np.r_[0, np.cumsum(sizes)]
        places = np.repeat(self.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])
        return SparseColumns(self.n_rows, self.values[places], self.rows[places], starts)

    def some_rows(self, kept: Rows) -> SparseColumns:
        """The table restricted to these rows, whose indices have to be in ascending order."""
        place = np.full(self.n_rows, -1, dtype=np.intp)
        place[kept] = np.arange(kept.size)
        stay = place[self.rows] >= 0
        counts = np.r_[0, np.cumsum(stay)]
        return SparseColumns(kept.size, self.values[stay], place[self.rows[stay]], counts[self.starts])

    def ascending_order(self) -> NDArray[np.intp]:
        """Order of the entries by column and then by value."""
        sizes = self.n_entries
        if sizes.size and (sizes == sizes[0]).all() and sizes[0]:
            within = self.values.reshape(sizes.size, -1).argsort(axis=1)
            return np.asarray((within + self.starts[:-1, None]).ravel())
        return np.lexsort((self.values, self.column_of_entry))

    def dense(self, which: slice) -> FloatArray:
        """Adjacent columns as a dense array."""
        part = self.columns(which)
        found = np.zeros((self.n_rows, which.stop - which.start), order="F")
        found[part.rows, part.column_of_entry] = part.values
        return found

    def with_values(self, values: FloatArray) -> SparseColumns:
        """The same nonzero positions with other values."""
        return SparseColumns(self.n_rows, values, self.rows, self.starts)

    def products(self, others: FloatArray) -> FloatArray:
        """Inner product of every column with every column of a dense table (n x k): columns x k."""
        from scipy.sparse import csc_array

        matrix = csc_array((self.values, self.rows, self.starts), shape=self.shape)
        return np.asarray(matrix.T @ np.ascontiguousarray(others))

    def products_with_ones(self, others: FloatArray) -> FloatArray:
        """`products` with every nonzero entry replaced by 1: sums over the rows in which a column is not zero."""
        return self.with_values(np.ones(self.values.size)).products(others)

    def sums(self, of_entries: FloatArray) -> FloatArray:
        """Sum of ``of_entries``, one number per nonzero entry, over every column."""
        sums = np.bincount(self.column_of_entry, weights=of_entries, minlength=self.starts.size - 1)
        return np.asarray(sums, dtype=np.float64)


def sparse_information_matrix(
    codes: SparseColumns, factor_labels: Sequence[Labels], bins: int, binning: Binning = "equal_mass"
) -> tuple[FloatArray, FloatArray]:
    """Plug-in mutual information of every code with every factor's labels (codes x factors), and entropies of codes.

    >>> labels = np.array([0, 0, 1, 1], dtype=np.uint16)
    >>> codes = SparseColumns(4, np.array([1.0, 1.0]), np.array([2, 3]), np.array([0, 2]))
    >>> sparse_information_matrix(codes, [labels], 2)[0].round(4).tolist()
    [[0.6931]]
    """
    n = codes.n_rows
    count_log_count = xlogy(np.arange(n + 1), np.arange(n + 1))
    margins = [np.bincount(labels) for labels in factor_labels]
    of_factors = np.array([count_log_count[margin].sum() for margin in margins])
    information = np.zeros((codes.shape[1], len(factor_labels)))
    entropies = np.zeros(codes.shape[1])
    for block in codes.blocks():
        part = codes.columns(block)
        cells, of_zeros, starts = bins_of_entries(part, bins, binning)
        n_cells = max(int(cells.max(initial=0)), int(of_zeros.max(initial=0))) + 1
        totals = np.bincount(cells, minlength=n_cells)
        totals[of_zeros] += part.n_zeros
        of_codes = np.add.reduceat(count_log_count[totals], starts)
        filled = np.add.reduceat((totals > 0).astype(np.intp), starts)
        entropies[block] = np.log(n) - of_codes / n
        for j, (labels_of_factor, margin) in enumerate(zip(factor_labels, margins, strict=True)):
            joint = cells * margin.size + labels_of_factor[part.rows]
            counts = np.bincount(joint, minlength=n_cells * margin.size).reshape(n_cells, margin.size)
            counts[of_zeros] += margin - np.add.reduceat(counts, starts)
            together = np.add.reduceat(count_log_count[counts].sum(axis=1), starts)
            found = np.log(n) + (together - of_codes - of_factors[j]) / n
            information[block, j] = found * ((filled > 1) & ((margin > 0).sum() > 1))
    return np.maximum(information, 0.0), np.maximum(entropies, 0.0)


def bins_of_entries(
    part: SparseColumns, bins: int, binning: Binning
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Bins as `bin_edges` computes them, numbered over all columns: of the entries, of the zeros, and the first ones.

    >>> columns = SparseColumns(10, np.array([3.0, 1.0, 2.0]), np.array([0, 4, 7]), np.array([0, 3]))
    >>> [bins.tolist() for bins in bins_of_entries(columns, 5, "equal_mass")]
    [[3, 1, 2], [0], [0]]
    """
    n_columns = part.shape[1]
    every, column = np.arange(n_columns), part.column_of_entry
    values, of = np.r_[part.values, np.zeros(n_columns)], np.r_[column, every]  # one entry for all zeros of a column
    sizes = np.r_[np.ones(column.size, dtype=np.intp), part.n_zeros]
    within = (_mass_labels if binning == "equal_mass" else _width_labels)(values, of, sizes, part.n_rows, bins)
    widest = np.zeros(n_columns, dtype=np.intp)
    np.maximum.at(widest, of, within)
    starts = np.r_[0, np.cumsum(widest + 1)[:-1]]
    cells = starts[of] + within
    return cells[: column.size], cells[column.size :], starts


def _mass_labels(
    values: FloatArray, of: NDArray[np.intp], sizes: NDArray[np.intp], n_rows: int, bins: int
) -> NDArray[np.intp]:
    """Bins of equal mass of values that occur ``sizes`` times in the column ``of``."""
    order = np.lexsort((values, of))
    order = order[sizes[order] > 0]
    ascending, column = values[order], of[order]
    new_column = np.r_[True, column[1:] != column[:-1]]
    first = np.flatnonzero(new_column | np.r_[True, ascending[1:] != ascending[:-1]])  # of every distinct value
    run = np.cumsum(np.bincount(first, minlength=order.size)) - 1
    size, of_run, opens = np.add.reduceat(sizes[order], first), column[first], new_column[first]
    stop = np.cumsum(size) - of_run * n_rows  # number of rows of the column up to this value
    # the place of the k-th edge is k n_rows // bins, so that so many edges are at this value or below
    below = np.clip((stop * bins + n_rows - 1) // n_rows - 1, 0, bins - 1)
    n_edges = below - np.where(opens, 0, np.r_[0, below[:-1]])
    n_columns = int(of.max()) + 1
    plain = np.bincount(of_run, weights=(n_edges > 1) | (opens & (n_edges > 0)), minlength=n_columns) == 0
    few = np.bincount(of_run, minlength=n_columns) <= bins
    # an edge at the smallest value would leave the first bin empty, and a value with two edges has a bin of its own
    after = np.r_[False, n_edges[:-1] > 1] & ~opens
    edge = np.where(plain[of_run], n_edges > 0, np.where(few[of_run], True, (n_edges > 0) | after)) & ~opens
    passed = np.cumsum(edge)
    labels = np.zeros(values.size, dtype=np.intp)
    labels[order] = (passed - passed[np.flatnonzero(opens)][of_run])[run]
    return labels


def _width_labels(
    values: FloatArray, of: NDArray[np.intp], sizes: NDArray[np.intp], n_rows: int, bins: int
) -> NDArray[np.intp]:
    """Bins of equal width between the smallest and the largest value of the column ``of``."""
    lowest, highest = np.full((2, int(of.max()) + 1), [[np.inf], [-np.inf]])
    occurs = sizes > 0
    np.minimum.at(lowest, of[occurs], values[occurs])
    np.maximum.at(highest, of[occurs], values[occurs])
    start, step = lowest[of], ((highest - lowest) / bins)[of]
    share = np.divide(values - start, step, out=np.zeros_like(values), where=step > 0)
    label = np.clip(share, 0, bins - 1).astype(np.intp)
    label += (label + 1 < bins) & (values >= (label + 1) * step + start)  # edges as numpy.linspace rounds them
    return np.maximum(label - ((label > 0) & (values < label * step + start)), 0)


@dataclass(frozen=True, eq=False)
class SparseRanks:
    """Ranks of the nonzero entries minus the rank of the zeros of their column, and the rank of the zeros.

    For a column without zeros, ``of_zeros`` is the rank that they would have.
    """

    above_zeros: SparseColumns
    of_zeros: FloatArray

    def squares(self) -> FloatArray:
        """Sum of squared centred ranks of every column."""
        n = self.above_zeros.n_rows
        shift = self.of_zeros - (n + 1) / 2
        values = self.above_zeros.values
        linear, quadratic = self.above_zeros.sums(values), self.above_zeros.sums(np.square(values))
        return quadratic + 2 * shift * linear + n * np.square(shift)


def sparse_ranks(columns: SparseColumns) -> SparseRanks:
    """Average ranks from 1 to n, as `scipy.stats.rankdata` gives for the dense columns.

    >>> columns = SparseColumns(4, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 2]))
    >>> found = sparse_ranks(columns)  # of -1, 0, 5, 0
    >>> (found.above_zeros.values + found.of_zeros[0]).tolist(), found.of_zeros.tolist()
    ([4.0, 1.0], [2.5])
    """
    column = columns.column_of_entry
    order = columns.ascending_order()
    ascending, of_column = columns.values[order], column[order]
    negative = columns.sums((columns.values < 0).astype(np.float64))
    place = np.arange(ascending.size) - columns.starts[of_column] + 1.0  # rank among the nonzero entries
    new = np.r_[True, (ascending[1:] != ascending[:-1]) | (of_column[1:] != of_column[:-1])][: ascending.size]
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    size = np.diff(np.r_[first, ascending.size])
    average = (place[first] + (size - 1) / 2)[run] if ascending.size else place
    average += np.where(ascending > 0, columns.n_zeros[of_column], 0)
    of_zeros = negative + (columns.n_zeros + 1) / 2
    ranks = np.empty_like(ascending)
    ranks[order] = average - of_zeros[of_column]
    return SparseRanks(columns.with_values(ranks), of_zeros)


ROUNDING = 1e-13


def sparse_correlation_matrix(bases: Sequence[FloatArray], codes: SparseColumns, ranked: bool = False) -> FloatArray:
    """Multiple correlation of every code (rows) with every orthonormal, centred basis (columns); 0 for constant codes.

    >>> codes = SparseColumns(4, np.array([1.0, 2.0]), np.array([1, 3]), np.array([0, 2]))
    >>> factor = np.array([0.0, 1.0, 0.0, 2.0]) - 0.75
    >>> sparse_correlation_matrix([(factor / np.linalg.norm(factor))[:, None]], codes).round(9).tolist()
    [[1.0]]
    """
    stops = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    everything = np.concatenate(bases, axis=1)
    matrix = np.zeros((codes.shape[1], len(bases)))
    for block in codes.blocks():
        part = codes.columns(block)
        taken, norms = _rank_columns(part) if ranked else _as_they_are(part)
        products = np.divide(
            taken.products(everything), norms[:, None], out=np.zeros((len(norms), stops[-1])), where=norms[:, None] > 0
        )
        for j in range(len(bases)):
            on_basis = products[:, stops[j] : stops[j + 1]]
            matrix[block, j] = np.sqrt(np.square(on_basis).sum(axis=1))
    return np.minimum(matrix, 1.0)


def _as_they_are(codes: SparseColumns) -> tuple[SparseColumns, FloatArray]:
    """The columns and their centred norms, computed around the mean of the nonzero entries to reduce cancellation."""
    n = codes.n_rows
    total, size = codes.sums(codes.values), np.maximum(codes.n_entries, 1)
    centre = total / size
    spread = codes.sums(np.square(codes.values - centre[codes.column_of_entry]))
    between = np.square(centre) * codes.n_entries * codes.n_zeros / n  # variation between nonzero entries and zeros
    squares = spread + between
    squares[squares <= ROUNDING * codes.sums(np.square(codes.values))] = 0.0
    return codes, np.sqrt(squares)


def _rank_columns(codes: SparseColumns) -> tuple[SparseColumns, FloatArray]:
    ranks = sparse_ranks(codes)
    squares = ranks.squares()
    squares[squares <= ROUNDING * codes.n_rows**3] = 0.0
    return ranks.above_zeros, np.sqrt(squares)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A sparse table (rows x codes); indexing with rows returns the table of these rows.

    >>> table = SparseTable.of(SparseColumns(3, np.array([5.0, -1.0]), np.array([2, 0]), np.array([0, 1, 2])))
    >>> table.shape, table[np.array([0, 2])].shape
    ((3, 2), (2, 2))
    """

    matrix: Any

    @classmethod
    def of(cls, columns: SparseColumns) -> SparseTable:
        """The table of these columns."""
        from scipy.sparse import csc_array

        return cls(csc_array((columns.values, columns.rows, columns.starts), shape=columns.shape).tocsr())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of codes."""
        n_rows, n_codes = self.matrix.shape
        return n_rows, n_codes

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Rows) -> SparseTable:
        return SparseTable(self.matrix[rows])

    def centre_and_scale(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of every code; the deviation is 1 for codes that are constant up to rounding."""
        columns = self.matrix.tocsc()
        n, entries = len(self), np.diff(columns.indptr)
        column = np.repeat(np.arange(entries.size), entries)
        totals = np.bincount(column, columns.data, minlength=entries.size)
        middle = totals / np.maximum(entries, 1)  # mean of the nonzero entries: cancels less than the mean of all
        within = np.bincount(column, np.square(columns.data - middle[column]), minlength=entries.size)
        spread = np.sqrt((within + np.square(middle) * entries * (n - entries) / n) / n)
        largest = np.zeros(entries.size)
        np.maximum.at(largest, column, np.abs(columns.data))
        return totals / n, np.where(spread > 1e-12 * largest, spread, 1.0)

    def standardised(self, centre: FloatArray, scale: FloatArray) -> StandardisedTable:
        """The table minus ``centre``, divided by ``scale``."""
        return StandardisedTable(self.matrix, centre, scale)


@dataclass(frozen=True, eq=False)
class StandardisedTable:
    """A table of standardised codes, which supports matrix products."""

    matrix: Any
    centre: FloatArray
    scale: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of codes."""
        n_rows, n_codes = self.matrix.shape
        return n_rows, n_codes

    @property
    def T(self) -> TransposedTable:
        """The transposed table."""
        return TransposedTable(self)

    def __matmul__(self, coefficients: FloatArray) -> FloatArray:
        scaled = (coefficients.T / self.scale).T
        return np.asarray(self.matrix @ scaled - self.centre @ scaled)

    def gram(self, by_rows: bool) -> FloatArray:
        """Inner products of all pairs of codes, or of all pairs of rows."""
        n_rows = self.matrix.shape[0]
        shift = self.centre / self.scale
        scaled = self.matrix.multiply(1 / self.scale).tocsr()
        if not by_rows:
            return np.asarray((scaled.T @ scaled).toarray() - n_rows * np.outer(shift, shift))
        sums = scaled @ shift
        return np.asarray((scaled @ scaled.T).toarray() - sums[:, None] - sums + shift @ shift)


@dataclass(frozen=True, eq=False)
class TransposedTable:
    """The transpose of a standardised table."""

    table: StandardisedTable

    def __matmul__(self, targets: FloatArray) -> FloatArray:
        sums = self.table.matrix.T @ targets - np.outer(self.table.centre, targets.sum(axis=0))
        return np.asarray(sums / self.table.scale[:, None])
