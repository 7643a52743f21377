"""Mutual information of labels with several columns, by nearest neighbours."""

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import nhypergeom
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from unweave.estimators import NearestNeighbour
from unweave.estimators.counts import entropy_of_counts
from unweave.estimators.nearest_neighbour import _distances_in_class, label_information, pair_information
from unweave.metrics import mig


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
    """The estimate of Ross (2014) from all pairs; rows at equal distance in any order, copies as in Gao et al.

    The place of the k-th row of the class among all rows then has a negative hypergeometric distribution, which is
    summed term by term here. Classes of one do not count.
    """
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
            terms.append(digamma((same == 0).sum()) - digamma(same.size) - digamma((distance[row] == 0).sum()))
            continue
        closer, not_farther = ((distance[row] < radius * (1 + sign * 1e-12)).sum() for sign in (-1, 1))
        hits_closer, hits = ((same < radius * (1 + sign * 1e-12)).sum() for sign in (-1, 1))
        n_tied, n_hits, wanted = not_farther - closer, hits - hits_closer, n_near - hits_closer + 1
        misses = np.arange(n_tied - n_hits + 1)  # rows of other classes before the wanted hit
        weights = nhypergeom.pmf(misses, n_tied, n_tied - n_hits, wanted) if misses.size > 1 else np.ones(1)
        # nhypergeom counts successes before failures: here rows of other classes before hits
        terms.append(digamma(n_near) - digamma(same.size) - weights @ digamma(closer - 1 + wanted + misses))
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
    close = 1e-9 if decimals == 9 else 5e-3  # the mean of digamma over the orders of tied rows is to second order
    assert label_information(columns, labels, k) == pytest.approx(by_definition(columns, labels, k), abs=close)
    alone = NearestNeighbour(k=k).code_information(columns, [labels.astype(np.uint16)])[:, 0]
    assert alone == pytest.approx([by_definition(columns[:, [i]], labels, k) for i in range(2)], abs=close)


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


@pytest.mark.parametrize("counts", [(2, 2, 2, 1), (2, 1), (3, 1, 1)])
def test_classes_of_two_rows_have_one_neighbour_each(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    columns = np.random.default_rng(4).normal(size=(labels.size, 2))
    exact = by_definition(columns, labels, 3)
    assert label_information(columns, labels, 3) == pytest.approx(exact)
    assert label_information(columns[:, :1], labels, 3) == pytest.approx(by_definition(columns[:, :1], labels, 3))


LATTICES = {
    "no ties": lambda rng, n: rng.normal(size=n),
    "few levels": lambda rng, n: rng.integers(0, 6, n),
    "many levels": lambda rng, n: rng.integers(0, 100, n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "half on a lattice": lambda rng, n: np.where(rng.random(n) < 0.5, 0, rng.integers(0, 200, n)),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 1),
}


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("n_classes", [2, 7])
@pytest.mark.parametrize("name", LATTICES)
def test_independent_columns_share_no_information_on_any_lattice(name, n_classes, k, ranked):
    """The mean over 40 samples is 0 within four standard errors; ties once cost up to half a nat."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng([seed, n_classes])
        code = LATTICES[name](rng, 300).astype(float)[:, None]
        labels = rng.integers(0, n_classes, 300).astype(np.uint16)
        found.append(NearestNeighbour(k, ranked=ranked).code_information(code, [labels])[0, 0])
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(40) + 0.004


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("k", [3, 5, 7])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_two_uniform_classes_have_their_closed_form(share, k, ranked):
    """The case of scikit-learn's own test of a discrete and a continuous column: U(-1, 1) and U(0, 2)."""
    rng = np.random.RandomState(0)
    label = rng.uniform(size=1000) > share
    code = rng.uniform(-1, 1, size=1000) + label
    exact = -0.5 * ((1 - share) * np.log(0.5 * (1 - share)) + share * np.log(0.5 * share) + np.log(0.5)) - np.log(2)
    found = NearestNeighbour(k, ranked=ranked).code_information(code[:, None], [label.astype(np.uint16)])[0, 0]
    assert found == pytest.approx(exact, abs=0.05)
    if not ranked:
        assert found == pytest.approx(
            mutual_info_classif(code[:, None] / code.std(), label, n_neighbors=k, random_state=0)[0], abs=1e-6
        )


@pytest.mark.parametrize("n_levels", [2, 5, 40])
@pytest.mark.parametrize("ranked", [False, True])
def test_a_perfect_discrete_code_has_all_the_entropy(n_levels, ranked):
    for seed in range(10):
        every = np.tile(np.arange(n_levels), 2)  # a level of one row has no neighbour
        labels = np.r_[every, np.random.default_rng(seed).integers(0, n_levels, 100 - every.size)].astype(np.uint16)
        found = NearestNeighbour(10, ranked=ranked).code_information(labels[:, None].astype(float) ** 2, [labels])
        assert found[0, 0] == pytest.approx(float(entropy_of_counts(np.bincount(labels))))


def test_ranks_ignore_monotone_maps_and_signs():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 400).astype(np.uint16)
    for code in (labels + rng.normal(size=400), np.round(labels + rng.normal(size=400), 1)):
        mapped = np.column_stack([code, np.exp(3 * code), -code, np.arctan(code)])
        found = NearestNeighbour(10, ranked=True).code_information(mapped, [labels])[:, 0]
        assert found == pytest.approx(found[0], abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_information_of_unbinned_factors_is_the_closed_form_of_a_gaussian(rho):
    """I = -log(1 - rho^2) / 2. The standard deviation over 2,000 rows is about .02, and 8 draws are averaged."""
    found = []
    for seed in range(8):
        x, y = np.random.default_rng(seed).normal(size=(2, 2000))
        found.append(pair_information(x, rho * x + np.sqrt(1 - rho**2) * y, k=3))
    assert np.mean(found) == pytest.approx(-np.log(1 - rho**2) / 2, abs=4 * 0.02 / np.sqrt(8))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_unbinned_information_is_that_of_scikit_learn(k):
    x, y = np.random.default_rng(k).normal(size=(2, 700))
    x, y = np.exp(x), np.sin(3 * x) + 0.3 * y
    theirs = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=0)[0]
    assert pair_information(x, y, k) == pytest.approx(theirs, abs=1e-6)  # it adds noise of 1e-10 of the spread


def test_mig_without_bins_of_the_factor_is_nearer_the_closed_form():
    """The information of x + noise about x, and that of a code that is noise, over the entropy of 20 bins."""
    x, noise, other = np.random.default_rng(0).normal(size=(3, 5000))
    codes = np.column_stack([x + 0.5 * noise, other])
    exact = np.log(1 + 1 / 0.25) / 2 / np.log(20)
    found = {bins: mig(x, codes, estimator=NearestNeighbour(bin_factors=bins)).raw for bins in (True, False)}
    assert abs(found[False] - exact) < abs(found[True] - exact)
    assert found[False] == pytest.approx(exact, abs=0.02)


def test_copies_are_counted_and_constants_carry_no_information():
    levels = np.repeat(np.arange(4.0), 250)
    assert pair_information(levels, 2 * levels, 3) == pytest.approx(np.log(4), abs=0.01)
    assert pair_information(np.ones(50), np.arange(50.0), 3) == 0.0
    both = NearestNeighbour(bin_factors=False), NearestNeighbour()
    codes = levels[:, None] + np.random.default_rng(1).normal(size=(1000, 2))
    discrete, as_before = (mig(levels, codes, kinds="categorical", estimator=each).raw for each in both)
    assert discrete == as_before
