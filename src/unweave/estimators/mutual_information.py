"""Mutual information between labels and a column of numbers, for many columns at once, in nats."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from unweave.estimators.binning import Binning, FloatArray, Labels, binned, levels
from unweave.estimators.correlation import ranks
from unweave.estimators.entropy import entropy_of_counts
from unweave.estimators.neighbours import label_information

JOINT_INDICES_IN_CACHE = 65_536
MOST_PAIRED_CELLS = 40_000
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Histogram:
    """Plug-in mutual information of binned codes.

    ``bias_correction='miller_madow'`` subtracts (K_xy - K_x - K_y + 1) / 2n, with K the numbers of occupied cells: the
    leading term of the plug-in's upward bias. Corrected values of unrelated columns scatter around 0, also below it.

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

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its own levels where it is discrete, bins where not."""
        return levels(column) if discrete else binned(column, self.bins, self.binning)

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        return self.label_information(self.code_labels(codes), factor_labels)

    def label_information(self, code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> FloatArray:
        """The same for codes that are labels already."""
        information = np.empty((len(code_labels), len(factor_labels)))
        if code_labels and 2 * code_labels[0].size <= JOINT_INDICES_IN_CACHE:
            for i, j, tables in _counts_side_by_side(code_labels, factor_labels):
                if self.bias_correction is None:
                    information[i : i + len(tables), j] = -entropy_of_counts(tables, axis=(1, 2))
                else:
                    information[i : i + len(tables), j] = self._information(tables)
            if self.bias_correction is None:  # the entropies of columns are not counted again for every pair
                information += np.array([float(entropy_of_counts(np.bincount(labels))) for labels in code_labels])[
                    :, None
                ]
                information += [float(entropy_of_counts(np.bincount(labels))) for labels in factor_labels]
                information = np.maximum(information, 0.0)
            return information
        for j, labels in enumerate(factor_labels):
            for i, tables in _joint_counts(code_labels, labels):
                information[i : i + len(tables), j] = self._information(tables)
        return information

    def _information(self, tables: NDArray[np.intp]) -> FloatArray:
        of_codes, of_factor = tables.sum(axis=1), tables.sum(axis=2)
        information = (
            entropy_of_counts(of_codes) + entropy_of_counts(of_factor) - entropy_of_counts(tables, axis=(1, 2))
        )
        if self.bias_correction is None:
            return np.maximum(information, 0.0)  # rounding only: the plug-in cannot be negative
        if self.bias_correction != "miller_madow":
            raise ValueError(f"bias_correction={self.bias_correction!r} is not known: use 'miller_madow' or None.")
        occupied = (tables > 0).sum(axis=(1, 2)) - (of_codes > 0).sum(axis=1) - (of_factor > 0).sum(axis=1) + 1
        return information - occupied / (2 * tables[0].sum())


def _counts_side_by_side(
    code_labels: Sequence[Labels], factor_labels: Sequence[Labels]
) -> Iterator[tuple[int, int, NDArray[np.intp]]]:
    """Yield (first code, factor, tables codes x factor labels x code labels): many codes in one count of few rows."""
    n_rows = code_labels[0].size
    many = JOINT_INDICES_IN_CACHE // n_rows
    n_code = max(int(labels.max()) for labels in code_labels) + 1
    strided = [labels.astype(np.intp) * n_code for labels in factor_labels]
    n_factor = [int(labels.max()) + 1 for labels in factor_labels]
    n_cells = max(n_factor) * n_code
    joint = np.empty((many, n_rows), dtype=np.intp)
    for i in range(0, len(code_labels), many):
        block = np.stack(code_labels[i : i + many]).astype(np.intp)
        block += np.arange(0, len(block) * n_cells, n_cells)[:, None]
        for j, labels in enumerate(strided):
            index = np.add(block, labels, out=joint[: len(block)])
            counts = np.bincount(index.ravel(), minlength=len(block) * n_cells).reshape(len(block), -1, n_code)
            yield i, j, counts[:, : n_factor[j]]


def _joint_counts(code_labels: Sequence[Labels], factor: Labels) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield (code, table factor labels x code labels): a code, or two that are summed out, in a count of many rows."""
    n_rows, n_factor = factor.size, int(factor.max()) + 1
    sizes = [int(labels.max()) + 1 for labels in code_labels]
    i = 0
    while i < len(code_labels):
        pair = i + 1 < len(code_labels) and n_rows >= 10 * sizes[i] * sizes[i + 1] * n_factor
        if pair and sizes[i] * sizes[i + 1] * n_factor <= MOST_PAIRED_CELLS:
            a, b = sizes[i], sizes[i + 1]
            joint = _counted([(factor, a * b), (code_labels[i], b), (code_labels[i + 1], 1)], n_factor * a * b)
            cube = joint.reshape(n_factor, a, b)
            yield i, cube.sum(axis=2)[None]
            yield i + 1, cube.sum(axis=1)[None]
            i += 2
            continue
        counts = _counted([(factor, sizes[i]), (code_labels[i], 1)], n_factor * sizes[i])
        yield i, counts.reshape(1, n_factor, sizes[i])
        i += 1


