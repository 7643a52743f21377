"""Energy distance of two samples: its unbiased share, and permutation tests of many columns together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.similarity import whitener
from unweave.randomness import random_stream

N_DIRECTIONS = 8
DRAWS_IN_BLOCK = 64


def sliced(block: FloatArray) -> FloatArray:
    """Projections of a whitened block onto fixed random directions, whose energy distances are averaged.

    The directions are orthonormal bases, so that every direction of the block is covered. A single column is its own
    projection.

    >>> sliced(np.array([[1.0], [3.0]])).tolist(), sliced(np.eye(3)[:, :2]).shape
    ([[1.0], [3.0]], (3, 8))
    """
    if block.shape[1] == 1:
        return block
    centred = block - block.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    centred = centred / np.where(largest > 0, largest, 1.0)
    white = centred @ whitener(centred.T @ centred)[0] * np.sqrt(len(block))
    if white.shape[1] < 2:
        return white
    rng = random_stream(0, "directions of an energy distance")
    bases = [np.linalg.qr(rng.normal(size=(white.shape[1],) * 2))[0] for _ in range(-(-N_DIRECTIONS // white.shape[1]))]
    return np.asarray(white @ np.hstack(bases))


@dataclass(frozen=True)
class SortedColumns:
    """Columns of one unit, sorted once for all divisions of the rows in two samples.

    With F and G the empirical distribution functions of two samples, the mean distances are integrals over the values:
    E|X - Y| of F + G - 2 F G, and E|X - X'| of 2 F (1 - F). Their difference is the energy distance
    2 E|X - Y| - E|X - X'| - E|Y - Y'|, which is 2 times the integral of (F - G)^2.
    """

    order: NDArray[np.intp]
    gaps: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> SortedColumns:
        """Sort the columns."""
        order = np.argsort(columns, axis=0, kind="stable")
        return cls(order.T, np.diff(np.take_along_axis(columns, order, axis=0), axis=0).T)

    def distances(self, inside: NDArray[np.bool_]) -> FloatArray:
        """Energy distance of the rows inside and the others, for many divisions (divisions x rows)."""
        found = np.zeros(len(inside))
        for start in range(0, len(inside), DRAWS_IN_BLOCK):
            part = inside[start : start + DRAWS_IN_BLOCK]
            n = part.sum(axis=1, keepdims=True)
            m = part.shape[1] - n
            below = np.arange(1, part.shape[1]) / m  # of the other sample, if all rows so far were of it
            for order, gaps in zip(self.order, self.gaps, strict=True):
                apart = np.cumsum(part[:, order[:-1]], axis=1, dtype=np.float64)
                apart *= 1 / n + 1 / m
                apart -= below
                found[start : start + len(part)] += 2 * np.square(apart, out=apart) @ gaps
        return found

    def shares(self, inside: NDArray[np.bool_], outside: NDArray[np.bool_]) -> FloatArray:
        """Unbiased energy distance as a share of 2 E|X - Y|, for many pairs of samples (pairs x rows).

        0 for equal distributions on average, 1 for samples that each have one value of their own. Nan if a sample has
        fewer than two rows, or if no value differs.
        """
        n, m = inside.sum(axis=1), outside.sum(axis=1)
        across, within = np.zeros((2, len(inside)))
        with np.errstate(invalid="ignore", divide="ignore"):
            for order, gaps in zip(self.order, self.gaps, strict=True):
                f, g = (
                    np.cumsum(part[:, order[:-1]], axis=1, dtype=np.float64) / size[:, None]
                    for part, size in ((inside, n), (outside, m))
                )
                across += (f + g - 2 * f * g) @ gaps
                within += (2 * f * (1 - f)) @ gaps * n / (n - 1) + (2 * g * (1 - g)) @ gaps * m / (m - 1)
            return np.where(across > 0, 1 - within / (2 * across), np.nan)
