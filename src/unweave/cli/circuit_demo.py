"""The built-in demonstration: a circuit with a resistor, and encoders that keep, mix, drop or ignore its factors."""

from __future__ import annotations

from unweave.arrays import FloatArray
from unweave.synthetic.encoders import Encoder, Kept, Mixed, Noise, PermutedAndScaled
from unweave.synthetic.worlds import Circuit

DEMO_BUDGET = 30.0  # seconds


def circuit_encoders(n_rows: int, rng: int = 0) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Factors by name, and the codes of four encoders by name."""
    columns = Circuit().sample(n_rows, rng)
    factors = dict(zip(Circuit.factor_names, columns.T, strict=True))
    encoders: dict[str, Encoder] = {
        "rescaled": PermutedAndScaled(),
        "mixed": Mixed(standardise=True),
        "T, I only": Kept((0, 2)),
        "noise": Noise(4),
    }
    return factors, {name: encoder.encode(columns, rng + 3) for name, encoder in encoders.items()}


def introduction() -> str:
    """A text that explains what the demonstration shows."""
    laws = " and ".join(constraint.sentence for constraint in Circuit.constraints)
    return (
        "A circuit with a resistor: temperature T, resistance R, current I, voltage V.\n"
        f"Two laws ({laws}) leave two degrees of freedom.\n"
        "Four encoders: every factor rescaled; all mixed linearly; T and I alone, which determine the rest; noise.\n"
    )
