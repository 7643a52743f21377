"""Formats of files."""

from __future__ import annotations

import csv
import difflib
import fnmatch
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import FileError, OptionError, UnweaveError
from unweave.evidence.archives import (
    STORED,
    array_in,
    checked_array,
    hdf5_groups,
    refuse_bomb,
    refusing_broken_arrays,
    stored_arrays,
)
from unweave.evidence.blocks import LARGEST_IN_MEMORY, ROWS_IN_BLOCK, Block, RowBlocks
from unweave.evidence.columns import LARGEST_EXACT_INTEGER, quoted
from unweave.evidence.sparse import sparse_array
from unweave.files.containers import AnnDataArrays, safetensors_arrays
from unweave.files.parquet_sizes import refuse_arrow_bomb, refuse_parquet_bomb

ARROW = (".arrow", ".feather", ".ipc")
FORMATS = ".npz, .npy, .csv, .parquet, .feather, .safetensors, .pt, .h5ad, .h5 or .zarr"
CONVERTED = {
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz"), "unpack it first"),
    **dict.fromkeys((".tsv", ".txt", ".xlsx", ".xls", ".json"), "save it as .csv with commas between columns"),
    **dict.fromkeys((".pkl", ".pickle"), "a pickle can run code, so save its table with to_csv"),
}
PARTS = "*.parquet"
PLACES = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
SPARSE_PARTS = {"format", "shape", "data"}  # some of the arrays that scipy.sparse.save_npz writes
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
MISSING_WORDS = {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "NULL", "null", "None"}  # as pandas reads
CSV_ROWS = 16_384  # read at a time


