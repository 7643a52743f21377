"""Coupling flows for images."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from zuko.transforms import MonotonicRQSTransform

from unweave.errors import InputError
from unweave.neural.flows import standard_normal_cost
from unweave.randomness import random_seed

SMALLEST_DEVIATION = 1e-4


class ClassMixture(nn.Module):
    """One Gaussian per class, with means and standard deviations learned with the flow (prior of GIN, 000 section 7).

    >>> prior = ClassMixture(n_classes=2, size=3)
    >>> round(float(prior.cost(torch.zeros(1, 3), torch.tensor([1]))[0]), 3)
    2.757
    """

    def __init__(self, n_classes: int, size: int) -> None:
        super().__init__()
        self.means = nn.Parameter(torch.zeros(n_classes, size))
        self.log_deviations = nn.Parameter(torch.zeros(n_classes, size))

    def cost(self, latents: Tensor, classes: Any) -> Tensor:
        """Negative log-density of latents whose classes are known."""
        log_deviations = self.log_deviations[classes]
        standard = (latents - self.means[classes]) * (-log_deviations).exp()
        return standard_normal_cost(standard) + log_deviations.sum(dim=1)

    def fit(self, latents: Tensor, classes: Any) -> None:
        """Initialise with the means and standard deviations of these latents."""
        with torch.no_grad():
            for k in range(len(self.means)):
                group = latents[classes == k]
                self.means[k] = group.mean(dim=0)
                self.log_deviations[k] = group.std(dim=0, correction=0).clamp(min=SMALLEST_DEVIATION).log()


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

    >>> from unweave_papers.image_flows import FixedPermutation
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


class ImageFlow(nn.Module):
    """A normalising flow for images (c x h x w), whose layer maps them to features.

    ``n_classes`` is the number of classes on which the networks are conditioned, or 0. The prior is a standard normal
    by default. Checkpoints contain ``settings``, from which the flow was built.

    >>> from unweave_papers.image_flows import ImageFlowSettings, image_flow
    >>> flow = image_flow(ImageFlowSettings(side=8, n_convolutional=1, n_dense=1))
    >>> images = torch.randn(3, 1, 8, 8)
    >>> bool(torch.allclose(flow.decode(flow.encode(images)), images, atol=1e-4))
    True
    """

    def __init__(
        self,
        layer: InvertibleLayer,
        image_shape: tuple[int, int, int],
        n_classes: int = 0,
        prior: ClassMixture | None = None,
        settings: Any = None,
    ) -> None:
        super().__init__()
        self.layer, self.image_shape, self.n_classes = layer, image_shape, n_classes
        self.prior, self.settings = prior, settings
        self.size = self.latent_size = math.prod(image_shape)

    def encode(self, images: Tensor, classes: Tensor | None = None) -> Tensor:
        """Latents (n x d) of images."""
        return self.encode_with_volume(images, classes)[0]

    def encode_with_volume(self, images: Tensor, classes: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Latents, and the log of the encoder's volume change."""
        return self.layer.encode(self._in_image_shape(images), self._condition(len(images), classes))

    def decode(self, latents: Tensor, classes: Tensor | None = None) -> Tensor:
        """Images of latents."""

        return self.layer.decode(latents, self._condition(len(latents), classes))

    def forward(self, latents: Tensor, classes: Tensor | None = None) -> Tensor:
        """The decoder."""
        return self.decode(latents, classes)

    def negative_log_likelihood(self, images: Tensor, classes: Tensor | None = None) -> Tensor:
        """Negative log-density of every image in nats, given its class if the flow or its prior has classes."""
        latents, log_volume = self.encode_with_volume(images, classes)
        return self.prior_cost(latents, classes) - log_volume

    def prior_cost(self, latents: Tensor, classes: Tensor | None = None) -> Tensor:
        """Negative log-density of latents."""
        return standard_normal_cost(latents) if self.prior is None else self.prior.cost(latents, classes)

    def fit(self, images: Tensor, classes: Tensor | None = None) -> None:
        """Set the scales, and the Gaussians of the classes, from these images."""
        latents = self.layer.fit(self._in_image_shape(images), self._condition(len(images), classes)).detach()
        if self.prior is not None:
            self.prior.fit(latents, classes)

    def refuse_if_not_invertible(self, images: Tensor, classes: Tensor | None = None, tolerance: float = 1e-2) -> None:
        """Raise an error if decoding the latents of an image does not reproduce it."""
        with torch.no_grad():
            back = self.decode(self.encode(images, classes), classes)
        errors = (back - self._in_image_shape(images)).flatten(1).abs().amax(dim=1)
        bad = ~(errors <= tolerance)
        if bad.any():
            first = int(bad.nonzero()[0])
            raise InputError(
                f"The flow is not invertible at image {first}: decoding its latents differs from it by "
                f"{float(errors[first]):.3g}, so its scales have diverged; train with a lower learning rate."
            )

    def _in_image_shape(self, images: Tensor) -> Tensor:
        return images.reshape(len(images), *self.image_shape)

    def _condition(self, n: int, classes: Any) -> Tensor | None:
        if not self.n_classes:
            return None
        weight = next(self.parameters())
        one_hot: Tensor = nn.functional.one_hot(classes, self.n_classes).to(weight.dtype)
        return one_hot.expand(n, -1)


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
        return self._mix_channels(self._matrix(), state), self.no_change(state)

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The state with its channels multiplied by the transposed matrix, which is the inverse."""
        return self._mix_channels(self._matrix().mT, state)

    def _matrix(self) -> Tensor:
        return torch.linalg.matrix_exp(self.turn - self.turn.mT)

    @staticmethod
    def _mix_channels(matrix: Tensor, state: Tensor) -> Tensor:
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


LAST_GAIN = 0.05  # so that couplings start near the identity


class Subnet(nn.Module):
    """The network of a coupling, convolutional for images and dense for features.

    The condition of a convolutional network is a vector, or an image of that size; that of a dense one is flattened.
    """

    def __init__(
        self, sizes: tuple[int, int, int], condition_shape: tuple[int, ...] | None, convolutional: bool
    ) -> None:
        super().__init__()
        n_in, hidden, n_out = sizes

        def layer(n_in: int, n_out: int, width: int = 3) -> Any:
            return nn.Conv2d(n_in, n_out, width, padding=width // 2) if convolutional else nn.Linear(n_in, n_out)

        self.first, self.second, self.last = layer(n_in, hidden), layer(hidden, hidden, 1), layer(hidden, n_out)
        self.entry: nn.Module | None = None
        self.flattens = not convolutional
        if condition_shape is not None:
            as_image = convolutional and len(condition_shape) > 1
            n_given = condition_shape[0] if convolutional else math.prod(condition_shape)
            self.entry = layer(n_given, hidden) if as_image else nn.Linear(n_given, hidden)
        with torch.no_grad():
            self.last.weight.mul_(LAST_GAIN)
            self.last.bias.zero_()

    def forward(self, fixed: Tensor, condition: Tensor | None) -> Tensor:
        """Parameters of the coupling, as channels or features."""
        hidden = self.first(fixed)
        if self.entry is not None:
            assert condition is not None
            entered = self.entry(condition.flatten(1) if self.flattens else condition)
            hidden = hidden + (entered[:, :, None, None] if entered.ndim < hidden.ndim else entered)
        return self.last(self.second(hidden.relu()).relu())


CouplingKind = Literal["affine", "gin", "spline"]
LARGEST_LOG_SCALE = 2.0
SPLINE_BOUND = 4.0


class ChannelCoupling(InvertibleLayer):
    """A coupling of the channels of images (c, h, w) by a convolutional network, or of features (d,) by a dense one.

    ``hidden`` is the width of the network, ``condition_shape`` the shape of its additional input, and ``bins`` the
    number of bins of splines.
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
        self.subnet = Subnet((self.n_kept, hidden, n_parameters), condition_shape, convolutional=len(shape) == 3)

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


