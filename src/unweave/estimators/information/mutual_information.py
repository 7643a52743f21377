"""Mutual information between labels and a column of numbers, for many columns at once, in nats."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, xlogy

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.dependence.correlation import ranks
from unweave.estimators.information.binning import BinnedFactors, Binning, binned
from unweave.estimators.information.entropy import entropy_of_counts
from unweave.estimators.information.information_protocols import Information, JointInformation, Observations
from unweave.estimators.information.joint_counts import joint_tables
from unweave.estimators.information.neighbours import label_information
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_histogram import sparse_information_matrix


@dataclass(frozen=True)
class Histogram(BinnedFactors, Information):
    """Plug-in mutual information of binned codes.

    ``bias_correction='miller_madow'`` subtracts (K_xy - K_x - K_y + 1) / 2n, with K the numbers of occupied cells: the
    leading term of the upward bias of the plug-in estimate. Corrected values of unrelated columns scatter around 0 and
    may be negative.

    >>> labels = np.array([0, 0, 1, 1], dtype=np.uint16)
    >>> round(float(Histogram(bins=2).code_information(np.array([[0.0], [0.1], [0.9], [1.0]]), [labels])[0, 0]), 4)
    0.6931
    """

    bins: int = 20
    binning: Binning = "equal_mass"
    bias_correction: Literal["miller_madow"] | None = None

    def code_labels(self, codes: FloatArray) -> tuple[Labels, ...]:
        """Labels of every code."""
        return tuple(binned(codes[:, i], self.bins, self.binning) for i in range(codes.shape[1]))

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.bins, self.binning

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        return self.label_information(self.code_labels(codes), factor_labels)

    def information_matrix(self, observed: Observations) -> FloatArray:
        """Mutual information of all codes and factors, from cached labels that permutations of the factors share."""
        return self.label_information(observed.code_labels(self), observed.factor_labels(self))

    def sparse_information(
        self, codes: SparseColumns, factor_labels: Sequence[Labels]
    ) -> tuple[FloatArray, FloatArray] | None:
        """Mutual information matrix and code entropies of sparse codes; None with a bias correction."""
        if self.bias_correction:
            return None
        return sparse_information_matrix(codes, factor_labels, self.bins, self.binning)

    def label_information(self, code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every column of code labels (rows) with every factor (columns)."""
        if self.bias_correction not in (None, "miller_madow"):
            raise ValueError(f"bias_correction={self.bias_correction!r} is not known: use 'miller_madow' or None.")
        n_rows, shape = code_labels[0].size, (len(code_labels), len(factor_labels))
        count_log_count = xlogy(np.arange(n_rows + 1), np.arange(n_rows + 1))  # a lookup table, because counts repeat
        together, occupied = np.empty(shape), np.zeros(shape)
        of_codes, codes_filled = np.empty(shape[0]), np.empty(shape[0])
        of_factors, factors_filled = np.empty(shape[1]), np.empty(shape[1])
        for codes, j, tables in joint_tables(code_labels, factor_labels):
            together[codes, j] = count_log_count[tables].sum(axis=(1, 2))
            if self.bias_correction:
                occupied[codes, j] = (tables > 0).sum(axis=(1, 2))
            if j == 0:  # the margin of every code is needed once ...
                margins = tables.sum(axis=1)
                of_codes[codes], codes_filled[codes] = count_log_count[margins].sum(axis=1), (margins > 0).sum(axis=1)
            if codes.start == 0:  # ... and so is the margin of every factor
                margin = tables[0].sum(axis=1)
                of_factors[j], factors_filled[j] = count_log_count[margin].sum(), (margin > 0).sum()
        # I = H(code) + H(factor) - H(both), with H = log n - sum c log c / n over the counts c
        information = np.log(n_rows) + (together - of_codes[:, None] - of_factors) / n_rows
        information *= (codes_filled > 1)[:, None] & (factors_filled > 1)  # exactly 0 for constants
        if self.bias_correction is None:
            return np.maximum(information, 0.0)  # the plug-in estimate is negative only by rounding
        return information - (occupied - codes_filled[:, None] - factors_filled + 1) / (2 * n_rows)


