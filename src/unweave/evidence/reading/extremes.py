"""Numbers whose squares overflow or underflow float64: codes are rescaled, and factors and posteriors are an error."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, quoted
from unweave.evidence.reading.tables import Table

LARGEST_SQUARED = 1e150
LARGEST_EXPONENT, SMALLEST_EXPONENT = 500, -250  # powers of 2 with room for squares of differences in the last digits


def refuse_extremes(*tables: Table | None) -> None:
    """Raise an error for columns whose squares overflow or underflow float64."""
    for table in filter(None, tables):
        for name, column in zip(table.names, table.values.T, strict=True):
            with np.errstate(over="ignore"):
                largest, span = np.abs(column).max(), column.max() - column.min()
            if largest > LARGEST_SQUARED or 0 < span < 1 / LARGEST_SQUARED:
                raise EvidenceError(
                    f"{table.what.capitalize()} {quoted(name)} reaches {largest:.3g} and spans {span:.3g}, "
                    "so that squares overflow or underflow: state it in other units."
                )


def within_reach(codes: FloatArray) -> FloatArray:
    """Codes divided by a common power of two, if any is above 2**500 or all of a column are below 2**-250.

    No metric depends on the common scale of all codes, and division by a power of two is exact. A column that is still
    too small is scaled up to 2**-250, where it remains negligible relative to the largest column.

    >>> within_reach(np.array([[1.5, 2.0], [1.0, -3.0]])).tolist()
    [[1.5, 2.0], [1.0, -3.0]]
    >>> scaled = within_reach(np.array([[1e308, 1.0], [-1e308, 2.0]]))
    >>> float(scaled[1, 0] / scaled[0, 0]), float(scaled[1, 1] / scaled[0, 1]), bool(np.square(scaled).sum() < np.inf)
    (-1.0, 2.0, True)
    """
    largest = np.maximum(codes.max(axis=0, initial=0.0), -codes.min(axis=0, initial=0.0))
    exponents = np.frexp(largest)[1][largest > 0]
    if not exponents.size or (exponents.max() <= LARGEST_EXPONENT and exponents.min() >= SMALLEST_EXPONENT):
        return codes
    unit = exponents.max() - np.clip(exponents.max(), 0, LARGEST_EXPONENT)
    shifts = np.zeros(largest.size, dtype=np.intp)
    shifts[largest > 0] = np.maximum(exponents - unit, SMALLEST_EXPONENT) - exponents
    return np.asfortranarray(np.ldexp(codes, shifts))
