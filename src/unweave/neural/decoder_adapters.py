"""Adapters that make decoders of torch modules, functions and flows; registered when this module is imported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unweave.arrays import FloatArray
from unweave.evidence import Decoder, EvidenceError
from unweave.evidence.jacobians import register_adapter
from unweave.neural.flows import CouplingFlow
from unweave.neural.jacobians import MEMORY, Function, Mode, jacobian_blocks

# length relative to the longest column; single precision has errors of about 1e-7, and a column sums thousands of them
SHORT = 1e-3


@dataclass(frozen=True, eq=False)
class TorchDecoder:
    """A decoder written in torch.

    Parameters
    ----------
    function : callable
        Takes latents (n x d) as a tensor and returns data (n x ...).
    latent_size : int
    encoder : callable, optional
        Takes data in the shape that the decoder returns, and returns latents.
    module : torch.nn.Module, optional
        The module that has the weights. It is in evaluation mode while Jacobians are computed, and its weights
        determine the precision. Samples at which a derivative may be lost to rounding in single precision are computed
        again in double precision.
    mode, memory
        As for `jacobian_blocks`.

    Examples
    --------
    >>> decoder = TorchDecoder(lambda z: torch.sin(z), latent_size=3)
    >>> next(decoder.jacobian_blocks(np.zeros((2, 3))))[0].diagonal().tolist()
    [1.0, 1.0, 1.0]
    """

    function: Function
    latent_size: int
    encoder: Function | None = None
    module: nn.Module | None = None
    mode: Mode = "auto"
    memory: int = MEMORY

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Jacobians (b x D x d)."""
        given = self._tensor(latents)
        start = 0
        for block in self._blocks(given):
            jacobians = block.detach().numpy().astype(np.float64)
            if given.dtype is torch.float32:
                doubtful = torch.from_numpy(_rounded_away(jacobians))
                if doubtful.any():
                    jacobians[doubtful] = self._in_double_precision(given[start : start + len(block)][doubtful])
            start += len(block)
            yield jacobians

    def _blocks(self, latents: Tensor) -> Iterator[Tensor]:
        with _evaluation_mode(self.module):
            yield from jacobian_blocks(self.function, latents, mode=self.mode, memory=self.memory)

    def _in_double_precision(self, latents: Tensor) -> FloatArray:
        if self.module is None:  # the weights inside a plain function cannot be reached
            return np.concatenate([block.detach().double().numpy() for block in self._blocks(latents)])
        with _double_precision(self.module):
            return np.concatenate([block.detach().numpy() for block in self._blocks(latents.double())])

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data (n x D), flattened."""
        with _evaluation_mode(self.module), torch.no_grad():
            return self.function(self._tensor(latents)).flatten(1).numpy().astype(np.float64)

    def __getattr__(self, name: str) -> Any:
        # without an encoder there is no method encode, so that hasattr shows whether the decoder can encode
        if name == "encode" and self.encoder is not None:
            return self._encode
        raise AttributeError(name)

    def digest(self) -> bytes:
        """Fingerprint of the weights, or the function's name if there are none."""
        if self.module is None:
            return repr(getattr(self.function, "__qualname__", type(self.function))).encode()
        found = hashlib.blake2b(digest_size=16)
        for weight in self.module.state_dict().values():
            found.update(np.ascontiguousarray(weight.detach().cpu().numpy()).data)
        return found.digest()

    def _encode(self, data: FloatArray) -> FloatArray:
        assert self.encoder is not None
        with _evaluation_mode(self.module), torch.no_grad():
            return self.encoder(self._tensor(data)).flatten(1).numpy().astype(np.float64)

    def _tensor(self, rows: FloatArray) -> Tensor:
        return torch.as_tensor(np.asarray(rows), dtype=self._precision())

    def _precision(self) -> torch.dtype:
        """Precision of the weights; if there is no module, double precision if the function accepts it."""
        weights = [] if self.module is None else [w for w in self.module.parameters() if w.is_floating_point()]
        if weights:
            return weights[0].dtype
        try:
            with torch.no_grad():
                self.function(torch.zeros(1, self.latent_size, dtype=torch.float64))
        except RuntimeError as error:
            if "dtype" in str(error) or "Float" in str(error):
                return torch.float32
        return torch.float64


