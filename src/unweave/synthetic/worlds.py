"""Worlds: factors whose dependence is known by construction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Circuit:
    """The circuit with a resistor, 003's running example: four quantities, two degrees of freedom.

    Ambient temperature T and current I vary freely; resistance R = R0 (1 + alpha (T - T0)) and voltage V = I R follow.

    >>> factors = Circuit().sample(5, rng=0)
    >>> bool(np.allclose(factors["V"], factors["I"] * factors["R"]))
    True
    """

    reference_resistance: float = 100.0
    reference_temperature: float = 20.0
    temperature_coefficient: float = 0.0039

    factor_names = ("T", "R", "I", "V")
    effective_dimension = 2
    constraints = ("R = R0 (1 + alpha (T - T0))", "V = I R")

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> dict[str, FloatArray]:
        """Columns by name: T in degrees Celsius, R in ohms, I in amperes, V in volts."""
        generator = np.random.default_rng(rng)
        temperature = generator.normal(self.reference_temperature, 15.0, n_rows)
        current = generator.uniform(0.5, 2.0, n_rows)
        warmth = temperature - self.reference_temperature
        resistance = self.reference_resistance * (1 + self.temperature_coefficient * warmth)
        return {"T": temperature, "R": resistance, "I": current, "V": current * resistance}
