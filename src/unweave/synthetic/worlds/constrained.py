"""Worlds in which some factors are functions of others: D_f and D_F of 003, and the circuit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.functions import ONE_FACTOR, TWO_FACTORS
from unweave.synthetic.worlds.free import Independent
from unweave.synthetic.worlds.world import Constraint, Marginal, NumberedFactors, Rng


@dataclass(frozen=True)
class OneFactorConstraint(NumberedFactors):
    """D_f of 003: factors that are functions of the first one, (z1, f1(z1), ..., z_2, z_3, ...); the rest vary freely.

    ``functions`` has one name for every constrained factor. The functions cube and tanh (tanh(2x^3 - .1), as in the
    released code) are invertible. The functions sign, square, absolute, rectified (max(z1, 0)) and sine (sin 3 z1) are
    many-to-one.

    >>> world = OneFactorConstraint(4)
    >>> factors = world.sample(5, rng=0)
    >>> bool(np.allclose(factors[:, 1], factors[:, 0] ** 3)), world.effective_dimension
    (True, 3)
    """

    n_factors: int = 5
    functions: tuple[str, ...] = ("cube",)
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        _refuse_unknown(self.functions, tuple(ONE_FACTOR), self.n_factors - 1)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The factors that the first one determines."""
        return tuple(
            Constraint(1 + k, (0,), f"z{k + 2} = {ONE_FACTOR[name].formula}", ONE_FACTOR[name].invertible)
            for k, name in enumerate(self.functions)
        )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        free = Independent(self.effective_dimension, self.marginal).sample(n_rows, rng)
        determined = [ONE_FACTOR[name](free[:, 0]) for name in self.functions]
        return np.column_stack([free[:, :1], *determined, free[:, 1:]])


@dataclass(frozen=True)
class TwoFactorConstraint(NumberedFactors):
    """D_F of 003: factors that are functions of the first two, (z1, z2, g1(z1, z2), ..., z_3, ...).

    ``functions`` has one name for every constrained factor: product, sum, sum_of_squares, tanh_product, signed_root.

    >>> world = TwoFactorConstraint(4)
    >>> factors = world.sample(5, rng=0)
    >>> bool(np.allclose(factors[:, 2], factors[:, 0] * factors[:, 1])), world.effective_dimension
    (True, 3)
    """

    n_factors: int = 5
    functions: tuple[str, ...] = ("product",)
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        _refuse_unknown(self.functions, tuple(TWO_FACTORS), self.n_factors - 2)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The factors that the first two determine."""
        return tuple(
            Constraint(2 + k, (0, 1), f"z{k + 3} = {TWO_FACTORS[name].formula}")
            for k, name in enumerate(self.functions)
        )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        free = Independent(self.effective_dimension, self.marginal).sample(n_rows, rng)
        determined = [TWO_FACTORS[name](free[:, 0], free[:, 1]) for name in self.functions]
        return np.column_stack([free[:, :2], *determined, free[:, 2:]])


@dataclass(frozen=True)
class Circuit:
    """The circuit with a resistor, the running example of 003: four quantities with two degrees of freedom.

    Ambient temperature T (degrees Celsius) and current I (amperes) vary freely. They determine the resistance
    R = R0 (1 + alpha (T - T0)) (ohms) and the voltage V = I R (volts).

    >>> temperature, resistance, current, voltage = Circuit().sample(5, rng=0).T
    >>> bool(np.allclose(voltage, current * resistance))
    True
    """

    reference_resistance: float = 100.0
    reference_temperature: float = 20.0
    temperature_coefficient: float = 0.0039

    n_factors = 4
    factor_names = ("T", "R", "I", "V")
    effective_dimension = 2
    constraints = (
        Constraint(1, (0,), "R = R0 (1 + alpha (T - T0))", invertible=True),
        Constraint(3, (1, 2), "V = I R"),
    )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of T, R, I and V, n x 4."""
        generator = random_stream(rng, "world")
        temperature = generator.normal(self.reference_temperature, 15.0, n_rows)
        current = generator.uniform(0.5, 2.0, n_rows)
        warmth = temperature - self.reference_temperature
        resistance = self.reference_resistance * (1 + self.temperature_coefficient * warmth)
        return np.column_stack([temperature, resistance, current, current * resistance])


def _refuse_unknown(functions: tuple[str, ...], known: tuple[str, ...], at_most: int) -> None:
    unknown = [name for name in functions if name not in known]
    if unknown:
        raise EvidenceError(f"There is no constraint {unknown[0]!r}: use {', '.join(known)}.")
    if not 1 <= len(functions) <= at_most:
        raise EvidenceError(f"{len(functions)} functions do not fit the number of factors: use 1 to {at_most}.")
