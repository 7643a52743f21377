"""Tables of probabilities p(y | x): one row per sample, one column per value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, plain, quoted

SUM_TOLERANCE = 1e-3


def probability_table(given: object, where: str) -> FloatArray:
    """Checked table of probabilities, with rows normalised to a sum of one.

    >>> probability_table([[0.5, 0.5], [0.0, 1.0]], "Factor 'shape'").shape
    (2, 2)
    """
    table = np.array(plain(given), dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise EvidenceError(
            f"{where} has shape {table.shape}: a table of probabilities has one row per sample and one column per "
            "value, two at least."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        bad = int((~np.isfinite(table) | (table < 0)).any(axis=1).sum())
        raise EvidenceError(
            f"{where} is negative or missing in {bad} rows: pass probabilities, such as the softmax of the logits, "
            "or give every column a name of its own if these are several factors."
        )
    totals = table.sum(axis=1)
    off = np.abs(totals - 1) > SUM_TOLERANCE
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise EvidenceError(
            f"{where} does not sum to one in {int(off.sum())} rows (row {first} sums to {totals[first]:.4g}): "
            "pass probabilities, such as the softmax of the logits, or give every column a name of its own "
            "if these are several factors."
        )
    table /= totals[:, None]
    table.flags.writeable = False
    return table


def split_off_tables(factors: object) -> tuple[object, dict[str, FloatArray]]:
    """Factors with every table of probabilities replaced by the most probable values, and these tables by name.

    >>> factors, tables = split_off_tables({"size": [1.0, 2.0], "shape": [[0.9, 0.1], [0.2, 0.8]]})
    >>> factors["shape"].tolist(), list(tables)
    ([0, 1], ['shape'])
    """
    if not isinstance(factors, Mapping):
        return factors, {}
    tables = {
        name: probability_table(column, f"Factor {quoted(name)}, a table read as probabilities of its values,")
        for name, column in factors.items()
        if _is_table(column)
    }
    columns = {name: tables[name].argmax(axis=1) if name in tables else column for name, column in factors.items()}
    return columns, {str(name): table for name, table in tables.items()}


def _is_table(column: object) -> bool:
    if hasattr(column, "shape"):
        return len(column.shape) == 2
    return isinstance(column, (list, tuple)) and bool(column) and isinstance(column[0], (list, tuple))
