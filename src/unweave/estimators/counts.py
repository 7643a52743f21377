"""Bins, joint counts and entropies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unweave.arrays import FloatArray, Labels, Rows

Binning = Literal["equal_mass", "equal_width"]
MOST_LABELS = 2**16
ROWS_IN_CACHE = 16_384


def binned(column: FloatArray, bins: int, binning: Binning) -> Labels:
    """Label of every entry, 0 to at most ``bins - 1``; equal values share a label.

    Bins of equal mass have order statistics as edges. They depend on ranks alone, so that a strictly increasing map of
    the column does not change the labels. A value that fills more than one bin is given a bin of its own, and a column
    with no more distinct values than bins has one label per value. Bins of equal width split the range from the
    smallest to the largest value.

    >>> binned(np.array([1.0, 2.0, 3.0, 1000.0]), 2, "equal_mass").tolist()
    [0, 0, 1, 1]
    >>> binned(np.array([1.0, 2.0, 3.0, 1000.0]), 2, "equal_width").tolist()
    [0, 0, 0, 1]
    """
    return edges_passed(column, bin_edges(column, bins, binning))


def bin_edges(column: FloatArray, bins: int, binning: Binning) -> FloatArray:
    """Inner edges of the bins of this column, ascending; `edges_passed` labels other rows with them.

    >>> bin_edges(np.array([1.0, 2.0, 3.0, 1000.0]), 2, "equal_mass").tolist()
    [3.0]
    """
    if binning == "equal_mass":
        return _equal_mass_edges(column, bins)
    if binning == "equal_width":
        return np.linspace(column.min(), column.max(), bins + 1)[1:-1]
    raise ValueError(f"binning={binning!r} is not known: use 'equal_mass' or 'equal_width'.")


def _equal_mass_edges(column: FloatArray, bins: int) -> FloatArray:
    ascending = np.sort(column)  # a sixth of the time of selecting 19 order statistics
    edges = ascending[(np.arange(1, bins) * column.size) // bins]
    # an edge at the smallest value would leave the first bin empty
    if (edges[1:] != edges[:-1]).all() and (not edges.size or edges[0] > ascending[0]):
        return edges
    new = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
    if new.size < bins:
        return ascending[new]
    atoms = edges[1:][edges[1:] == edges[:-1]]
    after = np.searchsorted(ascending, atoms, side="right")
    return np.unique(np.r_[edges, ascending[after[after < ascending.size]]])


HALVINGS = 3  # of the outermost bins, whose values are further apart than those of all others


def edges_in_gaps(column: FloatArray, bins: int, finer_tails: bool = False) -> FloatArray:
    """Edges of bins of about equal mass, each moved into the widest gap between values nearby.

    Codes of discrete factors form clusters, and an edge at the exact quantile could cut through one. With
    ``finer_tails``, both outermost bins are cut in half, their outer halves again, and so on three times.

    >>> edges_in_gaps(np.array([0.0, 0.1, 0.2, 0.3, 5.0, 5.1]), 3).tolist()
    [0.05, 2.65]
    """
    ascending = np.sort(column)
    gaps = np.diff(ascending)
    if not gaps.size:
        return gaps
    n_windows = bins - 1 - 2 * HALVINGS * finer_tails
    starts = (np.arange(n_windows) * gaps.size) // n_windows
    if finer_tails:
        inside = (0.5 ** np.arange(1, HALVINGS + 1) * gaps.size / n_windows).astype(np.intp)
        starts = np.r_[starts, inside, gaps.size - inside]
    starts = np.unique(starts[starts < gaps.size])
    largest = np.maximum.reduceat(gaps, starts)
    at_largest = np.flatnonzero(gaps == np.repeat(largest, np.diff(starts, append=gaps.size)))
    widest = at_largest[np.searchsorted(at_largest, starts)][largest > 0]  # the first of equal gaps in every window
    return np.asarray((ascending[widest] + ascending[widest + 1]) / 2)


def levels(column: FloatArray) -> Labels:
    """Rank of every entry among the distinct values.

    >>> levels(np.array([5.0, -1.0, 5.0])).tolist()
    [1, 0, 1]
    """
    distinct, labels = np.unique(column, return_inverse=True)
    if distinct.size > MOST_LABELS:
        raise ValueError(f"A discrete column has {distinct.size} distinct values: treat it as continuous.")
    return labels.astype(np.uint16)


class BinnedFactors:
    """Labels of factors, for estimators that bin continuous factors; derived classes choose the bins."""

    def _factor_cut(self) -> tuple[int, Binning]:
        """Number and kind of the bins of a continuous factor."""
        raise NotImplementedError

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its levels if it is discrete, bins if it is not."""
        return levels(column) if discrete else binned(column, *self._factor_cut())

    def labels_from_training(self, column: FloatArray, discrete: bool, train: Rows) -> Labels:
        """Labels of a factor, with bin edges computed from the training rows only."""
        return levels(column) if discrete else edges_passed(column, bin_edges(column[train], *self._factor_cut()))


def edges_passed(column: NDArray[Any], edges: FloatArray) -> Labels:
    """Number of edges at or below every entry."""
    if edges.size > 64:
        return np.searchsorted(edges, column, side="right").astype(np.uint16)
    if column.dtype == np.float32:  # half the bytes, if the edges are exact in this precision
        narrow = edges.astype(np.float32)
        same = bool((narrow == edges).all())
        return _n_edges_passed(column if same else column.astype(np.float64), narrow if same else edges)
    return _n_edges_passed(column, edges)


