import colorsys

import numpy as np
import pytest

from unweave import OptionError
from unweave.datasets import ColouredShapes
from unweave.datasets.coloured_shapes import _inside


def test_all_combinations_are_different_images():
    shapes = ColouredShapes(keep={"ground hue": [0, 3], "shape hue": [0, 5], "x": [0, 9]})
    images = shapes.images()
    assert len(shapes) == 2 * 2 * 8 * 4 * 2
    assert len(np.unique(images.reshape(len(images), -1), axis=0)) > 0.9 * len(images)
    assert (images.max(axis=(1, 2, 3)) == 1).all()  # a shape of the ground's hue is brighter than the ground


def test_colours_are_those_of_the_hues():
    shapes = ColouredShapes(keep={"size": [7], "shape": ["square"], "x": [8]})
    images, hues = shapes.images(), shapes.factors()
    expected_ground = np.array([colorsys.hsv_to_rgb(hue, 1, 0.5) for hue in hues[:, 0]])
    expected_shape = np.array([colorsys.hsv_to_rgb(hue, 1, 1) for hue in hues[:, 1]])
    assert images[:, :, 0, 0] == pytest.approx(expected_ground, abs=1e-6)
    assert images[:, :, 16, 16] == pytest.approx(expected_shape, abs=1e-6)


def test_areas():
    shapes = ColouredShapes(size=400, keep={"ground hue": [0], "shape hue": [5], "size": [7], "x": [0]})
    share = (shapes.images()[:, 1] > 0.9).mean(axis=(1, 2)) / 0.24**2
    assert share == pytest.approx([np.pi, 1.7**2, 1.7**2 / 3**0.5, 2 * 2 * 0.7 - 0.7**2], rel=0.02)


def test_too_small():
    with pytest.raises(OptionError, match="in 7 pixels: choose a size of 8 to 4096"):
        ColouredShapes(7)
    assert ColouredShapes(8).images([0, 51_199]).shape == (2, 3, 8, 8)


@pytest.mark.parametrize(
    ("shape", "on_the_edge"),
    [
        ("disc", [(1.0, 0.0), (0.0, -1.0)]),
        ("square", [(0.85, 0.2), (-0.85, -0.85), (0.1, 0.85)]),
        ("triangle", [(0.0, 0.6), (0.0, -1.1)]),
        ("cross", [(1.0, 0.1), (-0.1, 1.0), (0.35, 0.9), (-0.9, -0.35)]),
    ],
)
def test_the_edge_belongs_to_the_shape(shape, on_the_edge):
    points = np.array(on_the_edge).T
    assert _inside(shape, *points).all()
    assert not _inside(shape, *(points * 1.001)).any()
