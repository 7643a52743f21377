"""`InvertibleLayer`, the base class of all parts of an image flow, and `LayerChain`, a sequence of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


class InvertibleLayer(nn.Module):
    """An invertible map on the way from images to latents, which may also depend on ``condition``.

    A subclass defines `encode`, which returns the next state and the log of the volume change of every row, and its
    inverse `decode`, which returns the previous state.
    """

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """Next state, and the log of the volume change of every row."""
        raise NotImplementedError

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Previous state."""
        raise NotImplementedError

    def fit(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Set parameters that depend on the first data, such as scales, and return the next state."""
        return self.encode(state, condition)[0]

    def no_change(self, state: Tensor) -> Tensor:
        """The log of the volume change of a layer that preserves volumes: zeros."""
        return torch.zeros(len(state), dtype=state.dtype, device=state.device)


class LayerChain(InvertibleLayer):
    """A sequence of layers with the same condition.

    >>> from unweave.neural.image_flows.mixing import FixedPermutation
    >>> chain = LayerChain([FixedPermutation(4, seed=0), FixedPermutation(4, seed=1)])
    >>> state = torch.arange(4.0)[None]
    >>> chain.decode(chain.encode(state, None)[0], None).tolist()
    [[0.0, 1.0, 2.0, 3.0]]
    """

    layers: Any

    def __init__(self, layers: Iterable[InvertibleLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """Apply all layers from first to last."""
        log_volume = self.no_change(state)
        for layer in self.layers:
            state, change = layer.encode(state, condition)
            log_volume = log_volume + change
        return state, log_volume

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Apply the inverses of all layers from last to first."""
        for layer in reversed(self.layers):
            state = layer.decode(state, condition)
        return state

    def fit(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Fit every layer to the output of the layers before it."""
        for layer in self.layers:
            state = layer.fit(state, condition)
        return state