@dataclass(frozen=True)
class Opened:
    """Content of a file: an array or sparse matrix without names, an archive of named arrays, or a table.

    A table is a mapping of columns (.csv) or a data frame of polars (.parquet).
    """

    path: Path
    content: Any
    names: tuple[str, ...]
    is_archive: bool = False

    @property
    def is_one_array(self) -> bool:
        """Whether it is one array without a name."""
        return isinstance(self.content, np.ndarray) or hasattr(self.content, "tocsc")

    def table(self, names: Sequence[str]) -> Any:
        """The array of this name in an archive (a mapping for several), or the named columns of a table."""
        self.check(names)
        if not (self.is_archive or isinstance(self.content, dict)):
            return self.content.select(names)
        columns = {name.removeprefix("obs:"): self._entry(name) for name in names}
        if any(name.startswith("obs:") for name in names):
            return columns  # columns of an .h5ad file, each with the name it has there
        return columns[names[0]] if self.is_archive and len(names) == 1 else columns

    def column(self, name: str) -> Any:
        """The array or column of this name."""
        self.check([name])
        return self._entry(name)

    def _entry(self, name: str) -> Any:
        if isinstance(self.content, np.lib.npyio.NpzFile):
            return array_in(self.content, name, self.path)
        if isinstance(self.content, AnnDataArrays):
            return self.content.read(name)
        if isinstance(self.content[name], np.ndarray):
            return self.content[name]
        return checked_array(self.path, name, self.content[name]) if self.is_archive else self.content[name]

    def chosen(self, names: Sequence[str]) -> list[str]:
        """The names, with patterns such as emb_* and ranges such as emb_0..emb_63 replaced by what they stand for."""
        chosen: list[str] = []
        for name in names:
            first, dots, last = name.partition("..")
            if name in self.names or self.is_one_array:
                fitting = [name]
            elif dots and {first, last} <= set(self.names):
                places = sorted((self.names.index(first), self.names.index(last)))
                fitting = list(self.names[places[0] : places[1] + 1])
            elif set(name) & set("*?["):
                fitting = fnmatch.filter(self.names, name)
                if not fitting:
                    raise FileError(f"No name in {self.path} fits {name!r}: there are {shown(self.names)}.")
            else:  # a column of an .h5ad file may be named without 'obs:'
                bare = [each for each in self.names if each.partition(":")[2] == name]
                fitting = bare if len(bare) == 1 else [name]
            chosen += fitting
        return chosen

    def check(self, names: Sequence[str], options: str = "--factors, --codes and --row-groups") -> None:
        """Raise one error for all names that the file does not have; it says which options name existing ones."""
        if self.is_one_array and names:
            raise FileError(f"{self.path} contains one array without names, so it has no {names[0]!r}: omit names.")
        known = set(self.names)
        missing = [name for name in dict.fromkeys(names) if name not in known]
        what = "array" if self.is_archive else "column"
        if len(missing) == 1:
            raise FileError(
                f"{self.path} has no {what} {missing[0]!r} but {shown(self.names)}: "
                f"{self._instead(missing[0], options)}"
            )
        if missing:
            alike = {name: self._alike(name) for name in missing}
            listed = [f"{name!r}{f' (did you mean {alike[name]!r}?)' * bool(alike[name])}" for name in missing[:20]]
            raise FileError(
                f"{self.path} has no {what}s {', '.join(listed[:-1])} and {listed[-1]} but {shown(self.names)}: "
                f"{self._instead('', options)}"
            )
        if len(set(names)) < len(names):
            raise OptionError(f"{mode(names)!r} is named twice: name every array or column once.")

    def _instead(self, name: str, options: str) -> str:
        """What to do about a name that the file does not have."""
        several = [word for word in re.split(r"[\s;,|]+", name) if word]
        if len(several) > 1 and {*several} <= {*self.names}:
            return f"separate names by commas alone, as in {','.join(several)}."
        if alike := self._alike(name):
            return f"did you mean {alike!r}?"
        if self.is_archive and any(each.rpartition(".")[2] in ("weight", "bias") for each in self.names):
            return "these are the weights of a model, so encode samples with it first, and pass the codes."
        if name == "factors":
            return (
                f"name existing ones with --factors, or pass the file with the factors (--factors-from labels.npz, or "
                f"unweave score labels.npz {self.path})."
            )
        return f"name existing ones with {options}."

    def _alike(self, name: str) -> str | None:
        """The most similar name in the file, of those that contain this one or a word with which it begins."""
        word = name.removeprefix("obs:").strip().casefold()
        found = []
        for each in self.names:
            known = each.removeprefix("obs:").strip().casefold()
            if known == word:
                return each
            words = [part for part in re.split(r"[\W_]+", known) if len(part) > 2]
            if len(word) > 2 and (word in known or any(word.startswith(part) for part in words)):
                found.append(each)
        near = difflib.get_close_matches(name, found, 1, 0) or difflib.get_close_matches(name, self.names, 1, 0.75)
        return near[0] if near else None


def opened(path: str | Path) -> Opened:
    """Content of a file; raises a FileError if it does not exist, cannot be read or has another format."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in (*STORED, ".h5ad") and os.path.exists(path):
        arrays = stored_arrays(path) if ending in STORED else AnnDataArrays(path, hdf5_groups(path), checked_array)
        return Opened(path, arrays, tuple(arrays), is_archive=True)
    if os.path.isdir(path):
        frame = _data_set(path) if (path / "state.json").is_file() else _parts(path)
        return Opened(path, frame, tuple(frame.columns))
    if not os.path.isfile(path):
        raise FileError(f"There is no file {path}: check the name and the folder.")
    if ending in (".npy", ".npz"):
        return _opened_arrays(path, np.ndarray if ending == ".npy" else np.lib.npyio.NpzFile)
    if ending == ".csv":
        columns = csv_columns(path)
        return Opened(path, columns, tuple(columns))
    if ending == ".parquet":
        frame = _frame(path)
        return Opened(path, frame, tuple(frame.columns))
    if ending in ARROW:
        frame = _arrow_frame(path)
        return Opened(path, frame, tuple(frame.columns))
    if ending in (".safetensors", ".pt", ".pth"):
        found = safetensors_arrays(path) if ending == ".safetensors" else _tensors(path)
        return Opened(path, found, () if isinstance(found, np.ndarray) else tuple(found), is_archive=True)
    how = f" ({CONVERTED[ending]})" if ending in CONVERTED else ""
    raise FileError(f"{path} has an unsupported format ({ending or 'no ending'}): use {FORMATS}{how}.")


def _tensors(path: Path) -> Any:
    try:
        from unweave.neural.published_vaes import saved_tensors
    except ImportError:
        raise OptionError(f"{path} needs the package torch: install unweave[torch].") from None
    return saved_tensors(path)


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
    return Opened(path, content, tuple(content.files), is_archive=True)


def _sparse_matrix(path: Path, archive: np.lib.npyio.NpzFile) -> Any:
    """The matrix that scipy.sparse.save_npz wrote; scipy's own reader does not check it."""
    written = array_in(archive, "format", path).item()
    layout = written.decode() if isinstance(written, bytes) else str(written)
    if layout not in PLACES:
        raise FileError(f"{path} is a sparse matrix in the format {quoted(layout)}: save matrix.tocsc() instead.")
    parts = [array_in(archive, name, path) for name in ("shape", "data", *PLACES[layout])]
    try:
        return sparse_array(layout, *parts)
    except UnweaveError as error:
        raise FileError(f"{path}: {error}") from None


