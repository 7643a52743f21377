"""Encoders with more codes than factors: E5, E6 and E8 of 003 (E7 is `Mixed` with a ratio above 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.encoders.encoder import OneFactorPerCode, Recovery, Rng, random_scales, size_of
from unweave.synthetic.encoders.matched import Elementwise


@dataclass(frozen=True)
class Copied(OneFactorPerCode):
    """E5 of 003: copies of the factors with different scales; every factor occurs at least once.

    >>> codes = Copied(ratio=2.0).encode(np.eye(3), rng=0)
    >>> codes.shape, int((codes != 0).sum())
    ((3, 6), 6)
    """

    ratio: float = 2.0

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "copies of factors, permuted, with scales of either sign"
    loses = "nothing"

    def __post_init__(self) -> None:
        _refuse_small(self.ratio)

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``ratio`` times the number of factors."""
        return size_of(self.ratio, n_factors)

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """The factor of each code: every factor once, further factors drawn with replacement, in random order."""
        extras = generator.integers(n_factors, size=self.n_codes(n_factors) - n_factors)
        return generator.permutation(np.concatenate([np.arange(n_factors), extras]))

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes that each depend on one factor, n x m."""
        generator = random_stream(rng, "encoder")
        sources = self.sources(factors.shape[1], generator)
        return factors[:, sources] * random_scales(sources.size, generator)


@dataclass(frozen=True)
class WithMixedExtras:
    """E6 of 003: d codes as in E2, and m - d further codes that mix two factors each and add no information.

    The further codes are z_a z_b, tanh(z_a + z_b), sin(z_a) z_b and |z_a - z_b| in turn, for random factors a != b.

    >>> WithMixedExtras(ratio=2.0).encode(np.random.default_rng(0).normal(size=(9, 3)), rng=0).shape
    (9, 6)
    """

    ratio: float = 2.0
    alpha: float = 1.0

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a strictly increasing map of each factor, and additional nonlinear mixtures of two factors"
    loses = "nothing"

    def __post_init__(self) -> None:
        _refuse_small(self.ratio)

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``ratio`` times the number of factors."""
        return size_of(self.ratio, n_factors)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The elementwise codes, followed by the mixed codes."""
        generator = random_stream(rng, "encoder")
        n_factors = factors.shape[1]
        if n_factors < 2:
            raise EvidenceError("WithMixedExtras needs at least two factors, and there is one: use Copied.")
        own = Elementwise(self.alpha).encode(factors, generator)
        extras = []
        for k in range(self.n_codes(n_factors) - n_factors):
            first, second = factors[:, generator.choice(n_factors, 2, replace=False)].T
            extras.append(_mixture(k, first, second))
        return np.column_stack([own, *extras])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the factor of each of the first d codes, and 0 otherwise; mixed codes have purity 0."""
        extras = np.zeros((self.n_codes(n_factors) - n_factors, n_factors))
        return np.vstack([Elementwise(self.alpha).purity(n_factors, rng), extras])


@dataclass(frozen=True)
class Distributed(OneFactorPerCode):
    """E8 of 003: ``k`` codes for each factor, which determine it only jointly; no code depends on two factors.

    For ``k=2`` the codes are sin z and cos z, which determine z between -pi and pi (about 2 in 1000 standard normal
    values are outside). For ``k>2`` the real line is divided into k intervals of equal probability under the standard
    normal distribution; code i is z inside the i-th interval and 0 elsewhere.

    >>> codes = Distributed(k=3).encode(np.array([[-2.0], [0.1], [2.0]]), rng=0)
    >>> codes.tolist()
    [[-2.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 2.0]]
    """

    k: int = 2

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a split of each factor into several codes"
    loses = "nothing within -pi and pi"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise EvidenceError(f"k={self.k} does not split a factor: use 2 or more codes for each factor.")

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: k for every factor."""
        return self.k * n_factors

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """All codes of one factor, followed by those of the next; the factors are in random order."""
        generator = random_stream(rng, "encoder")
        shuffled = factors[:, generator.permutation(factors.shape[1])]
        if self.k == 2:
            parts = np.stack([np.sin(shuffled), np.cos(shuffled)], axis=2)
        else:
            inside = self.intervals(shuffled, generator)[:, :, None] == np.arange(self.k)
            parts = np.where(inside, shuffled[:, :, None], 0.0)
        return parts.reshape(factors.shape[0], -1)

    def intervals(self, columns: FloatArray, generator: np.random.Generator) -> NDArray[np.intp]:
        """Index of the interval that contains each value, for k > 2."""
        return np.searchsorted(self.cuts, columns)

    @property
    def cuts(self) -> FloatArray:
        """The k - 1 boundaries between the intervals, for k > 2."""
        return np.asarray(ndtri(np.arange(1, self.k) / self.k))

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Index of the factor of each code."""
        return np.repeat(generator.permutation(n_factors), self.k)


def _mixture(kind: int, first: FloatArray, second: FloatArray) -> FloatArray:
    """A nonlinear function of two factors that neither of them determines alone."""
    match kind % 4:
        case 0:
            return first * second
        case 1:
            return np.tanh(first + second)
        case 2:
            return np.sin(first) * second
        case _:
            return np.abs(first - second)


def _refuse_small(ratio: float) -> None:
    if ratio < 1:
        raise EvidenceError(f"ratio={ratio} gives fewer codes than factors: use a ratio of 1 or more.")
