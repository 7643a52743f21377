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
