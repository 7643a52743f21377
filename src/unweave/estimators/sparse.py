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


def sparse_edges(entries: FloatArray, n_zeros: int, bins: int, binning: Binning = "equal_mass") -> FloatArray:
    """Inner edges of the bins, from ascending nonzero entries and the number of zeros, as `bin_edges` computes them.

    >>> sparse_edges(np.array([1.0, 2.0, 3.0]), 7, 5).tolist()
    [1.0, 2.0, 3.0]
    """
    if binning == "equal_width":
        ends = np.r_[entries[:1], entries[-1:], [0.0] if n_zeros else []]
        return np.linspace(ends.min(), ends.max(), bins + 1)[1:-1]
    n, n_negative = entries.size + n_zeros, int(np.searchsorted(entries, 0.0))

    def at(places: np.ndarray) -> FloatArray:
        """Order statistics of the whole column, zeros included, at these ranks."""
        if not entries.size:
            return np.zeros(places.size)
        entry = np.where(places < n_negative, places, np.maximum(places - n_zeros, 0))
        in_zeros = (places >= n_negative) & (places < n_negative + n_zeros)
        return np.where(in_zeros, 0.0, entries[np.minimum(entry, entries.size - 1)])

    edges = at((np.arange(1, bins) * n) // bins)
    # an edge at the smallest value would leave the first bin empty
    if (edges[1:] != edges[:-1]).all() and (not edges.size or edges[0] > at(np.zeros(1, dtype=np.intp))[0]):
        return edges
    distinct = entries[np.r_[True, entries[1:] != entries[:-1]]] if entries.size else entries
    values = np.insert(distinct, np.searchsorted(distinct, 0.0), 0.0) if n_zeros else distinct
    if values.size - 1 < bins:
        return values[1:]
    atoms = edges[1:][edges[1:] == edges[:-1]]
    following = np.searchsorted(values, atoms, side="right")
    return np.unique(np.r_[edges, values[following[following < values.size]]])


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
        n_columns = part.shape[1]
        labels, zero = _labels(part, bins, binning)
        n_labels = int(max(labels.max(initial=0), zero.max(initial=0))) + 1
        cells = part.column_of_entry * n_labels + labels
        of_zeros = np.arange(n_columns) * n_labels + zero
        totals = np.bincount(cells, minlength=n_columns * n_labels)
        np.add.at(totals, of_zeros, part.n_zeros)
        of_codes = count_log_count[totals].reshape(n_columns, n_labels).sum(axis=1)
        filled = (totals.reshape(n_columns, n_labels) > 0).sum(axis=1)
        entropies[block] = np.log(n) - of_codes / n
        for j, (labels_of_factor, margin) in enumerate(zip(factor_labels, margins, strict=True)):
            counts = np.bincount(
                cells * margin.size + labels_of_factor[part.rows], minlength=n_columns * n_labels * margin.size
            ).reshape(n_columns, n_labels, margin.size)
            counts[np.arange(n_columns), zero] += margin - counts.sum(axis=1)
            together = count_log_count[counts].sum(axis=(1, 2))
            found = np.log(n) + (together - of_codes - of_factors[j]) / n
            information[block, j] = found * ((filled > 1) & ((margin > 0).sum() > 1))
    return np.maximum(information, 0.0), np.maximum(entropies, 0.0)


def _labels(part: SparseColumns, bins: int, binning: Binning) -> tuple[np.ndarray, np.ndarray]:
    """Bin of every nonzero entry, and the bin of zero in every column."""
    order = part.ascending_order()
    ascending = part.values[order]
    labels, zero = np.empty(ascending.size, dtype=np.intp), np.zeros(part.shape[1], dtype=np.intp)
    for i, (start, stop) in enumerate(zip(part.starts[:-1].tolist(), part.starts[1:].tolist(), strict=True)):
        entries = ascending[start:stop]
        edges = sparse_edges(entries, part.n_rows - entries.size, bins, binning)
        labels[order[start:stop]] = np.searchsorted(edges, entries, side="right")
        zero[i] = np.searchsorted(edges, 0.0, side="right")
    return labels, zero


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
