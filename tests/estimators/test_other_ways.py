"""What estimators do where their usual way is closed: too many columns, dependent ones, numbers beyond floats."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import rankdata

from unweave.estimators import JointInformation, NearestNeighbour
from unweave.estimators import totals as moments
from unweave.estimators.correlation import _canonical_directions, column_norms, orthonormal_basis
from unweave.estimators.geometry import log_volume_of_directions
from unweave.estimators.logistic import FAR, _designs, _leading_directions
from unweave.estimators.mixture import _alone_others_all, groups_of
from unweave.estimators.probes import least_squares, out_of_fold_least_squares
from unweave.estimators.quantised_posterior import aggregated_moments, centre_masses
from unweave.estimators.sparse import sparse_correlation_matrix
from unweave.metrics.screening import columns_of_dense

RNG = np.random.default_rng(0)


def test_moments_of_very_many_codes_are_the_same_without_their_products(monkeypatch):
    columns = RNG.normal(size=(7, 50))
    usual = moments.moments_of(columns, 2)
    monkeypatch.setattr(moments, "WIDEST_GRAM", 4)
    other = moments.moments_of(columns, 2)
    assert usual.gram == pytest.approx(columns[2:] @ columns[2:].T)
    assert other.gram.shape == (0, 0)
    fields = [name for name in vars(usual) if name != "gram"]
    assert len(fields) == 6
    for name in fields:
        assert getattr(other, name) == pytest.approx(getattr(usual, name)), name
    monkeypatch.setattr(moments, "WIDEST_GRAM", 5)
    assert moments.moments_of(columns, 2).gram.shape == (5, 5)


def test_columns_that_depend_on_each_other_have_a_least_squares_fit_too():
    design = np.repeat(RNG.normal(size=(30, 1)), 2, axis=1) * [1.0, 2.0]
    targets = 3 * design[:, :1] + 1
    found = least_squares(design, targets, penalty=0.0)
    assert np.column_stack([np.ones(30), design]) @ found == pytest.approx(targets)
    predicted = out_of_fold_least_squares(design, targets, np.arange(30) % 3, 0.0)
    assert predicted == pytest.approx(targets)


def test_a_penalty_shrinks_slopes_and_leaves_the_intercept():
    design, targets = RNG.normal(size=(40, 1)), np.full((40, 1), 5.0)
    assert least_squares(design, targets, penalty=10.0)[:, 0] == pytest.approx([5.0, 0.0], abs=1e-9)
    steep = least_squares(design - design.mean(), 2 * (design - design.mean()), penalty=1.0)[1, 0]
    spread = float(design.var())
    assert steep == pytest.approx(2 * spread / (spread + 1.0))


def test_rows_far_from_every_bin_centre_fill_the_bin_of_their_mean():
    """A posterior far narrower than the bins, at an edge between two of them, within the grid and beyond it."""
    mean, std = np.array([0.1, 1.99, 2.01, -5.0, 50.0]), np.full(5, 1e-4)
    found = centre_masses(mean, std, 0.0, 1.0, np.empty((4, 5), dtype=np.float32))
    assert found.argmax(axis=0).tolist() == [0, 1, 2, 0, 3]
    assert found.sum(axis=0) == pytest.approx(np.ones(5))
    assert found.max(axis=0) == pytest.approx(np.ones(5))
    wide = centre_masses(np.array([1.5]), np.array([0.8]), 0.0, 1.0, np.empty((4, 1), dtype=np.float32))
    exact = np.exp(-0.5 * ((np.arange(4) + 0.5 - 1.5) / 0.8) ** 2)
    assert wide[:, 0] == pytest.approx(exact / exact.sum(), rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_sums_of_exponentials_beyond_floats_are_computed_again(scale):
    families = [(scale * RNG.normal(size=(6, 2)), RNG.normal(size=(4, 2))) for _ in range(2)]
    families = [(np.column_stack([w, np.ones(6)]), np.column_stack([t, np.zeros(4)])) for w, t in families]
    inside = np.array([0, 2, 3, 5])
    found = _alone_others_all(families, inside)
    assert found.shape == (4, 5)
    for k, group in enumerate(groups_of(2)):
        exponents = sum(families[i][1] @ families[i][0][inside].T for i in group)
        exact = logsumexp(exponents, axis=1) - np.log(4)
        kept = exact > -600  # below that the sum is cut off
        assert found[kept, k] == pytest.approx(exact[kept], rel=1e-9)


def test_classes_of_one_row_each_tell_nothing():
    code, labels = RNG.normal(size=(5, 1)), np.arange(5, dtype=np.uint16)
    assert NearestNeighbour().code_information(code, [labels]).tolist() == [[0.0]]


def test_columns_without_any_spread_have_no_direction():
    left, right = _canonical_directions(np.zeros((8, 2)), RNG.normal(size=(8, 3)))
    assert (left.tolist(), right.tolist()) == ([0.0, 0.0], [0.0, 0.0, 0.0])


def test_samples_with_dependent_columns_do_not_change_the_others():
    columns = RNG.normal(size=(4, 6, 3))
    columns[1, :, 2] = columns[1, :, 0]
    gram = np.einsum("nij,nik->njk", columns, columns)
    scale = np.sqrt(np.einsum("bii->bi", gram))
    cosines = gram / scale[:, :, None] / scale[:, None, :]
    cosines[3] = np.nan
    found = log_volume_of_directions(cosines.copy())
    exact = [0.5 * np.linalg.slogdet(cosines[k])[1] for k in (0, 2)]
    assert found[[0, 2]] == pytest.approx(exact)
    assert found[1] < -15
    assert np.isnan(found[3])
    assert (log_volume_of_directions(np.stack([np.eye(3), cosines[0]])) <= 0).all()


def test_a_column_of_mostly_one_value_is_scaled_by_its_largest_distance():
    """The interquartile range of the second column is 0, and the third never varies."""
    seen = np.column_stack([np.arange(8.0), [0, 0, 0, 0, 0, 0, 0, 5.0], np.full(8, 3.0)])
    design, other = _designs(seen, seen[:2] + 1)
    assert design[0].tolist() == [1.0] * 8
    assert design[1] == pytest.approx((np.arange(8) - 3.5) / 3.5)
    assert design[2].tolist() == [0.0] * 7 + [1.0]
    assert design[3].tolist() == [0.0] * 8
    assert other[2] == pytest.approx([0.2, 0.2])
    far = _designs(seen, np.array([[3.5 + 3.5 * FAR * np.e, 0.0, 3.0], [3.5 - 3.5 * FAR, 0.0, 3.0]]))[1]
    assert far[1] == pytest.approx([2 * FAR, -FAR])


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("n_entries", [0, 1, 2, 11, 12])
def test_sparse_codes_with_few_entries_correlate_as_dense_ones(n_entries, ranked):
    dense = np.zeros((12, 1))
    dense[:n_entries, 0] = 3.0 + np.arange(n_entries)
    factor = RNG.normal(size=12)
    columns = rankdata(dense, axis=0) if ranked else dense
    basis = orthonormal_basis(factor[:, None])
    found = sparse_correlation_matrix([basis], columns_of_dense(dense), ranked=ranked)
    exact = abs(np.corrcoef(columns[:, 0], factor)[0, 1]) if n_entries else 0.0
    assert found == pytest.approx(np.array([[exact]]), abs=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1.0, 1e150, 1e200])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_norms_of_columns_do_not_depend_on_their_unit(unit, shift):
    column = np.arange(6.0) + shift
    means, norms = column_norms(unit * column[:, None])
    assert means / unit == pytest.approx([2.5 + shift])
    assert norms / unit == pytest.approx([np.sqrt(17.5)])


def test_leading_directions_take_the_columns_that_tell_one_class_best():
    """Columns 0 to 2 tell one class each, column 1 by its absence; 3 and 4 tell all a little, and 5 never varies."""
    labels = np.arange(400) % 4
    alternating = np.where(labels % 2, -1.0, 1.0)
    noisy = [alternating + 0.5 * RNG.normal(size=400) for _ in range(2)]
    columns = np.column_stack([labels == 0, labels != 1, labels == 2, *noisy, np.full(400, 7.0)])
    directions = _leading_directions(columns, labels)
    assert directions.shape == (6, 1 + 4 + 3)
    assert (columns @ directions)[:, [0, 1, 2, 3, 5, 6, 7]].std(axis=0) == pytest.approx(np.ones(7))
    singles = directions[:, -3:]
    assert sorted(np.nonzero(singles)[0].tolist()) == [0, 1, 2]
    assert np.abs(np.corrcoef(columns @ directions[:, 0], labels)[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_moments_of_numbers_whose_squares_are_no_floats(unit):
    mean, std = np.array([[0.0], [6.0]]) * unit, np.array([[4.0], [4.0]]) * unit
    centre, spread = aggregated_moments(mean, std)
    assert (centre / unit, spread / unit) == (pytest.approx([3.0]), pytest.approx([5.0]))


def test_moments_of_tiny_and_huge_means_together():
    centre, spread = aggregated_moments(np.array([[1e-200], [1e200]]), np.full((2, 1), 1e-200))
    assert (centre / 1e200, spread / 1e200) == (pytest.approx([0.5]), pytest.approx([0.5]))


class AlwaysTold(JointInformation):
    """0.3 nats, whatever the columns."""

    def joint_information(self, columns, labels, train, test):
        return 0.3


@pytest.mark.parametrize(("counts", "entropy"), [((5, 5), np.log(2)), ((1, 1, 1, 1), np.log(4)), ((7,), np.nan)])
def test_a_share_is_relative_to_the_entropy_of_the_labels(counts, entropy):
    labels = np.repeat(np.arange(len(counts)), counts)
    found = AlwaysTold().share(np.zeros((labels.size, 1)), labels, np.arange(labels.size), np.arange(0))
    assert found == pytest.approx(0.3 / entropy, nan_ok=True)


def test_a_volume_is_not_above_that_of_orthogonal_columns_by_rounding():
    above = np.eye(2) * (1 + 1e-9)
    dependent = np.ones((2, 2))
    assert log_volume_of_directions(np.stack([above, above])).tolist() == [0.0, 0.0]
    assert log_volume_of_directions(np.stack([above, dependent])).tolist() == [0.0, -np.inf]
