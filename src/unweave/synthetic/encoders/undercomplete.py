"""Encoders that drop factors, E4 of 003."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.synthetic.encoders.encoder import Recovery, Rng
from unweave.synthetic.encoders.matched import PermutedAndScaled


@dataclass(frozen=True)
class Kept:
    """E4 of 003: only these factors, permuted and scaled. Factors that they do not determine are lost.

    >>> Kept((0, 2)).encode(np.eye(3), rng=0).shape
    (3, 2)
    """

    kept: tuple[int, ...]

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "a permutation and scales of either sign, to the kept factors"
    loses = "every factor that the kept ones do not determine"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of kept factors."""
        return len(self.kept)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Permuted and scaled codes of the kept factors."""
        _refuse_absent(self.kept, factors.shape[1])
        return PermutedAndScaled().encode(factors[:, list(self.kept)], rng)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the kept factor of each code, and 0 otherwise."""
        purity = np.zeros((len(self.kept), n_factors))
        purity[:, list(self.kept)] = PermutedAndScaled().purity(len(self.kept), rng)
        return purity


@dataclass(frozen=True)
class Dropped:
    """E4 of 003: all factors except these, permuted and scaled.

    >>> Dropped((1,)).encode(np.eye(3), rng=0).shape
    (3, 2)
    """

    dropped: tuple[int, ...]

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "a permutation and scales of either sign, to the kept factors"
    loses = "every dropped factor that the kept ones do not determine"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors that are not dropped."""
        return n_factors - len(self.dropped)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Permuted and scaled codes of the kept factors."""
        return self._kept(factors.shape[1]).encode(factors, rng)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the kept factor of each code, and 0 otherwise."""
        return self._kept(n_factors).purity(n_factors, rng)

    def _kept(self, n_factors: int) -> Kept:
        _refuse_absent(self.dropped, n_factors)
        return Kept(tuple(j for j in range(n_factors) if j not in self.dropped))


def _refuse_absent(columns: tuple[int, ...], n_factors: int) -> None:
    if len(set(columns)) < len(columns) or not all(0 <= j < n_factors for j in columns):
        raise EvidenceError(
            f"{columns} are not different factors of {n_factors}: use different numbers from 0 to {n_factors - 1}."
        )
