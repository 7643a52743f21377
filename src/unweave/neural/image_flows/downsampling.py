"""Invertible downsampling: Haar wavelets or a checkerboard map every square of 2 x 2 pixels to four channels.

    y_k = sum_j M_kj x_j,    M orthogonal (4 x 4), x the pixels (0, 0), (0, 1), (1, 0), (1, 1) of a square

Haar (Ardizzone et al. 2019): half the sum, and half the differences across, down and along the diagonal. Checkerboard
(Dinh et al. 2017): the pixels themselves, one diagonal first. Neither changes volumes.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from unweave.neural.image_flows.layer import InvertibleLayer

DownsamplingKind = Literal["haar", "checkerboard"]
MATRICES = {
    "haar": [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]],
    "checkerboard": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
}


class Downsampling(InvertibleLayer):
    """Images (c x h x w) to (4c x h/2 x w/2); the first c channels are the coarse image.

    >>> picture = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> Downsampling("haar").encode(picture, None)[0].flatten().tolist()
    [5.0, -1.0, -2.0, 0.0]
    """

    matrix: Tensor

    def __init__(self, kind: DownsamplingKind) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.tensor(MATRICES[kind]))

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """Four channels for every channel, ordered by component and then by channel."""
        n, c, h, w = state.shape
        squares = state.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 1, 2, 4).reshape(n, 4, -1)
        return (self.matrix @ squares).reshape(n, 4 * c, h // 2, w // 2), self.no_change(state)

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The larger image."""
        n, c, h, w = state.shape
        squares = (self.matrix.mT @ state.reshape(n, 4, -1)).reshape(n, 2, 2, c // 4, h, w)
        return squares.permute(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)
