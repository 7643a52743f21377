"""Encoders with as many codes as factors, E1 to E3 of 003, and E7, the linear mixing into more codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.encoders.encoder import LinearMap, OneFactorPerCode, Recovery, Rng, random_scales, size_of
from unweave.synthetic.functions import MONOTONE, in_turn


@dataclass(frozen=True)
class PermutedAndScaled(OneFactorPerCode):
    """E1 of 003: the factors, permuted and rescaled. No information is lost, and no factors are mixed.

    >>> codes = PermutedAndScaled().encode(np.eye(3), rng=0)
    >>> (codes != 0).sum(axis=0).tolist()
    [1, 1, 1]
    """

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "a permutation and scales of either sign"
    loses = "nothing"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes c_j = a_j z_pi(j), where a_j has a random sign and an absolute value between 0.5 and 2."""
        generator = random_stream(rng, "encoder")
        order = self.sources(factors.shape[1], generator)
        return factors[:, order] * random_scales(order.size, generator)


@dataclass(frozen=True)
class Elementwise(OneFactorPerCode):
    """E2 of 003: c_j = (1 - alpha) s_j z_pi(j) + alpha h_j(z_pi(j)), with strictly increasing h_j and s_j > 0.

    The h_j are x^3, sign(x) sqrt|x|, exp(x) and asinh(x) in turn. ``alpha=0`` is E1 with positive scales.

    >>> factors = np.random.default_rng(0).normal(size=(50, 2))
    >>> codes = Elementwise(alpha=1.0).encode(factors, rng=0)
    >>> order = Elementwise().purity(2, rng=0).argmax(axis=1)
    >>> bool((codes.argsort(axis=0) == factors[:, order].argsort(axis=0)).all())
    True
    """

    alpha: float = 1.0

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a permutation and a strictly increasing map of each factor"
    loses = "nothing"

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise EvidenceError(f"alpha={self.alpha} is not a degree of nonlinearity: use a number from 0 to 1.")

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes that each depend on one factor, n x d."""
        generator = random_stream(rng, "encoder")
        columns = factors[:, self.sources(factors.shape[1], generator)]
        scales = generator.uniform(0.5, 2.0, columns.shape[1])
        return (1 - self.alpha) * scales * columns + self.alpha * self.bent(columns)

    def bent(self, columns: FloatArray) -> FloatArray:
        """h_j applied to each column."""
        return in_turn(tuple(MONOTONE.values()), columns)


@dataclass(frozen=True)
class Mixed(LinearMap):
    """E3 of 003, and E7 if ``ratio`` > 1: c = A z with A = U diag(1 .. 1/kappa) V', U and V random orthogonal.

    A has rank d, so no information is lost. ``kappa=1`` gives a random rotation, which mixes the factors as well (003
    states that it reduces to E1). ``standardise`` first scales every factor to mean 0 and variance 1, which is useful
    if factors have different units.

    >>> matrix = Mixed(kappa=1.0).matrix(4, rng=0)
    >>> bool(np.allclose(matrix.T @ matrix, np.eye(4)))
    True
    """

    kappa: float = 10.0
    ratio: float = 1.0
    standardise: bool = False

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a dense linear map of full rank"
    loses = "nothing"

    def __post_init__(self) -> None:
        if self.kappa < 1 or self.ratio < 1:
            raise EvidenceError(f"kappa={self.kappa} and ratio={self.ratio} give no mixing: use numbers from 1.")

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``ratio`` times the number of factors."""
        return size_of(self.ratio, n_factors)

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A, m x d, with singular values from 1 down to 1 / kappa."""
        generator = random_stream(rng, "encoder")
        left = haar_frame(self.n_codes(n_factors), n_factors, generator)
        right = haar_frame(n_factors, n_factors, generator)
        return left * np.linspace(1.0, 1.0 / self.kappa, n_factors) @ right.T

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes A z."""
        columns = (factors - factors.mean(axis=0)) / factors.std(axis=0) if self.standardise else factors
        return super().encode(columns, rng)


def haar_frame(n_rows: int, n_columns: int, generator: np.random.Generator) -> FloatArray:
    """A matrix with orthonormal columns, uniformly distributed (Haar measure).

    >>> frame = haar_frame(4, 2, np.random.default_rng(0))
    >>> bool(np.allclose(frame.T @ frame, np.eye(2)))
    True
    """
    basis, triangle = np.linalg.qr(generator.normal(size=(n_rows, n_columns)))
    return basis * np.sign(np.diag(triangle))  # without these signs, the distribution would not be uniform
