"""Mutual information from nearest neighbours, and usable information from probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.correlation import ranks
from unweave.estimators.counts import BinnedFactors, Binning, entropy_of_counts
from unweave.estimators.information import Information, JointInformation, Observations
from unweave.estimators.logistic import tuned_probabilities
from unweave.estimators.probes import LIBRARY
from unweave.options import Count, HeldOut, Several, Whole, Within, checks_options
from unweave.randomness import random_seed


@checks_options
@dataclass(frozen=True)
class NearestNeighbour(BinnedFactors, Information, JointInformation):
    """Mutual information of a label and a continuous code by nearest neighbours (Ross 2014).

    Only the factor is binned (``factor_bins``, or its own levels), so the result is at most the factor's entropy. With
    ``bin_factors=False``, continuous factors are used as they are (Kraskov et al. 2004), up to the same limit, because
    metrics divide by the entropy of the bins and the information of a noiseless code is not finite. Codes
    are used as they are or, with ``ranked``, replaced by their ranks, which strictly increasing maps do not change.
    Ties in a code are counted as in Gao et al. 2017, so that discrete codes are possible too. In one dimension
    neighbours are found in sorted order, without a tree.

    >>> rng = np.random.default_rng(0)
    >>> code, labels = rng.normal(size=(500, 1)), rng.integers(0, 2, 500).astype(np.uint16)
    >>> abs(float(NearestNeighbour().code_information(code, [labels])[0, 0])) < 0.05
    True
    """

    k: Count = 3
    factor_bins: Several = 20
    factor_binning: Binning = "equal_mass"
    ranked: bool = False
    bin_factors: bool = True

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.factor_bins, self.factor_binning

    def information_matrix(self, observed: Observations) -> FloatArray:
        """`code_information`, or that of the values of continuous factors if these are not binned."""
        labels, codes = observed.factor_labels(self), observed.codes
        continuous = {} if self.bin_factors else observed.continuous_factors
        binned = [j for j in range(len(labels)) if j not in continuous]
        information = np.zeros((codes.shape[1], len(labels)))
        if binned:
            information[:, binned] = self.code_information(codes, [labels[j] for j in binned])
        used = np.apply_along_axis(ranks, 0, codes) if self.ranked and continuous else codes
        for j, factor in continuous.items():
            limit = float(entropy_of_counts(np.bincount(labels[j])))
            column = ranks(factor) if self.ranked else factor
            information[:, j] = [min(pair_information(code, column, self.k), limit) for code in used.T]
        return information

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
        class_sizes = np.bincount(labels)
        entropy = float(entropy_of_counts(class_sizes))
        alone = class_sizes[labels] == 1
        if alone.any():  # a class of one has no neighbour, and is not counted as one
            ascending, labels = ascending[~alone], labels[~alone]
        n_rows = ascending.size
        if not n_rows:
            return 0.0
        place = np.argsort(labels, kind="stable")  # classes one after another, each still ascending
        code, label = ascending[place], labels[place]
        starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
        sizes = np.diff(np.r_[starts, n_rows])
        radius = _distances_in_class(code, starts, sizes, self.k)
        offset = np.repeat(np.arange(sizes.size) * (n_rows + 1), sizes)  # keeps classes apart in one sorted array
        inside, within = (
            (np.searchsorted(ascending, code - reach, "left"), np.searchsorted(ascending, code + reach, "right"))
            for reach in (radius * (1 - ROUNDING), radius * (1 + ROUNDING))
        )
        # without ties, the only row at the radius is the k-th neighbour
        tied = np.flatnonzero(within[1] - within[0] != inside[1] - inside[0] + 1)
        near = np.minimum(self.k, np.repeat(sizes, sizes) - 1)
        class_inside, class_within = near.copy(), near + 1
        for counts, (first, stop) in ((class_inside, inside), (class_within, within)):
            ends = (np.searchsorted(offset + place, offset[tied] + end[tied]) for end in (stop, first))
            counts[tied] = np.subtract(*ends)
        terms = _local_information(near, inside[1] - inside[0], class_inside, within[1] - within[0], class_within)
        information = digamma(n_rows) + terms.mean() - (sizes * digamma(sizes)).sum() / n_rows
        return float(min(information, entropy))


# A neighbour at exactly the radius is on the boundary, whatever the rounding of code +- radius.
ROUNDING = 1e-9


def _local_information(
    k: NDArray[np.intp],
    inside: NDArray[np.intp],
    class_inside: NDArray[np.intp],
    within: NDArray[np.intp],
    class_within: NDArray[np.intp],
) -> FloatArray:
    """digamma(k) - digamma(m) of every row, with m the number of rows up to the k-th neighbour of its class.

    The four counts are those of all rows and of rows of the same class, closer than this neighbour (``inside``) or not
    farther (``within``), each with the row itself. If several rows are exactly as far, as on a lattice, every order of
    them is equally likely, and the expected digamma(m) is used: m - b is then the place of the (k - a)-th of s hits
    among g rows, negative hypergeometric, where a and b are the rows inside. If the k-th neighbour is a copy of the
    row, all copies are counted, with the row itself (Gao et al. 2017).
    """
    ties, hits = within - inside, class_within - class_inside
    copied = ties == 0
    wanted = k - (class_inside - 1)
    steps = wanted * (ties + 1) / (hits + 1)
    variance = steps * (ties - hits) * (hits + 1 - wanted) / ((hits + 1) * (hits + 2))
    m = np.where(copied, within, inside - 1 + steps)
    # to second order; the second derivative of digamma, by its series, is exact to 4 % at m = 1 and to .1 % from m = 4
    expected = digamma(m) - np.where(copied, 0.0, variance) * (1 / m**2 + 1 / m**3 + 0.5 / m**4) / 2
    return np.asarray(digamma(np.where(copied, class_within, k)) - expected)


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


def pair_information(code: FloatArray, factor: FloatArray, k: int) -> float:
    """Mutual information of two columns of numbers by the first estimator of Kraskov et al. (2004), eq. 8.

    Rows with k copies or more are counted as in Gao et al. (2017). Estimates of unrelated columns scatter around 0.

    >>> x, y = np.random.default_rng(0).normal(size=(2, 2000))
    >>> round(float(pair_information(x, 0.8 * x + 0.6 * y, k=3)), 1)  # exact: -log(0.6) = 0.51
    0.5
    """
    columns = np.column_stack([code, factor])
    spread = columns.std(axis=0)
    if not spread.all() or len(columns) <= k:
        return 0.0
    columns /= spread
    together = cKDTree(columns)
    radius = together.query(columns, [k + 1], p=np.inf)[0][:, 0]
    near = np.full(len(columns), k)
    copied = np.flatnonzero(radius == 0)
    if copied.size:
        near[copied] = together.query_ball_point(columns[copied], 0.0, p=np.inf, return_length=True) - 1
    terms = digamma(near) + digamma(len(columns))
    reach = radius * (1 - ROUNDING)  # strictly closer than the k-th neighbour, but for copies
    for column in columns.T:
        ascending = np.sort(column)
        first = np.searchsorted(ascending, column - reach, "left")
        terms -= digamma(np.searchsorted(ascending, column + reach, "right") - first)
    return float(terms.mean())


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
    terms = np.full(len(labels), np.nan)
    for rows in np.split(order, np.cumsum(sizes_by_label)[:-1]):
        if rows.size < 2:
            continue
        members, near = columns[rows], min(k, rows.size - 1)
        in_class = cKDTree(members)
        radius = in_class.query(members, [near + 1], p=np.inf)[0][:, 0]
        counts = [
            tree.query_ball_point(members, reach, p=np.inf, return_length=True)
            for reach in (radius * (1 - ROUNDING), radius * (1 + ROUNDING))
            for tree in (everywhere, in_class)
        ]
        terms[rows] = _local_information(np.full(rows.size, near), *counts) - digamma(rows.size)
    used = terms[~np.isnan(terms)]
    return float(min(digamma(used.size) + used.mean(), entropy))


@checks_options
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
    test_share: HeldOut = 0.2
    most_rows: Annotated[int, Within(20)] = 10_000
    seed: Whole = 0

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
