"""The idx format of MNIST: a big-endian header with the type and the sizes, then the numbers."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.interface import DataSetError

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LONGEST_IDX_HEADER = 4 + 4 * 255  # of an array with 255 axes


def read_idx(path: str | Path) -> NDArray[Any]:
    """Array of an idx file, plain or compressed with gzip. A plain file is memory-mapped.

    Raises `DataSetError` if the file is truncated, does not have the size that its header states, or is not idx.
    """
    path = Path(path)
    if path.suffix != ".gz":
        size = path.stat().st_size
        with path.open("rb") as file:
            shape, dtype, start = _header(file.read(LONGEST_IDX_HEADER), path)
        refuse_other_size(size - start, shape, dtype, path)
        return np.memmap(path, dtype=dtype, mode="r", offset=start, shape=shape)
    try:
        with gzip.open(path) as packed:
            content = packed.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataSetError(
            f"{path} cannot be unpacked ({error}): it was cut off or damaged, so get it again."
        ) from None
    shape, dtype, start = _header(content, path)
    refuse_other_size(len(content) - start, shape, dtype, path)
    return np.frombuffer(content, dtype=dtype, offset=start).reshape(shape)


def _header(content: bytes, path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in TYPES:
        if len(content) >= 4 and content[2:4] == b"\0\0" and content[1] in TYPES:
            raise DataSetError(
                f"{path} is an idx file with its bytes in little-endian order: idx files are big-endian."
            )
        raise DataSetError(
            f"{path} is not an idx file: it should begin with two zero bytes, a type and a number of axes."
        )
    n_axes = content[3]
    start = 4 + 4 * n_axes
    if len(content) < start:
        raise DataSetError(f"{path} ends within its header: it was cut off, so get it again.")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    return shape, np.dtype(TYPES[content[2]]), start


def refuse_other_size(n_bytes: int, shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> None:
    """Raise an error unless there are as many bytes as the array that the header of a file states."""
    wanted = math.prod(shape) * dtype.itemsize
    if n_bytes != wanted:
        what = "it was cut off, so get it again" if n_bytes < wanted else "it is another file, or damaged"
        raise DataSetError(
            f"The header of {path} states an array of shape {shape}, {wanted} bytes, but it has {n_bytes}: {what}."
        )
