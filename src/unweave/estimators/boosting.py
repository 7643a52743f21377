"""Gradient boosting of shallow trees on binned codes, for many targets at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unweave.arrays import FloatArray
from unweave.estimators.counts import edges_in_gaps

BINS, FEW_BINS = 256, 64  # bin numbers fit one byte, and sums over 16 x 16 or 4 x 16 bins take two short loops
FEW_ROWS = 640  # fewer than ten for each of 64 bins
CELLS_IN_CACHE = 2**17
COLUMNS_TOGETHER = 1024  # codes times targets that are grown together: more do not fit the cache
FEW_COLUMNS = 256
LEAVES_TOGETHER = 2**20
OUT_OF_CACHE = 2**18  # entries of a sparse matrix whose product with a few columns is slower than with one at a time
NO_GAIN = 1e-10  # gains below this share of the target's sum of squares are rounding
HUGE = 1e30
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class BinnedCodes:
    """Bin numbers of codes (codes x rows), and the matrix that sums over the rows of every bin of every code."""

    edges: tuple[FloatArray, ...]
    bins: Bytes
    sums: csr_array

    @staticmethod
    def edges_of(codes: FloatArray, bins: int = BINS, finer_tails: bool = False) -> tuple[FloatArray, ...]:
        """Inner edges of bins of about equal mass for every code, each in a gap between values."""
        return tuple(edges_in_gaps(column, bins - 1, finer_tails) for column in codes.T)

    @classmethod
    def of(cls, codes: FloatArray, bins: int = BINS, finer_tails: bool = False) -> BinnedCodes:
        """Codes in at most so many bins, less one, of about equal mass, whose edges lie in gaps."""
        edges = cls.edges_of(codes, bins, finer_tails)
        return cls.at(edges, bin_numbers(edges, codes))

    @classmethod
    def for_trees(cls, codes: FloatArray) -> BinnedCodes:
        """Codes in 63 bins with finer tails, or of few rows in 255: a smallest leaf then has fewer rows than a bin."""
        return cls.of(codes) if len(codes) < FEW_ROWS else cls.of(codes, FEW_BINS, finer_tails=True)

    @classmethod
    def at(cls, edges: tuple[FloatArray, ...], bins: Bytes) -> BinnedCodes:
        """Codes whose bin numbers for these edges are known."""
        n_codes, n_rows = bins.shape
        cells = bins * np.int32(n_codes) + np.arange(n_codes, dtype=np.int32)[:, None]
        rows = np.broadcast_to(np.arange(n_rows, dtype=np.int32), bins.shape)
        ones = np.ones(bins.size, dtype=np.float32)
        n_bins = FEW_BINS if max(map(len, edges)) < FEW_BINS else BINS
        sums = csr_array((ones, (cells.ravel(), rows.ravel())), shape=(n_bins * n_codes, n_rows))
        return cls(edges, bins, sums)

    def below(self, weights: Floats) -> Floats:
        """Sums of the columns of weights (rows x k) up to every bin of every code (bins x codes x k)."""
        if weights.shape[1] < 4 and self.bins.size > OUT_OF_CACHE:  # the same sums, in half of the time
            sums = np.column_stack([self.sums @ np.ascontiguousarray(column) for column in weights.T])
        else:
            sums = np.asarray(self.sums @ weights)
        found = sums.reshape(-1, 16, len(self.bins), weights.shape[1])
        if found[0, 0].size <= FEW_COLUMNS:
            np.cumsum(found, axis=1, out=found)
            found[1:] += np.cumsum(found[:, 15], axis=0)[:-1, None]
        else:  # the same additions in loops, which are faster for many columns
            for bin_number in range(1, 16):
                found[:, bin_number] += found[:, bin_number - 1]
            for page in range(1, len(found)):
                found[page] += found[page - 1, 15]
        return found.reshape(-1, *found.shape[2:])


def bin_numbers(edges: Sequence[FloatArray], codes: FloatArray) -> Bytes:
    """Number of edges below every entry (codes x rows)."""
    found = np.empty(codes.shape[::-1], dtype=np.uint8)
    for own, cut, column in zip(found, edges, codes.T, strict=True):
        order = np.argsort(column)  # the edges are then searched among the entries, of which there are more
        until = np.searchsorted(column[order], cut, side="right")
        own[order] = np.repeat(np.arange(len(cut) + 1, dtype=np.uint8), np.diff(until, prepend=0, append=len(column)))
    return found


@dataclass(frozen=True)
class Trees:
    """Trees of one depth, as many as there are columns.

    Node i of a level has the children i and i + (number of its nodes); ``codes`` and ``cuts`` list the nodes of all
    levels, and ``values`` the leaves. Rows whose bin number is at most the cut go to the first child. A node that is
    not split sends all rows there.
    """

    codes: NDArray[np.intp]
    cuts: Bytes
    values: Floats

    def leaves(self, bins: Bytes) -> NDArray[np.integer]:
        """Leaf of every row in every tree (trees x rows)."""
        leaf = np.zeros((self.codes.shape[1], bins.shape[1]), dtype=np.min_scalar_type(len(self.values) - 1))
        for level in range(len(self.values).bit_length() - 1):
            step(leaf, bins, self.codes[2**level - 1 :][: 2**level], self.cuts[2**level - 1 :][: 2**level])
        return leaf

    def outputs(self, leaf: NDArray[np.integer]) -> Floats:
        """Value of every row's leaf (trees x rows)."""
        n_leaves, n_trees = self.values.shape
        return np.take(self.values.T, leaf + np.arange(0, n_leaves * n_trees, n_leaves)[:, None])


