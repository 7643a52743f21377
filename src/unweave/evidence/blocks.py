"""Evidence that does not fit into memory: rows in blocks, on one machine or on a cluster."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError, OptionError
from unweave.estimators.totals import (
    COUNTED,
    PassPlan,
    RowTotals,
    largest_drift,
    never_vary,
    planned_pass,
    totals_of,
)
from unweave.evidence.columns import LARGEST_SQUARED, BlockTotals, Levels, numbers, quoted, read_stored
from unweave.evidence.inputs import EvidenceOptions
from unweave.evidence.kinds import DeclaredKind, KindsGiven, resolved_kinds
from unweave.randomness import random_stream
from unweave.sentences import printable


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
            raise InputError(
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
            raise InputError(
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
            raise InputError(
                f"{quoted(name)} reaches {largest[bad[0]]:.3g} from row {first_row} on, and its square is too large "
                "for a float: clip these values or leave the rows out."
            )

    def _numbers(self, j: int, column: NDArray[Any]) -> FloatArray:
        where = f"Factor {quoted(self.factor_names[j])}"
        values, levels, note = numbers(column, where, since=np.datetime64(0, "s"))  # the same day in every block
        if note is not None and note.kind == "asked":
            raise InputError(f"{where} has dates whose order a block of rows cannot tell: write them as 2024-01-31.")
        if levels is None:
            if j in self.levels and len(column):
                raise InputError(
                    f"Factor {quoted(self.factor_names[j])} is text in some blocks and numbers in others: write it "
                    "with one kind in all parts."
                )
            return values
        self.levels.setdefault(j, levels)
        places = self.merged({j: levels}).get(j)
        if places is None:
            return values
        missing = np.isnan(values)
        return np.where(missing, np.nan, places[np.where(missing, 0, values).astype(np.intp)])


SECONDS_TO_CONNECT = 10

SECONDS_WITHOUT_WORKERS = 10

SECONDS_BETWEEN_LOOKS = 0.2


def computed_on(address: str, tasks: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Yield results in the order of the tasks; raises an InputError if there is no cluster or it is lost."""
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise OptionError("A cluster needs the package distributed: install unweave[cluster].") from None
    try:
        client: Any = Client(  # type: ignore[no-untyped-call, unused-ignore]
            address, timeout=SECONDS_TO_CONNECT, set_as_default=False
        )
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"There is no cluster at {address} ({type(error).__name__}): start one with `dask scheduler`, or leave "
            "--cluster out."
        ) from None
    try:
        futures: list[Any] = [client.submit(task, pure=False, retries=2) for task in tasks]
        for future in futures:
            yield _result(client, future, address)
            future.release()
    except (CommClosedError, CancelledError, KilledWorker, OSError) as error:
        raise InputError(
            f"The cluster at {address} was lost before all rows were read ({type(error).__name__}): start it again, "
            "or leave --cluster out."
        ) from None
    finally:
        client.close(timeout=5)


