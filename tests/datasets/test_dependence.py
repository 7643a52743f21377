import numpy as np
import pytest

from unweave import OptionError
from unweave.datasets import Confounder, CorrelatedPair, DependentSample, DeterminedFactor, DSprites, small_sprites
from unweave.datasets.dependence import dependences_from_text


def test_frequencies_of_a_pair_are_its_weights():
    sprites = small_sprites()
    sample = DependentSample(sprites, [CorrelatedPair("scale", "x", 0.4)])
    places = sprites.places(sample.sample_indices(200_000, rng=0))
    counted = np.zeros((6, 16))
    np.add.at(counted, (places[:, 1], places[:, 2]), 1)
    a, b = np.linspace(0, 1, 6)[:, None], np.linspace(0, 1, 16)[None, :]
    expected = np.exp(-((a - b) ** 2) / (2 * 0.4**2))
    assert counted / counted.sum() == pytest.approx(expected / expected.sum(), abs=1.5e-3)
    assert np.bincount(places[:, 3]) / 200_000 == pytest.approx(np.full(16, 1 / 16), abs=3e-3)  # y stays free


@pytest.mark.parametrize("sigma", [0.4, 0.1, 0.04])
def test_smaller_sigma_is_stronger(sigma):
    sample = DependentSample(DSprites(16), [CorrelatedPair("x", "y", sigma), CorrelatedPair("shape", "scale", sigma)])
    factors = sample.sample_indices(5000, rng=0)
    x, y = sample.factors(factors)[:, 3:].T
    assert np.std(x - y) == pytest.approx(sigma, rel=0.25 if sigma < 0.2 else 0.5)


def test_a_confounder_is_near_all_others():
    sample = DependentSample(small_sprites(), [Confounder("x", 0.2)])
    places = sample.dataset.places(sample.sample_indices(20_000, rng=0)) / [2, 5, 15, 15]
    correlations = np.corrcoef(places.T)
    assert (correlations[2, [0, 1, 3]] > 0.5).all()


def test_a_determined_factor():
    sprites = small_sprites()
    sample = DependentSample(sprites, [DeterminedFactor("y", ("x",), "square")])
    places = sprites.places(sample.sample_indices(3000, rng=0))
    x = 2 * places[:, 2] / 15 - 1
    assert np.array_equal(places[:, 3], np.rint((x**2 - 1 / 225) / (1 - 1 / 225) * 15))
    both = DependentSample(sprites, [DeterminedFactor("y", ("x", "scale"), "sum")])
    places = sprites.places(both.sample_indices(3000, rng=0))
    assert np.abs(places[:, 3] / 15 - (places[:, 2] / 15 + places[:, 1] / 5) / 2).max() <= 0.5 / 15 + 1e-9


def test_images_are_those_of_the_data_set():
    sprites = small_sprites()
    sample = DependentSample(sprites, [CorrelatedPair("x", "y", 0.1)])
    batch = sample.sample(50, rng=2)
    assert np.array_equal(batch.images, sprites.images(batch.indices))
    assert np.array_equal(batch.factors, sprites.factors(batch.indices))
    assert sample.fingerprint != sprites.fingerprint
    assert sample.fingerprint != DependentSample(sprites, [CorrelatedPair("x", "y", 0.2)]).fingerprint


def test_dependences_from_text():
    assert dependences_from_text("x~y:0.1,shape ~ *: .2, y=product(x; scale)") == [
        CorrelatedPair("x", "y", 0.1),
        Confounder("shape", 0.2),
        DeterminedFactor("y", ("x", "scale"), "product"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x-y", "not a dependence"),
        ("x~y:1e", "not a number"),
        ("x~hue:0.1", "no factor 'hue'"),
        ("x~y:0", "sigma is 0"),
        ("y=cosine(x)", "no function 'cosine'"),
        ("y=cube(y)", "cannot be a function of y"),
        ("y=product(x;x)", "y cannot be a function of x and x: name every factor only once"),
        ("y=sum(x;scale;shape)", "no function 'sum' of 3 factors"),
        ("y=product(x)", "no function 'product' of 1 factors"),
        ("x~y:-0.1", "sigma is -0.1"),
        ("x~y:1e999", "sigma is inf"),
    ],
)
def test_bad_dependences(text, message):
    with pytest.raises(OptionError, match=message):
        DependentSample(small_sprites(), dependences_from_text(text))


def test_many_dependences_at_once():
    """The last values of all factors have a positive weight, also for a function that is constant on two values."""
    demands = [DeterminedFactor("y", ("x",), function) for function in ("cube", "absolute")]
    demands += [DeterminedFactor("scale", ("shape",), "square"), CorrelatedPair("shape", "x", 0.001)]
    sprites = DSprites(16, keep={"shape": [0, 1], "orientation": [0]})
    places = sprites.places(DependentSample(sprites, demands).sample_indices(100, rng=0))
    assert set(places[:, 1]) == {5}
    assert (places == [1, 5, 31, 31]).all(axis=1).any()


@pytest.mark.parametrize("dependence", [CorrelatedPair("x", "scale", 0.2), DeterminedFactor("y", ("x",), "cube")])
def test_probabilities_are_weights_divided_by_their_total(dependence):
    sprites = small_sprites()
    found = DependentSample(sprites, [dependence]).weights_of(np.arange(len(sprites)))
    weights = np.broadcast_to(dependence.weights(sprites), sprites.n_values).ravel()
    assert found == pytest.approx(weights / weights.sum(), abs=1e-15)
