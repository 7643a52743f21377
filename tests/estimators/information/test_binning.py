import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unweave.estimators.counts import binned, edges_in_gaps, edges_passed, levels

columns = arrays(np.float64, st.integers(1, 300), elements=st.integers(-20, 20).map(float))


@settings(max_examples=30)
@given(columns, st.integers(2, 30))
def test_equal_mass_labels_follow_the_order_of_values(column, bins):
    labels = binned(column, bins, "equal_mass")
    order = np.argsort(column, kind="stable")
    assert (np.diff(labels[order].astype(int)) >= 0).all()
    assert all(len(set(labels[column == value])) == 1 for value in np.unique(column))


@settings(max_examples=30)
@given(columns)
def test_few_distinct_values_are_kept_apart(column):
    assert len(set(binned(column, 41, "equal_mass"))) == len(set(column))


@pytest.mark.parametrize("counts", [(40, 30, 30), (10, 60, 30), (30, 30, 40), (98, 1, 1)])
def test_as_many_values_as_bins_are_kept_apart(counts):
    column = np.repeat([1.0, 2.0, 3.0], counts)
    assert np.bincount(binned(column, 3, "equal_mass")).tolist() == list(counts)


@pytest.mark.parametrize(("n_rows", "bins"), [(1000, 20), (999, 7), (100_000, 100)])
def test_equal_mass_is_equal_without_ties(n_rows, bins):
    counts = np.bincount(binned(np.random.default_rng(0).normal(size=n_rows), bins, "equal_mass"))
    assert counts.size == bins
    assert counts.max() - counts.min() <= 1


def test_a_value_that_fills_several_bins_gets_one_of_its_own():
    column = np.r_[np.zeros(900), np.linspace(1, 2, 50), np.linspace(-2, -1, 50)]
    labels = binned(column, 10, "equal_mass")
    assert len(set(labels[column == 0])) == 1
    assert not set(labels[column == 0]) & set(labels[column != 0])


def test_equal_width_is_numpys_histogram():
    column = np.random.default_rng(1).normal(size=5000)
    counts = np.bincount(binned(column, 20, "equal_width"), minlength=20)
    assert (counts == np.histogram(column, 20)[0]).all()


def test_levels_are_ranks_of_distinct_values():
    assert levels(np.array([3.5, -1.0, 3.5, 7.0])).tolist() == [1, 0, 1, 2]


def test_unknown_binning_is_refused():
    with pytest.raises(ValueError, match="equal_mass"):
        binned(np.arange(5.0), 2, "quantile")


@pytest.mark.parametrize("counts", [(97, 1, 1, 1), (1, 97, 1, 1), (1, 1, 1, 97)])
def test_more_values_than_bins_share_bins(counts):
    """The most frequent of four values fills three bins, so that it has a bin of its own and the others share."""
    labels = binned(np.repeat([1.0, 2.0, 3.0, 4.0], counts), 3, "equal_mass")
    sizes = np.bincount(labels)
    assert 97 in sizes
    assert (sizes > 0).sum() <= 3


def test_numbers_of_single_precision_are_compared_with_the_edges_as_they_are():
    """The second edge lies between two numbers of single precision, and would be rounded down to the first one."""
    tenth = np.float32(0.1)
    edges = np.array([-0.5, float(tenth) + 1e-12, 0.5])
    column = np.array([-0.5, tenth, np.nextafter(tenth, np.float32(1)), 0.5], dtype=np.float32)
    assert edges_passed(column, edges).tolist() == [1, 1, 2, 3]
    assert edges_passed(column, edges[1:2]).tolist() == [0, 0, 1, 1]
    assert edges_passed(column, edges[[0, 2]]).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("n_edges", [64, 65, 300])
def test_many_edges_are_passed_like_few(n_edges):
    column, edges = np.random.default_rng(2).normal(size=20_000), np.linspace(-2, 2, n_edges)
    assert edges_passed(column, edges).tolist() == np.searchsorted(edges, column, side="right").tolist()


@pytest.mark.parametrize(
    ("column", "edges"),
    [([3.0, 3.0, 3.0], []), ([1.0], []), ([1.0, 2.0], [1.5]), ([0.0, 1.0, 5.0, 6.0, 6.5, 9.0, 9.1], [3.0, 7.75])],
)
def test_edges_lie_in_the_widest_gap_of_each_part_of_the_values(column, edges):
    assert edges_in_gaps(np.array(column), 3).tolist() == edges
