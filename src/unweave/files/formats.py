"""Content of a file, by its extension: one array, named arrays, or a table."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from typing import Any

import numpy as np

from unweave.evidence import EvidenceError
from unweave.evidence.reading.archives import array_in, refuse_bomb, refusing_broken_arrays
from unweave.evidence.reading.columns import quoted
from unweave.evidence.reading.sparse_codes import sparse_array
from unweave.files.parquet_sizes import refuse_parquet_bomb
from unweave.files.stored_arrays import STORED, checked_array, stored_arrays

FORMATS = ".npz, .npy, .csv, .parquet, .h5 or .zarr"
PARTS = "*.parquet"
PLACES = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
SPARSE_PARTS = {"format", "shape", "data"}  # some of the arrays that scipy.sparse.save_npz writes
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
MISSING_WORDS = ["NA", "N/A", "NaN", "nan", "NULL", "null"]


@dataclass(frozen=True)
class Opened:
    """Content of a file: an array or sparse matrix without names, an archive of named arrays, or a polars table."""

    path: Path
    content: Any
    names: tuple[str, ...]

    @property
    def is_one_array(self) -> bool:
        """Whether it is one array without a name."""
        return isinstance(self.content, np.ndarray) or hasattr(self.content, "tocsc")

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive of named arrays."""
        return isinstance(self.content, (np.lib.npyio.NpzFile, dict))

    def table(self, names: Sequence[str]) -> Any:
        """The array of this name in an archive (a mapping for several), or the named columns of a table."""
        self._check(names)
        if not self.is_archive:
            return self.content.select(names)
        arrays = {name: self.column(name) for name in names}
        return arrays[names[0]] if len(names) == 1 else arrays

    def column(self, name: str) -> Any:
        """The array or column of this name."""
        self._check([name])
        if isinstance(self.content, np.lib.npyio.NpzFile):
            return array_in(self.content, name, self.path)
        return checked_array(self.path, name, self.content[name]) if self.is_archive else self.content[name]

    def _check(self, names: Sequence[str]) -> None:
        if self.is_one_array:
            raise EvidenceError(f"{self.path} contains one array without names, so it has no {names[0]!r}: omit names.")
        known = set(self.names)
        for name in names:
            if name not in known:
                what = "array" if self.is_archive else "column"
                raise EvidenceError(
                    f"{self.path} has no {what} {name!r} but {shown(self.names)}: name existing ones with --factors, "
                    "--codes and --row-groups."
                )
        if len(set(names)) < len(names):
            raise EvidenceError(f"{mode(names)!r} is named twice: name every array or column once.")


def opened(path: str | Path) -> Opened:
    """Content of a file; raises an EvidenceError if it does not exist, cannot be read or has another format."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in STORED and os.path.exists(path):
        arrays = stored_arrays(path)
        return Opened(path, arrays, tuple(arrays))
    if os.path.isdir(path):
        frame = _parts(path)
        return Opened(path, frame, tuple(frame.columns))
    if not os.path.isfile(path):
        raise EvidenceError(f"There is no file {path}: check the name and the folder.")
    if ending in (".npy", ".npz"):
        return _opened_arrays(path, np.ndarray if ending == ".npy" else np.lib.npyio.NpzFile)
    if ending in (".csv", ".parquet"):
        frame = _frame(path, is_csv=ending == ".csv")
        return Opened(path, frame, tuple(frame.columns))
    raise EvidenceError(f"{path} has an unsupported format ({ending or 'no ending'}): use {FORMATS}.")


def _opened_arrays(path: Path, expected: type[Any]) -> Opened:
    with refusing_broken_arrays(path):
        content = np.load(path, allow_pickle=False, mmap_mode="r" if expected is np.ndarray else None)
        if not isinstance(content, expected):
            raise ValueError("the file has the ending of the other kind")
    if isinstance(content, np.ndarray):
        refuse_bomb(f"The array of {path}", content.size * (content.itemsize or 8), os.path.getsize(path))
        return Opened(path, content, ())
    if SPARSE_PARTS.issubset(content.files):
        with refusing_broken_arrays(path):
            return Opened(path, _sparse_matrix(path, content), ())
    return Opened(path, content, tuple(content.files))


def _sparse_matrix(path: Path, archive: np.lib.npyio.NpzFile) -> Any:
    """The matrix that scipy.sparse.save_npz wrote; scipy's own reader does not check it."""
    written = array_in(archive, "format", path).item()
    layout = written.decode() if isinstance(written, bytes) else str(written)
    if layout not in PLACES:
        raise EvidenceError(f"{path} is a sparse matrix in the format {quoted(layout)}: save matrix.tocsc() instead.")
    parts = [array_in(archive, name, path) for name in ("shape", "data", *PLACES[layout])]
    try:
        return sparse_array(layout, *parts)
    except EvidenceError as error:
        raise EvidenceError(f"{path}: {error}") from None


