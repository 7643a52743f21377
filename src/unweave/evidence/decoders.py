"""Jacobians of decoders, and samplers for interventions."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError, note
from unweave.evidence.columns import plain
from unweave.randomness import random_stream
from unweave.sentences import counted

BLOCK_BYTES = 64 * 2**20

# a library, and the module that registers an adapter for its decoders when it is imported
ADAPTER_HOMES = {"torch": "unweave.neural.decoders"}

_adapters: list[Callable[[object], Decoder | None]] = []


@runtime_checkable
class Decoder(Protocol):
    """A map from latents (n x d) to data (n x D, flattened) that can be differentiated.

    A decoder may also have ``decode(latents)``, for traversals and contour grids, and ``encode(data)``, for comparisons
    with another decoder at the same data; both take and return numpy arrays.
    """

    @property
    def latent_size(self) -> int:
        """Number of latents, d."""

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Yield Jacobians (b x D x d) at the first b latents, at the next b, and so on."""


@dataclass(frozen=True, eq=False)
class Jacobians:
    """Jacobians that were computed elsewhere (JAX, TensorFlow, a formula), at latents drawn from the prior.

    Parameters
    ----------
    values : array, n x D x d, or D x d for a linear decoder
        Derivative of every output with respect to every latent.
    scales : array, d or n x d, optional
        Standard deviations of the latents, if the prior is not standard normal (see
        `unweave.estimators.geometry`).

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
            raise InputError(
                f"The Jacobians have shape {values.shape} and type {values.dtype}: pass numbers as samples x outputs x "
                "latents, flattening the outputs."
            )
        if self.scales is not None:
            try:
                scales = np.asarray(plain(self.scales), dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError("The scales are not numbers: pass an array of one scale per latent.") from None
            if scales.shape not in ((values.shape[2],), (values.shape[0], values.shape[2])):
                raise InputError(
                    f"The scales have shape {scales.shape} for {values.shape[0]} Jacobians of {values.shape[2]} "
                    "latents: pass one scale per latent, or one per sample and latent."
                )
            object.__setattr__(self, "scales", np.broadcast_to(scales, (values.shape[0], values.shape[2])))
        object.__setattr__(self, "values", values)
        n_outputs, n_latents = values.shape[1:]
        if n_outputs < n_latents:
            note(
                f"The Jacobians have {counted(n_outputs, 'output')} and {n_latents} latents, so total entropy and "
                "total correlation are undefined: pass samples x outputs x latents, J.transpose(0, 2, 1) (J.T of one), "
                "if the axes are swapped."
            )

    @property
    def latent_size(self) -> int:
        """Number of latents, d."""
        return int(self.values.shape[2])

    @property
    def n_samples(self) -> int:
        """Number of samples at which the Jacobians were computed."""
        return int(self.values.shape[0])

    def jacobian_blocks(self, latents: FloatArray | None = None) -> Iterator[FloatArray]:
        """Yield all Jacobians in blocks of 64 MB; ``latents`` is not used."""
        _, n_outputs, size = self.values.shape
        rows = max(1, BLOCK_BYTES // (8 * n_outputs * size))
        for start in range(0, self.n_samples, rows):
            block = np.asarray(self.values[start : start + rows], dtype=np.float64)
            yield block if self.scales is None else block * self.scales[start : start + rows, None, :]

    def digest(self) -> bytes:
        """Digest of the values and scales."""
        digest = hashlib.blake2b(np.ascontiguousarray(self.values).data, digest_size=16)
        digest.update(b"" if self.scales is None else np.ascontiguousarray(self.scales).data)
        return digest.digest()


@dataclass(frozen=True, eq=False)
class StandardisedOutputs:
    """A decoder whose outputs are divided by their standard deviations, so that they have no units.

    `unweave.metrics.manifolds.standardised` makes one and measures the deviations by draws from the prior.

    Parameters
    ----------
    decoder : Decoder
    deviations : array, D
        Standard deviation of every output.

    Examples
    --------
    >>> scaled = StandardisedOutputs(Jacobians(np.diag([2.0, 5.0])), np.array([2.0, 5.0]))
    >>> next(scaled.jacobian_blocks(np.zeros((1, 2))))[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    decoder: Decoder
    deviations: FloatArray

    @property
    def latent_size(self) -> int:
        """Number of latents, d."""
        return self.decoder.latent_size

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Yield Jacobians (b x D x d) of the scaled outputs."""
        for block in self.decoder.jacobian_blocks(latents):
            if len(self.deviations) != block.shape[1]:
                raise InputError(
                    f"There are {len(self.deviations)} deviations for {block.shape[1]} outputs: pass one for each."
                )
            yield block / self.deviations[:, None]

    def __getattr__(self, name: str) -> Any:
        # hasattr has to show whether the decoder can decode and encode
        if name == "decode":
            decode = self.decoder.decode  # type: ignore[attr-defined]
            return lambda latents: decode(latents) / self.deviations
        if name == "encode":
            encode = self.decoder.encode  # type: ignore[attr-defined]
            return lambda data: encode(data * self.deviations)
        raise AttributeError(name)

    def digest(self) -> bytes:
        """Digest of the decoder and the deviations."""
        return digest_of(self.decoder) + np.ascontiguousarray(self.deviations).tobytes()


def register_adapter(adapter: Callable[[object], Decoder | None]) -> None:
    """Register a function that turns a library's own decoders into a `Decoder`, and returns None for other objects."""
    _adapters.append(adapter)


def decoder_of(given: object) -> Decoder | None:
    """The given object as a `Decoder`: unchanged if it is one, an array as `Jacobians`, otherwise by an adapter.

    >>> decoder_of(np.ones((10, 3, 2))).latent_size
    2
    """
    if given is None or (isinstance(given, Decoder) and not isinstance(given, type)):
        return given
    if isinstance(given, (np.ndarray, list)) or (hasattr(given, "__array__") and hasattr(given, "shape")):
        return Jacobians(given)  # type: ignore[arg-type]
    if isinstance(given, type):
        raise InputError(
            f"The decoder is the class {given.__name__}, which has no weights yet: pass a trained object of this class."
        )
    for library, home in ADAPTER_HOMES.items():
        if library in sys.modules:
            import_module(home)
    for adapter in _adapters:
        decoder = adapter(given)
        if decoder is not None:
            return decoder
    raise InputError(
        f"The decoder is a {type(given).__name__}, which cannot be differentiated here: pass its Jacobians as an array "
        "(samples x outputs x latents), a torch module, or an object with latent_size and jacobian_blocks."
    )


def digest_of(decoder: Decoder | None) -> bytes:
    """Digest of a decoder if it has one, otherwise the name of its class; empty for None."""
    digest = getattr(decoder, "digest", None)
    return b"" if decoder is None else digest() if digest else type(decoder).__qualname__.encode()


Sampler = Callable[..., Any]


@dataclass(frozen=True)
class Unpaired:
    """Draws factors by a sampler, and pairs them with the codes of other samples, in which no factor is fixed.

    >>> def sampler(fixed, n_rows, rng):
    ...     factors = np.full(n_rows, fixed.get("size", 0.0))
    ...     return factors, factors[:, None]
    >>> factors, codes = Unpaired(sampler, seed=0)({"size": 3.0}, 2, np.random.default_rng(0))
    >>> factors.tolist(), codes.tolist()
    ([3.0, 3.0], [[0.0], [0.0]])
    """

    sampler: Sampler
    seed: int

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw ``n_rows`` rows of factors, and as many codes that do not belong to them."""
        factors, _ = self.sampler(fixed, n_rows, rng)
        free = random_stream(self.seed, "codes of other samples", int(rng.integers(2**31)))
        return factors, self.sampler({}, n_rows, free)[1]
