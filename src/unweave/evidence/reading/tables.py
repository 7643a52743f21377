"""Conversion of objects with rows and columns into tables of named float64 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, Levels, numbers, plain, quoted, series_values


@dataclass(frozen=True)
class Table:
    """Named float64 columns, column-major; text is stored as the index of its sorted levels, missing values as nan.

    ``what`` is the singular word for a column, such as 'factor'. ``index`` is the row index of a pandas table.
    """

    what: str
    values: FloatArray
    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    index: Any = None

    @property
    def is_text(self) -> tuple[bool, ...]:
        """Which columns were text."""
        return tuple(levels is not None for levels in self.levels)

    def rows(self, kept: NDArray[np.intp]) -> Table:
        """The table of these rows alone, without a row index."""
        return Table(self.what, np.asfortranarray(self.values[kept]), self.names, self.levels)


def read_table(given: object, what: str, names: Sequence[str] | None = None) -> Table:
    """Table from numpy, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or nested lists.

    ``what`` is the singular word for a column ('factor', 'code'), which messages and default names use.

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
    refuse_repeated(found_names, what)
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise EvidenceError(
            f"The {what} columns have different lengths ({', '.join(map(str, sorted(lengths)))}): "
            "every column needs one value per row."
        )
    if lengths == {0}:
        raise EvidenceError(f"The {what}s have no rows: pass at least a few samples.")
    values = np.empty((lengths.pop(), len(columns)), dtype=np.float64, order="F")
    levels: list[Levels | None] = []
    for j, (name, column) in enumerate(zip(found_names, columns, strict=True)):
        values[:, j], column_levels = numbers(column, f"{what.capitalize()} {quoted(name)}")
        levels.append(column_levels)
    return Table(what, values, tuple(found_names), tuple(levels), index)


def read_numbers(given: object, what: str, names: Sequence[str] | None = None) -> Table:
    """Table of numbers; raises an error if a column contains text."""
    table = read_table(given, what, names)
    text = [name for name, is_text in zip(table.names, table.is_text, strict=True) if is_text]
    if text:
        raise EvidenceError(
            f"{what.capitalize()} {quoted(text[0])} contains text: {what}s are numbers, so leave this column out."
        )
    return table


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
    array = plain(given)
    if array.ndim == 0:
        raise EvidenceError(
            f"The {what}s are an object of type {type(given).__name__}, which has no rows: "
            "pass an array, a data frame, a mapping of columns, or lists."
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise EvidenceError(
            f"The {what}s have shape {array.shape}: pass a table with one row per sample and one column per {what}, "
            "flattening or pooling what is larger."
        )
    if not array.shape[0]:  # before a name is made for each of any number of columns
        raise EvidenceError(f"The {what}s have no rows: pass at least a few samples.")
    return list(array.T), [f"{what} {j}" for j in range(array.shape[1])], None


def _in_memory(given: object) -> object:
    """A lazy table or a Dataset of Hugging Face as a table in memory; other objects are returned unchanged."""
    if hasattr(given, "to_polars") and hasattr(given, "features"):  # a Dataset of Hugging Face
        return given.to_polars()
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
        raise EvidenceError(f"{where} contains lists of different lengths ({stated}): give every row equally many.")
    table = np.array(rows)
    if table.ndim != 2:
        raise EvidenceError(f"{where} contains nested lists of shape {table.shape[1:]}: flatten them to one per row.")
    return [(f"{series.name} {k}", table[:, k]) for k in range(table.shape[1])]


def read_column(given: object, where: str) -> tuple[NDArray[Any], Any]:
    """One column as a numpy array, and its row index if it is a pandas series (None otherwise)."""
    series = nw.from_native(given, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _one_value_per_row(series_values(series), where), _row_index(given)
    return _one_value_per_row(plain(given), where), None


def _one_value_per_row(column: NDArray[Any], where: str) -> NDArray[Any]:
    if column.ndim != 1:
        raise EvidenceError(f"{where} has shape {column.shape}: pass one value per row.")
    return column


def _row_index(given: object) -> Any:
    index = getattr(given, "index", None)
    return index if hasattr(index, "equals") else None


def common_index(indexes: Mapping[str, Any]) -> Any:
    """The common row index of all indexed tables, or None; raises an error if indexes differ."""
    known = [(what, index) for what, index in indexes.items() if index is not None]
    if not known:
        return None
    first, shared = known[0]
    for what, index in known:
        if not index.equals(shared):
            raise EvidenceError(
                f"The {first} and the {what} have different row indexes: align them (as in codes.loc[factors.index]), "
                "or reset both indexes if the rows are already in the same order."
            )
    return shared


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Raise an error if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise EvidenceError(f"Two {what}s are called {quoted(twice)}: give every column a name of its own.")


def _checked_names(names: Sequence[str], n_columns: int, what: str) -> list[str]:
    stated = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(stated) != n_columns:
        raise EvidenceError(f"There are {len(stated)} {what} names for {n_columns} {what}s: give one for each column.")
    return stated


def common_length(tables: Mapping[str, Table]) -> int:
    """Number of rows of all tables, whose indices have to agree."""
    lengths = {what: table.values.shape[0] for what, table in tables.items()}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{what} have {n} rows" for what, n in lengths.items())
        raise EvidenceError(f"The rows do not pair up: {stated}; pass the same samples in the same order.")
    common_index({what: table.index for what, table in tables.items()})
    return next(iter(lengths.values()), 0)
