"""Mutual information from nearest neighbours, and usable information from probes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.correlation import ranks
from unweave.estimators.counts import BinnedFactors, Binning, entropy_of_counts
from unweave.estimators.information import Information, JointInformation
from unweave.estimators.logistic import tuned_probabilities
from unweave.estimators.probes import LIBRARY
from unweave.randomness import random_seed


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
    reaches = np.full((2, k + 1, n_rows), np.inf)  # distance to the b-th entry on the left, and on the right
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
    run_of = np.cumsum(new)
    return np.bincount(run_of)[run_of]


def label_information(columns: FloatArray, labels: NDArray[np.integer], k: int) -> float:
    """Mutual information of the labels with the columns (n x p), at most the entropy of the labels.

    The distance is the maximum norm of the columns, each divided by its standard deviation. The estimate is biased
    downwards with many columns, because neighbours in a class are then far apart in the one direction that matters.

    >>> rng = np.random.default_rng(0)
    >>> columns = rng.normal(size=(2000, 2))
    >>> round(label_information(columns, columns[:, 0] + columns[:, 1] > 0, k=3), 1)
    0.7
    """
    spread = columns.std(axis=0)
    columns = columns[:, spread > 0] / spread[spread > 0]
    sizes_by_label = np.unique(labels, return_counts=True)[1]
    entropy = float(entropy_of_counts(sizes_by_label))
    if not columns.size or sizes_by_label.max() < 2:
        return 0.0
    order = np.argsort(labels, kind="stable")
    alone = np.repeat(sizes_by_label == 1, sizes_by_label)
    everywhere = cKDTree(columns[order[~alone]])  # a class of one has no neighbour, and is not counted as one
    terms = np.zeros((4, len(labels)))  # per row: 1 if used; digammas of neighbours, class size, rows in radius
    for rows in np.split(order, np.cumsum(sizes_by_label)[:-1]):
        if rows.size < 2:
            continue
        members, near = columns[rows], min(k, rows.size - 1)
        in_class = cKDTree(members)
        radius = in_class.query(members, [near + 1], p=np.inf)[0][:, 0]
        copies = in_class.query_ball_point(members[radius == 0], 0.0, p=np.inf, return_length=True)
        neighbours = np.full(rows.size, near)
        neighbours[radius == 0] = copies - 1
        within = everywhere.query_ball_point(members, radius * (1 - 1e-9), p=np.inf, return_length=True)
        terms[:, rows] = (
            np.ones(rows.size),
            digamma(neighbours),
            np.full(rows.size, digamma(rows.size)),
            digamma(within),
        )
    n_used, of_neighbours, of_sizes, of_within = terms.sum(axis=1)
    return float(min(digamma(n_used) + (of_neighbours - of_sizes - of_within) / n_used, entropy))


@dataclass(frozen=True)
class UsableInformation(JointInformation):
    """Reduction of held-out cross-entropy by a classifier, relative to predicting the training frequencies.

    The classifier is multinomial logistic, with logits linear in the columns and a penalty chosen within the training
    rows, or boosted trees, which can use interactions but need more rows. Predictions are mixed with the frequencies in
    the n training rows at weight 1 / (n + 1), so that the loss of a row exceeds the loss of the frequencies by at most
    log(n + 1). If there are more than ``most_rows`` rows, metrics use a random subset of this size.

    >>> rng = np.random.default_rng(0)
    >>> columns = rng.normal(size=(1000, 2))
    >>> labels = (columns.sum(axis=1) > 0).astype(int)
    >>> UsableInformation().share(columns, labels, np.arange(800), np.arange(800, 1000)) > 0.95
    True
    """

    classifier: Literal["logistic", "boosted_trees"] = "logistic"
    test_share: float = 0.2
    most_rows: int = 10_000
    seed: int = 0

    @property
    def library(self) -> str | None:
        """The library that fits the classifier, or None if unweave fits it."""
        return LIBRARY if self.classifier == "boosted_trees" else None

    def row_plan(self) -> tuple[float, int | None]:
        """Share of the rows to hold out, and the largest number of rows to use."""

        return self.test_share, self.most_rows

    def share(self, columns: FloatArray, labels: NDArray[np.integer], train: Rows, test: Rows) -> float:
        """Share of the test labels' cross-entropy that the columns remove; negative if the classifier increases it."""
        n_labels = int(labels.max()) + 1
        counts = np.bincount(labels[train], minlength=n_labels)
        frequencies = (counts + 0.5) / (train.size + 0.5 * n_labels)
        without = -np.log(frequencies[labels[test]]).mean()
        seen = columns[train]
        unseen = np.clip(columns[test], seen.min(axis=0), seen.max(axis=0))
        predicted = self._probabilities(seen, labels[train], unseen, n_labels)[np.arange(test.size), labels[test]]
        doubt = 1 / (train.size + 1)
        return float(1 + np.log((1 - doubt) * predicted + doubt * frequencies[labels[test]]).mean() / without)

    def joint_information(self, columns: FloatArray, labels: NDArray[np.integer], train: Rows, test: Rows) -> float:
        """`share` times the entropy of the labels, in nats; at least 0."""

        return max(self.share(columns, labels, train, test), 0.0) * float(entropy_of_counts(np.bincount(labels)))

    def _probabilities(
        self, seen: FloatArray, labels: NDArray[np.integer], unseen: FloatArray, n_labels: int
    ) -> FloatArray:
        if self.classifier == "logistic":
            return tuned_probabilities(seen, labels, unseen, n_labels, self.seed)
        if self.classifier != "boosted_trees":
            raise ValueError(f"classifier={self.classifier!r} is not known: use 'logistic' or 'boosted_trees'.")
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_depth=3, early_stopping=True, random_state=random_seed(self.seed, "trees")
        )
        model.fit(seen, labels)
        probabilities = np.zeros((len(unseen), n_labels))
        probabilities[:, model.classes_] = model.predict_proba(unseen)
        return probabilities
