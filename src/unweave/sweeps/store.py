"""A resumable store of results in a folder."""

from __future__ import annotations

import json
import platform
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.evidence import EvidenceError
from unweave.store import FolderLock
from unweave.sweeps.sweep import LIBRARIES, Measurement
from unweave.whole_files import remove_unfinished, write_whole

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "unweave.sweep/1"

PART = re.compile(r"[0-9a-f]{32}\.parquet")


class Store:
    """Results by key in a folder that only one process at a time may use, in a with statement.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(folder, "small") as store:
    ...         store.add({"0" * 32: Measurement("mcc", 0.5, 0.5)})
    ...     with Store(folder, "small") as store:
    ...         store.results["0" * 32].value
    0.5
    """

    def __init__(self, folder: str | Path, name: str) -> None:
        self.folder, self.name = Path(folder), name
        self.parts = self.folder / "parts"
        self.results: dict[str, Measurement] = {}
        self._in_parts: list[Path] = []
        self._in_cells: set[str] = set()

    def __enter__(self) -> Store:
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvidenceError(f"{self.folder} cannot be a folder for a sweep: {error.strerror}.") from None
        self._lock = FolderLock(self.folder)
        self._lock.__enter__()
        try:
            self._refuse_other_sweeps()
            self._read()
        except BaseException:
            self._lock.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__()

    def add(self, found: Mapping[str, Measurement]) -> None:
        """Write the results of one cell to disk immediately; results that are not final are kept for this run only."""
        self.results |= found
        final = {key: entry for key, entry in found.items() if entry.final}
        if final:
            path = self.parts / f"{min(final)}.parquet"
            write_whole(path, _frame(final).write_parquet)
            self._in_parts.append(path)

    def finish(self, table: pl.DataFrame) -> None:
        """Write the table, and merge the files of the cells into one file."""
        import polars as pl

        kept = {key: entry for key, entry in self.results.items() if entry.final}
        if kept.keys() != self._in_cells:
            write_whole(self.folder / "cells.parquet", _frame(dict(sorted(kept.items()))).write_parquet)
            self._in_cells = set(kept)
        for path in self._in_parts:
            path.unlink(missing_ok=True)
        self._in_parts.clear()
        path = self.folder / "table.parquet"
        written = _readable(path, pl.read_parquet) if path.exists() else None
        if written is None or not written.equals(table):
            write_whole(path, table.write_parquet)

    def write_manifest(self, n_cells: int, n_results: int, finished: bool) -> None:
        """Write the manifest, unless the folder already has the same one."""
        content = {
            "schema": SCHEMA,
            "sweep": self.name,
            "cells": n_cells,
            "results": n_results,
            "finished": finished,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        }
        if content != self._manifest():
            text = json.dumps(content, indent=1) + "\n"
            write_whole(self.folder / "manifest.json", lambda file: file.write(text.encode()))

    def _manifest(self) -> dict[str, Any]:
        path = self.folder / "manifest.json"
        read = _readable(path, lambda path: json.loads(path.read_bytes())) if path.exists() else None
        return read if isinstance(read, dict) else {}

    def _refuse_other_sweeps(self) -> None:
        manifest = self._manifest()
        if manifest.get("schema", SCHEMA) != SCHEMA:
            raise EvidenceError(
                f"{self.folder} was written with schema {manifest['schema']!r} and this version writes {SCHEMA!r}: "
                "choose another folder."
            )
        if manifest.get("sweep", self.name) != self.name:
            raise EvidenceError(
                f"{self.folder} contains the sweep {manifest['sweep']!r}, not {self.name!r}: choose another folder."
            )

    def _read(self) -> None:
        for folder in (self.folder, self.parts):  # of killed runs, because no other process has the lock
            remove_unfinished(folder)
        cells = self.folder / "cells.parquet"
        if cells.exists():
            self.results |= _measurements([cells])
            self._in_cells = set(self.results)
        for path in sorted(self.parts.iterdir()):
            if PART.fullmatch(path.name):
                self._in_parts.append(path)
            else:
                warnings.warn(f"{path} is not a file of a sweep and was ignored.", stacklevel=4)
        self.results |= _measurements(self._in_parts)


def _frame(results: Mapping[str, Measurement]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        {
            "key": list(results),
            "metric": [entry.metric for entry in results.values()],
            "value": [entry.value for entry in results.values()],
            "raw": [entry.raw for entry in results.values()],
            "problem": [entry.problem for entry in results.values()],
            "seconds": [entry.seconds for entry in results.values()],
        },
        schema=_schema(),
    )


def _schema() -> dict[str, Any]:
    import polars as pl

    text, number = pl.String(), pl.Float64()
    return {"key": text, "metric": text, "value": number, "raw": number, "problem": text, "seconds": number}


def _measurements(paths: list[Path]) -> dict[str, Measurement]:
    """Results in these files, which are read together, or one by one if any of them is corrupt."""
    import polars as pl

    if not paths:
        return {}
    try:
        frames: Iterable[pl.DataFrame] = [pl.read_parquet(paths, schema=_schema())]
    except Exception:  # corrupt files raise many kinds of errors
        one_by_one = (_readable(path, pl.read_parquet) for path in paths)
        frames = [frame for frame in one_by_one if frame is not None]
    return {
        key: Measurement(metric, value, raw, problem, seconds)
        for frame in frames
        for key, metric, value, raw, problem, seconds in frame.iter_rows()
    }


def _readable(path: Path, read: Callable[[Path], Any]) -> Any:
    """Content of a file, or None with a warning if it is corrupt or has other columns."""
    try:
        content = read(path)
        if path.parent.name == "parts" or path.name == "cells.parquet":
            _refuse_other_columns(content)
    except Exception as error:
        reason = str(error).split("\n")[0]
        warnings.warn(f"{path} cannot be read, so its results are computed again ({reason}).", stacklevel=6)
        return None
    return content


def _refuse_other_columns(frame: pl.DataFrame) -> None:
    if dict(frame.schema) != _schema():
        raise ValueError(f"its columns are {', '.join(frame.columns)}")
