"""`RowBlocks`: factors and codes of many rows, which are read in blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, read_stored

ROWS_IN_BLOCK = 131_072
ROWS_IN_PART = 16 * ROWS_IN_BLOCK  # the rows that one worker of a cluster reads in one task
SAMPLE_ROWS = 50_000
PLANNING_ROWS = 1_000_000
LARGEST_IN_MEMORY = 40_000_000  # numbers, 320 MB; larger arrays are read in blocks if they support slices

Block = tuple[Sequence[NDArray[Any]], FloatArray]


class BlockPart(Protocol):
    """Consecutive rows that one worker reads; a part is sent to workers, so it must be picklable."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def blocks(self) -> Iterator[Block]:
        """Yield the columns of the factors and the table of codes (rows x codes) in blocks of consecutive rows."""

    def some(self, start: int, stop: int) -> Block:
        """The rows of the part from ``start`` to ``stop``."""


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Factors and codes of many rows, in parts that are read one after another; pass it instead of the factors.

    Parameters
    ----------
    parts : sequence of BlockPart
        Sources of consecutive rows.
    factor_names, code_names : tuple of str
        Names of the columns of every part.
    sample_rows : int
        Number of rows in the random sample for metrics that need rows.
    planning_rows : int
        Largest number of rows from which bin edges are computed, reduced if there are more than 16 columns. The edges
        are exact if the source has no more rows than this number.
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
        """Number of rows of all parts."""
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
        """Number of rows."""
        return self.stop - self.start

    def blocks(self) -> Iterator[Block]:
        """Yield slices of the arrays of at most 131,072 rows each."""
        for start in range(0, self.n_rows, ROWS_IN_BLOCK):
            yield self.some(start, min(start + ROWS_IN_BLOCK, self.n_rows))

    def some(self, start: int, stop: int) -> Block:
        """The rows of the part from ``start`` to ``stop``."""
        rows = slice(self.start + start, self.start + stop)
        factors, codes = _read(self.factors, rows), _read(self.codes, rows)
        return list(factors.T), np.asarray(codes, dtype=np.float64)


def array_blocks(
    factors: Any,
    codes: Any,
    *,
    factor_names: Sequence[str] | None = None,
    code_names: Sequence[str] | None = None,
    rows_in_part: int = ROWS_IN_PART,
    **settings: Any,
) -> RowBlocks:
    """Blocks of two arrays with the same number of rows, each with one or two axes."""
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
    """Whether the object is an array that can stay on disk: memory-mapped, or of HDF5, Zarr or dask."""
    if isinstance(given, np.ndarray):
        return isinstance(given, np.memmap)
    home = type(given).__module__.split(".")[0]
    return home in ("h5py", "zarr", "dask") and hasattr(given, "shape") and hasattr(given, "dtype")


def is_large(factors: Any, codes: Any) -> bool:
    """Whether factors and codes are arrays that can stay on disk and together have too many numbers for memory."""

    if not (is_read_by_slices(factors) and is_read_by_slices(codes)):
        return False
    return math.prod(factors.shape) + math.prod(codes.shape) > LARGEST_IN_MEMORY


def _read(array: Any, rows: slice) -> NDArray[Any]:
    block = read_stored(array, rows)
    return block[:, None] if block.ndim == 1 else block


def _names(array: Any, what: str, stated: Sequence[str] | None) -> tuple[str, ...]:
    n_columns = 1 if len(array.shape) == 1 else int(array.shape[1])
    if len(array.shape) > 2:
        raise EvidenceError(f"The {what}s have shape {tuple(array.shape)}: pass one row per sample.")
    names = tuple(f"{what} {j}" for j in range(n_columns)) if stated is None else tuple(map(str, stated))
    if len(names) != n_columns:
        raise EvidenceError(f"There are {len(names)} {what} names for {n_columns} {what}s: give one for each column.")
    return names
