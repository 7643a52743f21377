"""Bases and ranks for correlations: rounding errors are not directions, for any sign and unit of the columns."""

import numpy as np
import pytest
from scipy.stats import rankdata

from unweave.estimators import Pearson, Spearman
from unweave.estimators.correlation import (
    canonical_correlation_matrix,
    column_norms,
    held_out_correlation,
    largest_correlations,
    multiple_correlation_matrix,
    orthonormal_basis,
)
from unweave.estimators.sparse import sparse_correlation_matrix
from unweave.metrics.screening import columns_of_dense

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_rounding_around_a_constant_is_no_direction(sign, n_columns):
    constant = sign * (1e8 + 1e-8 * RNG.normal(size=(500, n_columns)))
    assert np.ptp(constant) > 0  # rounding errors make the entries differ
    assert orthonormal_basis(constant).shape == (500, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_small_columns_far_from_zero_are_directions(sign):
    columns = sign * (1e3 + 1e-3 * RNG.normal(size=(500, 2)))
    basis = orthonormal_basis(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-10)


def test_spearman_is_pearson_of_mid_ranks():
    column = RNG.integers(0, 5, 200).astype(float)
    np.testing.assert_allclose(
        Spearman().column(column) - Spearman().column(column).mean(), rankdata(column) - rankdata(column).mean()
    )
    assert np.array_equal(Pearson().column(column), column)


@pytest.mark.parametrize("width", [1, 2])
def test_no_correlation_is_above_one_by_rounding(width):
    basis = orthonormal_basis(RNG.normal(size=(30, width)))
    above = basis * (1 + 1e-9)
    assert largest_correlations(above, [above, above[:, :0]]).tolist() == [1.0, 0.0]
    assert canonical_correlation_matrix([above, above]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    codes = basis[:, :1] * 7
    assert multiple_correlation_matrix([above], codes, *column_norms(codes)).tolist() == [[1.0]]
    assert sparse_correlation_matrix([above], columns_of_dense(codes)).tolist() == [[1.0]]


def test_an_empty_basis_has_no_canonical_correlation():
    basis = orthonormal_basis(RNG.normal(size=(30, 2)))
    found = canonical_correlation_matrix([basis, basis[:, :0]])
    assert np.isnan(found).tolist() == [[False, True], [True, True]]
    assert largest_correlations(basis[:, :0], [basis]).tolist() == [0.0]


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e9, -1e9])
def test_codes_far_from_zero_have_the_correlation_of_centred_ones(shift):
    code = RNG.normal(size=(50, 1))
    basis = orthonormal_basis(code + RNG.normal(size=(50, 1)))
    exact = np.abs(basis[:, 0] @ (code[:, 0] - code.mean())) / np.linalg.norm(code - code.mean())
    moved = code + shift
    found = multiple_correlation_matrix([basis], moved, *column_norms(moved))
    assert found[0, 0] == pytest.approx(exact, abs=1e-15 * max(abs(shift), 10))


def test_a_correlation_on_test_rows_has_the_sign_that_was_learned():
    x = RNG.normal(size=(60, 1))
    halves = x[:30], x[30:]
    assert held_out_correlation(halves, (-x[:30], -3 * x[30:] + 1)) == pytest.approx(1.0)
    assert held_out_correlation(halves, (-x[:30], x[30:])) == pytest.approx(-1.0)
    assert held_out_correlation(halves, (-x[:30], np.ones((30, 1)))) == 0.0
