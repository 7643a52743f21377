"""The protocol of a trunk: the shapes of its layers, and its encoder and decoder as functions of stacked weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from unweave.randomness import random_stream

Weights = Mapping[str, Tensor]


class Layer(NamedTuple):
    """Shapes of a weight and its bias in one model, the number of inputs per output, and the kind of initial weights.

    If a layer is for rectifiers, its initial weights preserve the scale of signals (see `initial_weights`).
    """

    weight: tuple[int, ...]
    bias: tuple[int, ...]
    fan_in: int
    for_rectifiers: bool = False


@dataclass(frozen=True)
class Sizes:
    """Shape of the images (channels, height, width), number of encoder outputs, and number of decoder inputs."""

    image_shape: tuple[int, int, int]
    n_head: int
    n_codes: int

    @property
    def n_pixels(self) -> int:
        """Number of values in one image: channels x height x width."""
        return math.prod(self.image_shape)


class Trunk(Protocol):
    """An encoder and a decoder; a frozen dataclass, because its fields are part of a model's settings."""

    def layers(self, sizes: Sizes) -> dict[str, Layer]:
        """Layers by name."""

    def encode(self, weights: Weights, images: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the encoders, models x batch x head; images are models x batch x pixels."""

    def decode(self, weights: Weights, codes: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the decoders before the sigmoid, models x batch x pixels."""


def initial_weights(layers: Mapping[str, Layer], seeds: Sequence[int]) -> dict[str, Tensor]:
    """Initial weights and biases, uniform from -1 / sqrt(inputs) to 1 / sqrt(inputs), the default of torch's layers.

    Layers for rectifiers have weights uniform from -sqrt(6 / inputs) to sqrt(6 / inputs) and biases of 0 (He et al.
    2015). Every model draws each layer from its own random stream.
    """
    weights = {}
    for name, layer in layers.items():
        bound = math.sqrt((6 if layer.for_rectifiers else 1) / layer.fan_in)
        for part, shape in (("weight", layer.weight), ("bias", layer.bias)):
            full = f"{name}.{part}"
            reach = 0.0 if layer.for_rectifiers and part == "bias" else bound
            drawn = [random_stream(seed, full).uniform(-reach, reach, shape) for seed in seeds]
            weights[full] = torch.from_numpy(np.stack(drawn).astype(np.float32))
    return weights
