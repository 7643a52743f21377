"""Encoders of the released code of 003 that differ from its text; they are needed to reproduce its figures.

E1, E5 and E7 are `PermutedAndScaled`, `Copied` and `Mixed` with a ratio. The null encoders of the code are
``Noise(m, "gaussian")`` under the name E9 and `ReleasedNoise` under the name E10. For other purposes, use the encoders
of the text; each docstring says what differs. With the same seeds, the draws are those of the code, except for E7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.randomness import random_stream
from unweave.synthetic.encoders import (
    RELEASED,
    Copied,
    Distributed,
    Elementwise,
    IgnoredFactors,
    LinearMap,
    OneFactorPerCode,
    Recovery,
    Rng,
    in_turn,
    random_scales,
)


@dataclass(frozen=True)
class ReleasedElementwise(Elementwise):
    """E2 of 003's released code: seven functions in turn, of which one reaches 1e40 and one is not one-to-one.

    >>> ReleasedElementwise(alpha=0.0).encode(np.ones((1, 2)), rng=0).shape
    (1, 2)
    """

    equivalence: ClassVar[Recovery] = "none"
    applies = "a permutation, and seven functions in turn"
    loses = "the sign of some values of every seventh code"

    def bent(self, columns: FloatArray) -> FloatArray:
        """h_j applied to each column."""
        return in_turn(RELEASED, columns)


@dataclass(frozen=True)
class ReleasedMixed(LinearMap):
    """E3 of 003's released code: `Mixed` with the two orthogonal matrices of one singular value decomposition.

    The distribution is that of `Mixed`, but the same seed gives a different matrix.

    >>> matrix = ReleasedMixed(kappa=2.0).matrix(3, rng=0)
    >>> np.linalg.svd(matrix)[1].round(3).tolist()
    [1.0, 0.75, 0.5]
    """

    kappa: float = 10.0

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a dense linear map of full rank"
    loses = "nothing"

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A, d x d, with singular values from 1 down to 1 / kappa."""
        left, _, right = np.linalg.svd(random_stream(rng, "encoder").normal(size=(n_factors, n_factors)))
        return left * np.linspace(1.0, 1.0 / self.kappa, n_factors) @ right


@dataclass(frozen=True)
class ReleasedKept(OneFactorPerCode):
    """E4 of 003's released code: it keeps the last factors.

    The first factors are therefore dropped first, whether they are redundant or not.

    >>> codes = ReleasedKept(2).encode(np.eye(3), rng=0)
    >>> (codes != 0).argmax(axis=0).tolist()
    [1, 2]
    """

    codes: int

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "scales of either sign, to the last factors"
    loses = "the first factors, unless the others determine them"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is ``codes``."""
        return self.codes

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Indices of the last factors."""
        return np.arange(n_factors - self.codes, n_factors)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The last factors, rescaled."""
        return factors[:, -self.codes :] * random_scales(self.codes, random_stream(rng, "encoder"))


@dataclass(frozen=True)
class ReleasedElementwiseCopies(Copied):
    """E6 of 003's released code: seven functions in turn, applied to copies of single factors without mixing.

    >>> ReleasedElementwiseCopies(ratio=2.0).encode(np.ones((1, 2)), rng=0).shape
    (1, 4)
    """

    equivalence: ClassVar[Recovery] = "none"
    applies = "copies of factors, and seven functions in turn"
    loses = "the sign of some values of every seventh code"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """h_j applied to one factor for each code."""
        return in_turn(RELEASED, factors[:, self.sources(factors.shape[1], random_stream(rng, "encoder"))])


@dataclass(frozen=True)
class ReleasedDistributed(Distributed):
    """E8 of 003's released code: for k > 2, the boundaries of the intervals are random.

    The boundaries are uniform on the scale of the logistic function of z, so the intervals are unequal, and some can
    be empty. The codes of a factor sum to the factor, so a linear probe recovers it.

    >>> codes = ReleasedDistributed(k=3).encode(np.array([[0.5], [-1.0]]), rng=0)
    >>> codes.sum(axis=1).tolist()
    [0.5, -1.0]
    """

    k: int = 3

    def intervals(self, columns: FloatArray, generator: np.random.Generator) -> NDArray[np.intp]:
        """Index of the interval that contains each value, for k > 2."""
        cuts = np.sort(generator.uniform(size=(columns.shape[1], self.k - 1)), axis=1)
        logistic = 1 / (1 + np.exp(-columns))
        return (logistic[:, :, None] > cuts).sum(axis=2)


@dataclass(frozen=True)
class ReleasedNoise(IgnoredFactors):
    """E10 of 003's released code: random codes, uniform between -1 and 1.

    Their mean is 0, so that a probe without intercept is unbiased.

    >>> bool(ReleasedNoise(4).encode(np.eye(3), rng=0).min() < 0)
    True
    """

    codes: int

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Random numbers that do not depend on the factors."""
        return random_stream(rng, "encoder").uniform(-1.0, 1.0, size=(factors.shape[0], self.codes))
