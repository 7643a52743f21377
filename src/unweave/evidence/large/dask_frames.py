"""Tables of dask.dataframe, which are read one partition at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.evidence.large.row_blocks import LARGEST_IN_MEMORY, ROWS_IN_BLOCK, Block, RowBlocks
from unweave.evidence.reading.columns import EvidenceError


@dataclass(frozen=True, eq=False)
class FramePart:
    """One partition of two lazy tables, factors and codes, which is computed when it is read."""

    factors: Any
    codes: Any
    n_rows: int

    def blocks(self) -> Iterator[Block]:
        """Yield the partition in blocks of at most 131,072 rows."""
        factors, codes = self._computed()
        for start in range(0, self.n_rows, ROWS_IN_BLOCK):
            yield _columns(factors, codes, start, min(start + ROWS_IN_BLOCK, self.n_rows))

    def some(self, start: int, stop: int) -> Block:
        """The rows of the partition from ``start`` to ``stop``."""
        return _columns(*self._computed(), start, stop)

    def _computed(self) -> tuple[Any, Any]:
        return tuple(side.compute(scheduler="synchronous") for side in (self.factors, self.codes))


def is_dask_frame(given: object) -> bool:
    """Whether the object is a table of dask.dataframe."""
    home = type(given).__module__.split(".")[0]
    return home in ("dask", "dask_expr") and hasattr(given, "npartitions") and hasattr(given, "columns")


def frame_blocks(factors: Any, codes: Any, **settings: Any) -> RowBlocks | None:
    """Blocks of two tables with the same partitions; None if they are small enough to be read at once.

    The rows of every partition are counted first, so the tables are computed one more time than for the pass alone.
    """
    lengths = [side.map_partitions(len).compute(scheduler="synchronous").tolist() for side in (factors, codes)]
    n_rows = sum(lengths[0])
    if sum(lengths[1]) * len(codes.columns) + n_rows * len(factors.columns) <= LARGEST_IN_MEMORY:
        return None
    if lengths[0] != lengths[1]:
        raise EvidenceError(
            f"The partitions do not pair up: factors have {n_rows} rows in {len(lengths[0])} partitions, codes have "
            f"{sum(lengths[1])} in {len(lengths[1])}; give both tables the same divisions with repartition()."
        )
    return RowBlocks(
        [
            FramePart(factors.get_partition(k), codes.get_partition(k), length)
            for k, length in enumerate(lengths[0])
            if length
        ],
        tuple(map(str, factors.columns)),
        tuple(map(str, codes.columns)),
        **settings,
    )


def _columns(factors: Any, codes: Any, start: int, stop: int) -> Block:
    rows = slice(start, stop)
    try:
        table = codes.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        text = next(name for name, kind in codes.dtypes.items() if kind.kind not in "biuf")
        raise EvidenceError(f"Column {text!r} of the codes is not numeric: leave this column out.") from None
    return [factors[name].iloc[rows].to_numpy() for name in factors.columns], table