@dataclass(frozen=True, eq=False)
class FlowDecoder:
    """The decoder of a `CouplingFlow`, whose Jacobians are computed by `CouplingFlow.columns` and not by autograd."""

    flow: CouplingFlow
    rows_per_block: int = 500

    @property
    def latent_size(self) -> int:
        """Number of latents."""
        return self.flow.size

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Jacobians (b x D x d)."""
        every = torch.arange(self.flow.size)[:, None]
        for start in range(0, len(latents), self.rows_per_block):
            with torch.no_grad():
                data = self.flow.decode(self._tensor(latents[start : start + self.rows_per_block]))
                columns = self.flow.columns(data, every.expand(-1, len(data)))[2]
            yield columns.permute(1, 2, 0).numpy().astype(np.float64)

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data of latents."""
        with torch.no_grad():
            return self.flow.decode(self._tensor(latents)).numpy().astype(np.float64)

    def encode(self, data: FloatArray) -> FloatArray:
        """Latents of data."""
        with torch.no_grad():
            return self.flow.encode(self._tensor(data)).numpy().astype(np.float64)

    def digest(self) -> bytes:
        """Fingerprint of the weights."""
        return TorchDecoder(self.flow, self.flow.size, module=self.flow).digest()

    def _tensor(self, rows: FloatArray) -> Tensor:
        return torch.as_tensor(np.asarray(rows), dtype=self.flow.turns.dtype)


def torch_decoder(given: object) -> Decoder | None:
    """The decoder of a torch module, a zuko or nflows flow, or a module that contains a decoder; None otherwise."""
    if isinstance(given, CouplingFlow):
        return FlowDecoder(given)
    if not isinstance(given, nn.Module):
        if callable(given) and not isinstance(given, type):
            raise EvidenceError(
                "The decoder is a plain function, so its latent size is unknown: pass "
                "unweave.neural.decoder_adapters.TorchDecoder(function, latent_size=...)."
            )
        return None
    transform, base = getattr(given, "transform", None), getattr(given, "base", None)
    if (
        transform is not None and base is not None
    ):  # zuko: the transform maps data to latents, and the base distribution is lazy
        size = int(base().event_shape[0])
        return TorchDecoder(lambda z: transform().inv(z), size, lambda x: transform()(x), given)
    noise: Any = getattr(given, "_distribution", None)
    if noise is not None and hasattr(
        given, "_transform"
    ):  # nflows: transforms return the result and the log-determinant
        inner: Any = given._transform
        size = int(noise._shape[0])
        return TorchDecoder(lambda z: inner.inverse(z)[0], size, lambda x: inner(x)[0], given)
    inside = getattr(given, "decode", None) or getattr(given, "decoder", None) or given
    return TorchDecoder(inside, _latent_size(given, inside), module=given)


def _latent_size(module: nn.Module, inside: Any) -> int:
    """The size that a module states, or the number of inputs of its first linear layer."""
    for owner in (module, inside):
        for name in ("latent_size", "latent_dim", "z_dim"):
            if isinstance(getattr(owner, name, None), int):
                return int(getattr(owner, name))
    layers = inside.modules() if isinstance(inside, nn.Module) else ()
    first = next((layer for layer in layers if isinstance(layer, nn.Linear)), None)
    if first is None:
        raise EvidenceError(
            f"The latent size of the decoder {type(module).__name__} is unknown: give it an attribute latent_size, or "
            "pass unweave.neural.decoder_adapters.TorchDecoder(function, latent_size=...)."
        )
    return first.in_features


@contextmanager
def _evaluation_mode(module: nn.Module | None) -> Iterator[None]:
    if module is None:
        yield
        return
    was_training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(was_training)


@contextmanager
def _double_precision(module: nn.Module) -> Iterator[None]:
    """The module with weights and buffers in double precision; afterwards types and values are restored."""
    weights = [(weight, weight.data) for weight in module.parameters()]
    # converted buffers are new tensors, so the old ones have to be restored by name
    buffers = [(owner, *named) for owner in module.modules() for named in owner.named_buffers(recurse=False)]
    module.double()
    try:
        yield
    finally:
        for weight, data in weights:
            weight.data = data
        for owner, name, buffer in buffers:
            setattr(owner, name, buffer)


def _rounded_away(jacobians: FloatArray) -> NDArray[np.bool_]:
    """Samples at which a column is so short relative to the longest of all samples that rounding may dominate it."""
    lengths = np.sqrt(np.square(jacobians).sum(axis=1))
    return np.asarray((lengths < SHORT * lengths.max()).any(axis=1))


register_adapter(torch_decoder)
