import numpy as np
import pytest

from unweave.estimators import GaussianInformation
from unweave.estimators.posteriors import gaussian_entropy, gaussian_information


def test_entropy_of_independent_parts_adds_up():
    """Claim 114: 2 pi e has the exponent n, which 002 leaves out."""
    assert gaussian_entropy(np.diag([1.0, 4.0, 9.0])) == pytest.approx(
        sum(gaussian_entropy(np.array([[v]])) for v in (1.0, 4.0, 9.0))
    )


def test_information_is_a_difference_of_entropies():
    root = np.random.default_rng(0).normal(size=(5, 5))
    covariance = root @ root.T
    first, second = [0, 3], [1, 2, 4]
    by_entropies = (
        gaussian_entropy(covariance[np.ix_(first, first)])
        + gaussian_entropy(covariance[np.ix_(second, second)])
        - gaussian_entropy(covariance)
    )
    assert gaussian_information(covariance, first, second) == pytest.approx(by_entropies)
    assert gaussian_information(covariance, first, []) == gaussian_information(covariance, [], second) == 0


def test_more_codes_tell_no_less():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(500, 2))
    codes = factors @ rng.normal(size=(2, 4)) + rng.normal(size=(500, 4))
    single, rest, whole = GaussianInformation().information(factors, codes, 0.1 * np.eye(4))
    assert (single <= whole + 1e-12).all()
    assert (rest <= whole + 1e-12).all()
