import numpy as np
import pytest
from scipy.stats import multivariate_normal

from unweave.estimators import GaussianInformation
from unweave.estimators.posteriors import gaussian_information


def test_information_is_a_difference_of_entropies():
    root = np.random.default_rng(0).normal(size=(5, 5))
    covariance = root @ root.T
    first, second = [0, 3], [1, 2, 4]
    entropies = [multivariate_normal(cov=covariance[np.ix_(k, k)]).entropy() for k in (first, second, range(5))]
    by_entropies = entropies[0] + entropies[1] - entropies[2]
    assert gaussian_information(covariance, first, second) == pytest.approx(by_entropies)
    assert gaussian_information(covariance, first, []) == gaussian_information(covariance, [], second) == 0


def test_more_codes_tell_no_less():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(500, 2))
    codes = factors @ rng.normal(size=(2, 4)) + rng.normal(size=(500, 4))
    single, rest, whole = GaussianInformation().information(factors, codes, 0.1 * np.eye(4))
    assert (single <= whole + 1e-12).all()
    assert (rest <= whole + 1e-12).all()
