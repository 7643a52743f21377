"""Factors of a drawn character that are measured from its pixels: slant, thickness of the stroke, width and height.

All four are continuous and computed from grey values between 0 and 1, so that antialiased edges are weighted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray

MEASURED = ("slant", "thickness", "width", "height")
MEASURED_AT_ONCE = 2000


def measured(images: NDArray[np.generic], brightest: float = 255.0) -> FloatArray:
    """Slant (radians), thickness, width and height (pixels) of images, n x height x width, as an n x 4 table.

    An empty image has thickness 0, and its slant, width and height are nan.
    """
    parts = []
    for start in range(0, len(images), MEASURED_AT_ONCE):
        grey = np.asarray(images[start : start + MEASURED_AT_ONCE], dtype=np.float64) / brightest
        parts.append(np.stack([slants(grey), thicknesses(grey), extents(grey, 1), extents(grey, 2)], axis=1))
    return np.concatenate(parts) if parts else np.empty((0, 4))


def slants(grey: FloatArray) -> FloatArray:
    """Angle by which a character leans to the right, by linear regression of x on y; positive for italics.

    >>> upright = np.zeros((1, 9, 9)); upright[0, :, 4] = 1
    >>> float(slants(upright)[0])
    0.0
    """
    mass = grey.sum(axis=(1, 2))
    down, across = np.arange(grey.shape[1], dtype=float), np.arange(grey.shape[2], dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_down = grey.sum(axis=2) @ down / mass
        mean_across = grey.sum(axis=1) @ across / mass
        covariance = np.einsum("nyx,y,x->n", grey, down, across) / mass - mean_down * mean_across
        variance = grey.sum(axis=2) @ down**2 / mass - mean_down**2
        return np.arctan(-covariance / variance) + 0.0  # row numbers increase downwards


def thicknesses(grey: FloatArray) -> FloatArray:
    """Mean thickness of the stroke: twice its area over the length of its edge.

    A stroke that is much longer than thick has two edges of its own length. The length of the edge is the total
    variation of the image, which counts an antialiased edge once.
    """
    padded = np.pad(grey, ((0, 0), (1, 1), (1, 1)))
    # differences at the corners where four pixels meet
    down = (padded[:, 1:, :-1] + padded[:, 1:, 1:] - padded[:, :-1, :-1] - padded[:, :-1, 1:]) / 2
    across = (padded[:, :-1, 1:] + padded[:, 1:, 1:] - padded[:, :-1, :-1] - padded[:, 1:, :-1]) / 2
    edge = np.hypot(down, across).sum(axis=(1, 2))
    return 2 * grey.sum(axis=(1, 2)) / np.maximum(edge, np.finfo(float).tiny)


def extents(grey: FloatArray, over: int) -> FloatArray:
    """Width (over=1) or height (over=2) of the region brighter than one half, interpolated between pixels."""
    profile = np.pad(grey.max(axis=over), ((0, 0), (1, 1)))
    return _last_crossing(profile) + _last_crossing(profile[:, ::-1]) - (profile.shape[1] - 1)


def _last_crossing(profile: FloatArray) -> FloatArray:
    """Position at which each row falls below one half for the last time, by linear interpolation."""
    bright = profile >= 0.5
    last = profile.shape[1] - 1 - np.argmax(bright[:, ::-1], axis=1)
    last = np.minimum(last, profile.shape[1] - 2)  # for rows without bright pixels, whose result is nan
    rows = np.arange(len(profile))
    here, after = profile[rows, last], profile[rows, last + 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = last + (here - 0.5) / (here - after)
    return np.where(bright.any(axis=1), crossing, np.nan)
