"""Worlds: distributions of factors with known dependence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from unweave.arrays import FloatArray
from unweave.errors import InputError, OptionError
from unweave.options import Count, Finite, Whole, checks_options
from unweave.randomness import random_stream
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS, Function

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


def world_stream(rng: Rng, n_rows: int, n_factors: int = 1) -> np.random.Generator:
    """The generator of a world; OptionError unless both counts are whole numbers from 1.

    >>> world_stream(0, n_rows=0)
    Traceback (most recent call last):
    unweave.OptionError: n_rows=0 is not a number of rows: use a whole number from 1.
    """
    for name, number in (("n_rows", n_rows), ("n_factors", n_factors)):
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise OptionError(f"{name}={number!r} is not a number of {name[2:]}: use a whole number from 1.")
    if not isinstance(rng, np.random.Generator) and (not isinstance(rng, Integral | None) or (rng or 0) < 0):
        raise OptionError(f"rng={rng!r} is not a seed: use a whole number from 0, or a numpy Generator.")
    return random_stream(rng, "world")


class NumberedFactors:
    """Base class of worlds whose factors are named z1, z2, ..."""

    n_factors: int

    def __post_init__(self) -> None:
        world_stream(0, 1, self.n_factors)

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


@checks_options
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
    raise OptionError(f"There is no marginal {marginal!r}: use gaussian, uniform, truncated or discrete.")


@checks_options
@dataclass(frozen=True)
class Independent(NumberedFactors):
    """D_perp of 003: factors that vary independently.

    ``marginal`` is gaussian (N(0, 1)), uniform (0 to 1), truncated (N(0, 1) between -pi and pi) or discrete (classes
    0 to 9, equally likely).

    >>> Independent(3).sample(100, rng=0).shape
    (100, 3)
    """

    n_factors: Count = 5
    marginal: Marginal = "gaussian"

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        return with_marginal(world_stream(rng, n_rows).normal(size=(n_rows, self.n_factors)), self.marginal)


@checks_options
@dataclass(frozen=True)
class Correlated(NumberedFactors):
    """D_rho of 003: all pairs of factors have the same correlation ``rho`` (before the marginal is changed).

    ``rho`` must be at least -1 / (d - 1), because otherwise there is no such covariance.

    >>> factors = Correlated(3, rho=0.9).sample(5000, rng=0)
    >>> bool(abs(np.corrcoef(factors, rowvar=False)[0, 1] - 0.9) < 0.02)
    True
    """

    n_factors: Count = 5
    rho: Finite = 0.5
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        lowest = -1 / (self.n_factors - 1) if self.n_factors > 1 else -1.0
        if not lowest <= self.rho <= 1:
            raise InputError(f"{self.n_factors} factors cannot all have correlation {self.rho}: use {lowest:.3f} to 1.")

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        covariance = np.full((self.n_factors, self.n_factors), float(self.rho))
        np.fill_diagonal(covariance, 1.0)
        return with_marginal(_gaussian(covariance, n_rows, rng), self.marginal)


@checks_options
@dataclass(frozen=True)
class WithCovariance(NumberedFactors):
    """Gaussian factors with any covariance, given as rows of numbers.

    >>> WithCovariance(((1.0, 0.5), (0.5, 1.0))).n_factors
    2
    """

    covariance: tuple[tuple[Finite, ...], ...]
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        matrix = np.array(self.covariance, dtype=float)
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        if not (square and np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > -1e-10):
            raise InputError("covariance is not valid: pass the rows of a symmetric positive semidefinite matrix.")

    @property
    def n_factors(self) -> int:  # type: ignore[override]
        """Number of factors, d."""
        return len(self.covariance)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        covariance = np.array(self.covariance, dtype=float)
        scales = np.sqrt(np.diag(covariance))
        divisors = np.where(scales > 0, scales, 1.0)  # factors without variance are constant
        standard = _gaussian(covariance / np.outer(divisors, divisors), n_rows, rng)
        return standard * scales if self.marginal == "gaussian" else with_marginal(standard, self.marginal)


@checks_options
@dataclass(frozen=True)
class Confounded(NumberedFactors):
    """A hidden common cause u: z_j = l_j u + sqrt(1 - l_j^2) e_j, so that factors i and j have correlation l_i l_j.

    >>> world = Confounded((0.9, 0.9, 0.0))
    >>> bool(abs(np.corrcoef(world.sample(5000, rng=0), rowvar=False)[0, 1] - 0.81) < 0.02)
    True
    """

    loadings: tuple[Finite, ...] = (0.8, 0.8, 0.0, 0.0, 0.0)
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        if not self.loadings or max(map(abs, self.loadings)) > 1:
            raise OptionError(f"loadings={self.loadings} are not valid: use one or more numbers from -1 to 1.")

    @property
    def n_factors(self) -> int:  # type: ignore[override]
        """Number of factors, d."""
        return len(self.loadings)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        generator, loadings = world_stream(rng, n_rows), np.array(self.loadings)
        cause = generator.normal(size=(n_rows, 1))
        own = generator.normal(size=(n_rows, self.n_factors))
        return with_marginal(loadings * cause + np.sqrt(1 - loadings**2) * own, self.marginal)


@checks_options
@dataclass(frozen=True)
class Causal(NumberedFactors):
    """A chain of noisy causes: z_{j+1} = w f(z_j) + sqrt(1 - w^2) e.

    ``link`` is linear, f(z) = z, or square, f(z) = (z^2 - 1) / sqrt 2. In the second case, z_1 and z_2 are dependent
    but uncorrelated.

    >>> factors = Causal(2, weight=0.9, link="square").sample(20_000, rng=0)
    >>> bool(abs(np.corrcoef(factors, rowvar=False)[0, 1]) < 0.03)
    True
    """

    n_factors: Count = 5
    weight: Finite = 0.8
    link: Literal["linear", "square"] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self.weight) >= 1:
            raise OptionError(f"weight={self.weight} is not valid: use a number between -1 and 1.")

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        noise = world_stream(rng, n_rows).normal(size=(n_rows, self.n_factors))
        columns = [noise[:, 0]]
        for own in noise.T[1:]:
            cause = columns[-1] if self.link == "linear" else (columns[-1] ** 2 - 1) / np.sqrt(2)
            columns.append(self.weight * cause + np.sqrt(1 - self.weight**2) * own)
        return np.column_stack(columns)


def _gaussian(correlation: FloatArray, n_rows: int, rng: Rng) -> FloatArray:
    """Rows drawn from N(0, correlation); the correlation matrix may be singular."""
    values, vectors = np.linalg.eigh(correlation)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # unlike eigenvectors, the same on all processors
    return world_stream(rng, n_rows).normal(size=(n_rows, values.size)) @ root


@dataclass(frozen=True)
class _Constrained(NumberedFactors):
    """Base class of worlds in which the first factors determine some others; ``functions`` name the functions."""

    n_factors: Count = 5
    functions: tuple[str, ...] = ()
    marginal: Marginal = "gaussian"

    known: ClassVar[Mapping[str, Function]]
    n_sources: ClassVar[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.functions if name not in self.known]
        if unknown:
            raise OptionError(f"There is no constraint {unknown[0]!r}: use {', '.join(self.known)}.")
        at_most = self.n_factors - self.n_sources
        if not 1 <= len(self.functions) <= at_most:
            raise InputError(f"{len(self.functions)} functions do not fit the number of factors: use 1 to {at_most}.")

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The factors that the first ones determine."""
        first = self.n_sources
        return tuple(
            Constraint(first + k, tuple(range(first)), f"z{first + k + 1} = {function.formula}", function.invertible)
            for k, function in enumerate(self.known[name] for name in self.functions)
        )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        free = Independent(self.effective_dimension, self.marginal).sample(n_rows, rng)
        sources, rest = free[:, : self.n_sources], free[:, self.n_sources :]
        return np.column_stack([sources, *(self.known[name](*sources.T) for name in self.functions), rest])


