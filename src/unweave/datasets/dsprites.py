"""dSprites, rendered."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.interface import Factor, GridDataSet, Images, Indices, Selection
from unweave.errors import OptionError
from unweave.options import checks_options

SHAPES = ("square", "ellipse", "heart")

# number of rotations within one turn that leave the shape unchanged
SYMMETRY = {"square": 4, "ellipse": 2, "heart": 1}
HALF_SIDE = 9.5996
SEMI_AXES = (12.752, 7.218)

# the heart is a polygon, mirror-symmetric in u; the radii are the distances of its corners from this point, at equal
# steps of the angle from the dip between the lobes (-pi / 2) to the tip (pi / 2)
HEART_CENTRE = -4.0

# fmt: off
HEART_RADII = (
    1.0792047, 0.77078121, 1.2488743, 1.7050756, 1.7353045, 2.1588105, 2.4208515, 3.2793897, 3.331703,
    3.3806936, 3.9004904, 4.1375852, 4.5776334, 4.6369468, 5.1447579, 5.4079406, 5.68176, 5.9452441,
    6.2271575, 6.5286032, 6.765822, 6.9173528, 7.1148873, 7.4438493, 7.4420104, 7.8250727, 7.9006974,
    8.0574651, 8.1827767, 8.4221846, 8.6323796, 8.539094, 8.7719893, 8.7866042, 8.9047464, 9.0691866,
    9.1029998, 9.2967175, 9.3020043, 9.3357317, 9.4503802, 9.5357987, 9.4630389, 9.5272329, 9.5426778,
    9.7047068, 9.5923509, 9.5947828, 9.7122296, 9.5770941, 9.6049112, 9.4966021, 9.5260648, 9.382618,
    9.4590728, 9.3553765, 9.3347938, 9.2921707, 9.2411014, 9.1815077, 9.0703906, 9.1094592, 9.2259592,
    8.8705463, 9.1018033, 8.8325896, 8.8770885, 8.8491794, 8.8309012, 8.8415176, 8.7942108, 8.7994015,
    8.8065816, 8.8144331, 8.8817009, 8.8346799, 9.1051694, 8.9032679, 9.0059661, 9.0911203, 8.9986833,
    9.3281634, 9.2749829, 9.5266339, 9.4296412, 9.7979151, 9.8237915, 10.074591, 10.205548, 10.465265,
    10.774111, 11.10391, 11.490108, 11.931217, 12.549049, 13.643678,
)
# fmt: on

_ANGLES = np.linspace(-np.pi / 2, np.pi / 2, len(HEART_RADII))
_CORNERS = np.array(HEART_RADII) * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
_SIDES = np.diff(_CORNERS, axis=1)

# a point (u, w) lies on the inner side of side k iff _SIDES[0, k] w - _SIDES[1, k] u >= _OFFSETS[k]
_OFFSETS = _SIDES[0] * _CORNERS[1, :-1] - _SIDES[1] * _CORNERS[0, :-1]

# Lookup of the side that a direction (u, w) intersects: w / (u + |w|) increases with the angle as the arctangent does,
# at a tenth of the cost. Its range from -1 to 1 is divided into short steps, and a table contains the side at the
# start of each step. Every step is shorter than any side, so a direction intersects either the side in the table or
# the next one.
_TURNS = np.sin(_ANGLES) / (np.cos(_ANGLES) + np.abs(np.sin(_ANGLES)))
_N_STEPS = 1024
_SIDE_AT_STEP = np.clip(np.searchsorted(_TURNS, np.linspace(-1, 1, _N_STEPS + 1), "right") - 1, 0, _OFFSETS.size - 1)
_NEXT_TURN = np.append(_TURNS[1:-1], np.inf)


def inside(shape: str, u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
    """Whether points lie in a shape of scale 1, in its own coordinates (v points down, towards the heart's tip).

    >>> inside("ellipse", np.array([12.0, 0.0]), np.array([0.0, 12.0])).tolist()
    [True, False]
    """
    if shape == "square":
        return (np.abs(u) <= HALF_SIDE) & (np.abs(v) <= HALF_SIDE)
    if shape == "ellipse":
        return (u / SEMI_AXES[0]) ** 2 + (v / SEMI_AXES[1]) ** 2 <= 1
    return _inside_heart(u, v)


def reach(shape: str) -> float:
    """Largest distance of a point of the shape from the centre, at scale 1."""
    if shape == "square":
        return HALF_SIDE * 2**0.5
    if shape == "ellipse":
        return max(SEMI_AXES)
    return float(np.hypot(_CORNERS[0], _CORNERS[1] + HEART_CENTRE).max())  # the farthest point is a corner


def _inside_heart(u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
    right, below = np.abs(u), v - HEART_CENTRE
    turn = below / (right + np.abs(below) + 1e-300)
    side = _SIDE_AT_STEP[((turn + 1) * (_N_STEPS / 2)).astype(np.intp)]
    side += turn >= _NEXT_TURN[side]
    return _SIDES[0][side] * below - _SIDES[1][side] * right >= _OFFSETS[side]


FRAME = 64.0
SCALES = np.linspace(0.5, 1.0, 6)
ORIENTATIONS = np.linspace(0.0, 2 * np.pi, 40)  # the last equals the first
POSITIONS = np.linspace(0.0, 1.0, 32)
CENTRES = 16 + 32 * POSITIONS
LARGEST_SIZE, RENDERED_AT_ONCE = 1024, 128


def sprite_factors(orientation: str) -> tuple[Factor, ...]:
    """The factors of dSprites, with this kind of orientation."""
    kinds = {"scale": "ordinal", "orientation": orientation, "x": "ordinal", "y": "ordinal"}
    return Factor("shape", "categorical", SHAPES), *(Factor(name, kind) for name, kind in kinds.items())


@checks_options
class DSprites(GridDataSet):
    """White shapes on black: all combinations of shape, scale, orientation and position.

    Orientation is circular. A square looks the same after a quarter of a turn, and an ellipse after half a turn
    (`sprite_shapes.SYMMETRY`), so images determine the orientation only up to this symmetry. The period of the
    factor is the symmetry that all shapes in the set have in common: a full turn with hearts, half a turn for squares
    and ellipses, and a quarter for squares. Values are given within one period, so that images that must be equal have
    equal factors; orientation 39 of the published numbering repeats orientation 0.

    Parameters
    ----------
    size : int
        Height and width of the images.
    keep : mapping of factor name to a slice, indices or names of values, optional
        Which values to keep. A factor with one remaining value is removed from the factors.
    averaged : bool
        Whether images below 64 pixels are averaged from larger ones: they are rendered at the smallest multiple of the
        size that is at least 64, and every pixel is the mean of a block. For other sizes there is no difference.

    Examples
    --------
    >>> sprites = DSprites()
    >>> sprites.n_images, sprites.factor_names
    (737280, ('shape', 'scale', 'orientation', 'x', 'y'))
    >>> sprites.images([0, 737279]).shape
    (2, 1, 64, 64)
    >>> DSprites(32, keep={"shape": ["square"]}).kinds[1]
    'circular:1.5707963267948966'
    """

    def __init__(self, size: int = 64, keep: Mapping[str, Selection] | None = None, *, averaged: bool = False) -> None:
        if not 1 <= size <= LARGEST_SIZE:
            raise OptionError(f"dSprites cannot be rendered at {size} pixels: choose a size from 1 to {LARGEST_SIZE}.")
        published = (np.arange(3.0), SCALES, ORIENTATIONS, POSITIONS, POSITIONS)
        super().__init__("dsprites", sprite_factors("circular"), published, keep)
        self.image_shape = (1, size, size)
        self._size = size
        self._block = math.ceil(FRAME / size) if averaged else 1
        period = 2 * np.pi / self.symmetry
        self._values[2] = _within_period(self._values[2], period)
        self.described_factors = tuple(
            Factor(factor.name, f"circular:{period!r}") if factor.name == "orientation" else factor
            for factor in self.described_factors
        )

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes that occur."""
        return tuple(SHAPES[at] for at in self._places[0])

    @property
    def symmetry(self) -> int:
        """Number of rotations within one turn under which every shape of the set looks the same."""
        return reduce(math.gcd, (SYMMETRY[shape] for shape in self.shapes))

    @property
    def fingerprint(self) -> str:
        """Digest that identifies the data set; averaged images have a different digest."""
        plain = super().fingerprint
        if self._block == 1:
            return plain
        return hashlib.blake2b(f"{plain}, blocks of {self._block}".encode(), digest_size=16).hexdigest()

    def _rendered(self, places: Indices) -> Images:
        images = np.zeros((len(places), *self.image_shape), dtype=np.float32)
        size, block = self._size, self._block
        for shape, name in enumerate(SHAPES):
            rows = np.flatnonzero(places[:, 0] == shape)
            for start in range(0, rows.size, RENDERED_AT_ONCE):
                some = rows[start : start + RENDERED_AT_ONCE]
                lit = _lit(name, size * block, places[some, 1:])
                images[some, 0] = lit if block == 1 else lit.reshape(-1, size, block, size, block).mean(axis=(2, 4))
        return images


@checks_options
def small_sprites(size: int = 16) -> DSprites:
    """A part of dSprites on which small models train in seconds: no rotation, every second position, 4,608 images.

    Images below 64 pixels are averaged from images of 64 x 64, so that all 4,608 are distinct. Without averaging
    (`DSprites` with the same `keep`) there are 2,948 distinct images at 16 pixels and 4,469 at 32.

    >>> small_sprites().n_values
    (3, 6, 16, 16)
    """
    keep: dict[str, Selection] = {"orientation": [0], "x": slice(0, None, 2), "y": slice(0, None, 2)}
    return DSprites(size, keep, averaged=True)


def _within_period(angles: FloatArray, period: float) -> FloatArray:
    """Angles from 0 to below the period; angles that equal the period up to rounding become 0."""
    within = np.mod(angles, period)
    return np.where(np.isclose(within, period, rtol=0, atol=1e-9), 0.0, within)


def _lit(shape: str, size: int, places: Indices) -> NDArray[np.bool_]:
    """Images of one shape, n x size x size; only the window that the shape can reach is computed."""
    step = FRAME / size
    radius = reach(shape)
    width = min(size, int(2 * radius / step) + 2)
    scales, angles = SCALES[places[:, 0]], ORIENTATIONS[places[:, 1]]
    windows, offsets = [], []
    for centres in (CENTRES[places[:, 2]], CENTRES[places[:, 3]]):
        first = np.clip(np.floor((centres - radius) / step).astype(np.int64), 0, size - width)
        windows.append(first[:, None] + np.arange(width))
        offsets.append((windows[-1] + 0.5) * step - centres[:, None])
    dx, dy = offsets[0][:, None, :], offsets[1][:, :, None]
    cosine, sine, scale = (column[:, None, None] for column in (np.cos(angles), np.sin(angles), scales))
    images = np.zeros((len(places), size, size), dtype=bool)
    rows = np.arange(len(places))[:, None, None]
    u, v = (cosine * dx - sine * dy) / scale, (sine * dx + cosine * dy) / scale
    images[rows, windows[1][:, :, None], windows[0][:, None, :]] = inside(shape, u, v)
    return images
