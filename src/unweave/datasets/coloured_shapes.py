"""A coloured procedural data set: a shape on a ground of one colour, with all combinations of independent factors.

It replaces Shapes3D if a second data set with other factors than dSprites is needed (004, section 6).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.interface import Factor, GridDataSet, Images, Indices, Selection
from unweave.errors import OptionError
from unweave.options import checks_options

SHAPES = ("disc", "square", "triangle", "cross")
HUES = np.arange(10) / 10
RADII = np.linspace(0.1, 0.24, 8)  # relative to the width
CENTRES = np.linspace(0.25, 0.75, 16)
# the ground is darker than the shape, so that a shape of the same hue is visible
GROUND_BRIGHTNESS = 0.5


@checks_options
class ColouredShapes(GridDataSet):
    """A disc, square, triangle or cross on a darker ground: 51,200 images of three channels.

    Hues are circular with period 1. The shape moves from left to right.

    Examples
    --------
    >>> shapes = ColouredShapes()
    >>> shapes.n_images, shapes.factor_names
    (51200, ('ground hue', 'shape hue', 'size', 'shape', 'x'))
    >>> shapes.images([7]).shape
    (1, 3, 32, 32)
    """

    def __init__(self, size: int = 32, keep: Mapping[str, Selection] | None = None) -> None:
        if size < 8:
            raise OptionError(f"Shapes cannot be distinguished in {size} pixels: choose a size of at least 8.")
        described = (
            Factor("ground hue", "circular:1"),
            Factor("shape hue", "circular:1"),
            Factor("size", "ordinal"),
            Factor("shape", "categorical", SHAPES),
            Factor("x", "ordinal"),
        )
        super().__init__("coloured_shapes", described, (HUES, HUES, RADII, np.arange(4.0), CENTRES), keep)
        self.image_shape = (3, size, size)

    def _rendered(self, places: Indices) -> Images:
        ground, shape_hue, size, shape, x = places.T
        *_, width = self.image_shape
        at = (np.arange(width) + 0.5) / width
        u = (at[None, None, :] - CENTRES[x][:, None, None]) / RADII[size][:, None, None]
        v = (at[None, :, None] - 0.5) / RADII[size][:, None, None]
        lit = np.zeros(np.broadcast_shapes(u.shape, v.shape), dtype=bool)
        for place, name in enumerate(SHAPES):
            rows = shape == place
            lit[rows] = _inside(name, u[rows], v[rows])
        colours = _rgb(HUES[shape_hue])[:, :, None, None]
        grounds = GROUND_BRIGHTNESS * _rgb(HUES[ground])[:, :, None, None]
        return np.where(lit[:, None], colours, grounds).astype(np.float32)


def _inside(shape: str, u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
    """Whether points lie in a shape of radius 1, v pointing down."""
    if shape == "disc":
        return u**2 + v**2 <= 1
    if shape == "square":
        return np.maximum(np.abs(u), np.abs(v)) <= 0.85
    if shape == "triangle":  # equilateral, standing on its base
        return (v <= 0.6) & (np.abs(u) * 3**0.5 - v <= 1.1)
    across, down = np.abs(u), np.abs(v)
    return (np.maximum(across, down) <= 1) & (np.minimum(across, down) <= 0.35)


def _rgb(hues: FloatArray) -> FloatArray:
    """Fully saturated colours of hues from 0 to 1, n x 3."""
    return np.clip(np.abs((hues[:, None] * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)
