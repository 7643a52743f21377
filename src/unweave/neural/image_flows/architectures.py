"""The flows of paper 000 at any size: GLOW-like, conditional, GIN and wavelet (Tables E.1 and E.2, section E.1.5).

All but the wavelet flow consist of downsampling, convolutional couplings, downsampling, convolutional couplings, and
couplings of features. A block is a coupling, a mixing of channels and ActNorm. GIN has no ActNorm, which would change
volumes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch

from unweave.evidence import EvidenceError
from unweave.neural.image_flows.coupling import ChannelCoupling, CouplingKind
from unweave.neural.image_flows.downsampling import Downsampling, DownsamplingKind
from unweave.neural.image_flows.image_flow import ImageFlow
from unweave.neural.image_flows.latent_priors import ClassMixture
from unweave.neural.image_flows.layer import InvertibleLayer, LayerChain
from unweave.neural.image_flows.mixing import ActNorm, FixedPermutation, FlattenedImage, LearnedRotation
from unweave.neural.image_flows.wavelet import WaveletPyramid
from unweave.randomness import random_seed

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
    if settings.side % 2**LEVELS or settings.side < 2 ** (LEVELS + 1):
        raise EvidenceError(
            f"Images of {settings.side} x {settings.side} cannot be halved {LEVELS} times: pad or average them to a "
            f"multiple of {2**LEVELS}, at least {2 ** (LEVELS + 1)}."
        )
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
        layers.append(Downsampling(settings.downsampling))
        n_channels, side = 4 * n_channels, side // 2
        shape = (n_channels, side, side)
        hidden = settings.hidden_channels * 2**level
        layers += _blocks(shape, settings.n_convolutional, hidden, condition, settings)
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
    shape: tuple[int, ...],
    n_blocks: int,
    hidden: int,
    condition: tuple[int, ...] | None,
    settings: ImageFlowSettings,
) -> Iterator[InvertibleLayer]:
    for block in range(n_blocks):
        seed = 1000 * settings.seed + 10 * block + len(shape)
        if settings.couplings != "gin":
            yield ActNorm(shape[0])
        if len(shape) == 3:
            yield LearnedRotation(shape[0], seed)
        else:
            yield FixedPermutation(shape[0], seed)
        yield ChannelCoupling(shape, hidden, settings.couplings, condition, settings.bins)
