"""Tables of any library, lists and batches as columns of numbers, checked and named."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import reprlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.errors import FileError, InputError, OptionError
from unweave.estimators.sparse import SparseColumns
from unweave.findings import Finding, stated
from unweave.sentences import printable

Levels = tuple[str, ...]
LARGEST_EXACT_INTEGER = 2**53
LONGEST_NAME = 60


def quoted(name: object) -> str:
    """A name for messages, in quotes; long names are shortened in the middle.

    >>> quoted("size"), quoted("x" * 10_000)
    ("'size'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
    """
    shown = repr(str(name))
    half = LONGEST_NAME // 2
    return shown if len(shown) <= LONGEST_NAME + 3 else f"{shown[:half]}...{shown[-half:]}"


def plain(given: object, whose: str = "") -> NDArray[Any]:
    """Numpy array from an array-like object; tensors are copied to main memory without importing their library.

    >>> plain([["square", 1], [None, 2]]).dtype
    dtype('O')
    """
    if isinstance(given, np.ma.MaskedArray):  # np.asarray would ignore the mask
        uncovered = given.data.astype(object)
        uncovered[np.ma.getmaskarray(given)] = None
        return uncovered
    if type(given).__module__.split(".")[0] in ("h5py", "zarr"):
        return read_stored(given, ...)
    for step in ("detach", "cpu", "resolve_conj"):
        given = getattr(given, step)() if hasattr(given, step) else given
    try:
        array = np.asarray(given)
    except ValueError as error:  # ragged lists
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in given] if isinstance(given, Sequence) else []
        odd = next((k for k, size in enumerate(sizes) if size != sizes[0]), 0)
        where = f" (row 0 has {sizes[0]}, row {odd} has {sizes[odd]})" if odd else ""
        raise InputError(
            f"The rows{whose} have different lengths{where}: pass a table in which every row has as many values."
        ) from error
    except (TypeError, RuntimeError):  # half precisions that numpy does not support
        return _widened(given)
    if array.dtype.kind in "US" and isinstance(given, (list, tuple)):
        return np.array(given, dtype=object)  # numpy would convert numbers and nan to text
    return array


def read_stored(array: Any, rows: Any) -> NDArray[Any]:
    """Rows of an array of HDF5, Zarr or dask; every error of a damaged file becomes a FileError."""
    try:
        block = array[rows]
        return np.asarray(block.compute(scheduler="synchronous") if hasattr(block, "compute") else block)
    except Exception as error:  # every compression has errors of its own
        reason = " ".join(str(error).split())[:100]
        raise FileError(f"An array cannot be read ({reason}): check the file, or save it again.") from None


def _widened(tensor: Any) -> NDArray[Any]:
    try:
        return np.asarray(tensor.float())
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise FileError(
            f"An object of type {type(tensor).__name__} cannot be read as numbers: turn it into a numpy array first."
        ) from error


def series_values(series: nw.Series[Any]) -> NDArray[Any]:
    """Values of a data frame's column as a numpy array, without loss of precision."""
    ordered = getattr(getattr(nw.to_native(series), "cat", None), "ordered", False)
    if ordered:  # positions in the stated order, so that the factor is numeric; pandas codes missing values as -1
        places = np.asarray(nw.to_native(series).cat.codes, dtype=np.float64)
        return np.where(places < 0, np.nan, places)
    # the user chose an unordered type, so that the values are categories even if they are numbers
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    # columns with missing values would be rounded to floats, and numpy has no integers of 128 bits
    exact = series.dtype.is_integer() and (series.null_count() or series.dtype in (nw.Int128, nw.UInt128))
    return np.array(series.to_list(), dtype=object) if exact else series.to_numpy()


FRAMES = ("pandas", "polars", "pyarrow")


def data_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Data frame of pandas, polars or pyarrow: the one that is named, or the first of these that is installed.

    >>> data_frame({"metric": ["mcc"]}, "polars").shape
    (1, 1)
    """
    if backend is not None and (not isinstance(backend, str) or backend not in FRAMES):
        raise OptionError(
            f"backend={' '.join(repr(backend).split())} is not known: use {', '.join(map(repr, FRAMES))}."
        )
    for name in (backend,) if backend else FRAMES:
        try:
            import_module(name)
        except ImportError:
            continue
        return nw.from_dict(dict(columns), backend=name).to_native()  # type: ignore[arg-type]
    if backend:
        raise OptionError(f"The backend {backend!r} is not installed: install it, or use another data frame.")
    raise OptionError("A data frame needs pandas, polars or pyarrow, and none is installed: install one of them.")


def data_frame_of(rows: Sequence[Any], kind: type, backend: str | None = None, *, without: tuple[str, ...] = ()) -> Any:
    """Data frame of rows that are objects of a dataclass, without some of its fields."""
    names = [entry.name for entry in dataclasses.fields(kind) if entry.name not in without]
    return data_frame({name: [getattr(row, name) for row in rows] for name in names}, backend)


class Read(NamedTuple):
    """A column as float64, its levels if it is text (None otherwise), and a note on how it was read, if any."""

    values: FloatArray
    levels: Levels | None = None
    note: Finding | None = None


def numbers(column: NDArray[Any], where: str, since: np.datetime64 | None = None) -> Read:
    """A column as numbers; dates become days ``since`` a day, by default the first.

    >>> values, levels, _ = numbers(np.array(["b", "a"]), "Factor 'shape'")
    >>> values.tolist(), levels
    ([1.0, 0.0], ('a', 'b'))
    >>> numbers(np.array(["14/02/2024", "01/03/2024"]), "Factor 'seen'").values.tolist()
    [0.0, 16.0]
    """
    kind = column.dtype.kind
    if kind in "iu" and column.size:
        for entry in (int(column.min()), int(column.max())):
            _refuse_rounding(entry, where)
    # half precisions from extensions of numpy have the kind of raw bytes
    if kind in "fiub" or (kind == "V" and "float" in column.dtype.name):
        with np.errstate(over="ignore"):  # infinite values raise an error later, which names the column
            return Read(column.astype(np.float64))
    if kind == "M":
        return _days(column, where, since)
    if kind == "U":
        return _levels_or_days(column.tolist(), where, since)
    if kind in "OST":
        return _numbers_of_objects(column.astype(object).tolist(), where, since)
    raise InputError(
        f"{where} has type {column.dtype}, which is neither number nor text: convert it to numbers or text first."
    )


def _days(column: NDArray[Any], where: str, since: np.datetime64 | None, order: str = "") -> Read:
    """Dates as days since the first one, with a note."""
    seconds = column.astype("datetime64[s]")
    known = ~np.isnat(seconds)
    known_days = seconds[known] if known.any() else np.zeros(1, "datetime64[s]")
    first = known_days.min() if since is None else since
    days = (column - first.astype(column.dtype)) / np.timedelta64(1, "D")
    text = f"{where} has dates{order}: they became days since {first.astype('datetime64[D]')}"
    asked = AMBIGUOUS in order
    note = (
        Finding("asked", text=f"{text}; write them as 2024-01-31 if the month is first.")
        if asked
        else stated(text + ".")
    )
    return Read(np.where(known, days, np.nan), None, note)


def _numbers_of_objects(entries: list[Any], where: str, since: np.datetime64 | None) -> Read:
    present = [entry for entry in entries if not is_missing(entry)]
    if present and all(isinstance(entry, (date, np.datetime64)) for entry in present):
        # pandas and polars give dates as objects; times of a zone are all converted to UTC
        utc = [None if is_missing(entry) else _without_zone(entry) for entry in entries]
        return _days(np.array(utc, dtype="datetime64[us]"), where, since)
    if present and all(isinstance(entry, (str, bytes)) for entry in present):
        return _levels_or_days([None if is_missing(entry) else _word(entry) for entry in entries], where, since)
    values = [math.nan if is_missing(entry) else _number(entry, where, row) for row, entry in enumerate(entries)]
    return Read(np.array(values, dtype=np.float64))


def _without_zone(entry: Any) -> Any:
    zoned = isinstance(entry, datetime) and entry.tzinfo is not None
    return entry.astimezone(UTC).replace(tzinfo=None) if zoned else entry


def _number(entry: Any, where: str, row: int) -> float:
    if isinstance(entry, (str, bytes)):
        raise InputError(
            f"{where} mixes text with numbers (row {row} is {reprlib.repr(entry)}): "
            "make the column all numbers or all text."
        )
    # numpy's time differences are a subclass of integers
    if not isinstance(entry, (Real, Decimal, np.bool_)) or isinstance(entry, np.timedelta64):
        raise InputError(
            f"{where} contains an object of type {type(entry).__name__} in row {row}, which is neither number nor "
            "text: convert the column to numbers or text first."
        )
    if isinstance(entry, Integral):
        _refuse_rounding(int(entry), where)
    return float(entry)


def _refuse_rounding(entry: int, where: str) -> None:
    if abs(entry) > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"{where} contains integers above 2**53 that would be rounded: number its values from 0, "
            "or leave it out if it is an identifier."
        )


DATE = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)Z?)?$")
AMBIGUOUS = "with the day first, which no date decides"


def _levels_or_days(entries: Sequence[str | None], where: str, since: np.datetime64 | None) -> Read:
    """Numbers of the levels, with the levels; days, if every text is a date of one order, such as 2024-01-31 12:00."""
    levels = tuple(sorted({entry for entry in entries if entry is not None}))
    if (found := _dates(levels)) is not None:
        dates, order = found
        return _days(np.array([entry and dates[entry] for entry in entries], "datetime64[us]"), where, since, order)
    position = {level: float(k) for k, level in enumerate(levels)}
    return Read(np.array([math.nan if entry is None else position[entry] for entry in entries]), levels)


def _dates(levels: Levels) -> tuple[dict[str, np.datetime64], str] | None:
    """Dates of all levels, with words on the order of day and month; None if a level is none, or has a short year."""
    parts = [match.groups() for level in levels if (match := DATE.match(level))]
    years = {(len(first), len(last)) for first, _, _, last, _ in parts}
    if not parts or len(parts) < len(levels):
        return None
    year_first, order = False, ""
    if all(first == 4 and last < 3 for first, last in years):
        year_first, month_first = True, True
    elif all(last == 4 and first < 3 for first, last in years):
        month_first, order = _order_of_day_and_month(levels, parts)
    else:
        return None
    texts = []
    for first, _, middle, last, time in parts:
        year, *rest = (first, middle, last) if year_first else (last, first, middle)
        month, day = map(int, rest if month_first else reversed(rest))
        texts.append(f"{year}-{month:02}-{day:02}T{time or '00:00'}")
    try:
        return dict(zip(levels, np.array(texts, "datetime64[us]"), strict=True)), order
    except ValueError:  # such as 2024-13-01, which stays a text
        return None


def _order_of_day_and_month(levels: Levels, parts: Sequence[tuple[str, ...]]) -> tuple[bool, str]:
    """Whether the month is first, as a part above 12 decides, and words on it; day first if nothing decides."""
    month_first = any(int(part[2]) > 12 for part in parts)
    deciding = next((k for k, part in enumerate(parts) if max(int(part[0]), int(part[2])) > 12), None)
    if deciding is not None:
        return (
            month_first,
            f" such as {quoted(levels[deciding])}, read with the {'month' if month_first else 'day'} first",
        )
    is_clear = all(part[1] == "." for part in parts)  # 03.04.2024 is written with the day first
    return False, "" if is_clear else f" such as {quoted(levels[0])}, read {AMBIGUOUS}"


def odd_dates(levels: Levels) -> str:
    """What keeps texts that look like dates from being read as dates, and what to do; empty for other texts.

    >>> odd_dates(("09.09.24", "10.09.24"))
    "such as '09.09.24', which count as classes without an order: write years with four digits if these are dates"
    """
    like = [match for level in levels if (match := DATE.match(level))]
    if len(like) < max(2, 0.8 * len(levels)) or not all(0 < int(match[3]) < 32 for match in like):
        return ""
    if all(len(match[1]) < 3 and len(match[4]) == 2 for match in like):
        return (
            f"such as {quoted(like[0][0])}, which count as classes without an order: write years with four digits if "
            "these are dates"
        )
    if not any(4 in (len(match[1]), len(match[4])) for match in like):
        return ""
    odd = next((level for level in levels if not DATE.match(level)), levels[0])
    return (
        f"such as {quoted(odd)} and {quoted(like[-1][0])}, which count as classes, because not all are dates of one "
        "order: write dates as 2024-01-31, and leave fields without a date empty"
    )


def _word(entry: str | bytes) -> str:
    return entry.decode("utf-8", "backslashreplace") if isinstance(entry, bytes) else str(entry)


def is_missing(entry: Any) -> bool:
    """Whether an entry is missing: None, nan, or a missing value of pandas."""
    # pandas.NA cannot be compared, so it is recognised by the name of its type
    return (
        entry is None
        or type(entry).__name__ in ("NAType", "NaTType")
        or (isinstance(entry, (float, np.floating, Decimal)) and entry != entry)
    )


class Columns(Protocol):
    """Columns of the same samples: a dense table, sparse entries, or totals of rows that were read in blocks."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the constant columns."""

    @property
    def table(self) -> FloatArray:
        """All values (rows x columns), column by column; raises an error if they are not stored."""

    @property
    def stored(self) -> FloatArray:
        """All values in the order in which they are stored; raises an error if they are not."""

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The stored arrays, which a digest reads."""

    def rows(self, index: Rows) -> Columns:
        """The columns of these rows."""

    def chosen(self, index: Rows) -> FloatArray:
        """A dense table of these columns, in this order."""


FIRST_ROWS = 100


@dataclass(frozen=True, eq=False)
class DenseColumns:
    """A table of numbers, made read-only so that results that were computed from it stay valid.

    ``stored`` has rows or columns first, and float64 or float32, as it was given; `table` has columns of float64, and
    is made when it is needed.

    >>> DenseColumns(np.array([[1.0, 2.0], [1.0, 3.0]])).constant.tolist()
    [True, False]
    """

    stored: FloatArray

    def __post_init__(self) -> None:
        self.stored.flags.writeable = False

    def __reduce__(self) -> tuple[type[DenseColumns], tuple[FloatArray]]:
        return DenseColumns, (self.stored,)  # because an unpickled array can be written to

    @functools.cached_property
    def table(self) -> FloatArray:
        """The numbers, column by column."""
        is_table = self.stored.flags.f_contiguous and self.stored.dtype == np.float64
        table = self.stored if is_table else copied(self.stored)
        table.flags.writeable = False
        return table

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.stored.shape[0], self.stored.shape[1]

    @functools.cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the constant columns; none is constant without rows."""
        constant = (self.stored[:FIRST_ROWS] == self.stored[:1]).all(axis=0) & bool(len(self.stored))
        for j in np.flatnonzero(constant):  # hardly any: most columns differ in the first rows
            constant[j] = (self.stored[:, j] == self.stored[0, j]).all()
        return np.asarray(constant)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The table."""
        return (self.table,)

    def rows(self, index: Rows) -> DenseColumns:
        """The columns of these rows."""
        return DenseColumns(self.stored[index])

    def chosen(self, index: Rows) -> FloatArray:
        """These columns, in this order."""
        return self.stored[:, index]


@dataclass(frozen=True, eq=False)
class SparseEntries:
    """Columns of which only the nonzero entries are stored.

    >>> SparseEntries(SparseColumns(2, np.array([4.0, 4.0]), np.array([0, 1]), np.array([0, 2, 2]))).constant.tolist()
    [True, True]
    """

    entries: SparseColumns

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.entries.shape

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the columns without nonzero entries, and of those with one value in every row."""
        constant = self.entries.n_entries == 0
        for i in np.flatnonzero(self.entries.n_zeros == 0).tolist():
            constant[i] = np.ptp(self.entries.values[self.entries.starts[i] : self.entries.starts[i + 1]]) == 0
        return np.asarray(constant)

    @property
    def table(self) -> FloatArray:
        """Raises an error, because the dense table may not fit in memory."""
        raise InputError(
            "This needs dense codes and the codes are sparse: use evaluate(..., screen=True), or pass "
            "codes.toarray() if it fits in memory."
        )

    stored = table

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Values, rows and starts of the entries."""
        return self.entries.values, np.asarray(self.entries.rows, np.int64), self.entries.starts

    def rows(self, index: Rows) -> SparseEntries:
        """The entries of these rows, which have to be in ascending order."""
        return SparseEntries(self.entries.some_rows(index))

    def chosen(self, index: Rows) -> FloatArray:
        """A dense table of these columns, in this order."""
        return self.entries.chosen(index).dense(slice(0, len(index)))


class NeedsRows(Exception):
    """Raised where rows are needed and only totals are known; the metric then uses the random sample."""


@dataclass(frozen=True, eq=False)
class BlockTotals:
    """Columns whose rows were read in blocks and are not stored; `Evidence.row_summary` has their totals."""

    shape: tuple[int, int]
    constant: NDArray[np.bool_]

    @property
    def table(self) -> FloatArray:
        """Raises `NeedsRows`, as everything does that needs single rows."""
        raise NeedsRows

    stored = table

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Raises `NeedsRows`."""
        raise NeedsRows

    def rows(self, index: Rows) -> BlockTotals:
        """Raises `NeedsRows`."""
        raise NeedsRows

    def chosen(self, index: Rows) -> FloatArray:
        """Raises `NeedsRows`."""
        raise NeedsRows


@dataclass(frozen=True)
class Table:
    """Named float64 columns; text is stored as the index of its sorted levels, missing values as nan.

    ``what`` is the singular word for a column, such as 'factor'. ``index`` is the row index of a pandas table.
    """

    what: str
    values: FloatArray
    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    index: Any = None
    notes: tuple[Finding, ...] = ()  # on how columns were read

    @property
    def is_text(self) -> tuple[bool, ...]:
        """Which columns were text."""
        return tuple(levels is not None for levels in self.levels)

    @functools.cached_property
    def sum_of_squares(self) -> float:
        """Sum of all squares in one pass, which several checks share: infinite or nan if any value is, or a square."""
        flat = self.values.ravel(order="K")  # not a copy for any order
        with np.errstate(over="ignore", invalid="ignore"):
            return float(flat @ flat)

    def rows(self, kept: NDArray[np.intp]) -> Table:
        """The table of these rows alone, without a row index."""
        return Table(self.what, np.asfortranarray(self.values[kept]), self.names, self.levels)


ROWS_COPIED = 1024


def copied(table: NDArray[Any], order: Literal["F", "C"] = "F") -> FloatArray:
    """A copy of a table of numbers as float64, column by column or row by row.

    >>> copied(np.array([[1, 2], [3, 4]])).ravel("K").tolist()
    [1.0, 3.0, 2.0, 4.0]
    """
    copy = np.empty(table.shape, dtype=np.float64, order=order)
    with np.errstate(over="ignore"):  # infinite values raise an error later, which names the column
        for start in range(0, len(table), ROWS_COPIED):  # columns share cache lines, so that blocks are faster
            copy[start : start + ROWS_COPIED] = table[start : start + ROWS_COPIED]
    return copy


@functools.lru_cache(maxsize=64)
def _default_names(what: str, n_columns: int) -> tuple[str, ...]:
    return tuple(f"{what} {j}" for j in range(n_columns))


def read_table(given: object, what: str, names: Sequence[str] | None = None, borrowed: bool = False) -> Table:
    """Table from numpy, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or nested lists.

    ``what`` is the singular word for a column ('factor', 'code'), which messages and default names use. If
    ``borrowed``, an array of float64, or codes of float32, are not copied: the table may then be used only as long as
    nobody changes it.

    >>> read_table([[1, 2], [3, 4]], "code").names
    ('code 0', 'code 1')
    >>> read_table({"shape": ["square", "heart"]}, "factor").levels
    (('heart', 'square'),)
    """
    if type(given) is np.ndarray and given.ndim == 2 and given.size and given.dtype.kind == "f":  # the usual case
        n_columns = given.shape[1]
        kept = borrowed and given.dtype in (np.float64, np.float32 if what == "code" else np.float64)
        values = given.view() if kept and given.flags.forc else copied(given)
        known = _default_names(what, n_columns) if names is None else _checked_names(names, n_columns, what)
        return Table(what, values, known, (None,) * n_columns)
    columns, listed, index = _columns_of(given, what)
    found_names = _distinct_names(listed, what) if names is None else _checked_names(names, len(columns), what)
    if not columns:
        raise InputError(f"The {what}s have no columns: pass a table with at least one {what}.")
    lengths = {len(column): name for name, column in zip(found_names[::-1], columns[::-1], strict=True)}
    if len(lengths) > 1:
        stated = ", ".join(f"{quoted(name)} has {n}" for n, name in list(lengths.items())[:-5:-1])
        raise InputError(f"The {what} columns have different lengths: {stated}; give every column one value per row.")
    n_rows = next(iter(lengths))
    if not n_rows:
        raise InputError(f"The {what}s have no rows: pass at least a few samples.")
    values = np.empty((n_rows, len(columns)), dtype=np.float64, order="F")
    wheres = [f"{what.capitalize()} {quoted(name)}" for name in found_names]
    read = all_of(*(functools.partial(numbers, column, where) for column, where in zip(columns, wheres, strict=True)))
    read_columns, levels, notes = zip(*read, strict=True)
    for j, column in enumerate(read_columns):
        values[:, j] = column
    return Table(what, values, found_names, levels, index, tuple(filter(None, notes)))


def all_of(*steps: Callable[[], Any]) -> list[Any]:
    """Results of all steps; raises one error with the problems of all of them.

    >>> all_of(lambda: 1, lambda: 2)
    [1, 2]
    """
    results: list[Any] = []
    problems: list[str] = []
    for step in steps:
        try:
            results.append(step())
        except InputError as error:
            problems += error.problems or (str(error),)
    refuse_all(problems)
    return results


class Remark(str):
    """A problem that does not stop a call, but is named beside those that do."""

    __slots__ = ()


def refuse_all(problems: Sequence[str]) -> None:
    """Raise one error for all problems of a table, so that a person need not find them one by one.

    Problems that are a `Remark` come last, and are said not to stop the call; they are no reason to raise an error.

    >>> refuse_all(["Factor 'a' is text.", "Code 'b' is text."])
    Traceback (most recent call last):
    unweave.InputError: There are 2 problems: (1) Factor 'a' is text. (2) Code 'b' is text.
    """
    asked = [problem for problem in problems if isinstance(problem, Remark)]
    stopping = [problem for problem in problems if not isinstance(problem, Remark)]
    problems = [*stopping, *asked]
    if len(problems) == 1 and stopping:
        raise InputError(problems[0])
    if stopping:
        ends = np.cumsum([len(problem) for problem in problems])
        n_listed = max(int((ends[:MOST_PROBLEMS] <= MOST_LETTERS).sum()), 1)
        listed = " ".join(f"({k}) {problem}" for k, problem in enumerate(problems[: min(n_listed, len(stopping))], 1))
        if n_listed > len(stopping):
            listed += f" Besides, without stopping the call{f' ({len(asked)} questions)' * (len(asked) > 1)}: "
            listed += " ".join(f"({k}) {problems[k - 1]}" for k in range(len(stopping) + 1, n_listed + 1))
        more = len(problems) - n_listed
        rest = f" {more} more {'are' if more > 1 else 'is'} not shown." if more > 0 else ""
        head = f"There are {len(stopping)} problems: " if len(stopping) > 1 else ""
        error = InputError(f"{head}{listed if head else listed.removeprefix('(1) ')}{rest}")
        error.problems = tuple(problems)
        raise error


def read_numbers(
    given: object, what: str, names: Sequence[str] | None = None, borrowed: bool = False, factors: object = None
) -> Table:
    """Table of numbers; raises an error if columns contain text, which also says if the factors look exchanged."""
    table = read_table(given, what, names, borrowed)
    text = [quoted(name) for name, is_text in zip(table.names, table.is_text, strict=True) if is_text]
    hints = {
        quoted(name): hint
        for name, levels in zip(table.names, table.levels, strict=True)
        if levels and (hint := numbers_as_text(levels))
    }
    if hints:
        first, *others = hints
        hint = hints[first]
        # a column with odd fields is named beside columns that have none
        hint += next(
            (f"; {each} has empty fields: {EMPTY}" for each in others if EMPTY in hints[each] and EMPTY not in hint), ""
        )
        raise InputError(f"{what.capitalize()} {', '.join(text[:MOST_COLUMNS_NAMED])} contains text, {hint}.")
    swap = ", or swap the arguments if they are exchanged: evaluate(factors, codes)" * (
        bool(text) and factors is not None and _are_numbers(factors)
    )
    if len(text) == 1:
        raise InputError(
            f"{what.capitalize()} {text[0]} contains text: {what}s are numbers, so leave this column out{swap}."
        )
    if text:
        more = f" and {len(text) - MOST_COLUMNS_NAMED} more" if len(text) > MOST_COLUMNS_NAMED else ""
        raise InputError(
            f"The {what}s {', '.join(text[:MOST_COLUMNS_NAMED])}{more} contain text: {what}s are numbers, so leave "
            f"these columns out{swap}."
        )
    return table


def _are_numbers(given: object) -> bool:
    try:
        return not any(read_table(given, "factor").is_text)
    except InputError:  # reported for itself
        return False


EMPTY = "write nan where a field is empty"
COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?$")


def numbers_as_text(levels: Levels) -> str:
    """What keeps texts from being numbers, and what to do; empty if few of them look like numbers.

    >>> numbers_as_text(("0,5", "1,25"))
    "which are numbers with decimal commas, such as '0,5': write points"
    >>> numbers_as_text(("0.5", "1.5", "2.5", "?"))
    "which are numbers apart from '?': correct such fields, or leave them empty where a value is missing"
    """
    odd = [level for level in levels if not _reads_as_number(level)]
    if not odd:
        return f"which are numbers as text, such as {quoted(levels[0])}: convert them with astype(float)"
    if not any(map(str.strip, odd)):
        return f"which are numbers as text and empty fields: {EMPTY}, and convert them with astype(float)"
    if all(map(COMMA.match, odd)):
        return f"which are numbers with decimal commas, such as {quoted(odd[0])}: write points"
    if len(odd) > len(levels) / 4:
        return ""
    apart = ", ".join(map(quoted, odd[:3]))
    return f"which are numbers apart from {apart}: correct such fields, or leave them empty where a value is missing"


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _columns_of(given: object, what: str) -> tuple[list[NDArray[Any]], list[str], Any]:
    if isinstance(given, Mapping):
        names = [str(key) for key in given]
        read = [
            read_column(entry, f"{what.capitalize()} {quoted(name)}")
            for name, entry in zip(names, given.values(), strict=True)
        ]
        index = common_index({f"{what} {quoted(name)}": index for name, (_, index) in zip(names, read, strict=True)})
        return [column for column, _ in read], names, index
    given = _in_memory(given)
    try:
        frame = nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError:
        refuse_repeated([str(name) for name in getattr(given, "column_names", getattr(given, "columns", ()))], what)
        raise
    if isinstance(frame, nw.Series):
        column, index = read_column(given, f"The {what}")
        return [column], [str(frame.name or f"{what} 0")], index
    if isinstance(frame, nw.DataFrame):
        columns, names = [], []
        for entry in frame.iter_columns():  # access by position would take quadratic time
            for name, column in _columns_of_series(entry, what):
                columns.append(column)
                names.append(name)
        return columns, names, _row_index(given)
    return _columns_of_array(given, what)


def _columns_of_array(given: object, what: str) -> tuple[list[NDArray[Any]], list[str], Any]:
    if hasattr(given, "tocsc"):
        raise InputError(f"The {what}s are a sparse matrix, as only codes can be: pass {what}s.toarray().")
    array = plain(given, f" of the {what}s")
    if array.dtype.names:  # a structured array, as numpy.genfromtxt(..., names=True) reads
        return _columns_of({name: array[name] for name in array.dtype.names}, what)
    _refuse_complex(array, what)
    if array.ndim == 0:
        instead = "pass an array, a data frame, a mapping of columns, or lists."
        if isinstance(given, (np.ndarray, np.generic)):
            raise InputError(f"The {what}s are a single value without rows: pass a table with one row per sample.")
        if isinstance(given, (str, Path)):
            instead = "read the file first, or run unweave score FILE on the command line."
        raise InputError(f"The {what}s are an object of type {type(given).__name__}, which has no rows: {instead}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(
            f"The {what}s have shape {array.shape}: pass a table with one row per sample and one column per {what}, "
            "flattening or pooling what is larger."
        )
    if not array.shape[0]:  # before a name is made for each of any number of columns
        raise InputError(f"The {what}s have no rows: pass at least a few samples.")
    return list(array.T), [f"{what} {j}" for j in range(array.shape[1])], None


def _refuse_complex(array: NDArray[Any], what: str) -> None:
    """Raise one error for all columns."""
    if array.dtype.kind == "c":
        raise InputError(
            f"The {what}s are complex ({array.dtype}): pass real numbers, such as "
            f"np.column_stack([{what}s.real, {what}s.imag])."
        )


def _in_memory(given: object) -> object:
    """A lazy table or a Dataset of Hugging Face as a table in memory; other objects are returned unchanged."""
    if hasattr(given, "with_format") and hasattr(given, "features"):  # a Dataset of Hugging Face
        return given.with_format("arrow")[:]
    return given.compute() if hasattr(given, "compute") and hasattr(given, "dask") else given


def _columns_of_series(series: Any, what: str) -> list[tuple[str, NDArray[Any]]]:
    """Names and columns of a series; a series of lists, such as embeddings, has one column per list entry."""
    where = f"{what.capitalize()} {quoted(series.name)}"
    if series.dtype not in (nw.List, nw.Array):
        return [(str(series.name), _one_value_per_row(series_values(series), where))]
    rows = series.to_list()
    lengths = {-1 if row is None else len(row) for row in rows}
    if len(lengths) != 1 or lengths == {-1}:
        stated = ", ".join("none" if length < 0 else str(length) for length in sorted(lengths)[:4])
        raise InputError(f"{where} contains lists of different lengths ({stated}): give every row equally many.")
    table = np.array(rows)
    if table.ndim != 2:
        raise InputError(f"{where} contains nested lists of shape {table.shape[1:]}: flatten them to one per row.")
    return [(f"{series.name} {k}", table[:, k]) for k in range(table.shape[1])]


def read_column(given: object, where: str) -> tuple[NDArray[Any], Any]:
    """One column as a numpy array, and its row index if it is a pandas series (None otherwise)."""
    is_array = isinstance(given, np.ndarray)  # of which there may be a hundred thousand
    series = None if is_array else nw.from_native(given, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _one_value_per_row(series_values(series), where), _row_index(given)
    return _one_value_per_row(plain(given), where), None


def _one_value_per_row(column: NDArray[Any], where: str) -> NDArray[Any]:
    if column.ndim != 1:
        raise InputError(f"{where} has shape {column.shape}: pass one value per row.")
    return column


def _row_index(given: object) -> Any:
    index = getattr(given, "index", None)
    return index if hasattr(index, "equals") else None


def common_index(indexes: Mapping[str, Any]) -> Any:
    """The common row index of all indexed tables, or None; raises an error if indexes differ."""
    indexed = [(what, index) for what, index in indexes.items() if index is not None]
    if not indexed:
        return None
    first, shared = indexed[0]
    for what, index in indexed:
        if not index.equals(shared):
            raise InputError(
                f"The {first} and the {what} have different row indexes: align them (as in codes.loc[factors.index]), "
                "or reset both indexes if the rows are already in the same order."
            )
    return shared


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Raise an error if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"Two {what}s are called {quoted(twice)}: give every column a name of its own.")


def _distinct_names(names: Iterable[str], what: str) -> tuple[str, ...]:
    distinct = tuple(name if name.isprintable() else printable(name) for name in names)
    refuse_repeated(distinct, what)
    return distinct


def _checked_names(names: Sequence[str], n_columns: int, what: str) -> tuple[str, ...]:
    try:
        stated = [names] if isinstance(names, str) else [str(name) for name in names]
    except TypeError:
        raise InputError(f"{what} names of type {type(names).__name__} are no names: give a list of texts.") from None
    if len(stated) != n_columns:
        raise InputError(f"There are {len(stated)} {what} names for {n_columns} {what}s: give one for each column.")
    return _distinct_names(stated, what)


def common_length(tables: Mapping[str, Table]) -> int:
    """Number of rows of all tables, whose indices have to agree."""
    lengths = {what: table.values.shape[0] for what, table in tables.items()}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{what} have {n} rows" for what, n in lengths.items())
        turned = [
            what
            for what, table in tables.items()
            if what in ("factors", "codes") and len(table.values) < table.values.shape[1] in lengths.values()
        ]
        others = {n for what, n in lengths.items() if what != "row_groups"}
        if len(others) == 1:
            n_groups, n_rows = lengths["row_groups"], others.pop()
            raise InputError(
                f"row_groups has {n_groups} entr{'y' if n_groups == 1 else 'ies'} for {n_rows} rows: give one group "
                "label for each row."
            )
        shapes = [tables[what].values.shape for what in ("factors", "codes") if what in tables]
        if len(shapes) == 2 and shapes[0][1] == shapes[1][1] > max(shapes)[0]:
            turned = ["factors.T and codes"]
        advice = (
            f"pass {turned[0]}.T if the samples are in the columns"
            if turned
            else ("pass the same samples in the same order")
        )
        raise InputError(f"The rows do not pair up: {stated}; {advice}.")
    common_index({what: table.index for what, table in tables.items()})
    return next(iter(lengths.values()), 0)


ROWS_AT_A_TIME = 65_536


def gathered(batches: Iterable[Any] | Callable[[], Iterable[Any]], on_disk: bool) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations (rows x codes, column-major) of all batches, with one batch in memory at a time.

    >>> mean, std = gathered([([[0.0]], [[1.0]]), ([[2.0]], [[1.0]])], on_disk=True)
    >>> mean[:, 0].tolist()
    [0.0, 2.0]
    """
    n_rows = n_codes = 0
    with tempfile.TemporaryFile() as means, tempfile.TemporaryFile() as stds:
        for mean, std in _checked(batches() if callable(batches) else batches):
            if n_rows and mean.shape[1] != n_codes:
                raise InputError(
                    f"A batch has {mean.shape[1]} codes and earlier ones have {n_codes}: pass batches of one encoder."
                )
            n_codes, n_rows = mean.shape[1], n_rows + mean.shape[0]
            means.write(mean.tobytes())
            stds.write(std.tobytes())
        if not n_rows:
            raise InputError("There are no batches: pass an iterable of (mean, std), or a function that gives one.")
        return _columns(means, n_rows, n_codes, on_disk), _columns(stds, n_rows, n_codes, on_disk)


def _checked(batches: Iterable[Any]) -> Iterator[tuple[FloatArray, FloatArray]]:
    for k, batch in enumerate(batches):
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise InputError(f"Batch {k} is not a pair: every batch is (mean, std) of some rows.")
        mean, std = (np.asarray(plain(part), dtype=np.float64) for part in batch)
        if mean.ndim != 2 or mean.shape != std.shape:
            raise InputError(
                f"Batch {k} has a mean of shape {mean.shape} and a std of shape {std.shape}: both must be rows x codes."
            )
        yield mean, std


def _columns(file: IO[bytes], n_rows: int, n_codes: int, on_disk: bool) -> FloatArray:
    """Contiguous columns from a file that is stored by rows, converted in blocks of rows."""
    file.flush()
    by_row = np.memmap(file, dtype=np.float64, mode="r", shape=(n_rows, n_codes))
    if on_disk:
        with tempfile.TemporaryFile() as column_file:
            columns: FloatArray = np.memmap(column_file, dtype=np.float64, mode="w+", shape=(n_codes, n_rows))
    else:
        columns = np.empty((n_codes, n_rows))
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        columns[:, rows] = by_row[rows].T
    values = columns.T
    values.flags.writeable = False
    return values


SUM_TOLERANCE = 1e-3


def probability_table(given: object, where: str) -> FloatArray:
    """Checked table of probabilities, with rows normalised to a sum of one.

    >>> probability_table([[0.5, 0.5], [0.0, 1.0]], "Factor 'shape'").shape
    (2, 2)
    """
    try:
        table = np.array(plain(given), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where} is not made of numbers: pass a table of probabilities.") from None
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"{where} has shape {table.shape}: a table of probabilities has one row per sample and one column per "
            "value, two at least."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        bad = int((~np.isfinite(table) | (table < 0)).any(axis=1).sum())
        raise InputError(
            f"{where} is negative or missing in {bad} rows: pass probabilities, such as the softmax of the logits, "
            "or give every column a name of its own if these are several factors."
        )
    totals = table.sum(axis=1)
    off = np.abs(totals - 1) > SUM_TOLERANCE
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise InputError(
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


LARGEST_SQUARED = 1e150
LARGEST_EXPONENT, SMALLEST_EXPONENT = 500, -250  # powers of 2 with room for squares of differences in the last digits


def refuse_extremes(*tables: Table | None) -> None:
    """Raise an error for columns whose squares overflow or underflow float64."""
    for table in filter(None, tables):
        spans = np.ptp(table.values[:FIRST_ROWS], axis=0) if len(table.values) else np.zeros(0)
        if table.sum_of_squares < LARGEST_SQUARED**2 and (spans >= 1 / LARGEST_SQUARED).all():
            continue  # the usual case, by the pass that other checks need too
        for name, column in zip(table.names, table.values.T, strict=True):
            with np.errstate(over="ignore"):
                largest, span = np.abs(column).max(), column.max() - column.min()
            if largest > LARGEST_SQUARED or 0 < span < 1 / LARGEST_SQUARED:
                raise InputError(
                    f"{table.what.capitalize()} {quoted(name)} reaches {largest:.3g} and spans {span:.3g}, "
                    "so that squares overflow or underflow: state it in other units."
                )


def within_reach(codes: FloatArray, sum_of_squares: float = np.nan) -> FloatArray:
    """Codes divided by a common power of two, if any is above 2**500 or all of a column are below 2**-250.

    No metric depends on the common scale of all codes, and division by a power of two is exact. A column that is still
    too small is scaled up to 2**-250, where it remains negligible relative to the largest column. The sum of squares
    saves a pass over the codes if it is known.

    >>> within_reach(np.array([[1.5, 2.0], [1.0, -3.0]])).tolist()
    [[1.5, 2.0], [1.0, -3.0]]
    >>> scaled = within_reach(np.array([[1e308, 1.0], [-1e308, 2.0]]))
    >>> float(scaled[1, 0] / scaled[0, 0]), float(scaled[1, 1] / scaled[0, 1]), bool(np.square(scaled).sum() < np.inf)
    (-1.0, 2.0, True)
    """
    first = np.abs(codes[:FIRST_ROWS]).max(axis=0, initial=0.0)
    if sum_of_squares < 4.0**LARGEST_EXPONENT and (first > 2.0**SMALLEST_EXPONENT).all():
        return codes
    largest = np.maximum(codes.max(axis=0, initial=0.0), -codes.min(axis=0, initial=0.0))
    exponents = np.frexp(largest)[1][largest > 0]
    if not exponents.size or (exponents.max() <= LARGEST_EXPONENT and exponents.min() >= SMALLEST_EXPONENT):
        return codes
    unit = exponents.max() - np.clip(exponents.max(), 0, LARGEST_EXPONENT)
    shifts = np.zeros(largest.size, dtype=np.intp)
    shifts[largest > 0] = np.maximum(exponents - unit, SMALLEST_EXPONENT) - exponents
    return np.asfortranarray(np.ldexp(codes, shifts))


MOST_COLUMNS_NAMED = 5
MOST_PROBLEMS, MOST_LETTERS = 8, 1_500  # of an error with several problems


def _always_missing(tables: Mapping[str, Table], masks: Mapping[str, NDArray[np.bool_] | None]) -> list[str]:
    """Names of the columns that are missing in every row."""
    return [
        f"{tables[what].what} {quoted(name)}"
        for what, mask in masks.items()
        if mask is not None
        for name, missing_all in zip(tables[what].names, np.atleast_1d(mask.all(axis=0)), strict=True)
        if missing_all
    ]


def rows_without_missing(tables: Mapping[str, Table], missing: str, beside: Sequence[str] = ()) -> Rows | None:
    """Rows to keep, or None for all; infinite values, and missing ones unless they are dropped, raise an error.

    An error about missing values also states what else was asked about the tables (``beside``), and constant factors.
    """
    if not isinstance(missing, str) or missing not in ("refuse", "drop"):
        raise OptionError(f"missing={' '.join(repr(missing).split())[:100]} is not known: use 'refuse' or 'drop'.")
    problems = [problem for table in tables.values() for problem in _infinite_columns(table)]
    masks = {what: _missing_mask(table) for what, table in tables.items()}
    if (codes := masks.get("codes")) is not None and codes.all():
        problems.append("All values of all codes are nan: the model may have diverged; look at its weights and loss.")
        masks["codes"] = None
    rows_with_missing = [mask.any(axis=1) for mask in masks.values() if mask is not None]
    if not rows_with_missing:
        refuse_all(problems)
        return None
    bad_rows = np.logical_or.reduce(rows_with_missing)
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
        problems.append(
            f"Values are missing in {int(bad_rows.sum())} of {bad_rows.size} rows: "
            f"{', '.join(counts[:MOST_COLUMNS_NAMED])}{more}; fill them in, or leave these rows out with "
            "missing='drop' (--missing drop on the command line)."
        )
        problems += map(Remark, [*_never_varying(tables.get("factors")), *beside])
    refuse_all(problems)
    if bad_rows.all():
        whole = _always_missing(tables, masks)
        only = f" (no row has {', '.join(whole[:MOST_COLUMNS_NAMED])})" if whole else ""
        raise InputError(
            f"Every row has a missing value{only}, so dropping leaves none: fill them in or leave columns out."
        )
    return np.flatnonzero(~bad_rows)


def _never_varying(factors: Table | None) -> list[str]:
    """A sentence on the factors with one value in all rows in which they are not missing."""
    if factors is None:
        return []
    constant = np.fmax.reduce(factors.values, axis=0) == np.fmin.reduce(factors.values, axis=0)
    names = [quoted(factors.names[j]) for j in np.flatnonzero(constant)]
    return [f"Factor {', '.join(names[:MOST_COLUMNS_NAMED])} never varies: leave it out."] if names else []


def _infinite_columns(table: Table) -> list[str]:
    """A sentence for every column with infinite values."""
    if np.isfinite(table.sum_of_squares):
        return []
    what = table.what.capitalize()
    return [
        f"{what} {quoted(name)} is infinite in {count} row{'s' * (count > 1)}: clip these values or leave the rows out."
        for name, count in zip(table.names, np.isinf(table.values).sum(axis=0).tolist(), strict=True)
        if count
    ]


def _missing_mask(table: Table) -> NDArray[np.bool_] | None:
    """Mask of the missing values, or None if there are none."""
    if np.isfinite(table.sum_of_squares):  # the usual case needs no mask
        return None
    mask = np.isnan(table.values)
    return mask if mask.any() else None


def checked_groups(
    given: Mapping[str, Sequence[str | int]] | None, names: tuple[str, ...], what: str
) -> dict[str, tuple[str, ...]]:
    """Checked groups of names; a member is given by its name, or by its number from 0, and is in one group only.

    >>> checked_groups({"position": [0, "y"]}, ("x", "y"), "code")
    {'position': ('x', 'y')}
    """
    groups = _named_groups({} if given is None else given, names, what)
    empty = next((group for group, members in groups.items() if not members), None)
    if empty is not None:
        raise OptionError(f"The {what} group {quoted(empty)} has no {what}s: name at least one, or leave it out.")
    members = [member for group in groups.values() for member in group]
    strange = [member for member in members if member not in names]
    if strange:
        raise InputError(
            f"{what}_groups names {quoted(strange[0])}, which is not a {what}: "
            f"use the {what}s' names, or their numbers from 0."
        )
    if len(set(members)) < len(members):
        twice = next(member for member in members if members.count(member) > 1)
        raise InputError(f"{what.capitalize()} {quoted(twice)} is in two {what} groups: put every {what} in one.")
    return groups


def units_of(groups: Mapping[str, tuple[str, ...]], names: tuple[str, ...]) -> dict[str, Rows]:
    """Places of the members of every group, and of every name in no group, by the name of the unit.

    >>> {unit: places.tolist() for unit, places in units_of({"last": ("d", "b")}, ("a", "b", "c", "d")).items()}
    {'a': [0], 'last': [3, 1], 'c': [2]}
    """
    if not groups:
        return dict(zip(names, np.arange(len(names))[:, None], strict=True))
    place = {name: i for i, name in enumerate(names)}
    grouped = {member for members in groups.values() for member in members}
    alone = {name: (name,) for name in names if name not in grouped}
    units = {unit: np.array([place[m] for m in members]) for unit, members in (*groups.items(), *alone.items())}
    return dict(sorted(units.items(), key=lambda unit: int(unit[1].min())))


def _named_groups(given: object, names: tuple[str, ...], what: str) -> dict[str, tuple[str, ...]]:
    if not (isinstance(given, Mapping) and all(isinstance(members, Iterable) for members in given.values())):
        example = "pass it as {'position': ['x', 'y']}"
        raise InputError(f"{what}_groups is not a mapping from names to {what}s: {example}.")
    return {
        printable(group): tuple(_name_of(name, names) for name in ([members] if isinstance(members, str) else members))
        for group, members in given.items()
    }


def _name_of(member: str | int, names: tuple[str, ...]) -> str:
    """Name of a code; a number is read as a name if a code has this name, and otherwise as a position."""
    if (name := printable(member)) in names or isinstance(member, str):
        return name
    return names[member] if isinstance(member, Integral) and 0 <= member < len(names) else str(member)