def _side_by_side(parts: Sequence[Trees]) -> Trees:
    return Trees(*(np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("codes", "cuts", "values")))


def step(leaf: NDArray[np.integer], bins: Bytes, codes: NDArray[np.intp], cuts: Bytes) -> None:
    """Send every row from its node on one level to a node on the next; ``leaf`` is changed in place."""
    for node in range(len(codes)):
        right = bins[codes[node]] > cuts[node][:, None]
        if len(codes) > 1:
            right &= leaf == node
        leaf += right * leaf.dtype.type(len(codes))


Sums = tuple[Floats, Floats]  # of gradients and rows of nodes, up to every bin (bins x codes x nodes and trees)


def best_split(
    sums: Sums, n_codes: int, min_leaf: int, least: Floats
) -> tuple[NDArray[np.intp], Bytes, Floats, Floats]:
    """Code, cut and gain of the best split of a node of every tree, and the mean gradients of both sides (2 x trees).

    The gain is the drop in the sum of squares, g_l^2 / n_l + g_r^2 / n_r - g^2 / n. With e = g_l - n_l g / n it is
    e^2 n / (n_l n_r).
    """
    gradients, rows = (part[-1] for part in sums)
    mean = gradients / np.maximum(rows, 1)
    # both sides are large enough if their product is at least that of the smallest side and the rest
    limit = np.where(rows < 2 * min_leaf, HUGE, min_leaf * (rows - min_leaf) - 0.5).astype(np.float32)
    gains, best = np.empty_like(sums[0]), np.zeros_like(mean)
    at_once = max(1, CELLS_IN_CACHE // mean.size)
    for start in range(0, len(gains), at_once):
        part = slice(start, start + at_once)
        gain = np.multiply(sums[1][part], mean, out=gains[part])
        np.subtract(sums[0][part], gain, out=gain)
        gain *= gain
        product = rows - sums[1][part]
        product *= sums[1][part]
        gain *= product >= limit
        gain /= np.maximum(product, limit, out=product)
        np.maximum(best, gain.max(axis=0), out=best)
    codes = best.reshape(n_codes, -1).argmax(axis=0)
    column = codes * codes.size + np.arange(codes.size)
    cuts = gains[:, column].argmax(axis=0)
    gain = best[column] * rows[column]
    none = ~(gain > least)
    cuts[none], gain[none] = len(gains) - 1, 0.0
    left = [part[cuts, column] for part in sums]
    sides = left, [gradients[column] - left[0], rows[column] - left[1]]
    means = np.stack([total / np.maximum(number, 1) for total, number in sides])
    return codes, cuts.astype(np.uint8), gain, means


def grown(
    binned: BinnedCodes,
    gradients: Floats,
    rows: Floats,
    depth: int,
    min_leaf: int,
    least: Floats,
    used: Floats | None = None,
) -> tuple[Trees, NDArray[np.integer], FloatArray]:
    """One tree for every column of gradients; the leaf of every row (trees x rows), and gains (codes x trees).

    ``rows`` are the numbers of rows up to every bin (bins x codes x trees). ``used`` (rows x trees) is 1 for the rows
    that a tree is fitted to and 0 for others, whose gradients are 0; all rows where it is missing.
    """
    n_rows, n_trees = gradients.shape
    n_codes = len(binned.bins)
    gained = np.zeros((n_codes, n_trees))
    leaf = np.zeros((n_trees, n_rows), dtype=np.min_scalar_type(2**depth - 1))
    codes, cuts = [], []
    sums: Sums = (binned.below(gradients), rows)
    for level in range(depth):
        if level:  # the nodes of a level are columns of one product; the first children come before the second
            inside = (leaf == np.arange(2 ** (level - 1), dtype=leaf.dtype)[:, None, None]).astype(np.float32)
            if used is not None:
                inside *= used.T
            weights = np.concatenate([inside * gradients.T, inside]).reshape(-1, n_rows)
            first = binned.below(np.ascontiguousarray(weights.T))
            half = first.shape[2] // 2
            sums = _children(first[:, :, :half], sums[0]), _children(first[:, :, half:], sums[1])
        flat = sums[0].reshape(len(sums[0]), -1), sums[1].reshape(len(sums[1]), -1)
        codes_of_nodes, cuts_of_nodes, gains, means = best_split(flat, n_codes, min_leaf, np.tile(least, 2**level))
        code, cut = codes_of_nodes.reshape(2**level, -1), cuts_of_nodes.reshape(2**level, -1)
        gain = gains.reshape(2**level, -1)
        for at, added in zip(code, gain, strict=True):
            gained[at, np.arange(n_trees)] += added
        step(leaf, binned.bins, code, cut)
        codes.append(code)
        cuts.append(cut)
    return Trees(np.concatenate(codes), np.concatenate(cuts), means.reshape(2**depth, n_trees)), leaf, gained


def _children(first: Floats, parents: Floats) -> Floats:
    """Sums of the first and the second children of all nodes, side by side."""
    both = np.empty((*parents.shape[:2], 2 * parents.shape[2]), dtype=np.float32)
    both[:, :, : parents.shape[2]] = first
    np.subtract(parents, first, out=both[:, :, parents.shape[2] :])
    return both


@dataclass(frozen=True)
class Boosted:
    """Boosted trees of several targets; ``gains`` are the total gains of the splits on every code (codes x targets)."""

    edges: tuple[FloatArray, ...]
    rounds: tuple[Trees, ...]
    base: FloatArray
    scale: FloatArray
    gains: FloatArray

    def predict(self, codes: FloatArray, start: int = 0, stop: int | None = None) -> FloatArray:
        """Predictions (rows x targets) by the rounds from ``start`` to ``stop``; the first round adds the base."""
        return self.predict_binned(bin_numbers(self.edges, codes), start, stop)

    def predict_binned(self, bins: Bytes, start: int = 0, stop: int | None = None) -> FloatArray:
        """The same for codes whose bin numbers are known."""
        n_targets = self.base.size
        found = np.zeros((n_targets, bins.shape[1]))
        at_once = max(1, LEAVES_TOGETHER // found.size)
        stop = len(self.rounds) if stop is None else stop
        for first in range(start, stop, at_once):
            rounds = self.rounds[first : min(first + at_once, stop)]
            trees = _side_by_side(rounds)
            found += trees.outputs(trees.leaves(bins)).reshape(len(rounds), *found.shape).sum(axis=0, dtype=np.float64)
        return np.asarray(found.T * -self.scale + (self.base if start == 0 else 0.0))


@dataclass(frozen=True)
class Boosting:
    """Settings of gradient boosting: number and depth of trees, learning rate, and fewest rows of a leaf."""

    n_trees: int
    depth: int
    learning_rate: float
    min_leaf: int

    def fit(self, binned: BinnedCodes, targets: FloatArray, used: NDArray[np.bool_] | None = None) -> Boosted:
        """Least-squares boosting of every column of the targets, each as if it were alone.

        ``used`` (rows x targets) is true for the rows that a target is fitted to; all rows where it is missing.
        """
        base, scale = targets.mean(axis=0), targets.std(axis=0)
        if used is not None:
            base, scale = targets.mean(axis=0, where=used), targets.std(axis=0, where=used)
        scale[scale == 0] = 1.0
        gradients = ((base - targets) / scale).astype(np.float32)
        weights = None if used is None else used.astype(np.float32)
        at_once = max(1, COLUMNS_TOGETHER // len(binned.bins))
        # until an array of this size was freed, glibc gives memory of smaller ones back to the system in every round
        np.empty(2**25 - 2**16, dtype=np.uint8)
        columns = [slice(start, start + at_once) for start in range(0, base.size, at_once)]
        parts = [self._fit(binned, gradients[:, at], None if weights is None else weights[:, at]) for at in columns]
        rounds = tuple(_side_by_side(same) for same in zip(*(rounds for rounds, _ in parts), strict=True))
        gains = np.concatenate([gained for _, gained in parts], axis=1)
        return Boosted(binned.edges, rounds, base, scale, gains * np.square(scale))

    def _fit(self, binned: BinnedCodes, gradients: Floats, used: Floats | None) -> tuple[list[Trees], FloatArray]:
        """Trees of every round, and gains."""
        gradients = gradients.copy() if used is None else gradients * used
        least = (NO_GAIN * np.square(gradients, dtype=np.float64).sum(axis=0)).astype(np.float32)
        if used is None:
            rows = np.repeat(binned.below(np.ones((len(gradients), 1), dtype=np.float32)), gradients.shape[1], axis=2)
        else:
            used = np.ascontiguousarray(used)
            rows = binned.below(used)
        rounds, gains = [], np.zeros((len(binned.bins), gradients.shape[1]))
        for _ in range(self.n_trees):
            trees, leaf, gained = grown(binned, gradients, rows, self.depth, self.min_leaf, least, used)
            trees.values[...] *= np.float32(self.learning_rate)
            rounds.append(trees)
            gains += gained
            change = trees.outputs(leaf).T
            gradients -= change if used is None else change * used
        return rounds, gains