def polars_for(what: object) -> Any:
    """The package polars, which reads and writes binary tables; raises an error that says how to install it."""
    try:
        import polars
    except ImportError:
        raise OptionError(f"{what} needs the package polars: install unweave[tables].") from None
    return polars


def _frame(path: Path) -> Any:
    polars = polars_for(path)
    refuse_parquet_bomb(path)
    try:
        with path.open("rb") as stream:
            return polars.read_parquet(stream)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise _unreadable(path, error) from None


def _arrow_frame(path: Path) -> Any:
    """The table of a Feather file, or of a file or stream of Arrow."""
    polars = polars_for(path)
    refuse_arrow_bomb(path)
    try:
        content = path.read_bytes()
        return (polars.read_ipc if content[:6] == b"ARROW1" else polars.read_ipc_stream)(content)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise _unreadable(path, error) from None


def _data_set(folder: Path) -> Any:
    """The table of a folder that ``save_to_disk`` of Hugging Face datasets wrote: streams of Arrow."""
    try:
        names = [entry["filename"] for entry in json.loads((folder / "state.json").read_text("utf-8"))["_data_files"]]
        paths = [folder / Path(name).name for name in names]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{folder} cannot be read as a data set ({error}): write it with save_to_disk again.") from None
    if not paths or (folder / "indices.arrow").exists():
        raise FileError(f"{folder} has no rows of its own: write it with flatten_indices().save_to_disk(...).")
    frames = [_arrow_frame(path) for path in paths]
    refuse_different_parts(paths, [dict(frame.schema) for frame in frames])
    return polars_for(folder).concat(frames)


def _unreadable(path: Path, error: Exception) -> FileError:
    reason = str(error).split("\n")[0][:200]
    return FileError(f"{path} cannot be read as a {path.suffix} table ({reason}): check the file, or save it again.")


def csv_columns(path: Path) -> dict[str, NDArray[Any]]:
    """Columns by name: numbers where every field is a number, true or false, or missing; otherwise text or None."""
    try:
        header = _checked_header(path)
        parts: list[list[Any]] = [[] for _ in header]
        for rows in _csv_blocks(path, len(header)):
            for part, words in zip(parts, zip(*rows, strict=True), strict=True):
                if not (part and part[-1] is None):
                    part.append(_numbers_in(words))
        words_of = [j for j, part in enumerate(parts) if part and part[-1] is None]
        columns: dict[int, list[str]] = {j: [] for j in words_of}
        for rows in _csv_blocks(path, len(header)) if words_of else ():
            for j, column in columns.items():
                column += [row[j].strip() for row in rows]
    except UnicodeError:
        raise _unreadable(path, ValueError("it is not utf-8, which is the encoding to use")) from None
    except (OSError, csv.Error) as error:
        raise _unreadable(path, error) from None
    # a column without a name is the index that pandas writes
    return {
        name: _text_or_truth(columns[j]) if j in columns else np.concatenate(part or [[]])
        for j, (name, part) in enumerate(zip(header, parts, strict=True))
        if name
    }


