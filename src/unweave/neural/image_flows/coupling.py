"""Couplings of image flows: one half of the channels stays and determines the map of the other (Dinh et al. 2017).

    y_a = x_a,    y_b = T(x_b; theta(x_a, condition))

with T elementwise and increasing. 'affine' is x exp(s) + t with |s| < 2. 'gin' is the same with the s of a row summing
to 0, so that volumes are preserved (Sorrenson et al. 2020; they set the last s to minus the sum of the others, while
here the mean is subtracted, which treats all equally). 'spline' is rational-quadratic on [-4, 4] and the identity
outside (Durkan et al. 2019).
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from zuko.transforms import MonotonicRQSTransform

from unweave.neural.image_flows.layer import InvertibleLayer
from unweave.neural.image_flows.subnets import ConvolutionalSubnet, DenseSubnet

CouplingKind = Literal["affine", "gin", "spline"]
LARGEST_LOG_SCALE = 2.0
SPLINE_BOUND = 4.0


class ChannelCoupling(InvertibleLayer):
    """A coupling of the channels of images, or of features.

    Parameters
    ----------
    shape : (c, h, w) or (d,)
        Shape of a state. The networks of images are convolutional, and those of features are dense.
    hidden : int
        Width of the network.
    kind : {'affine', 'gin', 'spline'}
    condition_shape : tuple of int, optional
        Shape of the condition, an additional input of the network.
    bins : int
        Number of bins of splines.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        hidden: int,
        kind: CouplingKind = "affine",
        condition_shape: tuple[int, ...] | None = None,
        bins: int = 8,
    ) -> None:
        super().__init__()
        self.kind, self.bins = kind, bins
        self.n_kept = (shape[0] + 1) // 2
        n_moved = shape[0] - self.n_kept
        n_parameters = n_moved * (3 * bins - 1 if kind == "spline" else 2)
        network = ConvolutionalSubnet if len(shape) == 3 else DenseSubnet
        self.subnet: Any = network((self.n_kept, hidden, n_parameters), condition_shape)

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """Next state, and the log of the volume change."""
        kept, moved = state[:, : self.n_kept], state[:, self.n_kept :]
        parameters = self.subnet(kept, condition)
        if self.kind == "spline":
            landed, log_slope = self._spline(parameters, moved).call_and_ladj(moved)
            return torch.cat([kept, landed], dim=1), log_slope.flatten(1).sum(dim=1)
        log_scale, shift = self._affine(parameters)
        change = self.no_change(state) if self.kind == "gin" else log_scale.flatten(1).sum(dim=1)
        return torch.cat([kept, moved * log_scale.exp() + shift], dim=1), change

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Previous state."""
        kept, landed = state[:, : self.n_kept], state[:, self.n_kept :]
        parameters = self.subnet(kept, condition)
        if self.kind == "spline":
            return torch.cat([kept, self._spline(parameters, landed).inv(landed)], dim=1)
        log_scale, shift = self._affine(parameters)
        return torch.cat([kept, (landed - shift) * (-log_scale).exp()], dim=1)

    def _affine(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        raw, shift = parameters.chunk(2, dim=1)
        log_scale = LARGEST_LOG_SCALE * torch.tanh(raw / LARGEST_LOG_SCALE)
        if self.kind == "gin":
            log_scale = log_scale - log_scale.mean(dim=list(range(1, log_scale.ndim)), keepdim=True)
        return log_scale, shift

    def _spline(self, parameters: Tensor, moved: Tensor) -> Any:
        """One spline for every transformed entry; the last axis of the parameters is that of one spline."""
        each = parameters.reshape(len(moved), -1, *moved.shape[1:]).movedim(1, -1)
        widths, heights, slopes = each.tensor_split([self.bins, 2 * self.bins], dim=-1)
        return MonotonicRQSTransform(widths, heights, slopes, bound=SPLINE_BOUND)
