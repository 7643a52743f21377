"""Worlds with discrete factors, and worlds whose rows are in a different order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.worlds.free import Independent
from unweave.synthetic.worlds.world import Constraint, NumberedFactors, Rng, World


@dataclass(frozen=True)
class Levelled(NumberedFactors):
    """Independent factors; the first ``n_continuous`` of them are N(0, 1), and the others have a few levels.

    Levels are equally likely and equally spaced, with mean 0 and variance 1. The numbers of levels are used in turn.

    >>> factors = Levelled(3, n_continuous=1, levels=(2,)).sample(100, rng=0)
    >>> [np.unique(column).size for column in factors.T]
    [100, 2, 2]
    """

    n_factors: int = 5
    n_continuous: int = 0
    levels: tuple[int, ...] = (2, 3, 4, 5, 6)

    def __post_init__(self) -> None:
        if not self.levels or min(self.levels) < 2:
            raise EvidenceError(f"levels={self.levels} is not valid: use numbers of levels from 2.")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the factors, as `Evidence` accepts them."""
        n_levelled = max(self.n_factors - self.n_continuous, 0)
        return ("continuous",) * (self.n_factors - n_levelled) + ("ordinal",) * n_levelled

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        factors = Independent(self.n_factors).sample(n_rows, rng)
        shares = Independent(self.n_factors, "uniform").sample(n_rows, rng)  # the same draws, with uniform marginals
        for place, j in enumerate(range(self.n_continuous, self.n_factors)):
            n_levels = self.levels[place % len(self.levels)]
            numbers = np.minimum(np.floor(n_levels * shares[:, j]), n_levels - 1)
            factors[:, j] = (numbers - (n_levels - 1) / 2) / np.sqrt((n_levels**2 - 1) / 12)
        return factors


@dataclass(frozen=True)
class Reordered:
    """Another world with its rows in a different order; metrics that ignore the order of rows give the same score.

    >>> world = Independent(2)
    >>> bool(np.allclose(np.sort(Reordered(world).sample(9, rng=0), axis=0), np.sort(world.sample(9, rng=0), axis=0)))
    True
    """

    world: World

    @property
    def n_factors(self) -> int:
        """Number of factors of the other world."""
        return self.world.n_factors

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors of the other world."""
        return self.world.factor_names

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Constraints of the other world."""
        return self.world.constraints

    @property
    def effective_dimension(self) -> int:
        """Number of free factors of the other world."""
        return self.world.effective_dimension

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        return self.world.sample(n_rows, rng)[random_stream(n_rows, "order of levelled rows").permutation(n_rows)]
