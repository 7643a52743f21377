"""Folders of Parquet files, which are read in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unweave.evidence import EvidenceError
from unweave.evidence.large.row_blocks import LARGEST_IN_MEMORY, ROWS_IN_BLOCK, Block, RowBlocks
from unweave.files.formats import PARTS, refuse_different_parts, shown
from unweave.files.parquet_sizes import refuse_parquet_bomb

PREFIX = {"factors": "factor", "codes": "code"}
BYTES_PER_NUMBER = 4  # assumed upper limit of the size of a number in a file, because files are compressed


@dataclass(frozen=True, eq=False)
class ParquetPart:
    """One file of the folder."""

    path: str
    factors: tuple[str, ...]
    codes: tuple[str, ...]
    n_rows: int

    def blocks(self) -> Iterator[Block]:
        """Yield the columns of the file in blocks of rows."""
        import polars

        frame = polars.scan_parquet(self.path).select([*self.factors, *self.codes])
        for batch in frame.collect_batches(chunk_size=ROWS_IN_BLOCK, maintain_order=True):
            yield self._columns(batch)

    def some(self, start: int, stop: int) -> Block:
        """The rows of the file from ``start`` to ``stop``."""
        import polars

        frame = polars.scan_parquet(self.path).select([*self.factors, *self.codes])
        return self._columns(frame.slice(start, stop - start).collect())

    def _columns(self, frame: Any) -> Block:
        codes = [_numbers(self.path, frame[name]) for name in self.codes]
        dtype = np.result_type(*codes)  # float32 codes are converted only when sums are computed
        table = np.empty((len(frame), sum(column.shape[1] for column in codes)), dtype, order="F")
        np.concatenate(codes, axis=1, out=table)
        return [frame[name].to_numpy() for name in self.factors], table


def parquet_blocks(
    folder: str | Path, *, factors: Sequence[str] = (), codes: Sequence[str] = (), **settings: Any
) -> RowBlocks:
    """The rows of all Parquet files of a folder, sorted by file name; pass the result to `evaluate` without codes.

    Parameters
    ----------
    folder : path
        Folder of .parquet files that have the same columns.
    factors, codes : names, optional
        Names of the columns; by default those that begin with 'factor' and 'code'. If only the factors are named, all
        other columns are codes. A column of lists has one code per list entry.
    **settings
        Settings of `RowBlocks`: ``sample_rows``, ``planning_rows``, ``cluster``.

    Examples
    --------
    >>> import tempfile, polars
    >>> from unweave import evaluate
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(2):
    ...         size = rng.normal(size=200)
    ...         polars.DataFrame({"factor size": size, "code 0": -size}).write_parquet(f"{folder}/{k}.parquet")
    ...     round(float(evaluate(parquet_blocks(folder), metrics=["mcc"], quick=True)["mcc"]), 6)
    1.0
    """
    import polars

    paths = sorted(Path(folder).glob(PARTS))
    if not paths:
        raise EvidenceError(f"{folder} is a folder without .parquet files: pass a folder that has some.")
    schemas = [_schema(path) for path in paths]
    refuse_different_parts(paths, schemas)
    factor_names, code_names = _sides(Path(folder), list(schemas[0]), list(factors), list(codes))
    parts = [
        ParquetPart(
            str(path.absolute()),
            tuple(factor_names),
            tuple(code_names),
            int(polars.scan_parquet(path).select(polars.len()).collect().item()),
        )
        for path in paths
    ]
    parts = [part for part in parts if part.n_rows]
    if not parts:
        raise EvidenceError(f"The files of {folder} have no rows: pass at least a few samples.")
    names = _expanded(parts[0], schemas[0], code_names)
    return RowBlocks(parts, tuple(factor_names), names, **settings)


def is_large_folder(folder: str | Path) -> bool:
    """Whether the files of a folder are too large to be read into memory, judged by their sizes and metadata."""
    import polars

    paths = sorted(Path(folder).glob(PARTS))
    if not paths:
        return False
    if sum(path.stat().st_size for path in paths) > BYTES_PER_NUMBER * LARGEST_IN_MEMORY:
        return True
    schemas = [_schema(path) for path in paths]
    refuse_different_parts(paths, schemas)
    n_rows = int(polars.scan_parquet(paths).select(polars.len()).collect().item())
    return n_rows * len(schemas[0]) > LARGEST_IN_MEMORY


def _schema(path: Path) -> dict[str, Any]:
    import polars

    refuse_parquet_bomb(path)
    try:
        return dict(polars.read_parquet_schema(path))
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise EvidenceError(
            f"{path} cannot be read as a .parquet table ({reason}): check the file, or save it again."
        ) from None


def _sides(folder: Path, names: list[str], factors: list[str], codes: list[str]) -> tuple[list[str], list[str]]:
    for name in (*factors, *codes):
        if name not in names:
            raise EvidenceError(f"{folder} has no column {name!r} but {shown(names)}: name existing columns.")
    factor_names = factors or [name for name in names if name.lower().startswith(PREFIX["factors"])]
    rest = [name for name in names if name not in set(factor_names)]
    code_names = codes or (rest if factors else [name for name in rest if name.lower().startswith(PREFIX["codes"])])
    if not (factor_names and code_names):
        raise EvidenceError(
            f"{folder} does not say which of its columns are factors and which are codes ({shown(names)}): "
            "name the factors with --factors A,B, or begin the names with 'factor' and 'code'."
        )
    return factor_names, code_names


def _expanded(part: ParquetPart, schema: dict[str, Any], code_names: Sequence[str]) -> tuple[str, ...]:
    """Names of the codes; a column of lists has one name per list entry."""
    import polars

    names: list[str] = []
    for name in code_names:
        if schema[name].base_type() in (polars.List, polars.Array):
            first = polars.scan_parquet(part.path).select(name).first().collect()[name].to_list()[0]
            names += [f"{name} {k}" for k in range(len(first or ()))]
        else:
            names.append(name)
    return tuple(names)


def _numbers(path: str, series: Any) -> Any:
    """Columns (rows x k) of a series of numbers (k = 1), or of lists of k numbers each."""
    import polars

    if series.dtype.base_type() is polars.List:
        lengths = series.list.len().unique().to_list()
        if len(lengths) != 1 or not lengths[0]:
            raise EvidenceError(
                f"Column {series.name!r} of {path} has lists of different lengths: they must have the same length."
            )
        series = series.list.to_array(lengths[0])
    if series.dtype.base_type() is polars.Array:
        array = series.to_numpy()
        return array if array.dtype == np.float32 else array.astype(np.float64)
    if not (series.dtype.is_numeric() or series.dtype == polars.Boolean):
        raise EvidenceError(
            f"Column {series.name!r} of {path} is {series.dtype}: codes are numbers, so leave this column out."
        )
    return (series if series.dtype == polars.Float32 else series.cast(polars.Float64)).to_numpy()[:, None]
