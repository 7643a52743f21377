"""Correlations of means and of draws (001, appendix A.5) against closed forms and many draws."""

import numpy as np
import pytest

from unweave import Posterior
from unweave.estimators.posteriors import code_correlations

RNG = np.random.default_rng(0)
SHARED = RNG.normal(size=(4000, 1))
MEAN = SHARED + 0.5 * RNG.normal(size=(4000, 3))


def test_draws_are_attenuated_by_the_reliability_of_both_codes():
    """Spearman's formula: corr(draws) = corr(means) sqrt(r_i r_j), r = var(mean) / (var(mean) + E std^2)."""
    std = np.array([0.1, 1.0, 3.0]) * RNG.uniform(0.5, 1.5, size=MEAN.shape)
    found = code_correlations(MEAN, std)
    np.testing.assert_allclose(found.means, np.corrcoef(MEAN.T), atol=1e-12)
    reliability = MEAN.var(axis=0) / (MEAN.var(axis=0) + np.square(std).mean(axis=0))
    expected = found.means * np.sqrt(np.outer(reliability, reliability))
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(found.expected, expected, atol=1e-12)


def test_one_draw_and_many_tend_to_the_closed_form():
    std = np.array([0.2, 1.0, 2.0]) * np.ones_like(MEAN)
    found = code_correlations(MEAN, std)
    np.testing.assert_allclose(found.draws, found.expected, atol=4 / np.sqrt(len(MEAN)))
    many = np.vstack([RNG.normal(MEAN, std) for _ in range(40)])
    np.testing.assert_allclose(np.corrcoef(many.T), found.expected, atol=4 / np.sqrt(len(many)))


def test_posterior_covariances_count():
    """For independent means and posteriors with correlation .9, draws have correlation .9 s^2 / (1 + s^2)."""
    mean = RNG.normal(size=(20_000, 2))
    block = 0.25 * np.array([[1, 0.9], [0.9, 1]])
    covariance = np.tile(block, (len(mean), 1, 1))
    found = code_correlations(mean, np.full_like(mean, 0.5), covariance)
    assert found.expected[0, 1] == pytest.approx(0.9 * 0.25 / 1.25, abs=0.02)
    assert found.draws[0, 1] == pytest.approx(found.expected[0, 1], abs=0.03)


def test_deterministic_encoders_have_equal_matrices():
    """The AAE of 001, figure 20, is deterministic."""
    found = code_correlations(MEAN, np.zeros_like(MEAN))
    np.testing.assert_allclose(found.means, found.expected, atol=1e-12)
    np.testing.assert_allclose(found.means, found.draws, atol=1e-12)


def test_codes_that_do_not_vary_have_no_correlation():
    found = code_correlations(np.column_stack([MEAN[:, 0], np.zeros(4000)]), np.tile([0.1, 1.0], (4000, 1)))
    assert np.isnan(found.means[1]).all()
    assert found.expected[0, 1] == pytest.approx(0)


def test_a_posterior_has_them():
    found = Posterior(MEAN, np.ones_like(MEAN)).correlations()
    np.testing.assert_allclose(found.means, np.corrcoef(MEAN.T), atol=1e-12)
    assert found.draws.shape == (3, 3)