def _counted(strided: list[tuple[Labels, int]], n_cells: int) -> NDArray[np.intp]:
    """Counts of the joint index sum of labels times strides, a block of rows at a time."""
    counts = np.zeros(n_cells, dtype=np.intp)
    narrow = n_cells <= 2**16  # the strides below never exceed the number of cells
    columns = [(labels if narrow else labels.astype(np.intp), stride) for labels, stride in strided]
    for start in range(0, strided[0][0].size, JOINT_INDICES_IN_CACHE):
        rows = slice(start, start + JOINT_INDICES_IN_CACHE)
        joint = sum(labels[rows] * labels.dtype.type(stride) for labels, stride in columns)
        counts += np.bincount(np.asarray(joint), minlength=n_cells)
    return counts


@dataclass(frozen=True)
class NearestNeighbour:
    """Mutual information of a label and a continuous code by nearest neighbours (Ross 2014).

    Only the factor is binned (``factor_bins``, or its own levels), so the result stays below the factor's entropy.
    Codes are used as they are or, with ``ranked``, through their ranks, which a strictly increasing map leaves alone.
    Ties in a code are counted as in Gao et al. 2017, so discrete codes are handled too. In one dimension neighbours are
    found in sorted order, without a tree.

    >>> rng = np.random.default_rng(0)
    >>> code, labels = rng.normal(size=(500, 1)), rng.integers(0, 2, 500).astype(np.uint16)
    >>> abs(float(NearestNeighbour().code_information(code, [labels])[0, 0])) < 0.05
    True
    """

    k: int = 3
    factor_bins: int = 20
    factor_binning: Binning = "equal_mass"
    ranked: bool = False

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its own levels where it is discrete, bins where not."""
        return levels(column) if discrete else binned(column, self.factor_bins, self.factor_binning)

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
        """Mutual information of the labels with all columns together, from all rows: nothing is fitted."""
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
            ascending = np.sort(code[used])  # rows that are left out are no one's neighbours either
        # the neighbour on the rim is not counted; (1 - 1e-9) survives the rounding of code - radius, nextafter does not
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
    """Digamma of 0 (never used) to n: looked up, because every pair of code and factor needs three for every row."""
    return np.r_[np.nan, digamma(np.arange(1, n_rows + 1))]


def _distances_in_class(code: FloatArray, starts: Rows, sizes: Rows, k: int) -> FloatArray:
    """Distance of every entry to its k-th nearest in its class (its farthest in a smaller one); 0 in a class of one.

    Classes are contiguous and ascending, so that the k nearest lie b to the left and k - b to the right for some b.
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
    """How often every entry's value occurs in its class; classes are contiguous and ascending."""
    new = np.r_[True, (label[1:] != label[:-1]) | (code[1:] != code[:-1])]
    run_of = np.cumsum(new) - 1
    return np.bincount(run_of)[run_of]
