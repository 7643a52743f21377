"""Analytic Jacobians are the derivatives of the decoders."""

import numpy as np
import pytest

from unweave.synthetic.known_decoders import LinearDecoder, Torus, TwoMoons

DECODERS = {
    "linear": LinearDecoder(np.random.default_rng(0).normal(size=(5, 3)), shift=1.0),
    "torus": Torus(),
    "small torus": Torus(n_circles=2, rotation_seed=3),
    "moons": TwoMoons(),
}


@pytest.mark.parametrize("name", DECODERS)
def test_jacobians_are_derivatives(name):
    decoder = DECODERS[name]
    latents = np.random.default_rng(1).normal(size=(20, decoder.latent_size))
    jacobians = np.concatenate(list(decoder.jacobian_blocks(latents)))
    for i in range(decoder.latent_size):
        step = 1e-6 * np.eye(decoder.latent_size)[i]
        slope = (decoder.decode(latents + step) - decoder.decode(latents - step)) / 2e-6
        assert jacobians[:, :, i] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("name", ["linear", "torus", "small torus"])
def test_encoding_undoes_decoding(name):
    decoder = DECODERS[name]
    latents = np.random.default_rng(1).normal(size=(20, decoder.latent_size))
    assert decoder.encode(decoder.decode(latents)) == pytest.approx(latents, abs=1e-9)


def test_the_rotation_is_one():
    rotation = Torus().rotation
    assert rotation @ rotation.T == pytest.approx(np.eye(20), abs=1e-12)


def test_moons_are_where_scikit_learn_puts_them():
    datasets = pytest.importorskip("sklearn.datasets")
    theirs = datasets.make_moons(20_000, noise=0.1, random_state=0)[0]
    for ours in (TwoMoons().sample(20_000, 0), TwoMoons().decode(np.random.default_rng(0).normal(size=(20_000, 2)))):
        assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.03)
        assert np.cov(ours.T) == pytest.approx(np.cov(theirs.T), abs=0.03)


def test_samples_follow_the_seed():
    assert (TwoMoons().sample(5, 1) == TwoMoons().sample(5, 1)).all()
    assert (Torus().sample(5, 1) != Torus().sample(5, 2)).any()


def test_the_lower_moon_begins_at_zero():
    assert TwoMoons().decode(np.zeros((1, 2))).tolist() == [[0.0, 0.5]]
    assert TwoMoons().decode(np.array([[-1e-9, 0.0]])) == pytest.approx(np.array([[-1.0, 0.0]]), abs=1e-6)


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_the_entropy_along_the_moons_has_the_mean_of_the_logarithm_of_the_radius(noise):
    """E log(1 + s n) = -s^2 / 2 - 3 s^4 / 4 - ... for small s."""
    along, across = TwoMoons(noise).true_entropies
    assert along - np.log(2 * np.pi) == pytest.approx(-(noise**2) / 2 - 3 * noise**4 / 4, abs=20 * noise**6)
    assert across == pytest.approx(0.5 * np.log(2 * np.pi * np.e * noise**2))
    assert np.isfinite(TwoMoons(0.5).true_entropies).all()  # some radii are negative
