"""Mutual information of a label with several columns at once, by nearest neighbours (Ross 2014), in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from unweave.arrays import FloatArray
from unweave.estimators.information.entropy import entropy_of_counts


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
    terms = np.zeros((4, len(labels)))  # per row: used, and the digammas of neighbours, class size and rows within
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
