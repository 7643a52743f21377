"""Bases and ranks for correlations: rounding errors are not directions, for any sign and unit of the columns."""

import numpy as np
import pytest
from scipy.stats import rankdata

from unweave.estimators.dependence.correlation import Pearson, Spearman, orthonormal_basis

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
