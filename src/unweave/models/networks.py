"""Networks of encoders and decoders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from unweave.errors import InputError, OptionError
from unweave.options import checks_options
from unweave.randomness import random_stream

STEPS_AT_A_TIME = 64  # steps for which numbers are drawn at once, because creating a generator takes longer than a draw
Device = str | torch.device
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.generic]]


def refuse_missing_device(device: Device) -> None:
    """Raise an `OptionError` if torch cannot use this device here."""
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        reason, device = str(error).split("\n")[0].rstrip("."), " ".join(repr(device).split())
        raise OptionError(f"device={device} cannot be used here ({reason}): choose another, such as 'cpu'.") from None


class Randomness:
    """Random numbers for all models of a stack at one step; the first axis of every tensor is the model.

    They are drawn on the CPU and moved to the device, so that a seed gives the same numbers on every device.

    >>> alone, among_others = Randomness([7]), Randomness([3, 7])
    >>> bool((alone.at(70).normal("noise", (2, 3))[0] == among_others.at(70).normal("noise", (2, 3))[1]).all())
    True
    """

    def __init__(self, seeds: Sequence[int], device: Device = "cpu") -> None:
        self.seeds, self.device = tuple(seeds), device
        self._step = 0
        self._blocks: dict[tuple[str, tuple[int, ...]], tuple[int, Tensor]] = {}

    def at(self, step: int) -> Randomness:
        """The same streams, at this step."""
        self._step = step
        return self

    def normal(self, purpose: str, shape: tuple[int, ...]) -> Tensor:
        """Standard normal random numbers, models x shape."""
        return self._drawn(purpose, shape, lambda rng, size: rng.standard_normal(size, dtype=np.float32))

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> Tensor:
        """Uniform random numbers from [0, 1), models x shape."""
        return self._drawn(purpose, shape, lambda rng, size: rng.random(size, dtype=np.float32))

    def whole_numbers(self, purpose: str, shape: tuple[int, ...], below: int) -> Tensor:
        """Random integers from 0 to ``below`` - 1, models x shape."""
        return self._drawn(f"{purpose} below {below}", shape, lambda rng, size: rng.integers(below, size=size))

    def orders(self, purpose: str, n_orders: int, length: int) -> Tensor:
        """Random orders of 0, 1, ..., length - 1, models x orders x length."""
        return self._drawn(
            purpose, (n_orders, length), lambda rng, size: rng.random(size, dtype=np.float32).argsort(axis=-1)
        )

    def _drawn(self, purpose: str, shape: tuple[int, ...], draw: Draw) -> Tensor:
        number, within = divmod(self._step, STEPS_AT_A_TIME)
        block = self._blocks.get((purpose, shape))
        if block is None or block[0] != number:
            size = (STEPS_AT_A_TIME, *shape)
            numbers = [draw(random_stream(seed, purpose, number), size) for seed in self.seeds]
            block = (number, torch.from_numpy(np.stack(numbers, axis=1)).to(self.device))
            self._blocks[purpose, shape] = block
        return block[1][within]


@dataclass(frozen=True)
class Bernoulli:
    """Bernoulli distributed pixels: the binary cross-entropy of pixels from 0 to 1 and the sigmoid of the outputs."""

    def cost(self, outputs: Tensor, images: Tensor) -> Tensor:
        """Negative log-likelihood of an image in nats, averaged over the batch; one number per model."""
        cross_entropies = functional.binary_cross_entropy_with_logits(outputs, images, reduction="none")
        return cross_entropies.sum(2).mean(1)

    def pixels(self, outputs: Tensor) -> Tensor:
        """Expected value of every pixel given the decoder's outputs."""
        return outputs.sigmoid()


