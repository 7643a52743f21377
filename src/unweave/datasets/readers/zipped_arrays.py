"""Read rows of an array in an .npz file without reading all of it.

The published archives take gigabytes after decompression. Rows of an uncompressed array are read directly. For a
compressed array, the state of the decompression is saved at regular intervals, and rows are decompressed from the
nearest saved state before them.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.interface import DataSetError, Indices

FED_AT_ONCE = 1 << 14
KEPT_EVERY = 1 << 25
LONGEST_HEADER = 1 << 12


class ZippedArrays:
    """The arrays of an .npz file by name: small arrays as a whole, large arrays by rows."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise DataSetError(f"There is no file {self.path}: put it there, or give the path of where it is.")
        try:
            with zipfile.ZipFile(self.path) as archive:
                self._members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        except zipfile.BadZipFile as error:
            raise DataSetError(
                f"{self.path} is not a whole .npz file ({error}): it was cut off or is another file, so get it again."
            ) from None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(self._members)

    def whole(self, name: str) -> NDArray[Any]:
        """A small array, in memory."""
        self._refuse_missing(name)
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                return np.asarray(archive[name])
        except (ValueError, zlib.error, zipfile.BadZipFile, EOFError) as error:
            raise DataSetError(
                f"The array {name!r} of {self.path} cannot be read ({error}): get the file again."
            ) from None

    def rows_of(self, name: str) -> RowsOnDemand:
        """A large array, whose rows are read on demand."""
        self._refuse_missing(name)
        return RowsOnDemand(self.path, self._members[name])

    def _refuse_missing(self, name: str) -> None:
        if name not in self._members:
            raise DataSetError(f"{self.path} has no array {name!r} but {', '.join(self.names)}: it is another file.")


class RowsOnDemand:
    """An array in an .npz file whose rows are read on demand."""

    def __init__(self, path: Path, member: zipfile.ZipInfo) -> None:
        self._path = path
        self._start = _start_of_data(path, member)
        self._stream = _Inflated(path, self._start, member.compress_size) if member.compress_type else None
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataSetError(
                f"{path} is packed in a way that numpy does not use: save it with numpy.savez_compressed."
            )
        head = io.BytesIO(self._bytes(0, min(LONGEST_HEADER, member.file_size)))
        try:
            version = np.lib.format.read_magic(head)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, fortran, self.dtype = read(head)
        except (ValueError, SyntaxError, TokenError) as error:  # numpy raises these for a damaged header
            raise DataSetError(
                f"{member.filename} in {path} is not a numpy array ({error}): get the file again."
            ) from None
        self._offset = head.tell()
        self._row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        if fortran or self.dtype.hasobject or self._offset + len(self) * self._row_bytes != member.file_size:
            raise DataSetError(f"{member.filename} in {path} is not an array of whole rows of numbers.")

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, indices: Indices) -> NDArray[Any]:
        wanted, places = np.unique(indices, return_inverse=True)
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1) if wanted.size else []
        rows = [self._bytes(self._offset + int(run[0]) * self._row_bytes, run.size * self._row_bytes) for run in runs]
        table = np.frombuffer(b"".join(rows), dtype=self.dtype).reshape(wanted.size, *self.shape[1:])
        return table[places]

    def _bytes(self, at: int, n_bytes: int) -> bytes:
        if self._stream is not None:
            return self._stream.read(at, n_bytes)
        with self._path.open("rb") as file:
            file.seek(self._start + at)
            return file.read(n_bytes)


class _Inflated:
    """A compressed stream with random access; the state of the decompression is saved every 32 MB."""

    def __init__(self, path: Path, start: int, n_bytes: int) -> None:
        self._path, self._start, self._end = path, start, start + n_bytes
        # a state has the number of decompressed bytes, the position in the file, and the decompressor
        self._kept: list[tuple[int, int, Any]] = [(0, start, zlib.decompressobj(-15))]
        self._now = self._kept[0]

    def read(self, at: int, n_bytes: int) -> bytes:
        given_out, place, unpacker = self._state_before(at)
        pieces: list[bytes] = []
        with self._path.open("rb") as file:
            file.seek(place)
            # the saved state is never later than the first requested byte
            while given_out < at + n_bytes and place < self._end:
                if given_out <= at:
                    self._now = (given_out, place, unpacker.copy())
                    pieces.clear()
                piece, place = self._next(file, place, unpacker)
                pieces.append(piece)
                given_out += len(piece)
                self._keep(given_out, place, unpacker)
        content = b"".join(pieces)
        begin = at - (given_out - len(content))
        if len(content) < begin + n_bytes:
            raise DataSetError(f"{self._path} ends before its arrays do: it was cut off, so get it again.")
        return content[begin : begin + n_bytes]

    def _state_before(self, at: int) -> tuple[int, int, Any]:
        best = max((state for state in (*self._kept, self._now) if state[0] <= at), key=lambda state: state[0])
        return best[0], best[1], best[2].copy()

    def _next(self, file: Any, place: int, unpacker: Any) -> tuple[bytes, int]:
        fed = file.read(min(FED_AT_ONCE, self._end - place))
        try:
            return unpacker.decompress(fed), place + len(fed)
        except zlib.error as error:
            raise DataSetError(f"{self._path} is damaged ({error}): get it again.") from None

    def _keep(self, given_out: int, place: int, unpacker: Any) -> None:
        if given_out >= self._kept[-1][0] + KEPT_EVERY:
            self._kept.append((given_out, place, unpacker.copy()))


def _start_of_data(path: Path, member: zipfile.ZipInfo) -> int:
    """Offset of a member's data: after its local header, whose length depends on its name and extra field."""
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(30)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    return member.header_offset + 30 + name_length + extra_length
