"""Conversion of columns to float64; text becomes the index of its sorted levels, and missing values become nan."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray

Levels = tuple[str, ...]
LARGEST_EXACT_INTEGER = 2**53
LONGEST_NAME = 60


class EvidenceError(ValueError):
    """Raised for input that cannot be scored; the message states what is wrong, where, and what to do."""


def quoted(name: object) -> str:
    """A name for messages, in quotes; long names are shortened in the middle.

    >>> quoted("size"), quoted("x" * 10_000)
    ("'size'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
    """
    shown = repr(str(name))
    half = LONGEST_NAME // 2
    return shown if len(shown) <= LONGEST_NAME + 3 else f"{shown[:half]}...{shown[-half:]}"


def plain(given: object) -> NDArray[Any]:
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
        raise EvidenceError(
            "The rows have different lengths: pass a table in which every row has as many values."
        ) from error
    except (TypeError, RuntimeError):  # half precisions that numpy does not support
        return _widened(given)
    if array.dtype.kind in "US" and isinstance(given, (list, tuple)):
        return np.array(given, dtype=object)  # numpy would convert numbers and nan to text
    return array


def read_stored(array: Any, rows: Any) -> NDArray[Any]:
    """Rows of an array of HDF5, Zarr or dask; every error of a damaged file becomes an EvidenceError."""
    try:
        block = array[rows]
        return np.asarray(block.compute(scheduler="synchronous") if hasattr(block, "compute") else block)
    except Exception as error:  # every compression has errors of its own
        reason = " ".join(str(error).split())[:100]
        raise EvidenceError(f"An array cannot be read ({reason}): check the file, or save it again.") from None


def _widened(tensor: Any) -> NDArray[Any]:
    try:
        return np.asarray(tensor.float())
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise EvidenceError(
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


def numbers(column: NDArray[Any], where: str) -> tuple[FloatArray, Levels | None]:
    """Column as float64, with its levels if it is text (None otherwise).

    >>> numbers(np.array(["b", "a"]), "Factor 'shape'")
    (array([1., 0.]), ('a', 'b'))
    """
    kind = column.dtype.kind
    if kind in "iu" and column.size:
        for entry in (int(column.min()), int(column.max())):
            _refuse_rounding(entry, where)
    # half precisions from extensions of numpy have the kind of raw bytes
    if kind in "fiub" or (kind == "V" and "float" in column.dtype.name):
        with np.errstate(over="ignore"):  # infinite values raise an error later, which names the column
            return column.astype(np.float64), None
    if kind == "U":
        return _levels(column.tolist())
    if kind in "OST":
        return _numbers_of_objects(column.astype(object).tolist(), where)
    raise EvidenceError(
        f"{where} has type {column.dtype}, which is neither number nor text: convert it to numbers or text first."
    )


def _numbers_of_objects(entries: list[Any], where: str) -> tuple[FloatArray, Levels | None]:
    present = [entry for entry in entries if not is_missing(entry)]
    if present and all(isinstance(entry, (str, bytes)) for entry in present):
        return _levels([None if is_missing(entry) else _word(entry) for entry in entries])
    values = [math.nan if is_missing(entry) else _number(entry, where, row) for row, entry in enumerate(entries)]
    return np.array(values, dtype=np.float64), None


def _number(entry: Any, where: str, row: int) -> float:
    if isinstance(entry, (str, bytes)):
        raise EvidenceError(
            f"{where} mixes text with numbers (row {row} is {reprlib.repr(entry)}): "
            "make the column all numbers or all text."
        )
    # numpy's time differences are a subclass of integers
    if not isinstance(entry, (Real, Decimal, np.bool_)) or isinstance(entry, np.timedelta64):
        raise EvidenceError(
            f"{where} contains an object of type {type(entry).__name__} in row {row}, which is neither number nor "
            "text: convert the column to numbers or text first."
        )
    if isinstance(entry, Integral):
        _refuse_rounding(int(entry), where)
    return float(entry)


def _refuse_rounding(entry: int, where: str) -> None:
    if abs(entry) > LARGEST_EXACT_INTEGER:
        raise EvidenceError(
            f"{where} contains integers above 2**53 that would be rounded: number its values from 0, "
            "or leave it out if it is an identifier."
        )


def _levels(entries: Sequence[str | None]) -> tuple[FloatArray, Levels]:
    levels = tuple(sorted({entry for entry in entries if entry is not None}))
    position = {level: float(k) for k, level in enumerate(levels)}
    return np.array([math.nan if entry is None else position[entry] for entry in entries]), levels


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


def constant_names(columns: FloatArray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the constant columns."""
    if not columns.size:
        return ()
    return tuple(names[j] for j in np.flatnonzero(columns.max(axis=0) == columns.min(axis=0)))
