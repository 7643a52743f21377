"""The interface of all data sets: numbering, factors, samples, batches, interventions and errors."""

import numpy as np
import pytest

from unweave import InputError, OptionError
from unweave.datasets import CorrelatedPair, DependentSample, DSprites, load, small_sprites
from unweave.evidence import Evidence
from unweave.metrics import factor_vae_score


def test_batches_are_all_images_in_order():
    sprites = small_sprites()
    batches = list(sprites.batches(1000))
    assert [len(batch.indices) for batch in batches] == [1000, 1000, 1000, 1000, 608]
    assert np.array_equal(np.concatenate([batch.indices for batch in batches]), np.arange(4608))
    assert np.array_equal(np.concatenate([batch.images for batch in batches]), sprites.images())
    assert np.array_equal(np.concatenate([batch.factors for batch in batches]), sprites.factors())


def test_last_factor_changes_fastest():
    sprites = small_sprites()
    assert np.array_equal(sprites.places([0, 1, 16, 256, 1536]), np.eye(5, 4, -1)[:, ::-1])


def test_images_of_factors():
    sprites = DSprites(16)
    chosen = np.random.default_rng(0).integers(len(sprites), size=50)
    factors = sprites.factors(chosen)
    assert np.array_equal(sprites.factors(sprites.indices_of(factors)), factors)
    assert np.array_equal(sprites.images_of(factors), sprites.images(chosen))


def test_a_sample_is_reproducible_and_uniform():
    sprites = small_sprites()
    first, again = sprites.sample(500, rng=1), sprites.sample(500, rng=1)
    assert np.array_equal(first.images, again.images)
    assert np.array_equal(first.factors, sprites.factors(first.indices))
    assert np.bincount(sprites.places(sprites.sample_indices(30_000, rng=0))[:, 0]) == pytest.approx(10_000, rel=0.05)


def test_fingerprints_tell_data_sets_apart():
    sets = [
        DSprites(),
        DSprites(32),
        small_sprites(),
        DSprites(keep={"shape": [0, 1]}),
        DSprites(keep={"shape": [1, 0]}),
    ]
    assert len({dataset.fingerprint for dataset in sets}) == len(sets)
    assert DSprites(32).fingerprint == load("dsprites32").fingerprint


def test_interventions_hold_factors_and_free_the_others():
    sprites = small_sprites()
    sampler = sprites.sampler(lambda images: images.mean(axis=(1, 2)))
    factors, codes = sampler({"scale": 0.7, "shape": 2.0}, 400, np.random.default_rng(0))
    assert codes.shape == (400, 16)
    assert set(factors[:, 1]) == {0.7}
    assert set(factors[:, 0]) == {2.0}
    assert len(set(factors[:, 2])) == len(set(factors[:, 3])) == 16


def test_a_sampler_of_an_evidence():
    """The centre of mass of a sprite determines its position, and each coordinate is a separate code."""
    sprites = small_sprites()
    images, at = sprites.images()[:, 0], np.arange(16.0)
    lit = images.sum(axis=(1, 2))
    codes = np.stack([images.sum(axis=1) @ at / lit, images.sum(axis=2) @ at / lit], axis=1)
    chosen = sprites.sample_indices(1000, rng=0)
    evidence = Evidence(
        sprites.factors(chosen)[:, 2:], codes[chosen], factor_names=["x", "y"], sampler=sprites.sampler_of_codes(codes)
    )
    assert factor_vae_score(evidence, n_batches=200).value > 0.95


def test_a_sampler_of_codes_gives_the_codes_of_its_images():
    sprites = small_sprites()
    by_encoder = sprites.sampler(lambda images: images.sum(axis=(1, 2, 3))[:, None])
    by_codes = sprites.sampler_of_codes(sprites.images().sum(axis=(1, 2, 3))[:, None])
    drawn = [sampler({"x": 0.0}, 20, np.random.default_rng(3)) for sampler in (by_encoder, by_codes)]
    assert np.array_equal(drawn[0][0], drawn[1][0])
    assert np.array_equal(drawn[0][1], drawn[1][1])
    with pytest.raises(InputError, match="4608 images"):
        sprites.sampler_of_codes(np.zeros((10, 2)))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.images([4608]), "0 to 4607"),
        (lambda s: s.images([-1]), "no image -1"),
        (lambda s: s.images([0.5]), "whole numbers"),
        (lambda s: s.images_of([[0, 0.55, 0, 0]]), "scale is never 0.55 .* nearest value is 0.[56]"),
        (lambda s: s.images_of([[0, 0.5]]), "one column for each"),
        (lambda s: s.indices_with({"hue": 1.0}, 2, np.random.default_rng(0)), "no factor 'hue'"),
        (lambda s: next(s.batches(0)), "at least 1"),
    ],
)
def test_bad_questions(ask, message):
    with pytest.raises(InputError, match=message):
        ask(small_sprites())


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(OptionError, match="did you mean 'small_sprites'"):
        load("smal_sprites")
    with pytest.raises(OptionError, match="there are dsprites, "):
        load("xyz")
    with pytest.raises(OptionError, match="small_sprites does not take colour: leave it out"):
        load("small_sprites", colour=3)
    with pytest.raises(TypeError):
        load("small_sprites", size="16")  # an option that it takes


def test_digests_have_sixteen_bytes():
    sprites = small_sprites()
    for dataset in (DSprites(), sprites, DependentSample(sprites, [CorrelatedPair("x", "y", 0.1)])):
        assert len(bytes.fromhex(dataset.fingerprint)) == 16