def _frame(path: Path, is_csv: bool) -> Any:
    import polars

    try:
        with path.open("rb") as stream:
            if not is_csv:
                refuse_parquet_bomb(path)
                return polars.read_parquet(stream)
            header = _checked_header(path)
            frame = polars.read_csv(stream, infer_schema_length=None, null_values=MISSING_WORDS)
            unnamed = [column for column, name in zip(frame.columns, header, strict=False) if not name]
            return _tidied(frame.drop(unnamed))  # a column without a name is the index that pandas writes
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, UnicodeError, csv.Error) as error:
        reason = str(error).split("\n")[0][:200]
        raise EvidenceError(
            f"{path} cannot be read as a {path.suffix} table ({reason}): check the file, or save it again."
        ) from None


def _checked_header(path: Path) -> list[str]:
    """Names of the columns; raises an error if there are none, if one repeats, or if the separator is not a comma."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        line = stream.readline()
        header = [name.strip() for name in next(csv.reader([line]), [])]
    if not line.replace("\t", "").rstrip("\r\n").isprintable():  # polars would unpack what looks compressed
        raise EvidenceError(f"{path} has characters in its first row that are no text: save it as plain text.")
    other = max(SEPARATORS, key=line.count)
    if line.count(other) > line.count(","):
        raise EvidenceError(
            f"{path} is separated by {SEPARATORS[other]}: save it with commas between columns and points in numbers."
        )
    if header and all(map(_is_number, header)):
        raise EvidenceError(f"{path} has numbers in its first row: put the names of the columns there.")
    if len(set(header)) < len(header):
        raise EvidenceError(
            f"{path} has two columns called {quoted(mode(header))}: give every column a name of its own."
        )
    return header


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _tidied(frame: Any) -> Any:
    """The table without spaces around names and text; text columns that then contain only numbers become numbers."""

    import polars

    frame = frame.rename(str.strip)
    tidied = []
    for column in frame.select(polars.col(polars.String)).iter_columns():
        words = column.str.strip_chars()
        words = words.set(words.is_in([*MISSING_WORDS, ""]), None)
        as_numbers = words.cast(polars.Float64, strict=False)
        tidied.append(as_numbers if as_numbers.null_count() == words.null_count() else words)
    return frame.with_columns(tidied)  # at once, because one by one takes quadratic time


def _parts(folder: Path) -> Any:
    """The table of all Parquet files of a folder, concatenated in the order of their names."""
    import polars

    paths = sorted(folder.glob(PARTS))
    if not paths:
        raise EvidenceError(f"{folder} is a folder without .parquet files: pass a file in it, {FORMATS}.")
    frames = [_frame(path, is_csv=False) for path in paths]
    refuse_different_parts(paths, [dict(frame.schema) for frame in frames])
    return polars.concat(frames, how="vertical_relaxed")


def refuse_different_parts(paths: Sequence[Path], schemas: Sequence[dict[str, Any]]) -> None:
    """Raise an error if the files of a folder do not have the same columns of the same kinds."""
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        if list(schema) != list(first):
            differing = sorted(set(schema) ^ set(first)) or list(schema)
            raise EvidenceError(
                f"{path.name} and {paths[0].name} have different columns ({shown(differing)}): write all parts "
                "with the same columns in the same order."
            )
        for name, dtype in schema.items():
            if kind_of(dtype) != kind_of(first[name]):
                raise EvidenceError(
                    f"Column {name!r} is {dtype} in {path.name} and {first[name]} in {paths[0].name}: write it with "
                    "one kind in all parts."
                )


def kind_of(dtype: Any) -> str:
    """'number' for a numeric column, otherwise the name of its type."""
    return "number" if dtype.is_numeric() else str(dtype)


def shown(names: Sequence[str]) -> str:
    """The first six names, quoted, and the number of the others."""
    quoted = [repr(name) for name in names[:6]]
    return ", ".join(quoted) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
