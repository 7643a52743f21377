"""Rendering is compared with the frames of the public animation, between its two implementations, and by symmetry."""

from pathlib import Path

import numpy as np
import pytest

from unweave import UnweaveError
from unweave.datasets import DSprites, small_sprites
from unweave.datasets.dsprites import HALF_SIDE, SEMI_AXES, _within_period, inside, reach

FACTS = Path(__file__).parents[3] / "shared" / "data" / "dsprites"


def indices_at(places):
    return np.ravel_multi_index(tuple(np.transpose(places)), (3, 6, 40, 32, 32))


def frames_shown():
    """Indices of the factors in each frame: all sizes, one turn, positions (for hearts), and all sizes again."""
    sizes = [*range(6), *reversed(range(6)), *range(6)]
    tour = [*((0, y) for y in range(32)), *((x, 31) for x in range(32))]
    tour += [*((31, y) for y in reversed(range(32))), *((x, 0) for x in reversed(range(32)))]
    for shape in (2, 1, 0):
        yield from ((shape, size, 0, 0, 0) for size in sizes)
        yield from ((shape, 5, turn, 0, 0) for turn in range(40))
        yield from ((shape, 5, 0, x, y) for x, y in (tour if shape == 2 else ()))
        yield from ((shape, size, 0, 0, 0) for size in reversed(range(6)))


@pytest.mark.skipif(
    not FACTS.exists(), reason="the frames of the dSprites animation are not at ../shared/data/dsprites"
)
def test_frames_of_the_animation():
    frames = np.unpackbits(np.load(FACTS / "frames.npz")["frames"], axis=1).reshape(-1, 64, 64)
    shown = np.array(list(frames_shown()))
    assert len(shown) == len(frames)
    sprites = DSprites()
    indices = indices_at(shown)
    wrong = (sprites.images(indices)[:, 0] != frames).sum(axis=(1, 2))
    by_shape = {shape: wrong[shown[:, 0] == place] for place, shape in enumerate(("square", "ellipse", "heart"))}
    assert {shape: (int((w == 0).sum()), len(w), int(w.sum())) for shape, w in by_shape.items()} == {
        "square": (64, 64, 0),
        "ellipse": (60, 64, 8),
        "heart": (162, 192, 40),
    }
    assert wrong.max() <= 2


def test_areas_are_those_of_the_shapes():
    sprites = DSprites(512, keep={"scale": [5], "orientation": [3], "x": [16], "y": [16]})
    lit = sprites.images().sum(axis=(1, 2, 3)) / 64
    assert lit[0] == pytest.approx((2 * 9.5996) ** 2, rel=2e-3)
    assert lit[1] == pytest.approx(np.pi * 12.752 * 7.218, rel=2e-3)


def test_one_image_of_size_64_is_what_one_of_128_shows_at_its_pixel_centres():
    """A pixel centre at size 64 is a corner at 128 and a pixel centre at 192, so images of 192 contain those of 64."""
    few = {"orientation": [0, 11], "x": [0, 13], "y": [31, 5]}
    assert np.array_equal(DSprites(192, few).images()[:, :, 1::3, 1::3], DSprites(64, few).images())


def test_symmetries():
    turn = np.array([[0.0, 1.0, 0.0, 10 / 31, 20 / 31]])
    sprites = DSprites()
    images = sprites.images(indices_at([[s, 5, o, 10, 20] for s in range(3) for o in (0, 39)]))
    assert np.array_equal(images[::2], images[1::2])  # orientation 39 is 0 again
    assert np.array_equal(sprites.factors(sprites.indices_of(turn)), turn)
    for shapes, symmetry in ((["square"], 4), (["ellipse"], 2), (["ellipse", "square"], 2), (["heart", "square"], 1)):
        some = DSprites(keep={"shape": shapes})
        assert some.symmetry == symmetry
        orientation = some.factors()[:, some.factor_names.index("orientation")]
        assert orientation.min() >= 0
        assert orientation.max() < 2 * np.pi / symmetry
    # 13 of 39 steps are a third of a turn: a heart changes, and no shape has this symmetry
    third = sprites.images(indices_at([[s, 5, o, 10, 20] for s in range(3) for o in (0, 13)]))
    assert (third[::2] != third[1::2]).any(axis=(1, 2, 3)).all()


def test_equal_factors_mean_equal_images():
    """Squares whose orientations agree within their period look the same, up to pixels whose centre is on the edge."""
    squares = DSprites(keep={"shape": ["square"], "scale": [5], "x": [16], "y": [16], "orientation": slice(0, 39)})
    orientation = squares.factors()[:, 0]
    images = squares.images()
    near = np.abs(orientation[:, None] - orientation[None, :]) < 1e-9
    assert near.sum() == len(squares)  # 39 steps a turn and 4 of the same in a turn have nothing in common
    halves = np.argsort(orientation)[:2]
    assert np.abs(images[halves[0]] - images[halves[1]]).sum() < np.abs(images[0] - images[5]).sum()


