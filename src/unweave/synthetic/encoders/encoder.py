"""The interface of an encoder, and its degree of mixing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.matching import best_matching
from unweave.randomness import random_stream

Rng = int | np.random.Generator
Recovery = Literal["permutation and scale", "elementwise", "affine", "none"]


class Encoder(Protocol):
    """A map from factors to codes whose degree of mixing is known.

    >>> from unweave.synthetic.encoders import Dropped
    >>> encoder: Encoder = Dropped((1, 3))
    >>> encoder.n_codes(4), encoder.encode(np.eye(4)).shape
    (2, (4, 2))
    """

    @property
    def equivalence(self) -> Recovery:
        """The smallest class of maps up to which the codes recover the factors that the encoder keeps."""

    @property
    def applies(self) -> str:
        """A description of the map that the encoder applies to the factors."""

    @property
    def loses(self) -> str:
        """A description of the information that the codes lose."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, m."""

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes, n x m; the same ``rng`` gives the same map for all factors."""

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Share of each code's variance that each factor alone explains, m x d, for independent factors of variance 1.

        Monotone maps that an encoder applies to its codes are ignored.
        """


class OneFactorPerCode:
    """Base class of encoders in which each code depends on one factor."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors."""
        return n_factors

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """The factor of each code: every factor once, in random order."""
        return generator.permutation(n_factors)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the factor of each code, and 0 otherwise."""
        return np.eye(n_factors)[self.sources(n_factors, random_stream(rng, "encoder"))]


class LinearMap(ABC):
    """Base class of linear encoders, whose codes are A z."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors."""
        return n_factors

    @abstractmethod
    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """The matrix A (m x d)."""

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes A z."""
        return factors @ self.matrix(factors.shape[1], rng).T

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A_ij^2 divided by its sum over factors j: the share of the variance of code i that is due to factor j."""
        squares = self.matrix(n_factors, rng) ** 2
        return squares / squares.sum(axis=1, keepdims=True)


def mixing_share(encoder: Encoder, n_factors: int, rng: Rng = 0) -> float:
    """1 minus the mean purity of the best matching of codes and factors; 0 for codes of one factor each, 1 for noise.

    The matching has min(m, d) pairs, so factors that are lost do not count.

    >>> from unweave.synthetic.encoders import Noise, PermutedAndScaled
    >>> mixing_share(PermutedAndScaled(), 5), mixing_share(Noise(5), 5)
    (0.0, 1.0)
    """
    purity = encoder.purity(n_factors, rng)
    return float(1 - purity[best_matching(purity)].mean())


def size_of(ratio: float, n_factors: int) -> int:
    """m = ratio x d, to the nearest whole number (halves up).

    >>> size_of(1.5, 5)
    8
    """
    return int(np.floor(ratio * n_factors + 0.5))


def random_scales(n_codes: int, generator: np.random.Generator) -> FloatArray:
    """Random scales with absolute values between 0.5 and 2, and random signs."""
    return generator.uniform(0.5, 2.0, n_codes) * generator.choice([-1.0, 1.0], n_codes)