@dataclass(frozen=True)
class NearestNeighbour(BinnedFactors, Information, JointInformation):
    """Mutual information of a label and a continuous code by nearest neighbours (Ross 2014).

    Only the factor is binned (``factor_bins``, or its own levels), so the result is at most the factor's entropy. Codes
    are used as they are or, with ``ranked``, replaced by their ranks, which strictly increasing maps do not change.
    Ties in a code are counted as in Gao et al. 2017, so that discrete codes are possible too. In one dimension
    neighbours are found in sorted order, without a tree.

    >>> rng = np.random.default_rng(0)
    >>> code, labels = rng.normal(size=(500, 1)), rng.integers(0, 2, 500).astype(np.uint16)
    >>> abs(float(NearestNeighbour().code_information(code, [labels])[0, 0])) < 0.05
    True
    """

    k: int = 3
    factor_bins: int = 20
    factor_binning: Binning = "equal_mass"
    ranked: bool = False

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.factor_bins, self.factor_binning

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        information = np.zeros((codes.shape[1], len(factor_labels)))
        for i in range(codes.shape[1]):
            order = np.argsort(codes[:, i], kind="stable")
            ascending = codes[order, i]
            if ascending[0] == ascending[-1]:
                continue  # a constant carries no information
            if self.ranked:
                ascending = ranks(ascending)
            for j, labels in enumerate(factor_labels):
                information[i, j] = self._one_pair(ascending, labels[order])
        return information

    def joint_information(self, columns: FloatArray, labels: Labels, train: Rows, test: Rows) -> float:
        """Mutual information of the labels with all columns together, from all rows, because nothing is fitted."""
        rows = np.concatenate([train, test])
        used = np.apply_along_axis(ranks, 0, columns[rows]) if self.ranked else columns[rows]
        return label_information(used, labels[rows], self.k)

    def _one_pair(self, ascending: FloatArray, labels: Labels) -> float:
        n_rows = ascending.size
        by_class = np.argsort(labels, kind="stable")  # classes one after another, each still ascending
        code, label = ascending[by_class], labels[by_class]
        starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
        sizes = np.diff(np.r_[starts, n_rows])
        size = np.repeat(sizes, sizes)
        used = size > 1  # a class of one has no neighbour
        if not used.any():
            return 0.0
        neighbours = np.minimum(self.k, size - 1)
        radius = _distances_in_class(code, starts, sizes, self.k)
        tied = used & (radius == 0)
        if not used.all():
            ascending = np.sort(code[used])  # rows without neighbours are not counted as neighbours either
        # The k-th neighbour itself is not counted; 1 - 1e-9 survives the rounding of code - radius, nextafter does not.

        shrunk = np.where(tied | ~used, 0.0, radius * (1 - 1e-9))
        within = np.searchsorted(ascending, code + shrunk, "right") - np.searchsorted(ascending, code - shrunk, "left")
        if tied.any():
            neighbours = np.where(tied, _copies_in_class(code, label) - 1, neighbours)
        of_count = _digammas(n_rows)
        information = (
            of_count[used.sum()]
            + of_count[neighbours[used]].mean()
            - of_count[size[used]].mean()
            - of_count[within[used]].mean()
        )
        entropy = float(entropy_of_counts(sizes))
        return float(min(information, entropy))


@functools.lru_cache(maxsize=8)
def _digammas(n_rows: int) -> FloatArray:
    """Digamma of 0 (never used) to n, as a table, because every pair of code and factor needs three values per row."""
    return np.r_[np.nan, digamma(np.arange(1, n_rows + 1))]


def _distances_in_class(code: FloatArray, starts: Rows, sizes: Rows, k: int) -> FloatArray:
    """Distance of every entry to its k-th nearest neighbour in its class, or the farthest one in smaller classes.

    Classes are contiguous and ascending, so that the k nearest lie b to the left and k - b to the right for some b. The
    distance is 0 in a class of one.
    """
    n_rows = code.size
    reaches = np.full((2, k + 1, n_rows), np.inf)  # to the b-th entry on the left, and on the right
    reaches[:, 0] = 0.0
    first, stop = starts, starts + sizes
    for b in range(1, min(k, n_rows - 1) + 1):
        apart = code[b:] - code[:-b]
        reaches[0, b, b:], reaches[1, b, :-b] = apart, apart
        for offset in range(b):  # the first b of a class have no b-th entry on the left, the last none on the right
            reaches[0, b, np.minimum(first + offset, stop - 1)] = np.inf
            reaches[1, b, np.maximum(stop - 1 - offset, first)] = np.inf
    radius = np.maximum(reaches[0, 0], reaches[1, k])
    for b in range(1, k + 1):
        np.minimum(radius, np.maximum(reaches[0, b], reaches[1, k - b]), out=radius)
    for i in np.flatnonzero(sizes <= k):
        members = code[starts[i] : starts[i] + sizes[i]]
        radius[starts[i] : starts[i] + sizes[i]] = np.maximum(members - members[0], members[-1] - members)
    return radius


def _copies_in_class(code: FloatArray, label: Labels) -> NDArray[np.intp]:
    """Number of occurrences of every entry's value in its class; classes are contiguous and ascending."""
    new = np.r_[True, (label[1:] != label[:-1]) | (code[1:] != code[:-1])]
    run_of = np.cumsum(new) - 1
    return np.bincount(run_of)[run_of]