@checks_options
@dataclass(frozen=True)
class OneFactorConstraint(_Constrained):
    """D_f of 003: factors that are functions of the first one, (z1, f1(z1), ..., z_2, z_3, ...); the rest vary freely.

    ``functions`` has one name for every constrained factor. The functions cube and tanh (tanh(2x^3 - .1), as in the
    released code) are invertible. The functions sign, square, absolute, rectified (max(z1, 0)) and sine (sin 3 z1) are
    many-to-one.

    >>> world = OneFactorConstraint(4)
    >>> factors = world.sample(5, rng=0)
    >>> bool(np.allclose(factors[:, 1], factors[:, 0] ** 3)), world.effective_dimension
    (True, 3)
    """

    functions: tuple[str, ...] = ("cube",)

    known = ONE_FACTOR
    n_sources = 1


@checks_options
@dataclass(frozen=True)
class TwoFactorConstraint(_Constrained):
    """D_F of 003: factors that are functions of the first two, (z1, z2, g1(z1, z2), ..., z_3, ...).

    ``functions`` has one name for every constrained factor: product, sum, sum_of_squares, tanh_product, signed_root.

    >>> world = TwoFactorConstraint(4)
    >>> factors = world.sample(5, rng=0)
    >>> bool(np.allclose(factors[:, 2], factors[:, 0] * factors[:, 1])), world.effective_dimension
    (True, 3)
    """

    functions: tuple[str, ...] = ("product",)

    known = TWO_FACTORS
    n_sources = 2