def _n_edges_passed(column: NDArray[Any], edges: NDArray[Any]) -> Labels:
    # comparing a block in cache with all edges is faster than a search per entry
    passed = np.empty(column.size, dtype=np.uint8)
    for start in range(0, column.size, ROWS_IN_CACHE):
        rows = slice(start, start + ROWS_IN_CACHE)
        reached = column[rows] >= edges[:, None]
        np.add.reduce(reached.view(np.uint8), axis=0, out=passed[rows])
    return passed.astype(np.uint16)


JOINT_INDICES_IN_CACHE = 65_536
MOST_PAIRED_CELLS = 40_000
ROWS_PER_PAIRED_CELL = 10
Tables = NDArray[np.intp]


def joint_tables(code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> Iterator[tuple[slice, int, Tables]]:
    """Yield a slice of codes, a factor, and their tables (codes x factor labels x code labels), until all are counted.

    >>> code, factor = np.array([0, 1, 1], dtype=np.uint16), np.array([0, 0, 1], dtype=np.uint16)
    >>> [tables.tolist() for _, _, tables in joint_tables([code], [factor])]
    [[[[1, 1], [0, 1]]]]
    """
    few_rows = 2 * code_labels[0].size <= JOINT_INDICES_IN_CACHE
    return (_side_by_side if few_rows else _two_by_two)(code_labels, factor_labels)


def _side_by_side(
    code_labels: Sequence[Labels], factor_labels: Sequence[Labels]
) -> Iterator[tuple[slice, int, Tables]]:
    """Count many codes in one pass, each in its own range of cells; for few rows."""
    n_rows = code_labels[0].size
    n_together = JOINT_INDICES_IN_CACHE // n_rows
    n_code = _n_labels(*code_labels)
    sizes = [_n_labels(labels) for labels in factor_labels]
    n_cells = max(sizes) * n_code
    strided = [labels.astype(np.intp) * n_code for labels in factor_labels]
    joint = np.empty((n_together, n_rows), dtype=np.intp)
    for start in range(0, len(code_labels), n_together):
        block = np.stack(code_labels[start : start + n_together]).astype(np.intp)
        block += np.arange(0, len(block) * n_cells, n_cells)[:, None]
        for j, factor in enumerate(strided):
            index = np.add(block, factor, out=joint[: len(block)])
            counts = np.bincount(index.ravel(), minlength=len(block) * n_cells).reshape(len(block), -1, n_code)
            yield slice(start, start + len(block)), j, counts[:, : sizes[j]]


def _two_by_two(code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> Iterator[tuple[slice, int, Tables]]:
    """Count two codes in one pass and then marginalise, which halves the passes; for many rows and few cells."""
    n_per_factor = [_n_labels(labels) for labels in factor_labels]
    for start in range(0, len(code_labels), 2):
        block = code_labels[start : start + 2]
        n_code = _n_labels(*block)
        pairable = len(block) == 2 and n_code**2 <= MOST_PAIRED_CELLS
        pair = block[0] * np.uint16(n_code) + block[1] if pairable else block[0]
        for j, (factor, n_factor) in enumerate(zip(factor_labels, n_per_factor, strict=True)):
            n_cells = n_factor * n_code**2
            if pairable and n_cells <= min(MOST_PAIRED_CELLS, factor.size // ROWS_PER_PAIRED_CELL):
                cube = _joint_counts(factor, pair, n_code**2, n_cells).reshape(n_factor, n_code, n_code)
                tables = np.stack([cube.sum(axis=2), cube.sum(axis=1)])
            else:
                counts = [_joint_counts(factor, labels, n_code, n_factor * n_code) for labels in block]
                tables = np.stack(counts).reshape(len(block), n_factor, n_code)
            yield slice(start, start + len(block)), j, tables


def _joint_counts(factor: Labels, labels: Labels, stride: int, n_cells: int) -> NDArray[np.intp]:
    """Counts of the joint index factor * stride + labels, a block of rows at a time."""
    counts = np.zeros(n_cells, dtype=np.intp)
    narrow = n_cells <= 2**16
    for start in range(0, factor.size, JOINT_INDICES_IN_CACHE):
        rows = slice(start, start + JOINT_INDICES_IN_CACHE)
        scaled = factor[rows] * np.uint16(stride) if narrow else factor[rows].astype(np.intp) * stride
        counts += np.bincount(scaled + labels[rows], minlength=n_cells)
    return counts


def _n_labels(*columns: Labels) -> int:
    return max(int(labels.max()) for labels in columns) + 1


def entropy_of_counts(counts: NDArray[Any], axis: int | tuple[int, ...] = -1) -> NDArray[np.float64]:
    """Entropy of the empirical distribution of counts along these axes; exactly 0 if all counts are in one cell.

    >>> round(float(entropy_of_counts(np.array([5, 5]))), 4), float(entropy_of_counts(np.array([0, 601])))
    (0.6931, 0.0)
    """
    total = counts.sum(axis=axis)
    entropy = np.log(total) - xlogy(counts, counts).sum(axis=axis) / total
    return np.where(counts.max(axis=axis) == total, 0.0, entropy)


def label_entropies(columns: Iterable[NDArray[np.integer]]) -> NDArray[np.float64]:
    """Entropy of every column of labels.

    >>> label_entropies([np.array([0, 1, 0, 1]), np.array([0, 0, 0, 0])]).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.array([float(entropy_of_counts(np.bincount(column))) for column in columns])