@dataclass(frozen=True)
class Gaussian:
    """Normally distributed pixels: the decoder's outputs are the means, and all pixels have the same ``variance``."""

    variance: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.variance, (int, float)) and math.isfinite(self.variance) and self.variance > 0):
            raise OptionError(
                f"variance={' '.join(repr(self.variance).split())} of the likelihood is not a number above 0."
            )

    def cost(self, outputs: Tensor, images: Tensor) -> Tensor:
        """Negative log-likelihood of an image in nats, averaged over the batch; one number per model."""
        squares = (outputs - images).square().sum(2).mean(1) / self.variance
        return 0.5 * (squares + images.shape[-1] * math.log(2 * math.pi * self.variance))

    def pixels(self, outputs: Tensor) -> Tensor:
        """Expected value of every pixel given the decoder's outputs."""
        return outputs


Likelihood = Bernoulli | Gaussian
LIKELIHOODS = {"bernoulli": Bernoulli, "gaussian": Gaussian}
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


@dataclass(frozen=True)
class Dense:
    """Linear layers of these widths with a rectifier between them; weights are models x inputs x outputs.

    ``slope`` is the slope of the rectifier for negative inputs; ``for_rectifiers`` selects the initial weights
    (`Layer`).
    """

    prefix: str
    widths: tuple[int, ...]
    slope: float = 0.0
    for_rectifiers: bool = False

    def layers(self) -> dict[str, Layer]:
        """Layers by name."""
        pairs = zip(self.widths[:-1], self.widths[1:], strict=True)
        return {f"{self.prefix}.{k}": Layer((n, m), (1, m), n, self.for_rectifiers) for k, (n, m) in enumerate(pairs)}

    def __call__(self, weights: Weights, inputs: Tensor) -> Tensor:
        """Outputs, models x batch x last width."""
        last = len(self.widths) - 2
        outputs = inputs
        for k in range(last + 1):
            name = f"{self.prefix}.{k}"
            outputs = torch.baddbmm(weights[f"{name}.bias"], outputs, weights[f"{name}.weight"])
            if k < last:
                outputs = functional.leaky_relu(outputs, self.slope) if self.slope else outputs.relu()
        return outputs


