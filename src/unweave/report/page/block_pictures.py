"""A matrix as a small PNG inside the page, one pixel a cell."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from unweave.report.page.colours import N_LEVELS, Colour

UNDEFINED: Colour = (136, 136, 136)


def picture(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> str:
    """PNG with the colours of the ramp as a data address; grey where there is no value.

    >>> from unweave.report.page.colours import LIGHT
    >>> picture([[0.0, 1.0]], (0.0, 1.0), LIGHT)[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(values, scale, ramp)).decode()


def png(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> bytes:
    """The bytes of the picture: eight bits a pixel with a palette (PNG specification, section 11)."""
    shares = np.abs(np.array(values, dtype=object).astype(np.float64)) / scale[1]
    levels = np.where(np.isnan(shares), N_LEVELS, np.rint(np.clip(shares, 0.0, 1.0) * (N_LEVELS - 1)))
    # every line starts with its filter, none
    lines = np.pad(np.nan_to_num(levels).astype(np.uint8), ((0, 0), (1, 0))).tobytes()
    header = struct.pack(">IIBBBBB", len(values[0]), len(values), 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in [*ramp, UNDEFINED])
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
