"""Total correlation of codes without the bias of few rows."""

import math

import numpy as np
import pytest

from unweave.estimators.correlation import total_correlation


@pytest.mark.parametrize(("n_rows", "n_codes"), [(60, 50), (60, 20), (200, 50), (2000, 10)])
def test_independent_codes_have_none_and_correlated_ones_that_of_the_closed_form(n_rows, n_codes):
    rho = 0.3
    covariance = np.full((n_codes, n_codes), rho) + (1 - rho) * np.eye(n_codes)
    truth = -0.5 * np.linalg.slogdet(covariance)[1]
    draws = [np.random.default_rng([5, seed]).normal(size=(n_rows, n_codes)) for seed in range(40)]
    root = np.linalg.cholesky(covariance)
    assert np.mean([total_correlation(codes) for codes in draws]) < 0.02 * n_codes
    assert np.mean([total_correlation(codes @ root.T) for codes in draws]) == pytest.approx(truth, abs=0.02 * n_codes)


def test_with_as_many_codes_as_rows_it_is_undefined():
    assert math.isnan(total_correlation(np.random.default_rng(0).normal(size=(20, 20))))
