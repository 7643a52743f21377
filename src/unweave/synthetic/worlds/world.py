"""The interface of a world: its factors, their constraints, and their marginal distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError

Rng = int | np.random.Generator
Marginal = Literal["gaussian", "uniform", "truncated", "discrete"]

N_VALUES = 10


@dataclass(frozen=True)
class Constraint:
    """A factor that is a function of other factors; ``invertible`` is True if it also determines the other factor.

    >>> Constraint(determined=2, by=(0, 1), sentence="z3 = z1 z2").invertible
    False
    """

    determined: int
    by: tuple[int, ...]
    sentence: str
    invertible: bool = False


class World(Protocol):
    """A distribution of factors with known constraints.

    >>> from unweave.synthetic.worlds import Circuit
    >>> world: World = Circuit()
    >>> world.n_factors, world.effective_dimension, world.sample(10).shape
    (4, 2, (10, 4))
    """

    @property
    def n_factors(self) -> int:
        """Number of factors, d."""

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors, in the order of the columns."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Constraints, one for each factor that others determine; empty if all factors vary freely."""

    @property
    def effective_dimension(self) -> int:
        """Number of factors that vary freely."""

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""


class NumberedFactors:
    """Base class of worlds whose factors are named z1, z2, ..."""

    n_factors: int

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The names z1, z2, ..."""
        return tuple(f"z{j + 1}" for j in range(self.n_factors))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The factors that others determine."""
        return ()

    @property
    def effective_dimension(self) -> int:
        """Number of factors that vary freely."""
        return self.n_factors - len(self.constraints)


def with_marginal(standard_normal: FloatArray, marginal: Marginal) -> FloatArray:
    """Standard normal columns, transformed by an increasing function to another distribution.

    >>> with_marginal(np.zeros((1, 1)), "uniform").tolist()
    [[0.5]]
    """
    if marginal == "gaussian":
        return standard_normal
    uniform = ndtr(standard_normal)
    if marginal == "uniform":
        return np.asarray(uniform)
    if marginal == "truncated":
        below = ndtr(-np.pi)
        return np.asarray(ndtri(below + uniform * (1 - 2 * below)))
    if marginal == "discrete":
        return np.minimum(np.floor(N_VALUES * uniform), N_VALUES - 1)
    raise EvidenceError(f"There is no marginal {marginal!r}: use gaussian, uniform, truncated or discrete.")
