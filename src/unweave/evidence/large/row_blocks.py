"""`RowBlocks`: factors and codes of many rows, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError

ROWS_IN_BLOCK = 131_072
ROWS_IN_PART = 16 * ROWS_IN_BLOCK  # what one worker of a cluster reads at a time
SAMPLE_ROWS = 50_000
PLANNING_ROWS = 1_000_000
LARGEST_IN_MEMORY = 40_000_000  # numbers, 320 MB: arrays that can be read in blocks are, from here on

Block = tuple[Sequence[NDArray[Any]], FloatArray]


class BlockPart(Protocol):
    """Some consecutive rows, which a worker can read on its own; it is sent to workers, so it must be picklable."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    def blocks(self) -> Iterator[Block]:
        """The columns of the factors and the table of codes (rows x codes), some rows at a time, in their order."""

    def some(self, start: int, stop: int) -> Block:
        """These of its rows."""


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Factors and codes of many rows, in parts that are read one after another; pass it in the place of factors.

    Parameters
    ----------
    parts : sequence of BlockPart
        Where the rows are.
    factor_names, code_names : tuple of str
        Names of the columns of every part.
    sample_rows : int
        Rows in the random sample for metrics that need rows.
    planning_rows : int
        Rows that the edges of bins come from; where there are no more, the edges are exact.
    cluster : str, optional
        Address of a Dask scheduler whose workers read the parts.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> blocks = array_blocks(rows, rows * [2, -1], sample_rows=100)
    >>> score = mcc(blocks)
    >>> round(score.value, 6), len(blocks.parts)
    (1.0, 1)
    """

    parts: Sequence[BlockPart]
    factor_names: tuple[str, ...]
    code_names: tuple[str, ...]
    sample_rows: int = SAMPLE_ROWS
    planning_rows: int = PLANNING_ROWS
    cluster: str | None = None
    seed: int = field(default=0)

    @property
    def n_rows(self) -> int:
        """Rows of all parts."""
        return sum(part.n_rows for part in self.parts)


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """Rows of two arrays that are read by slices: numpy, memory-mapped, HDF5, Zarr or dask."""

    factors: Any
    codes: Any
    start: int
    stop: int

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.stop - self.start

    def blocks(self) -> Iterator[Block]:
        """Slices of the arrays, at most 131,072 rows each."""
        for start in range(0, self.n_rows, ROWS_IN_BLOCK):
            yield self.some(start, min(start + ROWS_IN_BLOCK, self.n_rows))

    def some(self, start: int, stop: int) -> Block:
        """These of its rows."""
        rows = slice(self.start + start, self.start + stop)
        factors, codes = _read(self.factors, rows), _read(self.codes, rows)
        return list(factors.T), codes.astype(np.float64, copy=False)


def array_blocks(
    factors: Any,
    codes: Any,
    *,
    factor_names: Sequence[str] | None = None,
    code_names: Sequence[str] | None = None,
    rows_in_part: int = ROWS_IN_PART,
    **settings: Any,
) -> RowBlocks:
    """Blocks of two arrays with as many rows, each with one or two axes."""
    if factors.shape[0] != codes.shape[0]:
        raise EvidenceError(
            f"The rows do not pair up: factors have {factors.shape[0]} rows, codes have {codes.shape[0]} rows; pass "
            "the same samples in the same order."
        )
    n_rows = int(codes.shape[0])
    starts = range(0, n_rows, rows_in_part)
    return RowBlocks(
        [ArrayPart(factors, codes, start, min(start + rows_in_part, n_rows)) for start in starts],
        _names(factors, "factor", factor_names),
        _names(codes, "code", code_names),
        **settings,
    )


def is_read_by_slices(given: object) -> bool:
    """Whether this is an array that need not be in memory: memory-mapped, of HDF5, Zarr or dask."""
    if isinstance(given, np.ndarray):
        return isinstance(given, np.memmap)
    home = type(given).__module__.split(".")[0]
    return home in ("h5py", "zarr", "dask") and hasattr(given, "shape") and hasattr(given, "dtype")


def is_large(factors: Any, codes: Any) -> bool:
    """Whether these are two such arrays, too many numbers to hold together."""
    if not (is_read_by_slices(factors) and is_read_by_slices(codes)):
        return False
    n_numbers = [int(np.prod(side.shape)) for side in (factors, codes)]
    return sum(n_numbers) > LARGEST_IN_MEMORY


def _read(array: Any, rows: slice) -> NDArray[Any]:
    block = array[rows]
    block = np.asarray(block.compute(scheduler="synchronous") if hasattr(block, "compute") else block)
    return block[:, None] if block.ndim == 1 else block


def _names(array: Any, what: str, stated: Sequence[str] | None) -> tuple[str, ...]:
    n_columns = 1 if len(array.shape) == 1 else int(array.shape[1])
    if len(array.shape) > 2:
        raise EvidenceError(f"The {what}s have shape {tuple(array.shape)}: pass one row per sample.")
    names = tuple(f"{what} {j}" for j in range(n_columns)) if stated is None else tuple(map(str, stated))
    if len(names) != n_columns:
        raise EvidenceError(f"There are {len(names)} {what} names for {n_columns} {what}s: give one for each column.")
    return names