class WaveletPyramid(InvertibleLayer):
    """Images (c x h x w) to latents, scale by scale.

    The layers of ``details``, the finest scale first, map details (3c x h x w) to features, with the coarse image
    (c x h x w) as their condition. ``coarsest`` maps the smallest image to features; its condition is that of the flow.
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
        results = []
        for layer in self.details:
            state, fine = self._split(state)
            latents, change = layer.encode(fine, state)
            log_volume = log_volume + change
            results.append(latents)
        latents, change = self.coarsest.encode(state, condition)
        return torch.cat([latents, *reversed(results)], dim=1), log_volume + change

    def decode(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """The image, reconstructed from coarse to fine."""
        coarsest, *finer = torch.split(state, self.sizes, dim=1)
        image = self.coarsest.decode(coarsest, condition)
        for layer, latents in zip(reversed(self.details), finer, strict=True):
            image = self.downsampling.decode(torch.cat([image, layer.decode(latents, image)], dim=1), None)
        return image

    def fit(self, state: Tensor, condition: Tensor | None) -> Tensor:
        """Fit the layers of every scale to the details of that scale."""
        losses = []
        for layer in self.details:
            state, fine = self._split(state)
            losses.append(layer.fit(fine, state))
        return torch.cat([self.coarsest.fit(state, condition), *reversed(losses)], dim=1)

    def _split(self, state: Tensor) -> tuple[Tensor, Tensor]:
        halves = self.downsampling.encode(state, None)[0]
        return halves[:, : self.n_channels], halves[:, self.n_channels :]


LEVELS = 2


@dataclass(frozen=True)
class ImageFlowSettings:
    """The shape of an image flow.

    ``kind`` is 'glow' (convolutional, then dense) or 'wavelet' (details given the coarse image). ``couplings='gin'``
    preserves volumes. ``n_conditions`` is the number of classes on which all networks are conditioned, and
    ``n_components`` the number of Gaussians in the prior. There are ``n_convolutional`` blocks for every scale and
    ``n_dense`` blocks of features.
    """

    side: int = 16
    kind: Literal["glow", "wavelet"] = "glow"
    couplings: CouplingKind = "affine"
    downsampling: DownsamplingKind = "checkerboard"
    n_convolutional: int = 4
    n_dense: int = 4
    hidden_channels: int = 16
    hidden_features: int = 128
    n_conditions: int = 0
    n_components: int = 0
    bins: int = 8
    seed: int = 0


def image_flow(settings: ImageFlowSettings) -> ImageFlow:
    """A flow of grey images with initial weights, which depend on the seed only."""
    shape = (1, settings.side, settings.side)
    state = torch.random.get_rng_state()
    torch.manual_seed(random_seed(settings.seed, "weights of an image flow"))
    try:
        layer = _wavelet(shape, settings) if settings.kind == "wavelet" else _glow(shape, settings)
        prior = ClassMixture(settings.n_components, math.prod(shape)) if settings.n_components else None
    finally:
        torch.random.set_rng_state(state)
    return ImageFlow(layer, shape, settings.n_conditions, prior, settings)


def _glow(shape: tuple[int, int, int], settings: ImageFlowSettings) -> LayerChain:
    condition = (settings.n_conditions,) if settings.n_conditions else None
    layers: list[InvertibleLayer] = []
    n_channels, side, _ = shape
    for level in range(LEVELS):
        n_channels, side = 4 * n_channels, side // 2
        shape = (n_channels, side, side)
        hidden = settings.hidden_channels * 2**level
        blocks = _blocks(shape, settings.n_convolutional, hidden, condition, settings)
        layers += [Downsampling(settings.downsampling), *blocks]
    return LayerChain([*layers, *_dense(shape, settings.n_dense, condition, settings)])


def _wavelet(shape: tuple[int, int, int], settings: ImageFlowSettings) -> WaveletPyramid:
    details = []
    n_channels, side, _ = shape
    for level in range(LEVELS):
        side //= 2
        fine, coarse = (3 * n_channels, side, side), (n_channels, side, side)
        hidden = settings.hidden_channels * 2**level
        blocks = _blocks(fine, settings.n_convolutional, hidden, coarse, settings)
        details.append(LayerChain([*blocks, *_dense(fine, settings.n_dense, coarse, settings)]))
    condition = (settings.n_conditions,) if settings.n_conditions else None
    smallest = (n_channels, side, side)
    coarsest = LayerChain(_dense(smallest, settings.n_convolutional + settings.n_dense, condition, settings))
    return WaveletPyramid(settings.downsampling, details, coarsest, shape)


def _dense(
    shape: tuple[int, int, int], n_blocks: int, condition: tuple[int, ...] | None, settings: ImageFlowSettings
) -> Iterator[InvertibleLayer]:
    """Layers that flatten and permute the features, followed by couplings of features."""
    size = math.prod(shape)
    yield FlattenedImage(shape)
    if n_blocks:
        yield FixedPermutation(size, settings.seed)
        yield from _blocks((size,), n_blocks, settings.hidden_features, condition, settings)


def _blocks(
    shape: tuple[int, ...], n_blocks: int, hidden: int, condition: tuple[int, ...] | None, settings: ImageFlowSettings
) -> Iterator[InvertibleLayer]:
    for block in range(n_blocks):
        seed = 1000 * settings.seed + 10 * block + len(shape)
        if settings.couplings != "gin":
            yield ActNorm(shape[0])
        yield (LearnedRotation if len(shape) == 3 else FixedPermutation)(shape[0], seed)
        yield ChannelCoupling(shape, hidden, settings.couplings, condition, settings.bins)
