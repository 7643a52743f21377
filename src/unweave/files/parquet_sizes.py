"""Size of a Parquet or Arrow file once it is unpacked, from its footer and the headers of its parts.

polars does not give these sizes, so the headers are read here. They are records of the compact protocol of Thrift.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unweave.errors import FileError
from unweave.evidence.archives import refuse_bomb

BYTES_PER_VALUE = 16  # of a number or of the view of a text, of which a page may store a million as one run
DEEPEST = 30
TRUE, FALSE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 7, 8, 9, 10, 12


def refuse_parquet_bomb(path: Path) -> None:
    """Raise an error for a Parquet file whose headers do not make sense, or that is too large once unpacked."""
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            stored, unpacked = len(content), _unpacked_bytes(content)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}; check the file.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise FileError(
            f"{path} cannot be read as a .parquet table (its headers are damaged): check the file, or save it again."
        ) from None
    refuse_bomb(f"The table {path}", unpacked, stored)


def _unpacked_bytes(content: mmap.mmap) -> int:
    if content[:4] != b"PAR1" or content[-4:] != b"PAR1":
        raise ValueError("no Parquet file")
    footer = _Record(content, len(content) - 8 - int.from_bytes(content[-8:-4], "little")).fields()
    widest = max([BYTES_PER_VALUE, *(element.get(2, 0) for element in footer[2])])  # field 2: length of a fixed text
    n_values = footer[3]
    n_bytes = 0
    for group in footer.get(4, ()):
        for column in group[1]:
            if 1 in column:
                raise ValueError("the column is in another file")
            described = column[3]
            n_in_pages, n_page_bytes = _pages(content, described)
            n_values += max(described[5], n_in_pages)
            n_bytes += max(described[6], n_page_bytes)
    return max(n_bytes, n_values * widest)


def _pages(content: mmap.mmap, described: dict[int, Any]) -> tuple[int, int]:
    """Numbers of values and of bytes of all pages of a column, by the headers of the pages."""
    if not described[7]:
        return 0, 0
    at = min(offset for offset in (described[9], described.get(11, 0)) if offset > 0)
    end = at + described[7]
    if described[7] < 0 or end > len(content):
        raise ValueError("a column ends after the file")
    n_values = n_bytes = 0
    while at < end:
        header = _Record(content, at)
        page = header.fields()
        counts = [page[field][1] for field in (5, 7, 8) if field in page]
        if min(page[2], page[3], *counts) < 0:  # polars would end the process
            raise ValueError("a page has a negative size")
        n_values += sum(counts)
        n_bytes += page[2]
        at = header.at + page[3]
    return n_values, n_bytes


class _Record:
    """A reader of Thrift's compact protocol that begins at a place of the file."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        if at < 4:
            raise ValueError("a record begins before the file")
        self.content, self.at = content, at

    def fields(self, depth: int = 0) -> dict[int, Any]:
        """Values of a record by the numbers of their fields."""
        if depth > DEEPEST:
            raise ValueError("records are nested too deeply")
        values: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            values[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE, 3):  # one byte, also for truth values in a list
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind in (DOUBLE, BINARY):
            length = 8 if kind == DOUBLE else self._count()
            self.at += length
            return None
        if kind in (LIST, SET):
            head = self._byte()
            n_items = head >> 4 if head >> 4 < 15 else self._count()
            if n_items > len(self.content):  # every item takes a byte
                raise ValueError("a list is longer than the file")
            return [self._value(head & 15, depth + 1) for _ in range(n_items)]
        if kind == STRUCT:
            return self.fields(depth + 1)
        raise ValueError("a field has an unknown type")

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _count(self) -> int:
        number = shift = 0
        while shift < 70:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
        raise ValueError("a number is too long")

    def _whole(self) -> int:
        number = self._count()
        return (number >> 1) ^ -(number & 1)


DICTIONARY, BATCH = 2, 3  # types of Arrow messages that have values


