"""Mutual information between labels and a column of numbers, for many columns at once, in nats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from unweave.estimators.binning import Binning, FloatArray, Labels, binned, levels
from unweave.estimators.entropy import entropy_of_counts

JOINT_INDICES_IN_CACHE = 65_536
MOST_PAIRED_CELLS = 40_000


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
        scratch = np.empty(codes.shape[0])
        return tuple(binned(codes[:, i], self.bins, self.binning, scratch) for i in range(codes.shape[1]))

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its own levels where it is discrete, bins where not."""
        return levels(column) if discrete else binned(column, self.bins, self.binning)

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        return self.label_information(self.code_labels(codes), factor_labels)

    def label_information(self, code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> FloatArray:
        """The same for codes that are labels already."""
        information = np.empty((len(code_labels), len(factor_labels)))
        for j, labels in enumerate(factor_labels):
            for i, tables in _joint_counts(code_labels, labels):
                information[i : i + len(tables), j] = self._information(tables)
        return information

    def _information(self, tables: NDArray[np.intp]) -> FloatArray:
        of_codes, of_factor = tables.sum(axis=2), tables.sum(axis=1)
        information = (
            entropy_of_counts(of_codes) + entropy_of_counts(of_factor) - entropy_of_counts(tables, axis=(1, 2))
        )
        if self.bias_correction is None:
            return np.maximum(information, 0.0)  # rounding only: the plug-in cannot be negative
        if self.bias_correction != "miller_madow":
            raise ValueError(f"bias_correction={self.bias_correction!r} is not known: use 'miller_madow' or None.")
        occupied = (tables > 0).sum(axis=(1, 2)) - (of_codes > 0).sum(axis=1) - (of_factor > 0).sum(axis=1) + 1
        return information - occupied / (2 * tables[0].sum())


def _joint_counts(code_labels: Sequence[Labels], factor: Labels) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield (first code, tables codes x code labels x factor labels), counting many codes in one pass.

    With few rows, many codes go into one count side by side. With many rows, two codes are counted jointly, which
    halves the passes, and summed out afterwards.
    """
    n_rows, n_factor = factor.size, int(factor.max()) + 1
    sizes = [int(labels.max()) + 1 for labels in code_labels]
    i = 0
    while i < len(code_labels):
        pair = i + 1 < len(code_labels) and n_rows >= 10 * sizes[i] * sizes[i + 1] * n_factor
        if pair and sizes[i] * sizes[i + 1] * n_factor <= MOST_PAIRED_CELLS:
            a, b = sizes[i], sizes[i + 1]
            joint = _counted([(factor, a * b), (code_labels[i], b), (code_labels[i + 1], 1)], n_factor * a * b)
            cube = joint.reshape(n_factor, a, b)
            yield i, cube.sum(axis=2).T[None]
            yield i + 1, cube.sum(axis=1).T[None]
            i += 2
            continue
        many = max(1, JOINT_INDICES_IN_CACHE // n_rows)
        block = code_labels[i : i + many]
        n_code = max(sizes[i : i + many])
        if len(block) == 1:
            counts = _counted([(factor, n_code), (block[0], 1)], n_factor * n_code)
        else:
            offsets = np.arange(len(block), dtype=np.intp)[:, None] * (n_factor * n_code)
            joint_index = np.stack(block) + (factor.astype(np.intp) * n_code)[None] + offsets
            counts = np.bincount(joint_index.ravel(), minlength=len(block) * n_factor * n_code)
        yield i, counts.reshape(len(block), n_factor, n_code).transpose(0, 2, 1)
        i += len(block)


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

    Codes are used as they are and only the factor is binned (``factor_bins`` of equal mass, or its own levels), so the
    result stays below the factor's entropy. Ties in a code are counted as in Gao et al. 2017, so discrete codes are
    handled too. In one dimension neighbours are found in sorted order, without a tree.

    >>> rng = np.random.default_rng(0)
    >>> code, labels = rng.normal(size=(500, 1)), rng.integers(0, 2, 500).astype(np.uint16)
    >>> abs(float(NearestNeighbour().code_information(code, [labels])[0, 0])) < 0.05
    True
    """

    k: int = 3
    factor_bins: int = 20

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its own levels where it is discrete, bins of equal mass where not."""
        return levels(column) if discrete else binned(column, self.factor_bins, "equal_mass")

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        information = np.zeros((codes.shape[1], len(factor_labels)))
        for i in range(codes.shape[1]):
            order = np.argsort(codes[:, i], kind="stable")
            ascending = codes[order, i]
            if ascending[0] == ascending[-1]:
                continue  # a constant carries no information
            for j, labels in enumerate(factor_labels):
                information[i, j] = self._one_pair(ascending, labels[order])
        return information

    def _one_pair(self, ascending: FloatArray, labels: Labels) -> float:
        n_rows = ascending.size
        by_class = np.argsort(labels, kind="stable")  # classes one after another, each still ascending
        code, label = ascending[by_class], labels[by_class]
        starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
        sizes = np.diff(np.r_[starts, n_rows])
        size, start = np.repeat(sizes, sizes), np.repeat(starts, sizes)
        used = size > 1  # a class of one has no neighbour
        if not used.any():
            return 0.0
        neighbours = np.minimum(self.k, size - 1)
        position = np.arange(n_rows)
        radius = np.full(n_rows, np.inf)
        for below in range(self.k + 1):  # the k nearest lie `below` to the left and k - below to the right
            left, right = position - below, position + neighbours - below
            inside = (left >= start) & (right < start + size) & (below <= neighbours)
            reach = np.maximum(code - code[np.where(inside, left, 0)], code[np.where(inside, right, 0)] - code)
            radius = np.where(inside, np.minimum(radius, reach), radius)
        tied = used & (radius == 0)
        # the neighbour on the rim is not counted; (1 - 1e-9) survives the rounding of code - radius, nextafter does not
        shrunk = np.where(tied | ~used, 0.0, radius * (1 - 1e-9))
        within = np.searchsorted(ascending, code + shrunk, "right") - np.searchsorted(ascending, code - shrunk, "left")
        if tied.any():
            neighbours = np.where(tied, _copies_in_class(code, label) - 1, neighbours)
        information = (
            digamma(used.sum())
            + digamma(neighbours[used]).mean()
            - digamma(size[used]).mean()
            - digamma(within[used]).mean()
        )
        entropy = float(entropy_of_counts(sizes))
        return float(min(information, entropy))


def _copies_in_class(code: FloatArray, label: Labels) -> NDArray[np.intp]:
    """How often every entry's value occurs in its class; classes are contiguous and ascending."""
    new = np.r_[True, (label[1:] != label[:-1]) | (code[1:] != code[:-1])]
    run_of = np.cumsum(new) - 1
    return np.bincount(run_of)[run_of]
