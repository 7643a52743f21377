"""Numeric columns of one block; missing values, infinite values and text are treated as for data in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, Levels, numbers, quoted
from unweave.evidence.reading.extremes import LARGEST_SQUARED


@dataclass(eq=False)
class BlockReader:
    """Reads blocks of columns with these names; levels of text are numbered in the order of their first block.

    >>> reader = BlockReader(("shape",), ("code 0",), "drop")
    >>> reader.read([np.array(["b", "a"])], np.array([[1.0], [np.nan]]), 0)[0].tolist(), reader.levels
    ([[1.0]], {0: ('a', 'b')})
    """

    factor_names: tuple[str, ...]
    code_names: tuple[str, ...]
    missing: Literal["refuse", "drop"]
    levels: dict[int, Levels] = field(default_factory=dict)

    def read(
        self, columns: Sequence[NDArray[Any]], codes: FloatArray, first_row: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_] | None]:
        """Factors and codes of the rows without missing values, and the mask of these rows (None for all)."""
        if len(columns) != len(self.factor_names) or codes.shape[1] != len(self.code_names):
            raise EvidenceError(
                f"The block at row {first_row} has {len(columns)} factors and {codes.shape[1]} codes, and there are "
                f"{len(self.factor_names)} and {len(self.code_names)}: give all blocks the same columns."
            )
        factors = np.empty((len(codes), len(columns)), order="F")
        for j, column in enumerate(columns):
            factors[:, j] = self._numbers(j, column)
        codes = np.asfortranarray(codes)
        with np.errstate(over="ignore", invalid="ignore"):
            fine = bool(np.isfinite(factors.sum()) and np.isfinite(codes.sum()))
        if fine:
            return factors, codes, None
        complete = np.asarray(~(np.isnan(factors).any(axis=1) | np.isnan(codes).any(axis=1)))
        if self.missing != "drop" and not complete.all():
            row = first_row + int(np.flatnonzero(~complete)[0])
            raise EvidenceError(
                f"Values are missing in row {row}, the first of {int((~complete).sum())} such rows in its block; fill "
                "them in, or leave these rows out with missing='drop' (--missing drop on the command line)."
            )
        return np.asfortranarray(factors[complete]), np.asfortranarray(codes[complete]), complete

    def merged(self, seen: Mapping[int, Levels]) -> dict[int, FloatArray]:
        """Add the levels of another reader; return this reader's numbers of them, for factors where they differ.

        >>> reader = BlockReader(("shape",), (), "refuse", {0: ("a", "c")})
        >>> reader.merged({0: ("a", "b")}), reader.levels
        ({0: array([0., 2.])}, {0: ('a', 'c', 'b')})
        """
        places: dict[int, FloatArray] = {}
        for j, levels in seen.items():
            known = self.levels.get(j, ())
            if levels == known[: len(levels)]:
                continue
            known = self.levels[j] = (*known, *(level for level in levels if level not in set(known)))
            place = {level: k for k, level in enumerate(known)}
            places[j] = np.array([place[level] for level in levels], dtype=np.float64)
        return places

    def check_reach(self, lowest: FloatArray, highest: FloatArray, first_row: int) -> None:
        """Raise an error for infinite numbers, and for numbers whose squares are too large for a float."""
        largest = np.maximum(highest, -lowest)
        bad = np.flatnonzero(~(largest <= LARGEST_SQUARED))
        if bad.size:
            name = (*self.factor_names, *self.code_names)[int(bad[0])]
            raise EvidenceError(
                f"{quoted(name)} reaches {largest[bad[0]]:.3g} from row {first_row} on, and its square is too large "
                "for a float: clip these values or leave the rows out."
            )

    def _numbers(self, j: int, column: NDArray[Any]) -> FloatArray:
        found, levels = numbers(column, f"Factor {quoted(self.factor_names[j])}")
        if levels is None:
            if j in self.levels and len(column):
                raise EvidenceError(
                    f"Factor {quoted(self.factor_names[j])} is text in some blocks and numbers in others: write it "
                    "with one kind in all parts."
                )
            return found
        known = self.levels.setdefault(j, levels)
        if known == levels:
            return found
        known = self.levels[j] = (*known, *(level for level in levels if level not in set(known)))
        place = {level: k for k, level in enumerate(known)}
        among = np.array([place[level] for level in levels], dtype=np.float64)
        missing = np.isnan(found)
        return np.where(missing, np.nan, among[np.where(missing, 0, found).astype(np.intp)])
