"""What a file holds, by its ending: one array, named arrays, or a table."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unweave.evidence import EvidenceError

FORMATS = ".npz, .npy, .csv or .parquet"
MISSING_WORDS = ["NA", "N/A", "NaN", "nan", "NULL", "null"]


@dataclass(frozen=True)
class Opened:
    """A file that was read: a bare array (no names), an archive of named arrays, or a polars table."""

    path: Path
    content: Any
    names: tuple[str, ...]

    @property
    def is_one_array(self) -> bool:
        """Whether it is a bare array."""
        return isinstance(self.content, np.ndarray)

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive of named arrays."""
        return isinstance(self.content, np.lib.npyio.NpzFile)

    def table(self, names: Sequence[str]) -> Any:
        """The named array if it is one, or the named columns."""
        self._check(names)
        if not self.is_archive:
            return self.content.select(names)
        arrays = {name: self.column(name) for name in names}
        return arrays[names[0]] if len(names) == 1 else arrays

    def column(self, name: str) -> Any:
        """The array or column of this name."""
        self._check([name])
        with _refusing_broken_arrays(self.path):
            return self.content[name]

    def _check(self, names: Sequence[str]) -> None:
        if self.is_one_array:
            raise EvidenceError(f"{self.path} holds one array without names, so it has no {names[0]!r}: name none.")
        for name in names:
            if name not in self.names:
                what = "array" if self.is_archive else "column"
                raise EvidenceError(
                    f"{self.path} has no {what} {name!r} but {shown(self.names)}: name what is there with --factors, "
                    "--codes and --row-groups."
                )
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise EvidenceError(f"{twice!r} is named twice: name every array or column once.")


def opened(path: str | Path) -> Opened:
    """The content of a file; one that is not there, not readable or of another kind is refused by name."""
    path = Path(path)
    if os.path.isdir(path):
        raise EvidenceError(f"{path} is a folder: pass a file in it, {FORMATS}.")
    if not os.path.isfile(path):
        raise EvidenceError(f"There is no file {path}: check the name and the folder.")
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        return _opened_arrays(path, np.ndarray if ending == ".npy" else np.lib.npyio.NpzFile)
    if ending in (".csv", ".parquet"):
        frame = _frame(path, is_csv=ending == ".csv")
        return Opened(path, frame, tuple(frame.columns))
    raise EvidenceError(f"{path} is of a kind that is not read ({ending or 'no ending'}): use {FORMATS}.")


def _opened_arrays(path: Path, expected: type) -> Opened:
    with _refusing_broken_arrays(path):
        content = np.load(path, allow_pickle=False)
        if not isinstance(content, expected):
            raise ValueError("the file has the ending of the other kind")
    return Opened(path, content, tuple(getattr(content, "files", ())))


@contextmanager
def _refusing_broken_arrays(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # numpy, zip, zlib and tokenize each have errors of their own for broken bytes
        if "Object arrays" in str(error):
            raise EvidenceError(
                f"{path} holds Python objects, which are not read: save plain arrays of numbers."
            ) from None
        function = "numpy.save" if path.suffix.lower() == ".npy" else "numpy.savez"
        raise EvidenceError(f"{path} is not a whole {path.suffix} file: save it again with {function}.") from None


def _frame(path: Path, is_csv: bool) -> Any:
    import polars

    try:
        with path.open("rb") as stream:
            if not is_csv:
                return polars.read_parquet(stream)
            _refuse_repeated_header(path)
            return _tidied(polars.read_csv(stream, infer_schema_length=None, null_values=MISSING_WORDS))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, UnicodeError, csv.Error) as error:
        reason = str(error).split("\n")[0]
        raise EvidenceError(
            f"{path} cannot be read as a {path.suffix} table ({reason}): check the file, or save it again."
        ) from None


def _refuse_repeated_header(path: Path) -> None:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = [name.strip() for name in next(csv.reader(stream), [])]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise EvidenceError(f"{path} has two columns called {twice!r}: give every column a name of its own.")


def _tidied(frame: Any) -> Any:
    """Names and text without the spaces around them; text that is then all numbers was meant as numbers."""
    import polars

    frame = frame.rename(str.strip)
    for name in frame.select(polars.col(polars.String)).columns:
        words = frame[name].str.strip_chars()
        words = words.set(words.is_in([*MISSING_WORDS, ""]), None)
        as_numbers = words.cast(polars.Float64, strict=False)
        frame = frame.with_columns(as_numbers if as_numbers.null_count() == words.null_count() else words)
    return frame


def shown(names: Sequence[str]) -> str:
    """The first few names, quoted."""
    quoted = [repr(name) for name in names[:6]]
    return ", ".join(quoted) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
