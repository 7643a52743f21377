"""Mass of Gaussian posteriors in the bins of a grid, in single precision and preallocated memory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray

Single = NDArray[np.float32]

# Phi(x) - 1/2 = tanh(x p(x^2)) / 2 to 8e-8 in single precision; the mass beyond 6 standard deviations is negligible
TANH_POLYNOMIAL = (
    0.797884941,
    0.0363330846,
    -3.25949771e-5,
    -5.5306193e-5,
    3.96474427e-6,
    -1.32263326e-7,
    1.75617031e-9,
)
FARTHEST = 6.0
ROWS_AT_ONCE = 65_536
STEEPEST, FARTHEST_BIN = 1e30, 1e6
FLATTEST_DENSITY = 1e-5


def working_space(bins: int, n_rows: int) -> Single:
    """Working memory (3 x edges x rows); allocating it for every block would take as long as the arithmetic."""
    return np.empty((3, bins + 1, n_rows), dtype=np.float32)


def aggregated_moments(mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every code's aggregated posterior; a standard deviation of 0 counts as 1.

    >>> [moment.tolist() for moment in aggregated_moments(np.array([[-1.0], [1.0]]), np.array([[1.0], [1.0]]))]
    [[0.0], [1.4142135623730951]]
    """
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(mean), ROWS_AT_ONCE)]
    unit = np.maximum.reduce([np.maximum(np.abs(mean[rows]), std[rows]).max(axis=0) for rows in blocks])
    unit = np.where(unit > 0, unit, 1.0)  # so that squares neither overflow nor underflow
    centre = np.sum([(mean[rows] / unit).sum(axis=0) for rows in blocks], axis=0) / len(mean)
    squares = [np.square(mean[rows] / unit - centre) + np.square(std[rows] / unit) for rows in blocks]
    spread = np.sqrt(np.sum([block.sum(axis=0) for block in squares], axis=0) / len(mean))
    return centre * unit, np.where(spread > 0, spread, 1.0) * unit


def standard_edges(mean: FloatArray, std: FloatArray, low: float, width: float, edges: Single) -> Single:
    """(edge - mean) / std (edges x rows), relative to the edge nearest to the mean, which reduces rounding errors."""
    nearest = np.clip(np.rint((mean - low) / width), -FARTHEST_BIN, FARTHEST_BIN)
    std = np.maximum(std, width / STEEPEST)
    step = (width / std).astype(np.float32)
    offset = ((low + nearest * width - mean) / std).clip(-STEEPEST, STEEPEST).astype(np.float32)
    np.subtract(np.arange(len(edges), dtype=np.float32)[:, None], nearest.astype(np.float32), out=edges)
    edges *= step
    edges += offset
    return edges


def half_centred_cdf(x: Single, square: Single, polynomial: Single) -> Single:
    """Phi(x) - 1/2, computed in place of x; the other two arrays are working memory.

    >>> x = np.array([0.0, 1.96], dtype=np.float32)
    >>> [round(float(p), 4) for p in half_centred_cdf(x, x.copy(), x.copy())]
    [0.0, 0.475]
    """
    np.clip(x, -FARTHEST, FARTHEST, out=x)
    np.multiply(x, x, out=square)
    np.multiply(square, np.float32(TANH_POLYNOMIAL[-1]), out=polynomial)
    for coefficient in TANH_POLYNOMIAL[-2:0:-1]:
        polynomial += np.float32(coefficient)
        polynomial *= square
    polynomial += np.float32(TANH_POLYNOMIAL[0])
    x *= polynomial
    np.tanh(x, out=x)
    x *= np.float32(0.5)
    return x


def centre_masses(mean: FloatArray, std: FloatArray, low: float, width: float, density: Single) -> Single:
    """Normalised densities at the bin centres; rows of negligible density at all of them fill the bin of their mean."""
    bins = len(density)
    standard_edges(mean, std, low + width / 2, width, density)
    np.square(density, out=density)
    density *= np.float32(-0.5)
    np.exp(np.maximum(density, np.float32(-80.0), out=density), out=density)
    highest = density.max(axis=0) / (math.sqrt(2 * math.pi) * std)
    density /= density.sum(axis=0)
    narrow = np.flatnonzero(highest < FLATTEST_DENSITY)
    if narrow.size:
        density[:, narrow] = 0
        density[np.clip((mean[narrow] - low) // width, 0, bins - 1).astype(np.intp), narrow] = 1
    return density


def mass_entropy(masses: Single, logarithms: Single) -> float:
    """Sum of -Q log Q over all masses Q; the second array is working memory."""
    np.log(np.maximum(masses, np.float32(1e-30), out=logarithms), out=logarithms)
    return -float(np.vdot(masses, logarithms))
