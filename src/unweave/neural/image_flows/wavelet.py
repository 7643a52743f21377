"""A wavelet flow: the details of every scale are mapped to latents given the coarser image (Yu et al. 2020).

    x -> (coarse, details);    z_details = f(details | coarse)

The coarse image is split again in the same way. The smallest image is mapped to z = f(coarse).

Latents are ordered from coarse to fine: those of the smallest image first, those of the finest details last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from unweave.neural.image_flows.downsampling import Downsampling, DownsamplingKind
from unweave.neural.image_flows.layer import InvertibleLayer


class WaveletPyramid(InvertibleLayer):
    """Images to latents, scale by scale.

    Parameters
    ----------
    kind : {'haar', 'checkerboard'}
    details : iterable of layers, the finest scale first
        Each maps details (3c x h x w) to features, with the coarse image (c x h x w) as its condition.
    coarsest : layer
        Maps the smallest image to features; its condition is that of the whole flow.
    image_shape : (c, h, w)
    """

    details: Any

    def __init__(
        self,
        kind: DownsamplingKind,
        details: Iterable[InvertibleLayer],
        coarsest: InvertibleLayer,
        image_shape: tuple[int, int, int],
    ) -> None:
        super().__init__()
        self.downsampling = Downsampling(kind)
        self.details = nn.ModuleList(details)
        self.coarsest = coarsest
        self.n_channels = image_shape[0]
        n_pixels = math.prod(image_shape)
        #: numbers of latents, coarse to fine
        self.sizes = [n_pixels // 4 ** len(self.details)]
        self.sizes += [3 * n_pixels // 4**k for k in range(len(self.details), 0, -1)]

    def encode(self, state: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """Latents as features, coarse to fine."""
        log_volume = self.no_change(state)
        found = []
        for layer in self.details:
            state, fine = self._split(state)
            latents, change = layer.encode(fine, state)
            log_volume = log_volume + change
            found.append(latents)
        latents, change = self.coarsest.encode(state, condition)
        return torch.cat([latents, *reversed(found)], dim=1), log_volume + change

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The image, reconstructed from coarse to fine."""
        coarsest, *finer = torch.split(state, self.sizes, dim=1)
        image = self.coarsest.decode(coarsest, condition)
        for layer, latents in zip(reversed(self.details), finer, strict=True):
            image = self.downsampling.decode(torch.cat([image, layer.decode(latents, image)], dim=1), None)
        return image

    def fit(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Fit the layers of every scale to the details of that scale."""
        found = []
        for layer in self.details:
            state, fine = self._split(state)
            found.append(layer.fit(fine, state))
        return torch.cat([self.coarsest.fit(state, condition), *reversed(found)], dim=1)

    def _split(self, state: Tensor) -> tuple[Tensor, Tensor]:
        halves = self.downsampling.encode(state, None)[0]
        return halves[:, : self.n_channels], halves[:, self.n_channels :]