def _result(client: Any, future: Any, address: str) -> Any:
    """Result of a future; raises an error if the cluster has lost all workers, because it would never arrive.

    A result that a worker holds is lost with the worker, so the workers are also watched while it is fetched.
    """
    with_workers = time.monotonic()
    while True:
        try:
            return future.result(timeout=SECONDS_BETWEEN_LOOKS)
        except TimeoutError:
            if future.status == "error":  # the task itself ran into a time limit
                raise
        if client.scheduler_info()["workers"]:
            with_workers = time.monotonic()
        elif time.monotonic() - with_workers > SECONDS_WITHOUT_WORKERS:
            raise InputError(f"The cluster at {address} has no workers: start some with `dask worker {address}`.")


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
        raise InputError(
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
        raise InputError(f"The {what}s have shape {tuple(array.shape)}: pass one row per sample.")
    names = tuple(f"{what} {j}" for j in range(n_columns)) if stated is None else tuple(map(printable, stated))
    if len(names) != n_columns:
        raise InputError(f"There are {len(names)} {what} names for {n_columns} {what}s: give one for each column.")
    return names


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
        raise InputError(
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
        raise InputError(f"Column {text!r} of the codes is not numeric: leave this column out.") from None
    return [factors[name].iloc[rows].to_numpy() for name in factors.columns], table


STRETCHES = 16

STRETCHED_ROWS = 250_000  # the standard error of the share of a bin that contains 1/20 of all rows is then .0004

LARGEST_DRIFT = 0.01  # of a bin's share among all rows from that among planning rows, for a single pass


@dataclass(frozen=True, eq=False)
class Gathered:
    """Totals of all rows, the factors and codes of the random sample, and how the totals were computed."""

    plan: PassPlan
    totals: RowTotals
    kinds: tuple[DeclaredKind, ...]
    factors: FloatArray
    codes: FloatArray
    levels: tuple[Levels | None, ...]
    n_passes: int
    n_planning: int


@dataclass(frozen=True, eq=False)
class Task:
    """The pass over one part of the source, which one worker computes."""

    part: BlockPart
    plan: PassPlan
    reader: BlockReader
    first_row: int
    wanted: Rows

    def __call__(self) -> tuple[RowTotals, FloatArray, FloatArray, dict[int, Levels]]:
        """Totals of the part, factors and codes of its sampled rows, and its levels of text."""
        totals: RowTotals | None = None
        sampled_rows: list[tuple[FloatArray, FloatArray]] = []
        row = self.first_row
        for columns, given_codes in self.part.blocks():
            n_given = len(given_codes)
            factors, codes, complete = self.reader.read(columns, given_codes, row)
            here = self.wanted[(self.wanted >= row) & (self.wanted < row + n_given)] - row
            if complete is not None:
                here = (np.cumsum(complete) - 1)[here[complete[here]]]
            sampled_rows.append((factors[here], codes[here]))
            if len(codes):
                with np.errstate(over="ignore", invalid="ignore"):
                    of_block = totals_of(self.plan, factors, codes, n_given - len(codes))
                self.reader.check_reach(of_block.lowest, of_block.highest, row)
                totals = of_block if totals is None else totals + of_block
            row += n_given
        if totals is None:
            raise InputError(f"No row from {self.first_row} on is complete: fill values in or leave the part out.")
        sampled = [np.concatenate([pair[side] for pair in sampled_rows]) for side in (0, 1)]
        return totals, sampled[0], sampled[1], self.reader.levels


def gathered(source: RowBlocks, kinds: KindsGiven, missing: Literal["refuse", "drop"]) -> Gathered:
    """Totals of all rows of a source, and a random sample of them, from one pass over the rows.

    A second pass is needed if the planning rows are not representative.
    """
    if not source.n_rows:
        raise InputError("There are no rows: pass at least a few samples.")
    reader = BlockReader(source.factor_names, source.code_names, missing)
    factors, codes = _planning_rows(source, reader)
    is_text = tuple(j in reader.levels for j in range(len(source.factor_names)))
    declared = resolved_kinds(factors, source.factor_names, is_text, kinds)
    n_planning = len(codes)
    roles, periods = [each.kind.role for each in declared], [each.period for each in declared]
    plan = planned_pass(factors, codes, roles, periods, COUNTED)
    totals, factors, codes = _pass(source, plan, reader)
    n_passes = 1
    if n_planning + totals.n_dropped < source.n_rows and largest_drift(plan, totals) > LARGEST_DRIFT:
        plan = planned_pass(factors, codes, roles, periods, COUNTED)
        n_planning, n_passes = len(codes), 2
        totals, factors, codes = _pass(source, plan, reader)
    levels = tuple(reader.levels.get(j) for j in range(len(source.factor_names)))
    return Gathered(plan, totals, declared, factors, codes, levels, n_passes, n_planning)


def _planning_rows(source: RowBlocks, reader: BlockReader) -> tuple[FloatArray, FloatArray]:
    """Factors and codes of all rows if there are few enough, otherwise of stretches spread over all rows."""
    n_columns = len(source.factor_names) + len(source.code_names)
    n_rows = min(source.planning_rows, max(16 * source.planning_rows // n_columns, 1000))
    read = [reader.read(columns, codes, row)[:2] for row, (columns, codes) in _stretches(source, n_rows)]
    factors, codes = (np.concatenate([pair[side] for pair in read]) for side in (0, 1))
    if not len(codes):
        raise InputError("Every row that was examined has a missing value: fill values in or leave columns out.")
    lowest, highest = (np.concatenate([of(factors, axis=0), of(codes, axis=0)]) for of in (np.min, np.max))
    reader.check_reach(lowest, highest, 0)
    return np.asfortranarray(factors), np.asfortranarray(codes)


def _stretches(source: RowBlocks, n_rows: int) -> Iterator[tuple[int, Any]]:
    """Yield blocks of all rows if there are at most ``n_rows``, otherwise stretches; each with its first row number."""
    starts = np.cumsum([0, *(part.n_rows for part in source.parts)])
    if source.n_rows <= n_rows:
        for first, part in zip(starts.tolist(), source.parts, strict=False):
            row = first
            for block in part.blocks():
                yield row, block
                row += len(block[1])
        return
    length = max(min(n_rows, STRETCHED_ROWS) // STRETCHES, 1)
    for place in np.linspace(0, source.n_rows - length, STRETCHES).astype(int).tolist():
        k = int(np.searchsorted(starts, place, side="right")) - 1
        start = place - int(starts[k])
        yield place, source.parts[k].some(start, min(start + length, source.parts[k].n_rows))


def _pass(source: RowBlocks, plan: PassPlan, reader: BlockReader) -> tuple[RowTotals, FloatArray, FloatArray]:
    n_rows = source.n_rows
    rng = random_stream(source.seed, "rows of a large table")
    wanted = np.sort(rng.choice(n_rows, min(source.sample_rows, n_rows), replace=False, shuffle=False))
    tasks, row = [], 0
    for part in source.parts:
        mine: NDArray[np.intp] = wanted[(wanted >= row) & (wanted < row + part.n_rows)]
        tasks.append(Task(part, plan, reader, row, mine))
        row += part.n_rows
    totals: RowTotals | None = None
    factors, codes = [], []
    results = (task() for task in tasks) if source.cluster is None else computed_on(source.cluster, tasks)
    for of_part, of_factors, of_codes, levels in results:
        for j, places in reader.merged(levels).items():
            of_part = _renumbered(of_part, plan, j, places, source.factor_names[j])
            of_factors[:, j] = places[of_factors[:, j].astype(np.intp)]
        totals = of_part if totals is None else totals + of_part
        factors.append(of_factors)
        codes.append(of_codes)
    assert totals is not None
    return totals, np.asfortranarray(np.concatenate(factors)), np.asfortranarray(np.concatenate(codes))


def _renumbered(totals: RowTotals, plan: PassPlan, j: int, places: FloatArray, name: str) -> RowTotals:
    """Totals of a part with the levels of factor j renumbered, because its worker numbered them differently."""
    if plan.factors[j].role != "categories":
        raise InputError(
            f"Factor {quoted(name)} is text with an order, and rows on the cluster have levels that do not occur in "
            "the rows that were examined first: number its levels before the rows are sent to a cluster."
        )
    return totals.with_factor(j, totals.factors[j].renumbered(places))


@dataclass(frozen=True, eq=False)
class RowSummary:
    """Totals of all rows, with the plan, the number of planning rows, and the number of passes they come from."""

    plan: PassPlan
    totals: RowTotals
    n_planning: int
    n_passes: int

    @property
    def n_rows(self) -> int:
        """Number of rows without a missing value."""
        return self.totals.n_rows

    @property
    def columns(self) -> tuple[BlockTotals, BlockTotals]:
        """Columns of the factors and of the codes, without their rows."""
        constant, d = never_vary(self.totals), len(self.plan.factors)
        sides = (constant[:d], constant[d:])
        factors, codes = (BlockTotals((self.n_rows, side.size), side) for side in sides)
        return factors, codes

    def digest(self) -> bytes:
        """Digest of the totals."""
        digest = hashlib.blake2b(repr((self.n_rows, self.totals.n_dropped)).encode(), digest_size=16)
        moments = self.totals.moments
        for array in (moments.cross, moments.squares, *(factor.tables for factor in self.totals.factors)):
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()


def large_source(factors: object, codes: object, options: EvidenceOptions) -> RowBlocks | None:
    """The source of rows, if factors and codes have to be read in blocks; None if they are read at once."""
    if isinstance(factors, RowBlocks):
        if codes is not None:
            raise InputError("RowBlocks contain the codes already: pass them without codes.")
        source = factors
    elif is_large(factors, codes):
        names: dict[str, Any] = {name: options.get(name) for name in ("factor_names", "code_names")}
        source = array_blocks(factors, codes, **names)
    elif is_dask_frame(factors) and is_dask_frame(codes):
        frames = frame_blocks(factors, codes)
        if frames is None:
            return None
        source = frames
    else:
        return None
    for name in ("nuisances", "target", "environments", "row_groups"):
        if options.get(name) is not None:
            raise InputError(f"{name} are not read in blocks: leave them out, or score a sample of rows in memory.")
    return source


def read_large(source: RowBlocks, options: EvidenceOptions) -> tuple[RowSummary, Gathered, dict[str, Any]]:
    """The summary of all rows, the collected sample, and the factors of the sample by name, with text restored."""
    sample = gathered(source, options.get("kinds"), options.get("missing", "refuse"))
    columns: dict[str, Any] = {}
    for j, (name, levels) in enumerate(zip(source.factor_names, sample.levels, strict=True)):
        column = sample.factors[:, j]
        columns[name] = column if levels is None else np.array(levels)[column.astype(np.intp)]
    return RowSummary(sample.plan, sample.totals, sample.n_planning, sample.n_passes), sample, columns
