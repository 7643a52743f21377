"""`ImageFlow`: an invertible map between images and latents with a prior, which can be conditioned on a class."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from unweave.evidence import EvidenceError
from unweave.neural.flows import standard_normal_cost
from unweave.neural.image_flows.latent_priors import ClassMixture
from unweave.neural.image_flows.layer import InvertibleLayer


class ImageFlow(nn.Module):
    """A normalising flow for images.

    Parameters
    ----------
    layer : InvertibleLayer
        Maps images to features.
    image_shape : (c, h, w)
    n_classes : int
        Number of classes if the networks are conditioned on the class, and 0 otherwise.
    prior : ClassMixture, optional
        A standard normal by default.
    settings : object, optional
        The settings from which the flow was built; checkpoints contain them.

    Examples
    --------
    >>> from unweave.neural.image_flows.architectures import ImageFlowSettings, image_flow
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
        return self.layer.encode(self._shaped(images), self._condition(len(images), classes))

    def decode(self, latents: Tensor, classes: Tensor | None = None) -> Tensor:
        """Images of latents."""
        if latents.ndim != 2 or latents.shape[1] != self.size:
            raise EvidenceError(
                f"Latents of shape {tuple(latents.shape)} do not fit this flow: pass an array of n x {self.size}."
            )
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
        if self.prior is None:
            return standard_normal_cost(latents)
        if classes is None:
            raise EvidenceError("The prior of this flow has one Gaussian per class: pass the classes too.")
        return self.prior.cost(latents, classes)

    def fit(self, images: Tensor, classes: Tensor | None = None) -> None:
        """Set the scales, and the Gaussians of the classes, from these images."""
        latents = self.layer.fit(self._shaped(images), self._condition(len(images), classes)).detach()
        if self.prior is not None:
            if classes is None:
                raise EvidenceError("The prior of this flow has one Gaussian per class: pass the classes too.")
            self.prior.fit(latents, classes)

    def refuse_if_not_invertible(self, images: Tensor, classes: Tensor | None = None, tolerance: float = 1e-2) -> None:
        """Raise an error if decoding the latents of an image does not reproduce it."""
        with torch.no_grad():
            back = self.decode(self.encode(images, classes), classes)
        errors = (back - self._shaped(images)).flatten(1).abs().amax(dim=1)
        bad = ~(errors <= tolerance)
        if bad.any():
            first = int(bad.nonzero()[0])
            raise EvidenceError(
                f"The flow is not invertible at image {first}: decoding its latents differs from it by "
                f"{float(errors[first]):.3g}, so its scales have diverged; train with a lower learning rate."
            )

    def _shaped(self, images: Tensor) -> Tensor:
        if images[0].numel() != self.size or (images.ndim == 4 and tuple(images.shape[1:]) != self.image_shape):
            raise EvidenceError(
                f"Images of shape {tuple(images.shape[1:])} do not fit this flow, which is of {self.image_shape}: "
                "resize them, or build a flow of their size."
            )
        return images.reshape(len(images), *self.image_shape)

    def _condition(self, n: int, classes: Tensor | None) -> Tensor | None:
        if not self.n_classes:
            return None
        if classes is None:
            raise EvidenceError(f"This flow is conditional: pass one class for each of the {n} images or latents.")
        if len(classes) not in (n, 1):
            raise EvidenceError(f"There are {len(classes)} classes for {n} images or latents: pass one each.")
        weight = next(self.parameters())
        one_hot: Tensor = nn.functional.one_hot(classes, self.n_classes).to(weight.dtype)
        return one_hot.expand(n, -1)
