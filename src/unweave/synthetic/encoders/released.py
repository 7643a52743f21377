"""The encoders that 003's released code really used, where they differ from the text, to run its figures again.

E1, E5 and E7 are `PermutedAndScaled`, `Copied` and `Mixed` with a ratio. Its null encoders are ``Noise(m, "gaussian")``
under the name E9 and `ReleasedNoise` under the name E10. Nothing here is a model to follow: each docstring says what
differs. With the code's seeds they draw what the code drew, E7 apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unweave.arrays import FloatArray
from unweave.synthetic.encoders.declaration import Recovery, Rng, linear_purity, one_factor_each, random_scales, size_of
from unweave.synthetic.encoders.overcomplete import copied_sources
from unweave.synthetic.functions import RELEASED


@dataclass(frozen=True)
class ReleasedElementwise:
    """E2 of the code: seven functions in turn, one of which reaches 1e40 and one of which is not one to one.

    >>> ReleasedElementwise(alpha=0.0).encode(np.ones((1, 2)), rng=0).shape
    (1, 2)
    """

    alpha: float = 1.0

    equivalence: ClassVar[Recovery] = "none"
    applies = "a permutation, and seven functions in turn"
    loses = "the sign of some values of every seventh code"

    def n_codes(self, n_factors: int) -> int:
        """As many as factors."""
        return n_factors

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """(1 - alpha) s_j z + alpha h_j(z), h_j by the number of the code."""
        generator = np.random.default_rng(rng)
        order = generator.permutation(factors.shape[1])
        scales = generator.uniform(0.5, 2.0, order.size)
        return (1 - self.alpha) * scales * factors[:, order] + self.alpha * _in_turn(factors[:, order])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """One factor a code."""
        return one_factor_each(np.random.default_rng(rng).permutation(n_factors), n_factors)


@dataclass(frozen=True)
class ReleasedMixed:
    """E3 of the code: `Mixed` with the two orthogonal matrices of one singular value decomposition.

    The distribution is that of `Mixed`; the draws of a seed are others.

    >>> matrix = ReleasedMixed(kappa=2.0).matrix(3, rng=0)
    >>> np.linalg.svd(matrix)[1].round(3).tolist()
    [1.0, 0.75, 0.5]
    """

    kappa: float = 10.0

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a dense linear map of full rank"
    loses = "nothing"

    def n_codes(self, n_factors: int) -> int:
        """As many as factors."""
        return n_factors

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A, d x d, with singular values from 1 down to 1 / kappa."""
        left, _, right = np.linalg.svd(np.random.default_rng(rng).normal(size=(n_factors, n_factors)))
        return left * np.linspace(1.0, 1.0 / self.kappa, n_factors) @ right

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes A z."""
        return factors @ self.matrix(factors.shape[1], rng).T

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Squared loadings, as shares."""
        return linear_purity(self.matrix(n_factors, rng))


@dataclass(frozen=True)
class ReleasedKept:
    """E4 of the code: the last columns, so that the first factors are dropped first, redundant or not.

    >>> codes = ReleasedKept(2).encode(np.eye(3), rng=0)
    >>> (codes != 0).argmax(axis=0).tolist()
    [1, 2]
    """

    codes: int

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "scales of either sign, to the last factors"
    loses = "the first factors, unless the others determine them"

    def n_codes(self, n_factors: int) -> int:
        """As many as asked for."""
        return self.codes

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The last columns on other scales."""
        return factors[:, -self.codes :] * random_scales(self.codes, np.random.default_rng(rng))

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """One factor a code."""
        return one_factor_each(np.arange(n_factors - self.codes, n_factors), n_factors)


@dataclass(frozen=True)
class ReleasedElementwiseCopies:
    """E6 of the code: copies of single factors, bent by seven functions in turn; no code mixes factors.

    >>> ReleasedElementwiseCopies(ratio=2.0).encode(np.ones((1, 2)), rng=0).shape
    (1, 4)
    """

    ratio: float = 2.0

    equivalence: ClassVar[Recovery] = "none"
    applies = "copies of factors, and seven functions in turn"
    loses = "the sign of some values of every seventh code"

    def n_codes(self, n_factors: int) -> int:
        """Ratio times the number of factors."""
        return size_of(self.ratio, n_factors)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """h_j of one factor each."""
        n_factors = factors.shape[1]
        return _in_turn(factors[:, copied_sources(n_factors, self.n_codes(n_factors), np.random.default_rng(rng))])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """One factor a code."""
        sources = copied_sources(n_factors, self.n_codes(n_factors), np.random.default_rng(rng))
        return one_factor_each(sources, n_factors)


@dataclass(frozen=True)
class ReleasedDistributed:
    """E8 of the code: for k > 2 the intervals are cut at random, in the logistic function of z.

    The codes of a factor sum to it, so a linear probe reads it whatever k is; intervals are unequal, and some empty.

    >>> codes = ReleasedDistributed(k=3).encode(np.array([[0.5], [-1.0]]), rng=0)
    >>> codes.sum(axis=1).tolist()
    [0.5, -1.0]
    """

    k: int = 3

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a split of each factor into several codes"
    loses = "nothing within -pi and pi"

    def n_codes(self, n_factors: int) -> int:
        """k for every factor."""
        return self.k * n_factors

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The codes of one factor after those of another, factors in random order."""
        generator = np.random.default_rng(rng)
        shuffled = factors[:, generator.permutation(factors.shape[1])]
        if self.k == 2:
            return np.stack([np.sin(shuffled), np.cos(shuffled)], axis=2).reshape(factors.shape[0], -1)
        cuts = np.sort(generator.uniform(size=(factors.shape[1], self.k - 1)), axis=1)
        logistic = 1 / (1 + np.exp(-shuffled))
        interval = (logistic[:, :, None] > cuts).sum(axis=2)
        parts = np.where(interval[:, :, None] == np.arange(self.k), shuffled[:, :, None], 0.0)
        return parts.reshape(factors.shape[0], -1)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """One factor a code."""
        order = np.random.default_rng(rng).permutation(n_factors)
        return one_factor_each(np.repeat(order, self.k), n_factors)


@dataclass(frozen=True)
class ReleasedNoise:
    """E10 of the code: codes that know nothing, uniform within -1 and 1, so that a probe without intercept is fair.

    >>> bool(ReleasedNoise(4).encode(np.eye(3), rng=0).min() < 0)
    True
    """

    codes: int

    equivalence: ClassVar[Recovery] = "none"
    applies = "nothing: the codes are drawn without looking"
    loses = "everything"

    def n_codes(self, n_factors: int) -> int:
        """As many as asked for."""
        return self.codes

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Random numbers, whatever the factors."""
        return np.random.default_rng(rng).uniform(-1.0, 1.0, size=(factors.shape[0], self.codes))

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """No factor moves a code."""
        return np.zeros((self.codes, n_factors))


def _in_turn(columns: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        bent = [RELEASED[j % len(RELEASED)](column) for j, column in enumerate(columns.T)]
    return np.column_stack(bent)
