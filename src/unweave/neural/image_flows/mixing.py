"""Layers that mix or rescale channels: a fixed permutation, a learned rotation (1 x 1 convolution), and ActNorm.

States are features (n x d) or images (n x c x h x w); all three act on the second axis.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.neural.image_flows.layer import InvertibleLayer
from unweave.randomness import random_seed

SMALLEST_SPREAD = 1e-3


class FixedPermutation(InvertibleLayer):
    """A fixed random permutation of the channels."""

    order: Tensor
    back: Tensor

    def __init__(self, n_channels: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(random_seed(seed, "order of channels"))
        order = torch.randperm(n_channels, generator=generator)
        self.register_buffer("order", order)
        self.register_buffer("back", order.argsort())

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """The state with permuted channels."""
        return state[:, self.order], self.no_change(state)

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The state with its channels in the original order."""
        return state[:, self.back]


class LearnedRotation(InvertibleLayer):
    """A volume-preserving 1 x 1 convolution: channels are multiplied by an orthogonal matrix exp(A - A')."""

    def __init__(self, n_channels: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(random_seed(seed, "rotation of channels"))
        self.turn = nn.Parameter(torch.randn(n_channels, n_channels, generator=generator) / 2)

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """The state with its channels multiplied by the matrix."""
        return self._turned(self._matrix(), state), self.no_change(state)

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The state with its channels multiplied by the transposed matrix, which is the inverse."""
        return self._turned(self._matrix().mT, state)

    def _matrix(self) -> Tensor:
        return torch.linalg.matrix_exp(self.turn - self.turn.mT)

    @staticmethod
    def _turned(matrix: Tensor, state: Tensor) -> Tensor:
        return (matrix @ state.flatten(2)).reshape(state.shape) if state.ndim == 4 else state @ matrix.mT


class ActNorm(InvertibleLayer):
    """y = exp(s) (x + b) for every channel; s and b first standardise the data, and are then learned."""

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(n_channels))
        self.shift = nn.Parameter(torch.zeros(n_channels))

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """The shifted and scaled state, and the log of the volume change."""
        n_pixels = state[0, 0].numel()
        change = n_pixels * self.log_scale.sum()
        moved = (state + self._broadcast(self.shift, state)) * self._broadcast(self.log_scale.exp(), state)
        return moved, self.no_change(state) + change

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The state before scaling and shifting."""
        return state * self._broadcast((-self.log_scale).exp(), state) - self._broadcast(self.shift, state)

    def fit(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Choose shift and scale so that these data have mean 0 and standard deviation 1 in every channel."""
        axes = [axis for axis in range(state.ndim) if axis != 1]
        with torch.no_grad():
            self.shift.copy_(-state.mean(dim=axes))
            self.log_scale.copy_(-state.std(dim=axes).clamp(min=SMALLEST_SPREAD).log())
        return self.encode(state, condition)[0]

    @staticmethod
    def _broadcast(values: Tensor, state: Tensor) -> Tensor:
        return values.reshape(1, -1, *([1] * (state.ndim - 2)))


class FlattenedImage(InvertibleLayer):
    """Flattens images to vectors of features."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape = shape

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """n x c x h x w to n x (c h w)."""
        return state.flatten(1), self.no_change(state)

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """n x (c h w) to n x c x h x w."""
        return state.reshape(len(state), *self.shape)
