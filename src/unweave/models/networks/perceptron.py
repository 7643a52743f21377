"""Multilayer perceptrons that are computed for many models at once, with one batched product per layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from unweave.models.errors import TrainingError
from unweave.models.networks.trunk import Layer, Sizes, Weights


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
            raise TrainingError(f"hidden={self.hidden} are not widths of layers: give whole numbers above 0.")

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
