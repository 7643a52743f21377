"""Data sets of images: the interface, grids of factors, and samplers."""

import numpy as np
import pytest

from unweave import InputError, OptionError
from unweave.datasets import ColouredShapes, DSprites, Factor, GridDataSet, load, small_sprites
from unweave.datasets.interface import TabledDataSet
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


@pytest.mark.parametrize("make", [small_sprites, lambda: DSprites(20), ColouredShapes, lambda: ColouredShapes(9)])
def test_images_have_the_shape_that_is_stated(make):
    made = make()
    assert made.images([0, 3]).shape[1:] == made.image_shape
    assert f"({len(made)} images of {made.image_shape}, factors {', '.join(made.factor_names)})" in repr(made)


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


FACTORS = (Factor("size", "ordinal"), Factor("shape", "categorical", ("heart", "square")), Factor("far", "continuous"))
VALUES = ([0.0, 0.5, 2.0], [0, 1], [-300.0, 100.0, 200.0, 250.0])


class Numbers(GridDataSet):
    """Images of one pixel: the indices of the values as digits."""

    image_shape = (1, 1, 1)

    def __init__(self, values=VALUES, **keep):
        super().__init__("numbers", FACTORS, values, keep)

    def _rendered(self, places):
        return (places @ [100, 10, 1]).astype(np.float32).reshape(-1, 1, 1, 1)


class Tabled(TabledDataSet):
    def __init__(self, table, pixels=None, n_factors=1):
        self.pixels = np.zeros(20) if pixels is None else pixels
        super().__init__("tabled", [Factor(f"f{j}", "ordinal") for j in range(n_factors)], np.asarray(table), (1, 1, 1))

    def _images(self, indices):
        return self.pixels[indices].astype(np.float32).reshape(-1, 1, 1, 1)


def test_images_are_those_of_their_factors():
    grid = Numbers()
    assert (len(grid), grid.n_values) == (24, (3, 2, 4))
    assert grid.indices_of([[2.0, 1, 250.0], [0.0, 0, -300.0], [0.5, 1, 100.0]]).tolist() == [23, 0, 13]
    assert grid.images([23, 0, 13]).ravel().tolist() == [213.0, 0.0, 111.0]
    assert [len(batch.indices) for batch in Numbers(shape=["heart"], far=[1]).batches(1)] == [1, 1, 1]
    assert grid.images([]).shape == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("values", "near", "far"),
    [([0.0, 0.5, 2.0], 1.9e-6, 2.1e-6), ([0.0, 0.1, 0.4], 0.9e-6, 1.1e-6), ([-300.0, 0.0, 200.0], 2.9e-4, 3.1e-4)],
)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_values_are_found_up_to_rounding(values, near, far, sign, which):
    grid = Numbers((values, *VALUES[1:]))
    assert grid.indices_of([[values[which] + sign * near, 0, -300.0]]).tolist() == [8 * which]
    with pytest.raises(InputError, match="size is never"):
        grid.indices_of([[values[which] + sign * far, 0, -300.0]])


@pytest.mark.parametrize(
    ("value", "nearest"), [(-1.0, "0"), (0.2, "0"), (0.25, "0"), (0.3, "0.5"), (1.3, "2"), (5.0, "2")]
)
def test_the_nearest_value_is_named(value, nearest):
    with pytest.raises(InputError, match=rf"size is never {value:g} in numbers: the nearest value is {nearest}\.$"):
        Numbers().indices_of([[0.0, 0, -300.0], [value, 0, -300.0]])


def test_a_value_that_is_no_number_is_never_found():
    with pytest.raises(InputError, match="size is never nan"):
        Numbers().indices_of([[np.nan, 0, -300.0]])


def test_the_first_of_equal_values_is_found():
    grid = Numbers(([2.0, 0.5, 0.5], *VALUES[1:]))
    assert grid.indices_of([[0.5, 0, -300.0], [2.0, 0, -300.0]]).tolist() == [8, 0]


