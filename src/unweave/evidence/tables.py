"""Anything with rows and columns becomes named columns of float64: the reading half of the gate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
LARGEST_EXACT_INTEGER = 2**53


class EvidenceError(ValueError):
    """Input that cannot be scored; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Table:
    """Named float64 columns, column-major; text columns hold the index of their sorted levels, missing is nan."""

    values: FloatArray
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...] | None, ...]
    index: Any = None

    @property
    def is_text(self) -> tuple[bool, ...]:
        """Which columns were text."""
        return tuple(levels is not None for levels in self.levels)


def read_table(given: object, what: str, names: Sequence[str] | None = None) -> Table:
    """Table from numpy, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or nested lists.

    ``what`` is the singular word for a column ('factor', 'code'): messages and default names use it.

    >>> read_table([[1, 2], [3, 4]], "code").names
    ('code 0', 'code 1')
    >>> read_table({"shape": ["square", "heart"]}, "factor").levels
    (('heart', 'square'),)
    """
    columns, found_names, index = _columns_of(given, what)
    if names is not None:
        found_names = _checked_names(names, len(columns), what)
    if not columns:
        raise EvidenceError(f"The {what}s have no columns: pass a table with at least one {what}.")
    if len(set(found_names)) < len(found_names):
        twice = next(name for name in found_names if found_names.count(name) > 1)
        raise EvidenceError(f"Two {what}s are called {twice!r}: give every column a name of its own.")
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise EvidenceError(
            f"The {what} columns have different lengths ({', '.join(map(str, sorted(lengths)))}): "
            "every column needs one value per row."
        )
    if lengths == {0}:
        raise EvidenceError(f"The {what}s have no rows: pass at least a few samples.")
    values = np.empty((lengths.pop(), len(columns)), dtype=np.float64, order="F")
    levels: list[tuple[str, ...] | None] = []
    for j, (name, column) in enumerate(zip(found_names, columns, strict=True)):
        values[:, j], column_levels = _numbers(column, f"{what.capitalize()} {name!r}")
        levels.append(column_levels)
    return Table(values, tuple(found_names), tuple(levels), index)


def _columns_of(given: object, what: str) -> tuple[list[NDArray[Any]], list[str], Any]:
    if isinstance(given, Mapping):
        return [np.asarray(plain(column)) for column in given.values()], [str(key) for key in given], None
    frame = nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        return [_native_column(frame)], [str(frame.name or f"{what} 0")], getattr(given, "index", None)
    if isinstance(frame, nw.DataFrame):
        columns = [_native_column(frame[:, j]) for j in range(frame.shape[1])]
        return columns, [str(name) for name in frame.columns], getattr(given, "index", None)
    array = plain(given)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise EvidenceError(
            f"The {what}s have shape {array.shape}: pass a table with one row per sample and one column per {what}, "
            "flattening or pooling what is larger."
        )
    return list(array.T), [f"{what} {j}" for j in range(array.shape[1])], None


def _native_column(series: nw.Series[Any]) -> NDArray[Any]:
    # a categorical type is the user's word that the values have no order, whatever its categories are made of
    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    return (series.cast(nw.String) if is_categorical else series).to_numpy()


def plain(given: object) -> NDArray[Any]:
    """Numpy array of anything array-like; tensors are brought to memory without importing their library."""
    for step in ("detach", "cpu", "resolve_conj"):
        given = getattr(given, step)() if hasattr(given, step) else given
    try:
        return np.asarray(given)
    except ValueError as error:  # ragged lists
        raise EvidenceError(
            "The rows have different lengths: pass a table in which every row has as many values."
        ) from error
    except TypeError:  # half precisions that numpy does not know
        return np.asarray(given.float())  # type: ignore[attr-defined]


def _checked_names(names: Sequence[str], n_columns: int, what: str) -> list[str]:
    if len(names) != n_columns:
        raise EvidenceError(f"There are {len(names)} {what} names for {n_columns} {what}s: give one for each column.")
    return [str(name) for name in names]


def _numbers(column: NDArray[Any], where: str) -> tuple[FloatArray, tuple[str, ...] | None]:
    """Column as float64, with its levels when it is text."""
    kind = column.dtype.kind
    if kind in "iu" and column.size and max(abs(int(column.min())), abs(int(column.max()))) > LARGEST_EXACT_INTEGER:
        raise EvidenceError(
            f"{where} holds integers above 2**53 that would be rounded: number its values from 0, "
            "or leave it out if it is an identifier."
        )
    if kind in "fiub":
        return column.astype(np.float64), None
    if kind in "UST":
        return _levels(column.astype(str).tolist())
    if kind == "O":
        return _numbers_of_objects(column.tolist(), where)
    raise EvidenceError(
        f"{where} has type {column.dtype}, which is neither number nor text: convert it to numbers or text first."
    )


def _numbers_of_objects(entries: list[Any], where: str) -> tuple[FloatArray, tuple[str, ...] | None]:
    present = [entry for entry in entries if not _is_missing(entry)]
    if all(isinstance(entry, str) for entry in present) and present:
        return _levels([None if _is_missing(entry) else entry for entry in entries])
    strange = next((entry for entry in present if isinstance(entry, str) or not _is_number(entry)), None)
    if strange is not None:
        raise EvidenceError(
            f"{where} mixes numbers with other things, such as {strange!r} ({type(strange).__name__}): "
            "make the column all numbers or all text."
        )
    return np.array([math.nan if _is_missing(entry) else float(entry) for entry in entries]), None


def _levels(entries: Sequence[str | None]) -> tuple[FloatArray, tuple[str, ...]]:
    levels = tuple(sorted({entry for entry in entries if entry is not None}))
    position = {level: float(k) for k, level in enumerate(levels)}
    return np.array([math.nan if entry is None else position[entry] for entry in entries]), levels


def _is_missing(entry: Any) -> bool:
    # pandas.NA cannot be compared, so it is known by its type's name
    return (
        entry is None or type(entry).__name__ in ("NAType", "NaTType") or (isinstance(entry, float) and entry != entry)
    )


def _is_number(entry: Any) -> bool:
    return isinstance(entry, (bool, int, float, np.number, np.bool_)) or hasattr(entry, "__float__")
