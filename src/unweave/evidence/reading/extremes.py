"""Numbers whose powers float64 cannot hold: codes are scaled; factors and posteriors that have them are refused."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, quoted
from unweave.evidence.reading.tables import Table

LARGEST_SQUARED = 1e150
LARGEST_EXPONENT, SMALLEST_EXPONENT = 500, -250  # of 2; codes may differ in their last digits, and these are squared


def refuse_extremes(*tables: Table | None) -> None:
    """Metrics square these columns, which has to stay within float64."""
    for table in filter(None, tables):
        for name, column in zip(table.names, table.values.T, strict=True):
            with np.errstate(over="ignore"):
                largest, span = np.abs(column).max(), column.max() - column.min()
            if largest > LARGEST_SQUARED or 0 < span < 1 / LARGEST_SQUARED:
                raise EvidenceError(
                    f"{table.what.capitalize()} {quoted(name)} reaches {largest:.3g} and spans {span:.3g}, "
                    "whose squares floats cannot hold: state it in other units."
                )


def within_reach(codes: FloatArray) -> FloatArray:
    """The codes, all divided by one power of two if the largest is beyond 2**500 or a column stays below 2**-250.

    No metric minds the unit of all codes together, and a power of two changes no digit. A column that is too small for
    that unit is brought up to 2**-250: next to the largest it is still nothing.

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