@checks_options
@dataclass(frozen=True)
class MLP:
    """Encoder and decoder of fully connected layers with rectifiers; the decoder mirrors the encoder.

    Without hidden layers both are linear.

    >>> MLP(hidden=(8,)).layers(Sizes((1, 4, 4), n_head=6, n_codes=3))["decoder.0"].weight
    (3, 8)
    """

    hidden: tuple[int, ...] = (128, 128)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if not all(isinstance(width, int) and width > 0 for width in self.hidden):
            raise OptionError(f"hidden={self.hidden} are not widths of layers: give whole numbers above 0.")

    def layers(self, sizes: Sizes) -> dict[str, Layer]:
        """Layers by name."""
        return {**self._encoder(sizes).layers(), **self._decoder(sizes).layers()}

    def encode(self, weights: Weights, images: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the encoders, models x batch x head."""
        return self._encoder(sizes)(weights, images)

    def decode(self, weights: Weights, codes: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the decoders, models x batch x pixels."""
        return self._decoder(sizes)(weights, codes)

    def _encoder(self, sizes: Sizes) -> Dense:
        return Dense("encoder", (sizes.n_pixels, *self.hidden, sizes.n_head))

    def _decoder(self, sizes: Sizes) -> Dense:
        return Dense("decoder", (sizes.n_codes, *reversed(self.hidden), sizes.n_pixels))


KERNEL, SMALLEST = 4, 4


@checks_options
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
            raise OptionError(
                f"channels={self.channels}, hidden={self.hidden} are not sizes of layers: give whole numbers above 0."
            )

    def layers(self, sizes: Sizes) -> dict[str, Layer]:
        """Layers by name."""
        n_channels, height, width = sizes.image_shape
        side = SMALLEST * 2 ** len(self.channels)
        if (height, width) != (side, side):
            raise InputError(
                f"{len(self.channels)} convolutions halve an image of {side} x {side} down to {SMALLEST} x {SMALLEST}, "
                f"and these are {height} x {width}: give one channel count for every halving."
            )
        layers, area = {}, KERNEL * KERNEL
        for k, (wide, deep) in enumerate(pairwise((n_channels, *self.channels))):
            shape = (deep, wide, KERNEL, KERNEL)
            layers[f"encoder.convolution.{k}"] = Layer(shape, (deep,), wide * area, True)
            # with stride 2 a quarter of the kernel reaches each pixel
            layers[f"decoder.convolution.{k}"] = Layer(shape, (wide,), deep * area // 4, True)
        return {**layers, **self._inward(sizes).layers(), **self._outward(sizes).layers()}

    def encode(self, weights: Weights, images: Tensor, sizes: Sizes) -> Tensor:
        """Outputs of the encoders, models x batch x head."""
        n_models, n_images = images.shape[:2]

        def features(one: dict[str, Tensor], pixels: Tensor) -> Tensor:
            maps = pixels.view(-1, *sizes.image_shape)
            for k in range(len(self.channels)):
                name = f"encoder.convolution.{k}"
                maps = functional.conv2d(maps, one[f"{name}.weight"], one[f"{name}.bias"], stride=2, padding=1).relu()
            return maps.flatten(1)

        maps = _one_by_one(features, weights, "encoder.convolution", images)
        return self._inward(sizes)(weights, maps.view(n_models, n_images, -1))

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


TRUNKS = {"mlp": MLP, "conv": Convolutional}


class EncodedBatch(NamedTuple):
    """Outputs of encoders: mean and log-variance of Gaussian codes, and logits of every categorical code."""

    mean: Tensor
    log_variance: Tensor
    logits: tuple[Tensor, ...]


@dataclass(frozen=True)
class CriticShape:
    """A critic of codes: fully connected layers with leaky rectifiers, two outputs, and settings of its optimiser."""

    hidden: tuple[int, ...]
    learning_rate: float = 1e-4
    betas: tuple[float, float] = (0.5, 0.9)
    slope: float = 0.2


@dataclass(frozen=True)
class Architecture:
    """Everything that determines the shapes of the weights."""

    trunk: Trunk
    image_shape: tuple[int, int, int]
    n_gaussian: int
    categories: tuple[int, ...] = ()
    critic: CriticShape | None = None

    @property
    def sizes(self) -> Sizes:
        """Sizes of images, encoder outputs and decoder inputs."""
        n_categories = sum(self.categories)
        return Sizes(self.image_shape, 2 * self.n_gaussian + n_categories, self.n_gaussian + n_categories)

    @property
    def critic_network(self) -> Dense | None:
        """The critic, whose inputs are the codes that the decoder receives; None if there is no critic."""
        if self.critic is None:
            return None
        return Dense("critic", (self.sizes.n_codes, *self.critic.hidden, 2), self.critic.slope)

    def layers(self) -> dict[str, Layer]:
        """The layers of the encoder and the decoder by name."""
        return self.trunk.layers(self.sizes)

    def critic_layers(self) -> dict[str, Layer]:
        """Layers of the critic by name."""
        return {} if self.critic_network is None else self.critic_network.layers()


@dataclass(frozen=True, eq=False)
class Network:
    """An architecture with weights."""

    architecture: Architecture
    weights: Weights
    critic_weights: Weights = field(default_factory=dict)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(iter(self.weights.values())).device

    def to(self, device: Device) -> Network:
        """The same network on another device."""
        refuse_missing_device(device)
        moved = (
            {name: weight.to(device) for name, weight in part.items()} for part in (self.weights, self.critic_weights)
        )
        return Network(self.architecture, *moved)

    def encode(self, images: Tensor) -> EncodedBatch:
        """Posteriors of images (models x batch x pixels)."""
        architecture = self.architecture
        head = architecture.trunk.encode(self.weights, images, architecture.sizes)
        n = architecture.n_gaussian
        mean, log_variance, *logits = torch.split(head, [n, n, *architecture.categories], dim=-1)
        return EncodedBatch(mean, log_variance, tuple(logits))

    def decode(self, codes: Tensor) -> Tensor:
        """Outputs of the decoders, models x batch x pixels."""
        return self.architecture.trunk.decode(self.weights, codes, self.architecture.sizes)

    def critic(self, codes: Tensor) -> Tensor:
        """Two logits of the critics for every code vector, models x batch x 2."""
        critic = self.architecture.critic_network
        assert critic is not None
        return critic(self.critic_weights, codes)
