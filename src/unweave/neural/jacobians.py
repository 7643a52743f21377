"""Jacobians of torch functions for batches of latents: by columns or rows, in chunks that fit a memory budget.

Forward mode pushes one tangent per latent dimension through the decoder (J e_i, a column), all tangents at once with
one pass of the latents. Reverse mode pulls back one cotangent per output (e_k J, a row). The mode with fewer vectors is
cheaper: columns for a decoder from few latents to many outputs, and rows otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.func import jvp, vjp, vmap

from unweave.evidence import EvidenceError

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

    Parameters
    ----------
    function : callable
        Takes latents (b x d) and returns data (b x ...); rows must not influence each other.
    latents : tensor, n x d
    dimensions : sequence of int, optional
        Only the columns of these latents, in this order.
    mode : {'auto', 'forward', 'reverse'}
        Compute columns (forward) or rows (reverse); by default whichever are fewer.
    memory : int
        Approximate number of bytes that a block may take.

    Examples
    --------
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
    basis = torch.eye(latents.shape[1], dtype=latents.dtype)[chosen]

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
        basis = torch.eye(outputs.shape[1], dtype=latents.dtype)
        with torch.no_grad():  # otherwise intermediate cotangents are stored for second derivatives
            return vmap(lambda row: pull(row.expand_as(outputs))[0])(basis).permute(1, 0, 2)
    except (RuntimeError, NotImplementedError):
        return _row_after_row(function, latents)


def _row_after_row(function: Function, latents: Tensor) -> Tensor:
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
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise EvidenceError(
            f"The decoder fails on latents of shape {tuple(leaves.shape)} ({reason}): it must take samples x latents "
            "as a torch tensor and use torch operations only; state latent_size= if this is not its size."
        ) from None
    finally:
        handle.remove()
    if not isinstance(outputs, Tensor) or outputs.ndim < 2 or len(outputs) != len(leaves):
        what = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise EvidenceError(
            f"The decoder turns {len(leaves)} latents into {what}: it must return one row of data each, as one tensor."
        )
    if not outputs.requires_grad or torch.autograd.grad(outputs.sum(), leaves, allow_unused=True)[0] is None:
        raise EvidenceError(
            "The decoder is not differentiable: its output does not follow from the latents by torch operations (is it "
            "detached, rounded, or computed by numpy?), so pass a decoder that is, or Jacobians as an array."
        )
    if not bool(torch.isfinite(outputs).all()):
        raise EvidenceError("The decoder returns nan or infinite data at the first samples: check its weights.")
    n_outputs = outputs[0].numel()
    return n_outputs, max([n_outputs, *sizes])
