"""Three-way information (001, Eq 2), compared with closed forms for Gaussians and with a grid of two codes."""

import math

import numpy as np
import pytest
from scipy.special import entr

from unweave import Posterior
from unweave.estimators import MixtureSampling, QuantisedPosterior
from unweave.metrics import separability, three_way_information

DRAWS = MixtureSampling(4000)


def gaussian(rho, n_rows=2000, seed=0):
    """Means with sample variance 1 and sample correlation rho, both exact."""
    drawn = np.random.default_rng(seed).normal(size=(n_rows, 2))
    drawn = (drawn - drawn.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(drawn.T, bias=True))).T
    return drawn @ np.linalg.cholesky([[1, rho], [rho, 1]]).T


@pytest.mark.parametrize(("rho", "std"), [(0.0, 0.5), (0.6, 0.5), (0.95, 0.3), (-0.8, 1.0)])
def test_closed_form_of_gaussian_means(rho, std):
    """The draws have correlation r = rho / (1 + std^2), so I = -1/2 log(1 - r^2); I(z_i, z_j | x) is 0."""
    mean = gaussian(rho)
    score = three_way_information(None, Posterior(mean, np.full_like(mean, std)), estimator=DRAWS, normalise=False)
    drawn = rho / (1 + std**2)
    # a finite sample is a mixture of Gaussians and not Gaussian, which changes the value by .02 at 2,000 rows
    assert score.raw == pytest.approx(
        -0.5 * math.log(1 - drawn**2), abs=0.02 + 3 * float(score.parts["standard_error"])
    )


def test_correlation_given_the_sample_alone_is_negative():
    """Independent means and correlated posteriors: I(z_i, z_j) - I(z_i, z_j | x) in closed form."""
    mean, std, within = gaussian(0.0), 0.5, 0.9
    block = std**2 * np.array([[1, within], [within, 1]])
    posterior = Posterior(mean, covariance=np.tile(block, (len(mean), 1, 1)))
    score = three_way_information(None, posterior, estimator=DRAWS, normalise=False)
    drawn = within * std**2 / (1 + std**2)
    expected = -0.5 * math.log(1 - drawn**2) + 0.5 * math.log(1 - within**2)
    assert score.raw == pytest.approx(expected, abs=0.02 + 3 * float(score.parts["standard_error"]))
    assert score.raw < -0.5
    assert three_way_information(None, posterior, estimator=DRAWS).value == 0


def test_masses_on_a_grid_of_two_codes():
    """An independent estimate: mutual information of the table 1/N sum_n Q(s | x_n) Q(t | x_n), 200 bins per code."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(1500, 1))
    mean = np.tanh(shared + 0.5 * rng.normal(size=(1500, 2))) + np.array([0.0, 3.0])  # strongly non-Gaussian
    std = rng.uniform(0.1, 0.4, size=mean.shape)
    grid = QuantisedPosterior(bins=200)
    tables = [grid.masses(mean[:, i], std[:, i]).astype(float) for i in range(2)]
    joint = tables[0] @ tables[1].T / len(mean)
    on_grid = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()
    score = three_way_information(None, Posterior(mean, std), estimator=DRAWS, normalise=False)
    assert score.raw == pytest.approx(on_grid, abs=0.01 + 3 * float(score.parts["standard_error"]))


def test_two_codes_have_the_separability_of_each_from_the_other():
    mean = gaussian(0.7)
    posterior = Posterior(mean, np.full_like(mean, 0.5))
    pair, each = (m(None, posterior, estimator=DRAWS, normalise=False) for m in (three_way_information, separability))
    assert pair.raw == pytest.approx(each.raw, abs=1e-9)


def test_pairs_and_their_matrix():
    """A copy shares all information and an independent code none; the matrix is symmetric."""
    mean = gaussian(0.0)
    mean = np.column_stack([mean, mean[:, 0]])
    score = three_way_information(None, Posterior(mean, np.full_like(mean, 0.5)), estimator=DRAWS)
    matrix = score.parts["three_way_matrix"]
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.isnan(np.diagonal(matrix)).all()
    assert matrix[0, 2] > 0.1
    assert abs(matrix[0, 1]) < 0.02
    assert score.raw == pytest.approx(np.nanmean(matrix))


def test_sharp_pairs_and_lone_codes_are_undefined():
    mean = np.random.default_rng(0).normal(size=(200, 3))
    sharp = three_way_information(None, Posterior(mean, np.full_like(mean, 1e-3)), estimator=DRAWS)
    assert math.isnan(sharp.raw)
    assert "3 of 3 pairs of codes identify every sample" in str(sharp.caveats[0])
    std = np.full_like(mean, 1e-3)
    std[:, 2] = 1.0
    some = three_way_information(None, Posterior(mean, std * [1, 300, 1]), estimator=DRAWS)
    assert np.isfinite(some.raw)
    lone = three_way_information(None, Posterior(mean[:, :1], std[:, :1]), estimator=DRAWS)
    assert math.isnan(lone.raw)
    assert lone.caveats