def test_nothing_is_lit_beyond_reach_and_nothing_is_cut():
    for shape in ("square", "ellipse", "heart"):
        sprites = DSprites(keep={"shape": [shape], "scale": [5], "x": [0, 31], "y": [0, 31]})
        images = sprites.images()
        assert not images[:, 0, [0, -1], :].any()
        assert not images[:, 0, :, [0, -1]].any()
        assert 9 < reach(shape) < 16


def test_small_sprites():
    sprites = small_sprites()
    assert (len(sprites), sprites.image_shape, sprites.factor_names) == (
        4608,
        (1, 16, 16),
        ("shape", "scale", "x", "y"),
    )
    images = sprites.images()
    assert len(np.unique(images.reshape(4608, -1), axis=0)) == 4608
    assert images.any(axis=(1, 2, 3)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DSprites(0), "size from 1 to 1024"),
        (lambda: DSprites(1025), "size from 1 to 1024"),
        (lambda: DSprites(keep={"colour": [1]}), "no factor 'colour'"),
        (lambda: DSprites(keep={"shape": ["star"]}), "square, ellipse, heart"),
        (lambda: DSprites(keep={"x": [32]}), "0 to 31"),
        (lambda: DSprites(keep={"x": []}), "at least one"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(UnweaveError, match=message):
        make()


@pytest.mark.parametrize(("size", "n_distinct"), [(16, 2948), (32, 4469), (64, 4608)])
def test_sprites_of_few_whole_pixels_look_alike(size, n_distinct):
    """The docstring states how many of the 4,608 images are distinct."""
    images = DSprites(size, {"orientation": [0], "x": slice(0, None, 2), "y": slice(0, None, 2)}).images()
    packed = np.packbits(images.reshape(len(images), -1) > 0.5, axis=1)
    assert len(np.unique(packed, axis=0)) == n_distinct


def test_averaged_images_are_means_of_blocks_and_have_a_fingerprint_of_their_own():
    keep = {"orientation": [0, 7], "x": [3, 8], "y": [0, 31]}
    frames, small = DSprites(64, keep).images(), DSprites(16, keep, averaged=True)
    images = small.images()
    for row, column in [(0, 0), (5, 7), (8, 8), (15, 3)]:
        block = frames[:, 0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
        np.testing.assert_allclose(images[:, 0, row, column], block.mean(axis=(1, 2)), atol=1e-7)
    assert ((images > 0) & (images < 1)).any()
    assert small.fingerprint != DSprites(16, keep).fingerprint
    assert DSprites(48, keep, averaged=True).images([0]).shape == (1, 1, 48, 48)  # averaged from 96 pixels
    assert DSprites(64, keep, averaged=True).fingerprint == DSprites(64, keep).fingerprint


@pytest.mark.parametrize("size", [1, 2, 8, 13, 27, 50])
def test_a_pixel_is_lit_if_its_centre_is_inside(size):
    """All pixels are tried, while rendering looks only where the shape can be."""
    sprites = DSprites(size, {"scale": [0, 5], "orientation": [0, 7], "x": [0, 17, 31], "y": [0, 12, 31]})
    shape, scale, angle, x, y = (column[:, None, None] for column in sprites.factors().T)
    at = (np.arange(size) + 0.5) * 64 / size
    dx, dy = at[None, None, :] - 16 - 32 * x, at[None, :, None] - 16 - 32 * y
    u, v = (np.cos(angle) * dx - np.sin(angle) * dy) / scale, (np.sin(angle) * dx + np.cos(angle) * dy) / scale
    expected = np.select(
        [shape == 0, shape == 1], [inside("square", u, v), inside("ellipse", u, v)], inside("heart", u, v)
    )
    assert np.array_equal(sprites.images()[:, 0], expected)


def test_the_edge_of_squares_and_ellipses_belongs_to_them():
    for shape, (u, v) in {"square": (HALF_SIDE, HALF_SIDE), "ellipse": SEMI_AXES}.items():
        ends = np.array([u, -u, 0.0, 0.0]), np.array([0.0, 0.0, v, -v])
        assert inside(shape, *ends).all()
        assert not inside(shape, 1.0001 * ends[0], 1.0001 * ends[1]).any()


def test_angles_that_are_the_period_up_to_rounding_are_none():
    angles = np.array([0.0, 1.0, 2 - 2e-9, 2 - 0.5e-9, 2.0, 3.5])
    assert _within_period(angles, 2.0) == pytest.approx([0.0, 1.0, 2 - 2e-9, 0.0, 0.0, 1.5], abs=1e-15)
