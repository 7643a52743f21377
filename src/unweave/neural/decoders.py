"""torch decoders and encoders as input of metrics, and their Jacobians."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import jvp, vjp, vmap

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.evidence import Decoder
from unweave.evidence.decoders import register_adapter
from unweave.neural.flows import CouplingFlow, tensor_of
from unweave.sentences import listed


def torch_encoded(module: nn.Module, images: NDArray[np.float32]) -> Any:
    """Images encoded by a torch module, by its method encode if it has one, else by calling it.

    The module is put into evaluation mode, and images are moved to the device of its weights.
    """
    with _evaluation_mode(module), torch.no_grad():
        batch = torch.from_numpy(np.ascontiguousarray(images))
        weight = next(module.parameters(), None)
        if weight is not None:
            batch = batch.to(device=weight.device, dtype=weight.dtype)
        return getattr(module, "encode", module)(batch)


MOST_SIZES = 20  # sizes of weights that are tried as the number of latents
Function = Callable[[Tensor], Tensor]
Mode = Literal["auto", "forward", "reverse"]
MEMORY = 12 * 2**20  # bytes; with 64 MB and more, blocks exceed the caches and flows took 1.4 to 1.7 times as long
LIVE_LAYERS = 4  # number of layers whose activations are in memory at the same time


def jacobian_blocks(
    function: Function,
    latents: Tensor,
    *,
    dimensions: Sequence[int] | None = None,
    mode: Mode = "auto",
    memory: int = MEMORY,
) -> Iterator[Tensor]:
    """Jacobians (b x D x k) of a function of batches (n x d -> n x ...), block after block; outputs are flattened.

    Rows must not influence each other. With ``dimensions`` there are only the columns of these latents, in this order.
    Columns (forward mode) or rows (reverse) are computed, by default whichever are fewer; a block takes about
    ``memory`` bytes.

    >>> matrix = torch.tensor([[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]])
    >>> next(jacobian_blocks(lambda z: z @ matrix.T, torch.zeros(5, 2)))[0].tolist()
    [[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]]
    """
    chosen = list(range(latents.shape[1])) if dimensions is None else list(dimensions)
    n_outputs, largest = _probe(function, latents[:2])
    by_column = mode == "forward" or (mode == "auto" and len(chosen) < n_outputs)
    vectors = len(chosen) if by_column else n_outputs
    rows = max(1, memory // (latents.element_size() * (vectors + 1) * LIVE_LAYERS * largest))
    for start in range(0, len(latents), rows):
        block = latents[start : start + rows]
        yield _by_columns(function, block, chosen) if by_column else _by_rows(function, block)[..., chosen]


def _by_columns(function: Function, latents: Tensor, chosen: list[int]) -> Tensor:
    """Jacobians by forward mode, all tangents in one pass; if an operation cannot be batched, on repeated latents."""
    basis = torch.eye(latents.shape[1], dtype=latents.dtype, device=latents.device)[chosen]

    def column(direction: Tensor) -> Tensor:
        return jvp(function, (latents,), (direction.expand_as(latents),))[1].flatten(1)

    try:
        with torch.no_grad():
            return vmap(column)(basis).permute(1, 2, 0)
    except (RuntimeError, NotImplementedError):
        pass
    try:
        with torch.no_grad():
            repeated = latents.repeat(len(chosen), 1)
            tangents = basis.repeat_interleave(len(latents), dim=0)
            columns = jvp(function, (repeated,), (tangents,))[1].flatten(1)
            return columns.unflatten(0, (len(chosen), len(latents))).permute(1, 2, 0)
    except (RuntimeError, NotImplementedError):  # no forward rule for some operation
        return _by_rows(function, latents)[..., chosen]


def _by_rows(function: Function, latents: Tensor) -> Tensor:
    """Jacobians by reverse mode with all outputs at once; if an operation cannot be batched, one output at a time."""
    try:
        outputs, pull, *_ = vjp(lambda z: function(z).flatten(1), latents)
        basis = torch.eye(outputs.shape[1], dtype=latents.dtype, device=latents.device)
        with torch.no_grad():  # otherwise intermediate cotangents are stored for second derivatives
            return vmap(lambda row: pull(row.expand_as(outputs))[0])(basis).permute(1, 0, 2)
    except (RuntimeError, NotImplementedError):
        leaves = latents.detach().requires_grad_(True)
        outputs = function(leaves).flatten(1)
        rows = [torch.autograd.grad(column.sum(), leaves, retain_graph=True)[0] for column in outputs.T]
        return torch.stack(rows, dim=1)


def _probe(function: Function, latents: Tensor) -> tuple[int, int]:
    """Number of outputs and of values in the largest activation, per row; refuses functions without derivatives."""
    sizes: list[int] = []

    def note(_: nn.Module, __: object, output: object) -> None:
        if isinstance(output, Tensor):
            sizes.append(output.numel() // len(latents))

    leaves = latents.detach().clone().requires_grad_(True)
    handle = nn.modules.module.register_module_forward_hook(note)
    try:
        with torch.enable_grad():
            outputs = function(leaves)
    except Exception as error:  # code of the user can raise any exception
        if "missing the required" in (reason := str(error).split("\n")[0]):  # a module without a method forward
            raise InputError(
                "The decoder has no method forward: pass its method from latents to data, as in "
                "unweave.neural.decoders.TorchDecoder(model.generate, latent_size=6)."
            ) from None
        raise InputError(
            f"The decoder fails on latents of shape {tuple(leaves.shape)} ({reason}): it must take samples x latents "
            f"as a torch tensor and use torch operations only. If it does not have {leaves.shape[1]} latents, state "
            "the number: TorchDecoder(function, latent_size=N), or --latent-size N on the command line."
        ) from None
    finally:
        handle.remove()
    if not isinstance(outputs, Tensor) or outputs.ndim < 2 or len(outputs) != len(leaves):
        what = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise InputError(
            f"The decoder turns {len(leaves)} latents into {what}: it must return one row of data each, as one tensor."
        )
    if not outputs.requires_grad or torch.autograd.grad(outputs.sum(), leaves, allow_unused=True)[0] is None:
        raise InputError(
            "The decoder is not differentiable: its output does not follow from the latents by torch operations (is it "
            "detached, rounded, or computed by numpy?), so pass a decoder that is, or Jacobians as an array."
        )
    if not bool(torch.isfinite(outputs).all()):
        raise InputError("The decoder returns nan or infinite data at the first samples: check its weights.")
    n_outputs = outputs[0].numel()
    return n_outputs, max([n_outputs, *sizes])


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
    device : str
        Where a function without a module is computed; a module is computed where its weights are.

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
    device: str = "cpu"

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Jacobians (b x D x d)."""
        given = self._tensor(latents)
        start = 0
        for block in self._blocks(given):
            jacobians = _array(block)
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
            return np.concatenate([_array(block) for block in self._blocks(latents)])
        with _double_precision(self.module):
            return np.concatenate([_array(block) for block in self._blocks(latents.double())])

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data (n x D), flattened."""
        with _evaluation_mode(self.module), torch.no_grad():
            return _array(self.function(self._tensor(latents)).flatten(1))

    def __getattr__(self, name: str) -> Any:
        # without an encoder there is no method encode, so that hasattr shows whether the decoder can encode
        if name == "encode" and self.encoder is not None:
            return self._encode
        raise AttributeError(name)

    def digest(self) -> bytes:
        """Fingerprint of the weights, or the function's name if there are none."""
        if self.module is None:
            return repr(getattr(self.function, "__qualname__", type(self.function))).encode()
        fingerprint = hashlib.blake2b(digest_size=16)
        for weight in self.module.state_dict().values():
            fingerprint.update(np.ascontiguousarray(weight.detach().cpu().numpy()).data)
        return fingerprint.digest()

    def _encode(self, data: FloatArray) -> FloatArray:
        assert self.encoder is not None
        with _evaluation_mode(self.module), torch.no_grad():
            return _array(self.encoder(self._tensor(data)).flatten(1))

    def _tensor(self, rows: FloatArray) -> Tensor:
        """Rows in the precision and on the device of the weights; without weights, double precision if accepted."""
        weights = [] if self.module is None else [w for w in self.module.parameters() if w.is_floating_point()]
        if weights:
            return torch.as_tensor(np.asarray(rows), dtype=weights[0].dtype).to(weights[0].device)
        precision = torch.float64
        try:
            with torch.no_grad():
                self.function(torch.zeros(1, self.latent_size, dtype=torch.float64).to(self.device))
        except Exception as error:  # code of the user; `_probe` says what is wrong
            if "dtype" in str(error) or "Float" in str(error):
                precision = torch.float32
        return torch.as_tensor(np.asarray(rows), dtype=precision).to(self.device)


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
        every = torch.arange(self.flow.size, device=self.flow.turns.device)[:, None]
        for start in range(0, len(latents), self.rows_per_block):
            with torch.no_grad():
                data = self.flow.decode(tensor_of(latents[start : start + self.rows_per_block], self.flow))
                columns = self.flow.columns(data, every.expand(-1, len(data)))[2]
            yield _array(columns.permute(1, 2, 0))

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data of latents."""
        with torch.no_grad():
            return _array(self.flow.decode(tensor_of(latents, self.flow)))

    def encode(self, data: FloatArray) -> FloatArray:
        """Latents of data."""
        with torch.no_grad():
            return _array(self.flow.encode(tensor_of(data, self.flow)))

    def digest(self) -> bytes:
        """Fingerprint of the weights."""
        return TorchDecoder(self.flow, self.flow.size, module=self.flow).digest()


def torch_decoder(given: object, latent_size: int | None = None) -> Decoder | None:
    """The decoder of a torch module, a zuko or nflows flow, or a module that contains a decoder; None otherwise.

    ``latent_size`` is for modules that do not state it, and for functions and methods, which cannot.
    """
    if isinstance(given, CouplingFlow):
        return FlowDecoder(given)
    if not isinstance(given, nn.Module):
        if callable(given) and not isinstance(given, type):
            if latent_size is not None:
                owner = getattr(given, "__self__", None)  # of a method
                return TorchDecoder(given, latent_size, module=owner if isinstance(owner, nn.Module) else None)
            raise InputError(
                "The decoder is a plain function, so its latent size is unknown: pass "
                "unweave.neural.decoders.TorchDecoder(function, latent_size=...), or --latent-size on the command line."
            )
        return None
    transform, base = getattr(given, "transform", None), getattr(given, "base", None)
    if transform is not None and base is not None:
        # zuko: the transform maps data to latents, and the base distribution is lazy
        size = int(base().event_shape[0])
        return TorchDecoder(lambda z: transform().inv(z), size, lambda x: transform()(x), given)
    noise: Any = getattr(given, "_distribution", None)
    if noise is not None and hasattr(given, "_transform"):
        inner: Any = given._transform  # nflows: transforms return the result and the log-determinant
        size = int(noise._shape[0])
        return TorchDecoder(lambda z: inner.inverse(z)[0], size, lambda x: inner(x)[0], given)
    inside = getattr(given, "decode", None) or getattr(given, "decoder", None) or given
    return TorchDecoder(inside, latent_size or _latent_size(given, inside), module=given)


def _latent_size(module: nn.Module, inside: Any) -> int:
    """The size that a module states, or the only size of its weights that it takes as its number of latents."""
    for owner in (module, inside):
        for name in ("latent_size", "latent_dim", "z_dim"):
            if isinstance(getattr(owner, name, None), int):
                return int(getattr(owner, name))
    layers = inside.modules() if isinstance(inside, nn.Module) else ()
    first = next((layer for layer in layers if isinstance(layer, nn.Linear)), None)
    if first is None:
        raise InputError(
            f"The latent size of the decoder {type(module).__name__} is unknown: give it an attribute latent_size, "
            "pass unweave.neural.decoders.TorchDecoder(function, latent_size=N), or --latent-size N in the command."
        )
    sizes = dict.fromkeys([first.in_features, *(size for weight in inside.parameters() for size in weight.shape)])
    taken = [size for size in list(sizes)[:MOST_SIZES] if _takes(inside, size)]
    if len(taken) > 1:
        raise InputError(
            f"The latent size of the decoder {type(module).__name__} is unknown, because it takes "
            f"{listed(list(map(str, taken)))} latents: state TorchDecoder(function, latent_size=N), or --latent-size N "
            "on the command line."
        )
    return taken[0] if taken else first.in_features


def _takes(module: nn.Module, size: int) -> bool:
    """Whether the module turns this number of latents into data."""
    weight = next(module.parameters())
    try:
        with _evaluation_mode(module), torch.no_grad():
            outputs = module(torch.zeros(2, size, dtype=weight.dtype, device=weight.device))
        return isinstance(outputs, Tensor) and outputs.ndim > 1 and len(outputs) == 2 and outputs.numel() > 0
    except Exception:  # code of the user can raise any exception
        return False


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


def _array(tensor: Tensor) -> FloatArray:
    return tensor.detach().cpu().numpy().astype(np.float64)


def _rounded_away(jacobians: FloatArray) -> NDArray[np.bool_]:
    """Samples at which a column is so short relative to the longest of all samples that rounding may dominate it."""
    lengths = np.sqrt(np.square(jacobians).sum(axis=1))
    return np.asarray((lengths < SHORT * lengths.max()).any(axis=1))


register_adapter(torch_decoder)
