"""Bins of sparse codes and their joint counts with labels, from nonzero entries; the zeros follow by subtraction.

The bins are those of `binned`: edges are order statistics of the whole column, zeros included, and zeros that fill more
than one bin are given a bin of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import xlogy

from unweave.arrays import FloatArray, Labels
from unweave.estimators.information.binning import Binning
from unweave.estimators.sparse.sparse_columns import SparseColumns


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