def refuse_arrow_bomb(path: Path) -> None:
    """Raise an error for Arrow data whose headers do not make sense, or that are too large once unpacked.

    A message is four bytes that are set, the length of a header, the header (a table of FlatBuffers), and a body. Every
    compressed part of the body begins with its size once unpacked. A stream is messages one after another, and a file
    has a footer with their places.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            places = _arrow_places(content) if content[:6] == b"ARROW1" else None
            stored, unpacked = len(content), sum(_arrow_messages(content, places))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}; check the file.") from None
    except (ValueError, LookupError, struct.error):
        raise FileError(
            f"{path} cannot be read as an Arrow table (its headers are damaged): check the file, or save it again."
        ) from None
    refuse_bomb(f"The table {path}", unpacked, stored)


def _arrow_places(content: mmap.mmap) -> list[int]:
    """Places of the messages of a file, from its footer."""
    end = len(content) - 10
    start = end - struct.unpack_from("<i", content, end)[0]
    if content[-6:] != b"ARROW1" or not 8 <= start < end:
        raise ValueError("no footer")
    footer = _FlatTable(content, start + struct.unpack_from("<I", content, start)[0])
    lists = [footer.vector(field) for field in (DICTIONARY, BATCH)]
    return [struct.unpack_from("<q", content, first + 24 * k)[0] for first, n_blocks in lists for k in range(n_blocks)]


def _arrow_messages(content: mmap.mmap, places: list[int] | None) -> Iterator[int]:
    """Size of every message once unpacked: of those at these places, or of a stream."""
    at, waiting = (0, None) if places is None else (0, list(reversed(places)))
    while waiting is None or waiting:
        at = at if waiting is None else waiting.pop()
        mark, length = struct.unpack_from("<Ii", content, at)
        if mark != 0xFFFFFFFF or length < 0:
            raise ValueError("no message")
        if not length:
            return
        message = _FlatTable(content, at + 8 + struct.unpack_from("<I", content, at + 8)[0])
        body, n_bytes = at + 8 + length, message.number(3, "<q")
        if n_bytes < 0 or body + n_bytes > len(content):
            raise ValueError("a message ends after the file")
        yield n_bytes
        kind = message.number(1, "<B")
        if kind in (DICTIONARY, BATCH):
            batch = message.table(2) if kind == BATCH else message.table(2).table(1)
            yield from _arrow_buffers(content, batch, body, n_bytes)
        at = body + n_bytes
        if waiting is None and at == len(content):
            return  # a stream may end without a mark


def _arrow_buffers(content: mmap.mmap, batch: _FlatTable, body: int, n_bytes: int) -> Iterator[int]:
    yield 8 * max(batch.number(0, "<q"), 0)  # rows without values take no room in the file
    if not batch.place(3):
        return
    first, n_buffers = batch.vector(2)
    for k in range(n_buffers):
        offset, length = struct.unpack_from("<qq", content, first + 16 * k)
        if offset < 0 or length < 0 or offset + length > n_bytes:
            raise ValueError("a part ends after its message")
        if length >= 8:
            yield max(struct.unpack_from("<q", content, body + offset)[0], 0)


class _FlatTable:
    """A table of FlatBuffers: a list of places, and fields at these places."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self.content, self.at = content, at
        self.places = at - struct.unpack_from("<i", content, at)[0]
        (self.n_bytes,) = struct.unpack_from("<H", content, self.places)

    def place(self, field: int) -> int:
        """Place of a field; 0 if the table does not have it."""
        entry = 4 + 2 * field
        (offset,) = struct.unpack_from("<H", self.content, self.places + entry) if entry < self.n_bytes else (0,)
        return self.at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        """A number; 0 if the table does not have it."""
        place = self.place(field)
        return int(struct.unpack_from(kind, self.content, place)[0]) if place else 0

    def table(self, field: int) -> _FlatTable:
        """A table in this table."""
        place = self.place(field)
        if not place:
            raise ValueError("a header is incomplete")
        return _FlatTable(self.content, place + struct.unpack_from("<I", self.content, place)[0])

    def vector(self, field: int) -> tuple[int, int]:
        """Place and number of the entries of a list."""
        place = self.place(field)
        if not place:
            return 0, 0
        first = place + struct.unpack_from("<I", self.content, place)[0]
        return first + 4, int(struct.unpack_from("<I", self.content, first)[0])
