"""Traversals and reconstructions of a model, which show on the report page how each code changes the images.

Each row shows one code, and the most important code comes first. The code is varied over its range, and all other codes
keep their values for one image. The row also names the factor that the code carries most information about.
"""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.information.histogram import Histogram
from unweave.evidence import Evidence, EvidenceError
from unweave.evidence.reading.columns import plain
from unweave.metrics import mig
from unweave.metrics.matrices import factor_entropies

Decode = Callable[[NDArray[np.float32]], Any]
N_STEPS, N_RECONSTRUCTED = 9, 10
MOST_CODES = 20
LARGEST_SIDE = 64


@dataclass(frozen=True)
class CodeRow:
    """The row of one code on the page.

    ``importance`` is the share of the code's variance that is signal, ``factor`` the factor that the code carries most
    information about, ``share`` the share of the factor's entropy that it carries, and ``strip`` the traversal.
    """

    code: str
    importance: float
    factor: str
    share: float
    strip: str


@dataclass(frozen=True)
class CodePictures:
    """The images of a model, encoded so that a page can embed them."""

    rows: tuple[CodeRow, ...]
    reconstructions: str = ""


def decoder_of(model: Any) -> Decode:
    """Return the function that maps codes to images: the method ``decode`` of a model, or the model itself."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        inner = getattr(model, "decode", model)

        def decode(codes: NDArray[np.float32]) -> Any:
            with torch.no_grad():
                return inner(torch.from_numpy(codes))

        return decode
    found = getattr(model, "decode", model)
    if not callable(found):
        raise EvidenceError(f"{type(model).__name__} cannot decode: give a model with a method decode, or a function.")
    return found


def code_pictures(
    evidence: Evidence, decode: Decode, images: tuple[NDArray[Any], NDArray[Any]] | None = None
) -> CodePictures:
    """Return the traversals of all codes.

    If ``images`` has some images of the data set and their codes, the reconstructions are returned as well.
    """
    means = _decodable(evidence)
    middle = means[_nearest_to_the_middle(means)]
    importance = _importance(evidence)
    factors, shares = _told_most_of(evidence)
    rows = []
    for i in np.argsort(-importance)[:MOST_CODES]:
        moved = np.repeat(middle[None], N_STEPS, axis=0)
        low, high = (float(edge) for edge in np.quantile(means[:, i], [0.02, 0.98]))
        moved[:, i] = np.linspace(low, high, N_STEPS)
        strip = _picture(_decoded(decode, moved))
        rows.append(CodeRow(evidence.code_names[i], float(importance[i]), factors[i], float(shares[i]), strip))
    return CodePictures(tuple(rows), "" if images is None else _reconstructed(decode, *images))


def _decodable(evidence: Evidence) -> NDArray[np.float32]:
    """Return the input of the decoder: the Gaussian codes, followed by the probabilities of the categorical codes."""
    if evidence.posterior is None:
        return np.asarray(evidence.codes, dtype=np.float32)
    tables = (evidence.posterior.mean, *evidence.posterior.categories.values())
    return np.concatenate(tables, axis=1).astype(np.float32)


def _decoded(decode: Decode, codes: NDArray[np.float32]) -> NDArray[np.float32]:
    found = np.asarray(plain(decode(codes)), dtype=np.float32)
    if found.ndim != 4 or len(found) != len(codes) or found.shape[1] not in (1, 3):
        raise EvidenceError(
            f"The decoder returned an array of shape {found.shape} for {len(codes)} codes: it has to return images of "
            "shape n x channels x height x width, with 1 or 3 channels."
        )
    if not np.isfinite(found).all():
        raise EvidenceError("The decoder returned pixels that are nan or infinite: let it return numbers from 0 to 1.")
    return found


def _importance(evidence: Evidence) -> NDArray[np.float64]:
    """Return the share of each code's variance that is the variance of the posterior means.

    If there is no posterior, return the variance of each code relative to the largest variance of a code.
    """
    signal = evidence.codes.var(axis=0)
    if evidence.posterior is None:
        return signal / max(float(signal.max()), 1e-300)
    signal = evidence.posterior.mean.var(axis=0)  # categorical codes are not traversed
    noise = np.square(evidence.posterior.std).mean(axis=0)
    return np.asarray(signal / np.maximum(signal + noise, 1e-300))


def _told_most_of(evidence: Evidence) -> tuple[list[str], NDArray[np.float64]]:
    estimator = Histogram()
    information = np.asarray(mig(evidence, estimator=estimator).parts["mutual_information_matrix"])
    shares = np.nan_to_num(information / np.asarray(factor_entropies(evidence, estimator))[None, :])
    best = shares.argmax(axis=1)
    return [evidence.factor_names[j] for j in best], shares[np.arange(len(best)), best]


def _nearest_to_the_middle(codes: NDArray[np.float32]) -> int:
    spread = np.maximum(codes.std(axis=0), 1e-12)
    return int(np.square((codes - np.median(codes, axis=0)) / spread).sum(axis=1).argmin())


def _reconstructed(decode: Decode, images: NDArray[Any], codes: NDArray[Any]) -> str:
    chosen = slice(0, N_RECONSTRUCTED)
    made = _decoded(decode, np.asarray(codes[chosen], dtype=np.float32))
    if made.shape != images[chosen].shape:
        raise EvidenceError(
            f"The decoder returns images of shape {made.shape[1:]}, but the data set has {images.shape[1:]}."
        )
    return _picture(images[chosen], made)


def _picture(*rows: NDArray[np.float32]) -> str:
    """Return a PNG that a page can embed. Each array is one row of images."""
    step = max(1, -(-rows[0].shape[-1] // LARGEST_SIDE))
    edge = ((0, 0), (0, 0), (1, 1), (1, 1))
    framed = [np.pad(line[:, :, ::step, ::step], edge, constant_values=0.5) for line in rows]
    lines = [np.concatenate(list(line), axis=2) for line in framed]
    pixels = np.rint(np.clip(np.concatenate(lines, axis=1), 0, 1) * 255).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(_png(pixels.transpose(1, 2, 0))).decode("ascii")


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Return the PNG file of an image of shape height x width x channels, with 1 or 3 channels."""
    height, width, channels = pixels.shape
    lines = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # 0 in front of every line means no filter
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
