"""The three shapes of dSprites: which points lie inside.

The numbers were measured in the 320 frames of the data set's public animation (deepmind/dsprites-dataset, Apache-2.0),
in pixels of the 64 x 64 frame at scale 1. In these frames all pixels of the square are correct, 8 pixels of the ellipse
in 4 frames are wrong, and 40 pixels of the heart in 30 frames. Agreement with the whole of the published data set is
not known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray

SHAPES = ("square", "ellipse", "heart")
# number of rotations within one turn that leave the shape unchanged
SYMMETRY = {"square": 4, "ellipse": 2, "heart": 1}

HALF_SIDE = 9.5996
SEMI_AXES = (12.752, 7.218)
# the heart is a polygon, mirror-symmetric in u; the radii are the distances of its corners from this point, at equal
# steps of the angle from the dip between the lobes (-pi / 2) to the tip (pi / 2)
HEART_CENTRE = -4.0
HEART_RADII = (
    1.0792047,
    0.77078121,
    1.2488743,
    1.7050756,
    1.7353045,
    2.1588105,
    2.4208515,
    3.2793897,
    3.331703,
    3.3806936,
    3.9004904,
    4.1375852,
    4.5776334,
    4.6369468,
    5.1447579,
    5.4079406,
    5.68176,
    5.9452441,
    6.2271575,
    6.5286032,
    6.765822,
    6.9173528,
    7.1148873,
    7.4438493,
    7.4420104,
    7.8250727,
    7.9006974,
    8.0574651,
    8.1827767,
    8.4221846,
    8.6323796,
    8.539094,
    8.7719893,
    8.7866042,
    8.9047464,
    9.0691866,
    9.1029998,
    9.2967175,
    9.3020043,
    9.3357317,
    9.4503802,
    9.5357987,
    9.4630389,
    9.5272329,
    9.5426778,
    9.7047068,
    9.5923509,
    9.5947828,
    9.7122296,
    9.5770941,
    9.6049112,
    9.4966021,
    9.5260648,
    9.382618,
    9.4590728,
    9.3553765,
    9.3347938,
    9.2921707,
    9.2411014,
    9.1815077,
    9.0703906,
    9.1094592,
    9.2259592,
    8.8705463,
    9.1018033,
    8.8325896,
    8.8770885,
    8.8491794,
    8.8309012,
    8.8415176,
    8.7942108,
    8.7994015,
    8.8065816,
    8.8144331,
    8.8817009,
    8.8346799,
    9.1051694,
    8.9032679,
    9.0059661,
    9.0911203,
    8.9986833,
    9.3281634,
    9.2749829,
    9.5266339,
    9.4296412,
    9.7979151,
    9.8237915,
    10.074591,
    10.205548,
    10.465265,
    10.774111,
    11.10391,
    11.490108,
    11.931217,
    12.549049,
    13.643678,
)
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
