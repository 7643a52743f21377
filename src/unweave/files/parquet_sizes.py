"""Size of a Parquet file once it is unpacked, from its footer and the headers of its pages.

polars does not give these sizes, so the headers are read here. They are records of the compact protocol of Thrift.
"""

from __future__ import annotations

import mmap
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
            stored, unpacked = len(content), _unpacked(content)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}; check the file.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise FileError(
            f"{path} cannot be read as a .parquet table (its headers are damaged): check the file, or save it again."
        ) from None
    refuse_bomb(f"The table {path}", unpacked, stored)


def _unpacked(content: mmap.mmap) -> int:
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
