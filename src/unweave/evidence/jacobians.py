"""Decoders: how geometry reaches a map from latents to data, whatever library it is written in."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, plain

BLOCK_BYTES = 64 * 2**20
# a library that is already loaded, and the module that registers an adapter for its decoders when imported
ADAPTER_HOMES = {"torch": "unweave.neural.decoder_adapters"}
_adapters: list[Callable[[object], Decoder | None]] = []


@runtime_checkable
class Decoder(Protocol):
    """A map from latents (n x d) to data (n x D, flattened) that can be differentiated.

    A decoder may also have ``decode(latents)``, for traversals and contour grids, and ``encode(data)``, to be compared
    with another decoder at the same data; both take and give numpy arrays.
    """

    @property
    def latent_size(self) -> int:
        """Number of latents, d."""

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Jacobians (b x D x d) at the first b latents, the next b, and so on."""


@dataclass(frozen=True, eq=False)
class Jacobians:
    """Jacobians that were computed elsewhere (JAX, TensorFlow, by hand), at latents drawn from the prior.

    Parameters
    ----------
    values : array, n x D x d, or D x d for a linear decoder
        Derivative of every output by every latent.
    scales : array, d or n x d, optional
        Standard deviations of the latents where the prior is not standard normal (see
        `unweave.estimators.geometry.priors`).

    Examples
    --------
    >>> Jacobians(np.eye(3)).latent_size
    3
    """

    values: NDArray[np.floating]
    scales: FloatArray | None = None

    def __post_init__(self) -> None:
        values = plain(self.values)
        values = values[None] if values.ndim == 2 else values
        if values.ndim != 3 or not values.size or values.dtype.kind not in "fiu":
            raise EvidenceError(
                f"The Jacobians have shape {values.shape} and type {values.dtype}: pass numbers as samples x outputs x "
                "latents, flattening the outputs."
            )
        if self.scales is not None:
            scales = np.asarray(plain(self.scales), dtype=np.float64)
            if scales.shape not in ((values.shape[2],), (values.shape[0], values.shape[2])):
                raise EvidenceError(
                    f"The scales have shape {scales.shape} for {values.shape[0]} Jacobians of {values.shape[2]} "
                    "latents: pass one scale per latent, or one per sample and latent."
                )
            object.__setattr__(self, "scales", np.broadcast_to(scales, (values.shape[0], values.shape[2])))
        object.__setattr__(self, "values", values)

    @property
    def latent_size(self) -> int:
        """Number of latents, d."""
        return int(self.values.shape[2])

    @property
    def n_samples(self) -> int:
        """Number of latents the Jacobians were taken at."""
        return int(self.values.shape[0])

    def jacobian_blocks(self, latents: FloatArray | None = None) -> Iterator[FloatArray]:
        """All Jacobians in blocks of 64 MB; they are where they are, whatever the latents."""
        _, n_outputs, size = self.values.shape
        rows = max(1, BLOCK_BYTES // (8 * n_outputs * size))
        for start in range(0, self.n_samples, rows):
            block = np.asarray(self.values[start : start + rows], dtype=np.float64)
            yield block if self.scales is None else block * self.scales[start : start + rows, None, :]

    def digest(self) -> bytes:
        """Fingerprint of the numbers."""
        found = hashlib.blake2b(np.ascontiguousarray(self.values).data, digest_size=16)
        found.update(b"" if self.scales is None else np.ascontiguousarray(self.scales).data)
        return found.digest()


def register_adapter(adapter: Callable[[object], Decoder | None]) -> None:
    """Let a library's own decoders be passed as they are: it gives a `Decoder`, or None for others."""
    _adapters.append(adapter)


def decoder_of(given: object) -> Decoder | None:
    """What `Evidence` keeps of a decoder: itself if it can give Jacobians, arrays wrapped, others by an adapter.

    >>> decoder_of(np.ones((10, 3, 2))).latent_size
    2
    """
    if given is None or (isinstance(given, Decoder) and not isinstance(given, type)):
        return given
    if isinstance(given, (np.ndarray, list)) or (hasattr(given, "__array__") and hasattr(given, "shape")):
        return Jacobians(given)  # type: ignore[arg-type]
    for library, home in ADAPTER_HOMES.items():
        if library in sys.modules:
            import_module(home)
    for adapter in _adapters:
        found = adapter(given)
        if found is not None:
            return found
    raise EvidenceError(
        f"The decoder is a {type(given).__name__}, which cannot be differentiated here: pass its Jacobians as an array "
        "(samples x outputs x latents), a torch module, or an object with latent_size and jacobian_blocks."
    )


def digest_of(decoder: Decoder | None) -> bytes:
    """Fingerprint of a decoder, where it has one; else the name of its class."""
    digest = getattr(decoder, "digest", None)
    return b"" if decoder is None else digest() if digest else type(decoder).__qualname__.encode()
