"""Mutual information of labels with several columns, by nearest neighbours."""

import numpy as np
import pytest
from scipy.special import digamma

from unweave.estimators.counts import entropy_of_counts
from unweave.estimators.nearest_neighbour import (
    NearestNeighbour,
    _copies_in_class,
    _distances_in_class,
    label_information,
)


@pytest.mark.parametrize("units", [[1.0, 1000.0], [1e-6, 1.0]])
def test_the_units_of_columns_do_not_matter(units):
    """Without scaling, the column with the largest unit would determine the neighbours."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(400, 2))
    labels = (columns[:, 0] > 0).astype(np.intp) + (columns[:, 1] > 0)
    expected = label_information(columns, labels, k=3)
    assert label_information(columns * units, labels, k=3) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.5


def by_definition(columns, labels, k):
    """The estimate of Ross (2014), with ties as in Gao et al. (2017), from all pairs; classes of one do not count."""
    sizes = np.bincount(labels)
    used = sizes[labels] > 1
    scaled, kept = columns[used] / columns.std(axis=0), labels[used]
    distance = np.abs(scaled[:, None] - scaled[None]).max(axis=2)
    terms = []
    for row, label in enumerate(kept):
        same = np.sort(distance[row, kept == label])  # the row itself comes first
        n_near = min(k, same.size - 1)
        radius = same[n_near]
        if radius == 0:
            n_near, within = (same == 0).sum() - 1, (distance[row] == 0).sum()
        else:
            within = (distance[row] < radius * (1 - 1e-12)).sum()
        terms.append(digamma(n_near) - digamma(same.size) - digamma(within))
    return min(digamma(used.sum()) + np.mean(terms), float(entropy_of_counts(sizes)))


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("decimals", [9, 1, 0], ids=["no ties", "ties", "many ties"])
def test_neighbours_are_those_of_all_pairs_of_rows(k, decimals):
    """Classes of 20, 9, 4, 2 and 1 rows, some of them smaller than the number of neighbours."""
    rng = np.random.default_rng(k)
    labels = np.repeat(np.arange(5), [20, 9, 4, 2, 1])
    columns = np.round(labels[:, None] * [0.5, 0.0] + rng.normal(size=(36, 2)), decimals)
    order = rng.permutation(36)
    columns, labels = columns[order], labels[order]
    assert label_information(columns, labels, k) == pytest.approx(by_definition(columns, labels, k))
    alone = NearestNeighbour(k=k).code_information(columns, [labels.astype(np.uint16)])[:, 0]
    assert alone == pytest.approx([by_definition(columns[:, [i]], labels, k) for i in range(2)])


@pytest.mark.parametrize("k", range(1, 7))
def test_distances_along_a_line_are_those_to_the_kth_row_of_the_class(k):
    sizes = np.array([1, 2, 5, 9, 1])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    rng = np.random.default_rng(k)
    code = np.concatenate([np.sort(rng.normal(size=size)) for size in sizes])
    found = _distances_in_class(code, starts, sizes, k)
    for start, size in zip(starts, sizes, strict=True):
        members = code[start : start + size]
        apart = np.sort(np.abs(members[:, None] - members), axis=1)
        assert found[start : start + size] == pytest.approx(apart[:, min(k, size - 1)])


def test_copies_are_counted_within_a_class():
    code, label = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 1, 1, 1])
    assert _copies_in_class(code, label).tolist() == [2, 2, 1, 2, 2, 1]


@pytest.mark.parametrize("counts", [(2, 2, 2, 1), (2, 1), (3, 1, 1)])
def test_classes_of_two_rows_have_one_neighbour_each(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    columns = np.random.default_rng(4).normal(size=(labels.size, 2))
    exact = by_definition(columns, labels, 3)
    assert label_information(columns, labels, 3) == pytest.approx(exact)
    assert label_information(columns[:, :1], labels, 3) == pytest.approx(by_definition(columns[:, :1], labels, 3))
