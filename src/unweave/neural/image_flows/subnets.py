"""The small networks of couplings, which map one half and the condition to the parameters of the other half's map.

    parameters = W_3 relu(W_2 relu(W_1 kept + V condition))

W are convolutions (3 x 3, 1 x 1, 3 x 3) or matrices. A class enters as a one-hot vector, which adds a learned vector to
the first hidden layer at every pixel; a coarser image enters convolutions as further channels and matrices as features.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

LAST_GAIN = 0.05  # so that couplings start near the identity


class ConvolutionalSubnet(nn.Module):
    """A network from images to images of the same size; the condition is a vector, or an image of that size."""

    def __init__(self, sizes: tuple[int, int, int], condition_shape: tuple[int, ...] | None) -> None:
        super().__init__()
        n_in, hidden, n_out = sizes
        self.first = nn.Conv2d(n_in, hidden, 3, padding=1)
        self.second = nn.Conv2d(hidden, hidden, 1)
        self.last = nn.Conv2d(hidden, n_out, 3, padding=1)
        self.entry: nn.Module | None = None
        if condition_shape is not None:
            n_given = condition_shape[0]
            self.entry = nn.Linear(n_given, hidden) if len(condition_shape) == 1 else _wide(n_given, hidden)
        _shrink(self.last)

    def forward(self, kept: Tensor, condition: Tensor | None) -> Tensor:
        """Parameters of the coupling, as channels."""
        hidden = self.first(kept)
        if self.entry is not None:
            assert condition is not None
            entered = self.entry(condition)
            hidden = hidden + (entered[:, :, None, None] if entered.ndim == 2 else entered)
        return self.last(self.second(hidden.relu()).relu())


class DenseSubnet(nn.Module):
    """A network from features to features; the condition is flattened."""

    def __init__(self, sizes: tuple[int, int, int], condition_shape: tuple[int, ...] | None) -> None:
        super().__init__()
        n_in, hidden, n_out = sizes
        self.first = nn.Linear(n_in, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, n_out)
        n_given = 0 if condition_shape is None else int(torch.Size(condition_shape).numel())
        self.entry = nn.Linear(n_given, hidden) if n_given else None
        _shrink(self.last)

    def forward(self, kept: Tensor, condition: Tensor | None) -> Tensor:
        """Parameters of the coupling, as features."""
        hidden = self.first(kept)
        if self.entry is not None:
            assert condition is not None
            hidden = hidden + self.entry(condition.flatten(1))
        return self.last(self.second(hidden.relu()).relu())


def _wide(n_in: int, n_out: int) -> nn.Conv2d:
    return nn.Conv2d(n_in, n_out, 3, padding=1)


def _shrink(layer: nn.Conv2d | nn.Linear) -> None:
    with torch.no_grad():
        layer.weight.mul_(LAST_GAIN)
        if layer.bias is not None:
            layer.bias.zero_()
