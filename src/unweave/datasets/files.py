"""Factors and codes from files: .npz, .npy, .csv and .parquet, in one file or two."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unweave.evidence import EvidenceError, Posterior

STD = "codes_std"
FORMATS = ".npz, .npy, .csv or .parquet"


@dataclass(frozen=True)
class Files:
    """What the files hold: tables for `Evidence`, and labels of row groups where asked for."""

    factors: Any
    codes: Any
    row_groups: Any = None


def read_files(
    path: str | Path,
    codes_path: str | Path | None = None,
    *,
    factors: Sequence[str] = (),
    codes: Sequence[str] = (),
    codes_std: str | None = None,
    row_groups: str | None = None,
) -> Files:
    """Factors and codes from one file that holds both, or from one file each.

    Parameters
    ----------
    path : path
        Holds both, or the factors when ``codes_path`` is given.
    codes_path : path, optional
        Holds the codes.
    factors, codes : names, optional
        Arrays of an .npz ('factors' and 'codes' by default), or columns of a table (by default those whose names begin
        with 'factor' and 'code'; when only the factors are named, all others are codes).
    codes_std : name, optional
        Array of an .npz with the standard deviations of a posterior whose means are the codes; 'codes_std' by default,
        where there is one.
    row_groups : name, optional
        Array or column with the subject or video of each row.
    """
    files = _points(path, codes_path, factors, codes, row_groups)
    std_path = _existing(path if codes_path is None else codes_path)
    if codes_std is None and not (std_path.suffix == ".npz" and STD in _names(std_path)):
        return files
    if std_path.suffix != ".npz":
        raise EvidenceError(f"{std_path} holds no array {codes_std!r}: standard deviations are read from an .npz.")
    return replace(files, codes=Posterior(files.codes, _array(std_path, codes_std or STD)))


def _points(
    path: str | Path,
    codes_path: str | Path | None,
    factors: Sequence[str],
    codes: Sequence[str],
    row_groups: str | None,
) -> Files:
    """Factors and codes without a spread."""
    path = _existing(path)
    if codes_path is not None:
        codes_path = _existing(codes_path)
        groups = None if row_groups is None else _columns(path, [row_groups])[row_groups]
        named_factors = factors or [name for name in _names(path) if name != row_groups]
        return Files(_whole(path, "factors", named_factors), _whole(codes_path, "codes", codes), groups)
    if path.suffix == ".npy":
        raise EvidenceError(f"{path} holds one array: pass two files, the factors and then the codes.")
    if path.suffix == ".npz":
        groups = None if row_groups is None else _array(path, row_groups)
        return Files(_array(path, *(factors or ("factors",))), _array(path, *(codes or ("codes",))), groups)
    names = [name for name in _names(path) if name != row_groups]
    factor_names = list(factors) or [name for name in names if name.lower().startswith("factor")]
    code_names = list(codes) or (
        [name for name in names if name not in factor_names]
        if factors
        else [name for name in names if name.lower().startswith("code")]
    )
    if not (factor_names and code_names):
        raise EvidenceError(
            f"{path} does not say which of its columns are factors and which are codes ({_shown(names)}): "
            "name the factors with --factors A,B, or begin the names with 'factor' and 'code'."
        )
    groups = None if row_groups is None else _columns(path, [row_groups])[row_groups]
    return Files(_columns(path, factor_names), _columns(path, code_names), groups)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise EvidenceError(f"There is no file {path}: check the name and the folder.")
    if path.suffix not in (".npz", ".npy", ".csv", ".parquet"):
        raise EvidenceError(f"{path} is of a kind that is not read ({path.suffix or 'no ending'}): use {FORMATS}.")
    return path


def _whole(path: Path, role: str, names: Sequence[str]) -> Any:
    """All of a file that holds one side only."""
    if path.suffix == ".npy":
        return _loaded(path)
    if path.suffix == ".npz":
        available = [name for name in _names(path) if name != STD]
        only = available[0] if len(available) == 1 else role
        return _array(path, *(names if set(names) < set(available) else (only,)))
    return _columns(path, list(names) or _names(path))


def _names(path: Path) -> list[str]:
    if path.suffix == ".npy":
        return []
    return list(_loaded(path).files) if path.suffix == ".npz" else list(_frame(path).columns)


def _array(path: Path, *keys: str) -> Any:
    """One array of an .npz, or several as a mapping of columns."""
    archive = _loaded(path)
    for key in keys:
        if key not in archive.files:
            raise EvidenceError(
                f"{path} has no array {key!r} but {_shown(archive.files)}: name the arrays with --factors and --codes."
            )
    try:
        arrays = {key: archive[key] for key in keys}
    except ValueError:
        raise EvidenceError(f"{path} holds Python objects, which are not read: save plain arrays of numbers.") from None
    return arrays[keys[0]] if len(keys) == 1 else arrays


def _columns(path: Path, names: list[str]) -> Any:
    if path.suffix in (".npz", ".npy"):
        return {name: _array(path, name) for name in names}
    frame = _frame(path)
    for name in names:
        if name not in frame.columns:
            raise EvidenceError(f"{path} has no column {name!r} but {_shown(frame.columns)}: use one of these names.")
    return frame.select(names)


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        raise EvidenceError(
            f"{path} is not a numpy file of plain numbers: save it again with numpy.save or numpy.savez."
        ) from None


def _frame(path: Path) -> Any:
    import polars

    try:
        if path.suffix == ".parquet":
            return polars.read_parquet(path)
        return polars.read_csv(path, infer_schema_length=None)
    except polars.exceptions.PolarsError as error:
        reason = str(error).split("\n")[0]
        raise EvidenceError(f"{path} cannot be read as a {path.suffix} table ({reason}): check the file.") from None


def _shown(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names[:6]]
    return ", ".join(quoted) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