def test_kept_values_are_numbered_anew_and_a_single_one_is_no_factor():
    grid = Numbers(size=[2, 0], shape=["square"], far=slice(1, 4))
    assert (grid.factor_names, grid.n_values, len(grid)) == (("size", "far"), (2, 3), 6)
    assert grid.factors([0, 5]).tolist() == [[2.0, 100.0], [0.0, 250.0]]
    assert grid.images().ravel().tolist() == [211.0, 212.0, 213.0, 11.0, 12.0, 13.0]
    assert grid.indices_of([[0.0, 200.0]]).tolist() == [4]
    held = grid.indices_with({"far": 250.0}, 40, np.random.default_rng(0))
    assert set(held) == {2, 5}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ({"size": [0, 3]}, "size has the values 0 to 2"),
        ({"size": [3]}, "size has the values 0 to 2: keep at least one"),
        ({"size": [0, -1]}, "size has the values 0 to 2"),
        ({"size": []}, "size has the values 0 to 2"),
        ({"size": slice(3, 4)}, "size has the values 0 to 2"),
        ({"shape": ["star"]}, "shape is never 'star': its values are heart, square"),
        ({"size": ["small"]}, "size is never 'small': its values are numbers"),
        ({"hue": [0]}, "no factor 'hue' of which to keep values: the factors are size, shape, far"),
    ],
    ids=str,
)
def test_values_that_cannot_be_kept(keep, message):
    with pytest.raises(InputError, match=message):
        Numbers(**keep)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda grid: grid.indices_of([0.0, 0, -300.0]), r"not an array of shape \(3,\)"),
        (lambda grid: grid.indices_of([[0.0, 0]]), r"not an array of shape \(1, 2\)"),
        (lambda grid: grid.sampler_of_codes(np.zeros(24)), r"the codes have the shape \(24,\)"),
        (lambda grid: grid.sampler_of_codes(np.zeros((23, 2))), r"numbers has 24 images, but .* \(23, 2\)"),
        (lambda grid: grid.images([[0, 1]]), "an array of int64 with 2 axes"),
        (lambda grid: grid.images([0, 24]), "numbers has images 0 to 23, so there is no image 24"),
    ],
)
def test_bad_shapes(ask, message):
    with pytest.raises(InputError, match=message):
        ask(Numbers())


def test_the_digest_of_a_table_is_of_its_factors_and_first_images():
    table = np.arange(20.0)[:, None]
    digests = [Tabled(table).fingerprint, Tabled(table + 1).fingerprint]
    for lit in (0, 15, 16):
        digests.append(Tabled(table, np.arange(20) == lit).fingerprint)
    assert len(set(digests)) == 4
    assert digests[4] == digests[0]  # the seventeenth image is not read
    assert Tabled(table[:3]).fingerprint != digests[0]


@pytest.mark.parametrize(("table", "n_factors"), [(np.ones(3), 1), (np.ones((3, 2)), 1), (np.ones((0, 1)), 1)])
def test_a_table_has_a_row_per_image_and_a_column_per_factor(table, n_factors):
    with pytest.raises(InputError, match=r"tabled has a table of factors of shape .*: it needs one column per factor"):
        Tabled(table, n_factors=n_factors)


def test_a_value_at_the_tolerance_is_found():
    assert Numbers(([0.0, 0.1, 0.4], *VALUES[1:])).indices_of([[1e-6, 0, -300.0]]).tolist() == [0]
    assert Numbers(([0.5, 0.5, 0.5], *VALUES[1:])).indices_of([[0.5, 0, -300.0]]).tolist() == [0]


def test_a_grid_of_one_image_has_no_factors():
    grid = Numbers(size=[2], shape=["square"], far=[3])
    assert (len(grid), grid.factor_names, grid.factors().shape) == (1, (), (1, 0))
    assert grid.images().ravel().tolist() == [213.0]


def test_a_table_may_have_one_row():
    assert Tabled([[4.0]]).factors().tolist() == [[4.0]]
