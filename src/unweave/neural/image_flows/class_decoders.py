"""The decoder of an image flow for one class, as the geometry metrics need it, and the Jacobians of its encoder."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.neural.decoder_adapters import TorchDecoder
from unweave.neural.image_flows.image_flow import ImageFlow


def class_decoder(flow: ImageFlow, k: int | None = None) -> TorchDecoder:
    """The decoder of a flow; if the flow is conditional, the decoder for class ``k``.

    >>> import numpy as np
    >>> from unweave.neural.image_flows.architectures import ImageFlowSettings, image_flow
    >>> flow = image_flow(ImageFlowSettings(side=8, n_convolutional=1, n_dense=1, n_conditions=2))
    >>> next(class_decoder(flow, 1).jacobian_blocks(np.zeros((2, 64)))).shape
    (2, 64, 64)
    """
    classes = _classes(k)

    def encode(images: Tensor) -> Tensor:
        return flow.encode(images, classes)

    return TorchDecoder(lambda latents: flow.decode(latents, classes), flow.size, encode, flow, mode="reverse")


def encoder_jacobians(flow: ImageFlow, k: int | None = None) -> TorchDecoder:
    """The encoder of a flow with the interface of a decoder; its Jacobians are the inverses of the decoder's."""
    classes = _classes(k)
    return TorchDecoder(lambda images: flow.encode(images, classes), flow.size, module=flow, mode="reverse")


def _classes(k: int | None) -> Tensor | None:
    return None if k is None else torch.tensor([k])
