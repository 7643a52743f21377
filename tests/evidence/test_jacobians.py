"""Jacobians that were computed elsewhere: their shapes, scales and blocks."""

import numpy as np
import pytest

from unweave import InputError
from unweave.evidence import Jacobians
from unweave.evidence.decoders import decoder_of

VALUES = np.random.default_rng(0).normal(size=(5, 7, 3))  # samples, outputs and latents
SCALES = np.arange(1.0, 16.0).reshape(5, 3)


@pytest.mark.parametrize(
    ("n_bytes", "sizes"), [(1, [1] * 5), (8 * 21, [1] * 5), (8 * 21 * 2, [2, 2, 1]), (8 * 21 * 3 - 1, [2, 2, 1])]
)
def test_blocks_have_the_size_that_was_asked_for_and_their_own_scales(monkeypatch, n_bytes, sizes):
    monkeypatch.setattr("unweave.evidence.decoders.BLOCK_BYTES", n_bytes)
    blocks = list(Jacobians(VALUES, SCALES).jacobian_blocks())
    assert [len(block) for block in blocks] == sizes
    np.testing.assert_array_equal(np.concatenate(blocks), VALUES * SCALES[:, None, :])
    np.testing.assert_array_equal(np.concatenate(list(Jacobians(VALUES).jacobian_blocks())), VALUES)


def test_one_scale_per_latent_is_that_of_every_sample():
    found = Jacobians(VALUES, SCALES[0])
    assert (found.n_samples, found.latent_size, found.scales.shape) == (5, 3, (5, 3))
    assert Jacobians(VALUES[0]).n_samples == 1


@pytest.mark.parametrize("scales", [SCALES[:, :2], SCALES[:4], SCALES.T, SCALES[:, 0], np.ones(7)])
def test_scales_of_another_shape_are_refused(scales):
    with pytest.raises(InputError, match=r"The scales have shape .* for 5 Jacobians of 3 latents: pass one scale"):
        Jacobians(VALUES, scales)


@pytest.mark.parametrize("values", [np.ones(3), np.ones((2, 2, 2, 2)), np.ones((0, 3, 2)), VALUES * 1j])
def test_what_cannot_be_jacobians(values):
    with pytest.raises(InputError, match=r"The Jacobians have shape .*: pass numbers as samples x outputs x latents"):
        Jacobians(values)


def test_digests_tell_scales_apart():
    digests = {Jacobians(VALUES, scales).digest() for scales in (None, SCALES, SCALES + 1)}
    assert len(digests) == 3


class Line:
    latent_size = 2

    def jacobian_blocks(self, latents):
        yield np.ones((len(latents), 4, 2))


class AlmostAnArray:
    shape = (5, 7, 3)


@pytest.mark.parametrize("given", [AlmostAnArray(), "decoder", 3.0])
def test_what_cannot_be_differentiated(given):
    with pytest.raises(InputError, match=f"The decoder is a {type(given).__name__}, which cannot be"):
        decoder_of(given)


def test_decoders_and_arrays_are_taken():
    line = Line()
    assert decoder_of(line) is line
    assert decoder_of(None) is None
    assert decoder_of(VALUES.tolist()).latent_size == 3


def test_a_class_is_not_a_decoder():
    with pytest.raises(InputError, match="is the class Line, which has no weights yet: pass a trained object"):
        decoder_of(Line)