@checks_options
@dataclass(frozen=True)
class Circuit:
    """The circuit with a resistor, the running example of 003: four quantities with two degrees of freedom.

    Ambient temperature T (degrees Celsius) and current I (amperes) vary freely. They determine the resistance
    R = R0 (1 + alpha (T - T0)) (ohms) and the voltage V = I R (volts).

    >>> temperature, resistance, current, voltage = Circuit().sample(5, rng=0).T
    >>> bool(np.allclose(voltage, current * resistance))
    True
    """

    reference_resistance: Finite = 100.0
    reference_temperature: Finite = 20.0
    temperature_coefficient: Finite = 0.0039

    n_factors = 4
    factor_names = ("T", "R", "I", "V")
    effective_dimension = 2
    constraints = (
        Constraint(1, (0,), "R = R0 (1 + alpha (T - T0))", invertible=True),
        Constraint(3, (1, 2), "V = I R"),
    )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of T, R, I and V, n x 4."""
        generator = world_stream(rng, n_rows)
        temperature = generator.normal(self.reference_temperature, 15.0, n_rows)
        current = generator.uniform(0.5, 2.0, n_rows)
        warmth = temperature - self.reference_temperature
        resistance = self.reference_resistance * (1 + self.temperature_coefficient * warmth)
        return np.column_stack([temperature, resistance, current, current * resistance])


@checks_options
@dataclass(frozen=True)
class Levelled(NumberedFactors):
    """Independent factors; the first ``n_continuous`` of them are N(0, 1), and the others have a few levels.

    Levels are equally likely and equally spaced, with mean 0 and variance 1. The numbers of levels are used in turn.

    >>> factors = Levelled(3, n_continuous=1, levels=(2,)).sample(100, rng=0)
    >>> [np.unique(column).size for column in factors.T]
    [100, 2, 2]
    """

    n_factors: Count = 5
    n_continuous: Whole = 0
    levels: tuple[Count, ...] = (2, 3, 4, 5, 6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels or min(self.levels) < 2:
            raise OptionError(f"levels={self.levels} is not valid: use numbers of levels from 2.")

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


@checks_options
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


__all__ = [
    "Causal",
    "Circuit",
    "Confounded",
    "Constraint",
    "Correlated",
    "Independent",
    "Levelled",
    "Marginal",
    "OneFactorConstraint",
    "Reordered",
    "TwoFactorConstraint",
    "WithCovariance",
    "World",
    "with_marginal",
]
