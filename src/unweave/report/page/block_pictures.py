"""A matrix as a small PNG image that is embedded in the page. Each cell of the matrix is one pixel."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from unweave.report.page.colours import N_LEVELS, Colour

UNDEFINED: Colour = (136, 136, 136)


def picture(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> str:
    """Return the matrix as a PNG in a data URL, with the colours of the ramp. Undefined values are grey.

    >>> from unweave.report.page.colours import LIGHT
    >>> picture([[0.0, 1.0]], (0.0, 1.0), LIGHT)[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(values, scale, ramp)).decode()


def png(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> bytes:
    """Return the bytes of a PNG with a palette and eight bits per pixel (PNG specification, section 11)."""
    shares = np.abs(np.array(values, dtype=object).astype(np.float64)) / scale[1]
    levels = np.where(np.isnan(shares), N_LEVELS, np.rint(np.clip(shares, 0.0, 1.0) * (N_LEVELS - 1)))
    # the PNG format starts every line with its filter type, and 0 means no filter
    lines = np.pad(np.nan_to_num(levels).astype(np.uint8), ((0, 0), (1, 0))).tobytes()
    header = struct.pack(">IIBBBBB", len(values[0]), len(values), 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in [*ramp, UNDEFINED])
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
