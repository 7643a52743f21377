import numpy as np
import pytest
from scipy.stats import norm

from unweave.estimators import GaussianMixture, IndependentPrior, StandardNormal
from unweave.estimators import geometry as gram
from unweave.randomness import random_stream


def test_running_means_are_those_of_all_samples():
    samples = np.random.default_rng(0).normal(size=(50, 3, 3))
    running = gram.RunningMean()
    for block in np.split(samples.copy(), [1, 20, 21]):
        running.add(block)
    whole = gram.mean_of(samples)
    assert running.mean().value == pytest.approx(whole.value)
    assert running.mean().standard_error == pytest.approx(whole.standard_error)
    assert whole.standard_error == pytest.approx(samples.std(axis=0, ddof=1) / np.sqrt(50))


def test_one_sample_has_no_standard_error():
    running = gram.RunningMean()
    running.add(np.ones((1, 2)))
    assert np.isnan(running.mean().standard_error).all()
    assert np.isnan(gram.mean_of(np.ones((1, 2))).standard_error).all()


def test_volumes_of_nested_sets():
    columns = np.random.default_rng(0).normal(size=(4, 6, 3))
    cosines = gram.cosines(gram.grams(columns))
    nested = gram.nested_log_volumes(cosines, [2, 0, 1])
    assert nested[:, 0] == pytest.approx(0.0)
    assert nested[:, 1] == pytest.approx(gram.log_volume_of_directions(cosines, [2, 0]))
    assert nested[:, 2] == pytest.approx(gram.log_volume_of_directions(cosines))


def test_parallel_columns_share_infinitely_much():
    columns = np.random.default_rng(0).normal(size=(5, 4, 1)) * [1.0, -3.0]
    assert np.isposinf(gram.information_of_cosines(gram.cosines(gram.grams(columns)))[:, 0, 1]).all()


@pytest.mark.parametrize(
    "prior",
    [
        StandardNormal(),
        GaussianMixture(((1.0, 2.0),), ((0.5, 3.0),)),
        IndependentPrior("laplace"),
        IndependentPrior("uniform"),
    ],
)
def test_priors_repeat_themselves_for_a_seed(prior):
    first, second = prior.sample(10, 2, 3), prior.sample(10, 2, 3)
    assert (first.values == second.values).all()
    assert (first.values != prior.sample(10, 2, 4).values).any()


def test_scales_are_derivatives_of_the_map_from_noise():
    """A normal variable with standard deviation 2 is standard normal noise times 2."""
    latents = IndependentPrior("norm", (1.0, 2.0)).sample(100, 2, 0)
    assert latents.scales == pytest.approx(np.full((100, 2), 2.0))
    assert np.isfinite(IndependentPrior("cauchy").sample(1000, 2, 0).scales).all()


@pytest.mark.parametrize("largest", [1e100, 1.01e100, 1e-100, 0.99e-100, 1e-300, 0.0])
def test_extreme_jacobians_are_divided_by_a_power_of_two(largest):
    jacobians = np.array([[[1.0, -0.5]], [[0.0, -largest]]])
    block, log_scales = gram.scaled(jacobians)
    is_extreme = largest in (1.01e100, 0.99e-100, 1e-300)
    exponent = np.frexp(largest)[1] if is_extreme else 0
    assert log_scales == pytest.approx([0.0, exponent * np.log(2)])
    assert block[0].tolist() == [[1.0, -0.5]]
    assert block[1, 0, 1] == (-np.frexp(largest)[0] if is_extreme else -largest)


@pytest.mark.parametrize(("left", "is_parallel"), [(0.9e-14, True), (1.1e-14, False)])
def test_columns_are_parallel_if_their_cosine_is_one_up_to_rounding(left, is_parallel):
    cosine = np.sqrt(1 - left)
    block = np.array([[[1.0, cosine], [cosine, 1.0]]])
    assert np.isposinf(gram.information_of_cosines(block)[0, 0, 1]) == is_parallel


@pytest.mark.parametrize(("left", "is_dependent"), [(1.8e-14, True), (2.2e-14, False)])
def test_columns_are_dependent_if_a_pivot_is_rounding(left, is_dependent):
    cosine = np.sqrt(1 - left)
    block = np.array([[[1.0, cosine], [cosine, 1.0]]])
    assert np.isneginf(gram.log_volume_of_directions(block)[0]) == is_dependent
    assert np.isneginf(gram.nested_log_volumes(block, [0, 1])[0]).tolist() == [False, is_dependent]


def test_a_mixture_is_fitted_by_the_moments_and_frequencies_of_the_classes():
    prior = GaussianMixture.fitted(np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 5.0], [3.0, 4.0]]), ["a", "a", "b", "a"])
    assert prior.means == (pytest.approx((7 / 3, 2.0)), (5.0, 5.0))
    assert prior.deviations == (pytest.approx((np.sqrt(8 / 9), np.sqrt(8 / 3))), (0.0, 0.0))
    assert prior.weights == (0.75, 0.25)
    assert prior.size == 2


def test_a_mixture_draws_classes_by_weight_and_latents_by_class():
    prior = GaussianMixture(((0.0, 50.0), (100.0, 50.0)), ((1.0, 2.0), (3.0, 0.5)), (6.0, 2.0))
    found = prior.sample(2000, 2, 1)
    second = found.values[:, 0] > 50
    assert second.mean() == pytest.approx(0.25, abs=0.03)
    assert found.scales[second].tolist() == [[3.0, 0.5]] * second.sum()
    assert found.values[~second].std(axis=0) == pytest.approx([1.0, 2.0], rel=0.1)
    assert found.values[second].mean(axis=0) == pytest.approx([100.0, 50.0], abs=0.5)


def test_latents_of_other_priors_are_quantiles_of_normal_noise():
    noise = random_stream(3, "prior").standard_normal((50, 2))
    found = IndependentPrior("uniform", (-1.0, 4.0)).sample(50, 2, 3)
    assert found.values == pytest.approx(4 * norm.cdf(noise) - 1)
    assert found.scales == pytest.approx(4 * norm.pdf(noise))
    assert StandardNormal().sample(50, 2, 3).values.tolist() == noise.tolist()
