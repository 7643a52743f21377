"""Encoders, decoders and critics of a stack of models: a trunk, its sizes, and weights with a leading model axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from unweave.models.networks import Dense, Layer, Sizes, Trunk, Weights


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
