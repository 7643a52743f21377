"""Likelihoods of images given the decoder's outputs; the cost is -log p(x | z), summed over pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from unweave.models.errors import TrainingError


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
        if not (math.isfinite(self.variance) and self.variance > 0):
            raise TrainingError(f"variance={self.variance} of the likelihood is not a number above 0.")

    def cost(self, outputs: Tensor, images: Tensor) -> Tensor:
        """Negative log-likelihood of an image in nats, averaged over the batch; one number per model."""
        squares = (outputs - images).square().sum(2).mean(1) / self.variance
        return 0.5 * (squares + images.shape[-1] * math.log(2 * math.pi * self.variance))

    def pixels(self, outputs: Tensor) -> Tensor:
        """Expected value of every pixel given the decoder's outputs."""
        return outputs


Likelihood = Bernoulli | Gaussian
LIKELIHOODS = {"bernoulli": Bernoulli, "gaussian": Gaussian}
