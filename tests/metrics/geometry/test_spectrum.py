import numpy as np
import pytest

import unweave.metrics.geometry.manifolds
from unweave import EvidenceError
from unweave.metrics import manifold_entropy, total_entropy
from unweave.metrics.geometry.spectrum import spectrum, traversals
from unweave.synthetic.known_decoders import LinearDecoder, Torus


def test_the_torus_is_sorted_as_it_was_made():
    found = spectrum(Torus(), n_samples=500)
    assert found.order == list(range(20))
    assert found.knee[0] == 10  # the angles have larger entropies than the radii
    assert found.total_correlation == pytest.approx(0.0, abs=1e-9)
    assert 1 < found.effective_dimension < 10


@pytest.mark.parametrize("kept", [2**28, 0])
def test_cumulative_entropy_is_the_joint_entropy_of_the_leading_sets(monkeypatch, kept):
    monkeypatch.setattr(unweave.metrics.geometry.manifolds, "KEPT_BYTES", kept)
    jacobians = np.random.default_rng(0).normal(size=(20, 6, 4))
    found = spectrum(jacobians)
    for k in range(1, 5):
        expected = manifold_entropy(jacobians, dimensions=found.order[:k]).raw
        assert found.cumulative[k - 1] == pytest.approx(expected)
    assert found.cumulative[-1] == pytest.approx(total_entropy(jacobians).raw)


def test_bottleneck_sizes():
    found = spectrum(Torus(), n_samples=500)
    assert found.n_for(found.cumulative[2] - 1e-9) == 3
    assert found.n_above(-1.0) == 10
    with pytest.raises(EvidenceError, match="the first 4 latents keep the most"):
        found.n_for(100.0)


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
    with pytest.raises(EvidenceError, match="pass the decoder itself"):
        traversals(np.eye(3), [0])
