import numpy as np
import pytest

import unweave.metrics.manifolds
from unweave import InputError, Spectrum, spectrum
from unweave.metrics import manifold_entropy, total_entropy
from unweave.metrics.manifolds import _usable_samples, traversals
from unweave.synthetic.known_decoders import LinearDecoder, Torus


def test_the_torus_is_sorted_as_it_was_made():
    found = spectrum(Torus(), n_samples=500)
    assert found.order == list(range(20))
    assert found.knee[0] == 10  # the angles have larger entropies than the radii
    assert found.total_correlation == pytest.approx(0.0, abs=1e-9)
    assert 1 < found.effective_dimension < 10


@pytest.mark.parametrize("kept", [2**28, 0])
def test_cumulative_entropy_is_the_joint_entropy_of_the_leading_sets(monkeypatch, kept):
    monkeypatch.setattr(unweave.metrics.manifolds, "KEPT_BYTES", kept)
    jacobians = np.random.default_rng(0).normal(size=(20, 6, 4))
    found = spectrum(jacobians)
    for k in range(1, 5):
        expected = manifold_entropy(jacobians, dimensions=found.order[:k]).raw
        assert found.cumulative[k - 1] == pytest.approx(expected)
    assert found.cumulative[-1] == pytest.approx(total_entropy(jacobians).raw)


def test_dependent_columns_still_have_a_spectrum():
    jacobians = np.random.default_rng(0).normal(size=(5, 4, 3))
    jacobians[:, :, 2] = jacobians[:, :, 0]
    assert np.isneginf(spectrum(jacobians).cumulative[-1])


@pytest.mark.parametrize("seed", [5, 62, 65])
def test_nearly_dependent_columns_have_the_joint_entropy_of_total_entropy(seed):
    """Whether rounding errors make the columns dependent varies with their order."""
    rng = np.random.default_rng(seed)
    jacobians = rng.normal(size=(3, 12, int(rng.integers(3, 9))))
    jacobians[:, :, -1] = jacobians[:, :, 0] * rng.uniform(0.2, 3)
    jacobians[:, :, -1] += 10 ** rng.uniform(-6.9, -6.0) * rng.normal(size=(3, 12))
    jacobians[:, :, -1] += jacobians[:, :, 1]
    found = spectrum(jacobians)
    assert found.cumulative[-1] == total_entropy(jacobians).raw
    assert np.isfinite(found.cumulative[:-1]).all()


def test_fewer_outputs_than_latents_end_the_sum_early():
    assert len(spectrum(np.random.default_rng(0).normal(size=(5, 2, 4))).cumulative) == 2


def test_mean_tangents_of_a_linear_decoder_are_its_columns():
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    assert spectrum(LinearDecoder(matrix)).tangents == pytest.approx(matrix)


def test_traversals_need_a_decoder():
    with pytest.raises(InputError, match="pass the decoder itself"):
        traversals(np.eye(3), [0])


def test_limits_of_a_known_spectrum():
    """Sorted entropies of 3, 2.5 and 1 nats fall most after the second."""
    entropies, cumulative = np.array([3.0, 1.0, 2.5]), np.array([3.0, 5.0, 4.5])
    found = Spectrum(("a", "b", "c"), entropies, np.zeros(3), cumulative, 0.0, np.eye(3))
    assert (found.order, found.sorted_entropies.tolist()) == ([0, 2, 1], [3.0, 2.5, 1.0])
    assert found.knee == (2, 1.5)
    assert [found.n_for(nats) for nats in (3.0, 3.1, 5.0)] == [1, 2, 2]
    assert [found.n_above(nats) for nats in (3.0, 2.5, 2.4, 0.0)] == [0, 1, 2, 3]
    with pytest.raises(InputError, match=r"keeps 5\.1 nats: the first 2 latents keep the most, 5 nats"):
        found.n_for(5.1)
    shares = np.exp(2 * entropies) / np.exp(2 * entropies).sum()
    assert found.effective_dimension == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))


def test_one_latent_has_no_knee():
    n_latents, fall = spectrum(np.eye(3)[:, :1]).knee
    assert n_latents == 1
    assert np.isnan(fall)


def test_a_loss_at_most_samples_is_a_property_of_the_decoder():
    """The last column tells where all directions together are dependent, and the others where a latent is still."""
    half = np.array([[False, True], [False, False]])
    used, resolved = _usable_samples(half)
    assert (used.tolist(), resolved.tolist()) == ([True, True], [False, True])
    used, resolved = _usable_samples(np.vstack([half, [False, True]]))
    assert (used.tolist(), resolved.tolist()) == ([True] * 3, [True, False, True])
    still = np.array([[True, False, True], [False, False, False], [False, False, False]])
    assert _usable_samples(still)[0].tolist() == [False, True, True]
    dead = np.array([[True, False, True], [True, True, True]])
    assert _usable_samples(dead)[0].tolist() == [True, False]
    nowhere = np.array([[True, False, True], [False, True, True]])
    assert _usable_samples(nowhere)[0].tolist() == [True, True]
