"""Rows with missing values: an error that names their columns, or rows that are dropped from all tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import Rows
from unweave.evidence.reading.columns import EvidenceError, quoted
from unweave.evidence.reading.tables import Table

MOST_COLUMNS_NAMED = 5


def rows_without_missing(tables: Mapping[str, Table], missing: str) -> Rows | None:
    """Rows to keep, or None for all; infinite values, and missing ones unless they are dropped, raise an error."""
    if missing not in ("refuse", "drop"):
        raise EvidenceError(f"missing={missing!r} is not known: use 'refuse' or 'drop'.")
    masks = {what: _missing_mask(table) for what, table in tables.items()}
    found = [mask.any(axis=1) for mask in masks.values() if mask is not None]
    if not found:
        return None
    bad_rows = np.logical_or.reduce(found)
    if missing == "refuse":
        counts = [
            f"{tables[what].what} {quoted(name)} ({count})"
            for what, mask in masks.items()
            if mask is not None
            for name, count in zip(tables[what].names, mask.sum(axis=0), strict=True)
            if count
        ]
        left_out = len(counts) - MOST_COLUMNS_NAMED
        more = f" and {left_out} more column{'s' * (left_out > 1)}" if left_out > 0 else ""
        raise EvidenceError(
            f"Values are missing in {int(bad_rows.sum())} of {bad_rows.size} rows: "
            f"{', '.join(counts[:MOST_COLUMNS_NAMED])}{more}; fill them in, or leave these rows out with "
            "missing='drop' (--missing drop on the command line)."
        )
    if bad_rows.all():
        raise EvidenceError(
            "Every row has a missing value, so dropping leaves none: fill them in or leave columns out."
        )
    return np.flatnonzero(~bad_rows)


def _missing_mask(table: Table) -> NDArray[np.bool_] | None:
    """Mask of the missing values, or None if there are none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(table.values.sum()):  # the usual case needs one pass and no mask
            return None
    infinite = np.isinf(table.values).sum(axis=0)
    if infinite.any():
        j = int(np.flatnonzero(infinite)[0])
        raise EvidenceError(
            f"{table.what.capitalize()} {quoted(table.names[j])} is infinite in {infinite[j]} rows: "
            "clip these values or leave the rows out."
        )
    mask = np.isnan(table.values)
    return mask if mask.any() else None
