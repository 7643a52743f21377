"""Encoders: maps from factors to codes that declare what they apply and what they lose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PermutedAndScaled:
    """E1 of 003: every factor once, in another order and on another scale. Nothing is lost or mixed.

    >>> codes = PermutedAndScaled().encode(np.eye(3), rng=0)
    >>> (codes != 0).sum(axis=0).tolist()
    [1, 1, 1]
    """

    equivalence = "permutation and scale"
    loses = "nothing"

    def encode(self, factors: FloatArray, rng: int | np.random.Generator = 0) -> FloatArray:
        """Codes c_j = a_j z_pi(j) with a_j of either sign and size 0.5 to 2."""
        generator = np.random.default_rng(rng)
        order = generator.permutation(factors.shape[1])
        scales = generator.uniform(0.5, 2.0, order.size) * generator.choice([-1.0, 1.0], order.size)
        return factors[:, order] * scales


@dataclass(frozen=True)
class Mixed:
    """E3 of 003: an invertible linear mixing of the standardised factors with condition number ``kappa``.

    ``kappa=1`` is a rotation, which mixes as much as any other.

    >>> Mixed(kappa=2.0).encode(np.eye(3), rng=0).shape
    (3, 3)
    """

    kappa: float = 10.0

    equivalence = "affine"
    loses = "nothing"

    def encode(self, factors: FloatArray, rng: int | np.random.Generator = 0) -> FloatArray:
        """Codes A z with A = U diag(1 .. 1/kappa) V', U and V random orthogonal."""
        generator = np.random.default_rng(rng)
        n_factors = factors.shape[1]
        left, _, right = np.linalg.svd(generator.normal(size=(n_factors, n_factors)))
        mixing = left @ np.diag(np.linspace(1.0, 1.0 / self.kappa, n_factors)) @ right
        standardised = (factors - factors.mean(axis=0)) / factors.std(axis=0)
        return np.asarray(standardised @ mixing.T)


@dataclass(frozen=True)
class Kept:
    """E4 of 003: these factors only, permuted and scaled. What only the others tell is lost.

    >>> Kept((0, 2)).encode(np.eye(3), rng=0).shape
    (3, 2)
    """

    kept: tuple[int, ...]

    equivalence = "permutation and scale"
    loses = "every factor that the kept ones do not determine"

    def encode(self, factors: FloatArray, rng: int | np.random.Generator = 0) -> FloatArray:
        """Codes of the kept factors."""
        return PermutedAndScaled().encode(factors[:, list(self.kept)], rng)


@dataclass(frozen=True)
class Noise:
    """E9 of 003: uniform codes that know nothing.

    >>> Noise(4).encode(np.eye(3), rng=0).shape
    (3, 4)
    """

    n_codes: int

    equivalence = "none"
    loses = "everything"

    def encode(self, factors: FloatArray, rng: int | np.random.Generator = 0) -> FloatArray:
        """Uniform numbers in [0, 1), whatever the factors."""
        return np.random.default_rng(rng).uniform(size=(factors.shape[0], self.n_codes))
