"""Encoders with a known share of mixing or noise, and encoders that add noise, copies or maps to another encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.encoders.encoder import Encoder, LinearMap, Recovery, Rng
from unweave.synthetic.encoders.matched import haar_frame
from unweave.synthetic.functions import MONOTONE, in_turn


@dataclass(frozen=True)
class PartlyMixed(LinearMap):
    """c = ((1 - t) P + t Q) z with a permutation P and a random rotation Q; ``t`` from 0 (E1) to 1 (E3, kappa 1).

    >>> from unweave.synthetic.encoders import mixing_share
    >>> [round(mixing_share(PartlyMixed(t), 5), 2) for t in (0.0, 0.2, 0.4)]
    [0.0, 0.05, 0.28]
    """

    t: float

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a weighted sum of a permutation and a rotation"
    loses = "nothing (except for isolated values of t at which the matrix is singular)"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise EvidenceError(f"t={self.t} is not a share of mixing: use a number from 0 to 1.")

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """(1 - t) P + t Q, d x d; P and Q do not depend on t."""
        generator = random_stream(rng, "encoder")
        permutation = np.eye(n_factors)[generator.permutation(n_factors)]
        return (1 - self.t) * permutation + self.t * haar_frame(n_factors, n_factors, generator)


@dataclass(frozen=True)
class _BuiltOnAnother:
    """Base class of encoders that are built on another encoder: by default they have its equivalence and its losses."""

    encoder: Encoder

    @property
    def _depth(self) -> int:
        return 1 + (self.encoder._depth if isinstance(self.encoder, _BuiltOnAnother) else 0)

    def _second_stream(self, seed: int) -> np.random.Generator:
        """A random generator that is independent of those of the encoders inside, which have the same seed."""
        return random_stream(seed, "added to an encoder", self._depth)

    @property
    def equivalence(self) -> Recovery:
        """Equivalence of the inner encoder."""
        return self.encoder.equivalence

    @property
    def loses(self) -> str:
        """What the inner encoder loses."""
        return self.encoder.loses

    def n_codes(self, n_factors: int) -> int:
        """Number of codes of the inner encoder."""
        return self.encoder.n_codes(n_factors)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder."""
        return self.encoder.purity(n_factors, _seed(rng))


@dataclass(frozen=True)
class Noisy(_BuiltOnAnother):
    """Another encoder with Gaussian noise added to each code; ``share`` is the noise's share of the total variance.

    >>> from unweave.synthetic.encoders import PermutedAndScaled, mixing_share
    >>> round(mixing_share(Noisy(PermutedAndScaled(), share=0.3), 5), 3)
    0.3
    """

    share: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise EvidenceError(f"share={self.share} is not a share of noise: use a number from 0 to less than 1.")

    @property
    def applies(self) -> str:
        """What the inner encoder applies, and the noise."""
        return f"{self.encoder.applies}, then noise"

    @property
    def loses(self) -> str:
        """What the inner encoder loses, and what is lost through the noise."""
        return f"{self.encoder.loses}, and what the noise hides"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes with noise; the variance of the noise is relative to that of the codes on these rows."""
        seed = _seed(rng)
        codes = self.encoder.encode(factors, seed)
        scales = codes.std(axis=0) * np.sqrt(self.share / (1 - self.share))
        return codes + scales * self._second_stream(seed).normal(size=codes.shape)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, multiplied by 1 - share."""
        return (1 - self.share) * self.encoder.purity(n_factors, _seed(rng))


@dataclass(frozen=True)
class Reshaped(_BuiltOnAnother):
    """Another encoder whose standardised codes are transformed by strictly increasing maps, which are used in turn.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> Reshaped(PermutedAndScaled()).equivalence
    'elementwise'
    """

    @property
    def equivalence(self) -> Recovery:
        """Elementwise if each code of the inner encoder depends on one factor; none otherwise."""
        inner = self.encoder.equivalence
        return "elementwise" if inner in ("permutation and scale", "elementwise") else "none"

    @property
    def applies(self) -> str:
        """What the inner encoder applies, and the monotone maps."""
        return f"{self.encoder.applies}, then a strictly increasing map of each code"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The transformed codes of the inner encoder."""
        codes = self.encoder.encode(factors, _seed(rng))
        standardised = (codes - codes.mean(axis=0)) / codes.std(axis=0)
        return in_turn(tuple(MONOTONE.values()), standardised)


@dataclass(frozen=True)
class WithCopies(_BuiltOnAnother):
    """Another encoder with ``times`` copies of each code, every copy on a different scale.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> WithCopies(PermutedAndScaled(), times=3).n_codes(2)
    6
    """

    times: int = 2

    @property
    def applies(self) -> str:
        """What the inner encoder applies, and the copies."""
        return f"{self.encoder.applies}, then copies of every code"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``times`` the number of codes of the inner encoder."""
        return self.times * self.encoder.n_codes(n_factors)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The codes of the inner encoder, followed by their copies."""
        codes = self.encoder.encode(factors, _seed(rng))
        return np.column_stack([codes * (-1.0) ** k * (1 + k / 2) for k in range(self.times)])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, repeated for every copy."""
        return np.tile(self.encoder.purity(n_factors, _seed(rng)), (self.times, 1))


@dataclass(frozen=True)
class WithNoiseCodes(_BuiltOnAnother):
    """Another encoder with ``added`` standard normal codes that do not depend on the factors.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> WithNoiseCodes(PermutedAndScaled(), added=3).n_codes(2)
    5
    """

    added: int = 5

    @property
    def applies(self) -> str:
        """What the inner encoder applies, and the noise codes."""
        return f"{self.encoder.applies}, and additional codes of noise"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: that of the inner encoder plus ``added``."""
        return self.encoder.n_codes(n_factors) + self.added

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The codes of the inner encoder, followed by the noise codes."""
        seed = _seed(rng)
        noise = self._second_stream(seed).normal(size=(factors.shape[0], self.added))
        return np.column_stack([self.encoder.encode(factors, seed), noise])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, and zeros for the noise codes, which no factor changes."""
        return np.vstack([self.encoder.purity(n_factors, _seed(rng)), np.zeros((self.added, n_factors))])


def _seed(rng: Rng) -> int:
    """An integer seed for the inner encoder, whose map then does not depend on what is added."""
    return int(rng) if isinstance(rng, (int, np.integer)) else int(rng.integers(2**31))
