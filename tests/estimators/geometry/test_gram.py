import numpy as np
import pytest

from unweave.estimators.geometry import gram
from unweave.estimators.geometry.priors import GaussianMixture, IndependentPrior, StandardNormal


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
