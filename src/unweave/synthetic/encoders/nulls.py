"""Random encoders, E9 of 003."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.randomness import random_stream
from unweave.synthetic.encoders.encoder import Recovery, Rng


@dataclass(frozen=True)
class Noise:
    """E9 of 003: random codes that do not depend on the factors, uniform between 0 and 1 as in the text, or Gaussian.

    >>> Noise(4).encode(np.eye(3), rng=0).shape
    (3, 4)
    """

    codes: int
    distribution: Literal["uniform", "gaussian"] = "uniform"

    equivalence: ClassVar[Recovery] = "none"
    applies = "nothing: the codes do not depend on the factors"
    loses = "everything"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is ``codes``."""
        return self.codes

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Random numbers that do not depend on the factors."""
        generator, shape = random_stream(rng, "encoder"), (factors.shape[0], self.codes)
        return generator.uniform(size=shape) if self.distribution == "uniform" else generator.normal(size=shape)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Zeros, because no factor changes a code."""
        return np.zeros((self.codes, n_factors))