def _csv_blocks(path: Path, n_columns: int) -> Iterator[list[list[str]]]:
    """Rows after the header, some thousands at a time."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        next(reader, None)
        block: list[list[str]] = []
        for row in reader:
            if not row:
                if n_columns > 1:
                    continue  # a blank line; in a table of one column, it is a missing value
                row = [""]
            if len(row) != n_columns:
                raise csv.Error(f"line {reader.line_num} has {len(row)} fields and the header {n_columns}")
            block.append(row)
            if len(block) == CSV_ROWS:
                yield block
                block = []
        if block:
            yield block


def _numbers_in(words: Sequence[str]) -> NDArray[Any] | None:
    """Numbers of a column, with nan for missing values; None if a field is neither."""
    try:
        numbers: list[Any] = list(map(float, words))
    except ValueError:
        try:
            numbers = [math.nan if word.strip() in MISSING_WORDS else float(word) for word in words]
        except ValueError:
            return None
    joined = "".join(words)
    if "_" in joined or not joined.isascii():  # Python reads 1_000, and digits of any script, as numbers
        return None
    values = np.array(numbers)
    if not (np.abs(values) > LARGEST_EXACT_INTEGER).any():
        return values
    # integers stay integers, so that an error is raised where they would be rounded
    pairs = zip((word.strip() for word in words), numbers, strict=True)
    return np.array([int(w) if len(w) < 99 and w.lstrip("+-").isdecimal() else x for w, x in pairs], dtype=object)


def _text_or_truth(words: list[str]) -> NDArray[Any]:
    entries = [None if word in MISSING_WORDS else word for word in words]
    if {word.lower() for word in entries if word is not None} <= {"true", "false"}:
        return np.array([math.nan if word is None else float(word.lower() == "true") for word in entries])
    return np.array(entries, dtype=object)


def _checked_header(path: Path) -> list[str]:
    """Names of the columns; raises an error if there are none, if one repeats, or if the separator is not a comma."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        line = stream.readline()
        header = [name.strip() for name in next(csv.reader([line]), [])]
    if not line.replace("\t", "").rstrip("\r\n").isprintable():
        raise FileError(f"{path} has characters in its first row that are no text: save it as plain text.")
    if line.lstrip()[:1] in ("{", "["):
        raise FileError(f"{path} contains JSON and no columns: read it, and save a table with to_csv.")
    other = max(SEPARATORS, key=line.count)
    if line.count(other) > line.count(","):
        raise FileError(
            f"{path} is separated by {SEPARATORS[other]}: save it with commas between columns and points in numbers."
        )
    if not any(header):
        raise FileError(f"{path} cannot be read as a .csv table (it is empty): check the file, or save it again.")
    if all(map(_is_number, header)):
        raise FileError(f"{path} has numbers in its first row: put the names of the columns there.")
    if len(set(header)) < len(header):
        raise FileError(f"{path} has two columns called {quoted(mode(header))}: give every column a name of its own.")
    return header


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder by name, or else those in its folders, of which ``data`` comes before ``meta``."""
    inside = folder / "data" if (folder / "data").is_dir() else folder
    return sorted(folder.glob(PARTS)) or sorted(inside.rglob(PARTS))


def _parts(folder: Path) -> Any:
    """The table of all Parquet files of a folder, concatenated in the order of their names."""
    paths = parquet_files(folder)
    if not paths:
        raise FileError(f"{folder} is a folder without .parquet files: pass a file in it, {FORMATS}.")
    frames = [_frame(path) for path in paths]
    refuse_different_parts(paths, [dict(frame.schema) for frame in frames])
    return polars_for(folder).concat(frames, how="vertical_relaxed")


def refuse_different_parts(paths: Sequence[Path], schemas: Sequence[dict[str, Any]]) -> None:
    """Raise an error if the files of a folder do not have the same columns of the same kinds."""
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        if list(schema) != list(first):
            differing = sorted(set(schema) ^ set(first)) or list(schema)
            raise FileError(
                f"{path.name} and {paths[0].name} have different columns ({shown(differing)}): write all parts "
                "with the same columns in the same order."
            )
        for name, dtype in schema.items():
            if kind_of(dtype) != kind_of(first[name]):
                raise FileError(
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
        for batch in self._scan().collect_batches(chunk_size=ROWS_IN_BLOCK, maintain_order=True):
            yield self._columns(batch)

    def some(self, start: int, stop: int) -> Block:
        """The rows of the file from ``start`` to ``stop``."""
        return self._columns(self._scan().slice(start, stop - start).collect())

    def _scan(self) -> Any:
        import polars

        return polars.scan_parquet(self.path).select([*self.factors, *self.codes])

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
    polars = polars_for(folder)
    paths = parquet_files(Path(folder))
    if not paths:
        raise FileError(f"{folder} is a folder without .parquet files: pass a folder that has some.")
    schemas = [_schema(path) for path in paths]
    refuse_different_parts(paths, schemas)
    factor_names, code_names = _sides(Path(folder), list(schemas[0]), list(factors), list(codes))
    n_rows = [int(polars.scan_parquet(path).select(polars.len()).collect().item()) for path in paths]
    names = tuple(factor_names), tuple(code_names)
    parts = [ParquetPart(str(path.absolute()), *names, n) for path, n in zip(paths, n_rows, strict=True) if n]
    if not parts:
        raise FileError(f"The files of {folder} have no rows: pass at least a few samples.")
    return RowBlocks(parts, names[0], _code_names_of_lists(parts[0], schemas[0], code_names), **settings)


def is_large_folder(folder: str | Path) -> bool:
    """Whether the files of a folder are too large to be read into memory, judged by their sizes and metadata."""
    paths = parquet_files(Path(folder))
    if not paths:
        return False
    if sum(path.stat().st_size for path in paths) > BYTES_PER_NUMBER * LARGEST_IN_MEMORY:
        return True
    schemas = [_schema(path) for path in paths]
    refuse_different_parts(paths, schemas)
    polars = polars_for(folder)
    n_rows = int(polars.scan_parquet(paths).select(polars.len()).collect().item())
    return n_rows * len(schemas[0]) > LARGEST_IN_MEMORY


def _schema(path: Path) -> dict[str, Any]:
    polars = polars_for(path)
    refuse_parquet_bomb(path)
    try:
        return dict(polars.read_parquet_schema(path))
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, error) from None


def _sides(folder: Path, names: list[str], factors: list[str], codes: list[str]) -> tuple[list[str], list[str]]:
    for name in (*factors, *codes):
        if name not in names:
            raise FileError(f"{folder} has no column {name!r} but {shown(names)}: name existing columns.")
    factor_names = factors or [name for name in names if name.lower().startswith(PREFIX["factors"])]
    rest = [name for name in names if name not in set(factor_names)]
    code_names = codes or (rest if factors else [name for name in rest if name.lower().startswith(PREFIX["codes"])])
    if not (factor_names and code_names):
        raise FileError(
            f"{folder} does not say which of its columns are factors and which are codes ({shown(names)}): "
            "name the factors with --factors A,B, or begin the names with 'factor' and 'code'."
        )
    return factor_names, code_names


def _code_names_of_lists(part: ParquetPart, schema: dict[str, Any], code_names: Sequence[str]) -> tuple[str, ...]:
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
            raise FileError(
                f"Column {series.name!r} of {path} has lists of different lengths: they must have the same length."
            )
        series = series.list.to_array(lengths[0])
    if series.dtype.base_type() is polars.Array:
        array = series.to_numpy()
        return array if array.dtype == np.float32 else array.astype(np.float64)
    if not (series.dtype.is_numeric() or series.dtype == polars.Boolean):
        raise FileError(
            f"Column {series.name!r} of {path} is {series.dtype}: codes are numbers, so leave this column out."
        )
    return (series if series.dtype == polars.Float32 else series.cast(polars.Float64)).to_numpy()[:, None]
