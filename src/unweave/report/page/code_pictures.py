"""What each code does to the images, for the report page: traversals and reconstructions of a model.

One row a code, the most important first, beside the factor that it tells most of. A code is moved through its range
while all others stay as they are for one image.
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

from unweave.estimators.information.mutual_information import Histogram
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
    """One code: its share of variance that is signal, the factor it tells most of and how much, and its pictures."""

    code: str
    importance: float
    factor: str
    share: float
    strip: str


@dataclass(frozen=True)
class CodePictures:
    """The pictures of a model, as data that a page embeds."""

    rows: tuple[CodeRow, ...]
    reconstructions: str = ""


def decoder_of(model: Any) -> Decode:
    """Function from codes to images as arrays: a model's method decode, or the model itself."""
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
    """Traversals of the codes in an evidence; ``images`` are some originals and their codes, to reconstruct."""
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
    """What a decoder takes: the codes, with the probabilities of categorical codes behind the Gaussian ones."""
    if evidence.posterior is None:
        return np.asarray(evidence.codes, dtype=np.float32)
    tables = (evidence.posterior.mean, *evidence.posterior.categories.values())
    return np.concatenate(tables, axis=1).astype(np.float32)


def _decoded(decode: Decode, codes: NDArray[np.float32]) -> NDArray[np.float32]:
    found = np.asarray(plain(decode(codes)), dtype=np.float32)
    if found.ndim != 4 or len(found) != len(codes) or found.shape[1] not in (1, 3):
        raise EvidenceError(
            f"The decoder gave an array of shape {found.shape} for {len(codes)} codes: it needs images, "
            "n x 1 or 3 x height x width."
        )
    if not np.isfinite(found).all():
        raise EvidenceError("The decoder gave pixels that are missing or infinite: let it return numbers from 0 to 1.")
    return found


def _importance(evidence: Evidence) -> NDArray[np.float64]:
    """Share of a code's variance that is of its means rather than of its posteriors; 1 for points."""
    signal = evidence.codes.var(axis=0)
    if evidence.posterior is None:
        return signal / max(float(signal.max()), 1e-300)
    signal = evidence.posterior.mean.var(axis=0)  # categorical codes are not moved
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
        raise EvidenceError(f"The decoder gives images of {made.shape[1:]}, but the data set has {images.shape[1:]}.")
    return _picture(images[chosen], made)


def _picture(*rows: NDArray[np.float32]) -> str:
    """Images side by side, one line an array, as a PNG that a page can embed."""
    step = max(1, -(-rows[0].shape[-1] // LARGEST_SIDE))
    edge = ((0, 0), (0, 0), (1, 1), (1, 1))
    framed = [np.pad(line[:, :, ::step, ::step], edge, constant_values=0.5) for line in rows]
    lines = [np.concatenate(list(line), axis=2) for line in framed]
    pixels = np.rint(np.clip(np.concatenate(lines, axis=1), 0, 1) * 255).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(_png(pixels.transpose(1, 2, 0))).decode("ascii")


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Bytes of a PNG file of an image, height x width x 1 or 3."""
    height, width, channels = pixels.shape
    lines = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # every line begins with its filter, none
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
