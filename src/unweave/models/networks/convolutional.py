"""The convolutional network of dSprites studies: four convolutions of stride 2, a hidden layer, and a mirrored decoder.

Locatello et al. 2019 and 002 (Table 2): 32, 32, 64 and 64 channels and 256 hidden units for images of 64 x 64. Every
convolution, with a kernel of 4 x 4, halves the image, down to 4 x 4; images of 32 x 32 need three channel counts, and
those of 16 x 16 two.

Weights are initialised as in He et al. 2015. With torch's default, signals shrink to half or less in each of six
layers: codes then vary by .001 with the image and by 1 with noise, the decoder learns to ignore them before they grow,
and training stays at the mean image.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from unweave.models.errors import TrainingError
from unweave.models.networks.perceptron import Dense
from unweave.models.networks.trunk import Layer, Sizes, Weights

KERNEL, SMALLEST = 4, 4


@dataclass(frozen=True)
class Convolutional:
    """Convolutional encoder and mirrored decoder; the models of a stack are computed one after another.

    >>> Convolutional((32, 32, 64)).layers(Sizes((1, 32, 32), n_head=20, n_codes=10))["encoder.convolution.2"].weight
    (64, 32, 4, 4)
    """

    channels: tuple[int, ...] = (32, 32, 64, 64)
    hidden: int = 256

    def __post_init__(self) -> None:
        object.__setattr__(self, "channels", tuple(self.channels))
        if not self.channels or not all(isinstance(n, int) and n > 0 for n in (*self.channels, self.hidden)):
            raise TrainingError(
                f"channels={self.channels}, hidden={self.hidden} are not sizes of layers: give whole numbers above 0."
            )

    def layers(self, sizes: Sizes) -> dict[str, Layer]:
        """Layers by name."""
        n_channels, height, width = sizes.image_shape
        side = SMALLEST * 2 ** len(self.channels)
        if (height, width) != (side, side):
            raise TrainingError(
                f"{len(self.channels)} convolutions halve an image of {side} x {side} down to {SMALLEST} x {SMALLEST}, "
                f"and these are {height} x {width}: give one channel count for every halving."
            )
        found = {}
        ladder = (n_channels, *self.channels)
        for k, (wide, deep) in enumerate(pairwise(ladder)):
            area = KERNEL * KERNEL
            found[f"encoder.convolution.{k}"] = Layer((deep, wide, KERNEL, KERNEL), (deep,), wide * area, True)
            # with stride 2 a quarter of the kernel reaches each pixel
            found[f"decoder.convolution.{k}"] = Layer((deep, wide, KERNEL, KERNEL), (wide,), deep * area // 4, True)
        return {**found, **self._inward(sizes).layers(), **self._outward(sizes).layers()}

    def encode(self, weights: Weights, images: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the encoders, models x batch x head."""
        n_models, n_images = images.shape[:2]

        def features(one: dict[str, Tensor], pixels: Tensor) -> Tensor:
            maps = pixels.view(-1, *sizes.image_shape)
            for k in range(len(self.channels)):
                name = f"encoder.convolution.{k}"
                maps = functional.conv2d(maps, one[f"{name}.weight"], one[f"{name}.bias"], stride=2, padding=1).relu()
            return maps.flatten(1)

        found = _one_by_one(features, weights, "encoder.convolution", images)
        return self._inward(sizes)(weights, found.view(n_models, n_images, -1))

    def decode(self, weights: Weights, codes: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the decoders, models x batch x pixels."""
        inner = self._outward(sizes)(weights, codes).relu()

        def pixels(one: dict[str, Tensor], features: Tensor) -> Tensor:
            maps = features.view(-1, self.channels[-1], SMALLEST, SMALLEST)
            for k in reversed(range(len(self.channels))):
                name = f"decoder.convolution.{k}"
                maps = functional.conv_transpose2d(
                    maps, one[f"{name}.weight"], one[f"{name}.bias"], stride=2, padding=1
                )
                maps = maps.relu() if k else maps
            return maps.flatten(1)

        return _one_by_one(pixels, weights, "decoder.convolution", inner)

    def _inward(self, sizes: Sizes) -> Dense:
        widths = (self.channels[-1] * SMALLEST**2, self.hidden, sizes.n_head)
        return Dense("encoder.dense", widths, for_rectifiers=True)

    def _outward(self, sizes: Sizes) -> Dense:
        widths = (sizes.n_codes, self.hidden, self.channels[-1] * SMALLEST**2)
        return Dense("decoder.dense", widths, for_rectifiers=True)


def _one_by_one(
    function: Callable[[dict[str, Tensor], Tensor], Tensor], weights: Weights, prefix: str, inputs: Tensor
) -> Tensor:
    """Apply a function of the weights of one model to each model of a stack in turn."""
    # unbind instead of an index, because the gradient of an indexed slice would be as large as the whole stack
    apart = {name: weight.unbind(0) for name, weight in weights.items() if name.startswith(prefix)}
    return torch.stack(
        [function({name: parts[m] for name, parts in apart.items()}, one) for m, one in enumerate(inputs.unbind(0))]
    )
