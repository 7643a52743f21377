import joblib
import numpy as np
import pytest
from scipy.special import ndtr

from unweave.estimators import QuantisedPosterior

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=(3000, 3)) * [1.0, 2.0, 0.1]
LIMITS = (-4.0, 4.0)
STD = np.exp(RNG.uniform(-7, 1, size=(3000, 3)))


def direct_masses(mean, std, grid):
    """Masses by definition, from the distribution function at both edges of every bin; the end bins are open."""
    edges = np.linspace(*grid.limits, grid.bins + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    return ndtr((edges[1:, None] - mean) / std) - ndtr((edges[:-1, None] - mean) / std)


@pytest.mark.parametrize("bins", [2, 20, 100, 400])
def test_masses_to_a_millionth(bins):
    """Standard deviations range from a hundredth of a bin to the whole range, and means lie inside and outside it."""
    grid = QuantisedPosterior(bins, LIMITS)
    for i in range(3):
        found = grid.masses(MEAN[:, i], STD[:, i])
        assert np.abs(found - direct_masses(MEAN[:, i], STD[:, i], grid)).max() < 1e-6


def test_far_away_and_extremely_narrow_posteriors():
    mean = np.array([1e6, -1e6, 0.03, 0.03, 3.9999])
    std = np.array([1e-3, 1e5, 1e-12, 1e-300, 1e3])
    grid = QuantisedPosterior(limits=LIMITS)
    found = grid.masses(mean, std)
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-6)
    assert np.abs(found - direct_masses(mean, std, grid)).max() < 1e-6


def test_joint_with_labels_and_tables():
    labels = RNG.integers(0, 4, 3000).astype(np.uint16)
    table = RNG.dirichlet(np.ones(3), 3000)
    grid = QuantisedPosterior(30, LIMITS)
    found = grid.quantised(MEAN, STD, [labels, table])
    for i in range(3):
        masses = direct_masses(MEAN[:, i], STD[:, i], grid)
        np.testing.assert_allclose(found.joint[i][0], masses @ np.eye(4)[labels] / 3000, atol=1e-7)
        np.testing.assert_allclose(found.joint[i][1], masses @ table / 3000, atol=1e-7)
        np.testing.assert_allclose(found.marginal[i], masses.mean(axis=1), atol=1e-7)
        entropy = -(masses * np.log(np.maximum(masses, 1e-300))).sum(axis=0).mean()
        assert found.given_sample[i] == pytest.approx(entropy, abs=2e-5)
        outside = (ndtr((-4 - MEAN[:, i]) / STD[:, i]) + ndtr((MEAN[:, i] - 4) / STD[:, i])).mean()
        assert found.outside[i] == pytest.approx(outside, abs=1e-6)


def test_categorical_codes_are_exact():
    table = RNG.dirichlet(np.ones(3), 500)
    found = QuantisedPosterior().quantised(np.empty((500, 0)), np.empty((500, 0)), [], [table])
    marginal = table.mean(axis=0)
    information = (table * np.log(table / marginal)).sum(axis=1).mean()
    assert found.sample_information[0] == pytest.approx(information, abs=1e-9)


@pytest.mark.parametrize("rule", ["mass", "centre"])
def test_results_do_not_depend_on_the_number_of_threads(rule):
    mean, std = RNG.normal(size=(40_000, 2)), np.full((40_000, 2), 0.3)
    grid = QuantisedPosterior(rule=rule)
    results = []
    for n_jobs in (1, 3):
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            results.append(grid.quantised(mean, std))
    assert (results[0].given_sample == results[1].given_sample).all()
    assert all((a == b).all() for a, b in zip(results[0].marginal, results[1].marginal, strict=True))


def test_a_deterministic_encoder_is_the_limit():
    """std -> 0 gives the histogram of the means on the grid."""
    found = QuantisedPosterior(10, LIMITS).quantised(MEAN, np.full_like(MEAN, 1e-12))
    for i in range(3):
        counts = np.histogram(np.clip(MEAN[:, i], -4, 3.999), bins=10, range=(-4, 4))[0]
        np.testing.assert_allclose(found.marginal[i], counts / 3000, atol=1e-6)
    assert found.given_sample.max() < 1e-6


def test_sampled_entropy_is_that_of_the_grid_plus_the_bin_width():
    """001, A.10 and claim 143: H_q = H_s - log(bin width), within 1e-3 for a unit Gaussian and 10 bins or more."""
    differential = 0.5 * np.log(2 * np.pi * np.e)
    for bins in (20, 50, 100, 200):
        found = QuantisedPosterior(bins, (-6, 6)).quantised(np.zeros((1, 1)), np.ones((1, 1)))
        width = 12 / bins
        assert found.entropies[0] + np.log(width) == pytest.approx(differential, abs=width**2 / 20 + 1e-4)


def test_range_of_a_uniform_that_bounds_a_gaussian():
    """The range of 001, A.11 and claim 144, is 4.1327 standard deviations wide."""
    low, high = QuantisedPosterior(limits=None).ranges_of(np.zeros((1, 1)), np.ones((1, 1)))
    assert high - low == pytest.approx(4.1327, abs=1e-4)


@pytest.mark.parametrize("options", [{"bins": 1}, {"limits": (1.0, 1.0)}])
def test_a_bad_grid_is_refused(options):
    with pytest.raises(ValueError, match=r"not make a grid|not allowed: use a whole number from 2"):
        QuantisedPosterior(**options).quantised(MEAN, STD)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="not known"):
        QuantisedPosterior(rule="density").quantised(MEAN, STD)


def test_a_fitted_grid_follows_the_scale_and_origin_of_every_code():
    """Masses of a z + b with std a s on their fitted grid equal those of z with std s, in single precision."""
    plain, moved = (
        QuantisedPosterior().quantised(MEAN * scale + origin, STD * scale)
        for scale, origin in [(np.ones(3), 0.0), (np.array([1e-3, 7.0, 1e5]), np.array([50.0, -3.0, 1e4]))]
    )
    for i in range(3):
        np.testing.assert_allclose(plain.marginal[i], moved.marginal[i], atol=2e-6)
    np.testing.assert_allclose(plain.given_sample, moved.given_sample, atol=1e-5)


def test_the_fitted_grid_of_a_standardised_code_is_that_of_the_published_code():
    mean, std = np.array([[-0.6], [0.6]]), np.full((2, 1), 0.8)  # variance .36 + .64 = 1
    np.testing.assert_allclose(QuantisedPosterior().ranges_of(mean, std), [[-4.0], [4.0]])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_fitted_grid_of_any_size(scale):
    low, high = QuantisedPosterior().ranges_of(MEAN * scale, np.full_like(MEAN, 0.1 * scale))
    assert np.isfinite([low, high]).all()
    assert (low < high).all()
