"""Training of image flows, their priors and class decoders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import jvp, vmap

from unweave.arrays import FloatArray
from unweave.neural.decoders import TorchDecoder
from unweave.neural.flows import FlowObjective, FlowTraining, Record, Terms, descend
from unweave.randomness import random_stream
from unweave_papers.image_flows import ImageFlow


def class_decoder(flow: ImageFlow, k: int | None = None) -> TorchDecoder:
    """The decoder of a flow; if the flow is conditional, the decoder for class ``k``.

    >>> import numpy as np
    >>> from unweave_papers.image_flows import ImageFlowSettings, image_flow
    >>> flow = image_flow(ImageFlowSettings(side=8, n_convolutional=1, n_dense=1, n_conditions=2))
    >>> next(class_decoder(flow, 1).jacobian_blocks(np.zeros((2, 64)))).shape
    (2, 64, 64)
    """
    classes = None if k is None else torch.tensor([k])

    def encode(images: Tensor) -> Tensor:
        return flow.encode(images, classes)

    return TorchDecoder(lambda latents: flow.decode(latents, classes), flow.size, encode, flow, mode="reverse")


N_FIRST = 2000  # images from which scales are set
N_INVERTED = 200  # images on which invertibility is tested
Images = NDArray[np.floating]
Classes = NDArray[np.integer]


def train_on_images(
    flow: ImageFlow,
    images: Images,
    classes: Classes | None = None,
    objective: FlowObjective = FlowObjective(),  # noqa: B008 - a frozen value
    settings: FlowTraining = FlowTraining(learning_rate=1e-3),  # noqa: B008 - a frozen value
    *,
    noise: float = 0.01,
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> list[Record]:
    """Train a flow of images (n x c x h x w, normalised and drawn with replacement) in place.

    Noise of this standard deviation is added at every step. Training continues from the checkpoint if it exists. There
    is a record for every ``checkpoint_every`` steps, and one for the last step.

    >>> from unweave_papers.image_flows import ImageFlowSettings, image_flow
    >>> flow = image_flow(ImageFlowSettings(side=8, n_convolutional=1, n_dense=1))
    >>> pictures = np.random.default_rng(0).normal(size=(50, 1, 8, 8))
    >>> train_on_images(flow, pictures, settings=FlowTraining(n_steps=3, batch_size=10))[-1].step
    3
    """
    rng = random_stream(settings.seed, "training of an image flow")
    dtype = next(flow.parameters()).dtype

    def batch(n_rows: int, rng: np.random.Generator) -> tuple[Tensor, Tensor | None]:
        rows = rng.integers(0, len(images), n_rows)
        noisy = images[rows] + noise * rng.standard_normal((n_rows, *images.shape[1:]), dtype=np.float32)
        labels = None if classes is None else torch.as_tensor(np.asarray(classes)[rows], dtype=torch.int64)
        return torch.as_tensor(noisy, dtype=dtype), labels

    with torch.no_grad():
        flow.fit(*batch(N_FIRST, rng))

    def terms_of(rng: np.random.Generator) -> Terms:
        return image_loss_terms(flow, *batch(settings.batch_size, rng), objective, rng)

    stated: dict[str, Any] = {"objective": asdict(objective), "noise": noise, "n_images": len(images)}
    if flow.settings is not None:
        stated["flow"] = asdict(flow.settings)
    weights = (1.0, objective.total_correlation, objective.reconstruction)
    return descend(flow, terms_of, weights, settings, rng, stated, checkpoint, progress)


def image_loss_terms(
    flow: ImageFlow, images: Tensor, classes: Tensor | None, objective: FlowObjective, rng: np.random.Generator
) -> Terms:
    """Negative log-likelihood, total correlation and reconstruction error of these images; unused terms are 0."""
    shared = error = torch.zeros(())
    latents, log_volume = flow.encode_with_volume(images, classes)
    cost = (flow.prior_cost(latents, classes) - log_volume).mean()
    if objective.total_correlation:
        n_columns = min(objective.n_columns, flow.size)
        order = torch.from_numpy(rng.random((flow.size, len(images))).argsort(axis=0)[:n_columns])
        lengths = decoder_columns(flow, latents, classes, order).norm(dim=2)
        shared = (flow.size * lengths.log().mean(dim=0) + log_volume).mean()
    if objective.reconstruction:
        core = list(objective.core)
        rest = torch.zeros_like(latents) if flow.prior is None else flow.prior.means[classes]
        kept = torch.zeros(flow.size, dtype=torch.bool)
        kept[core] = True
        back = flow.decode(torch.where(kept, latents, rest), classes)
        error = 0.5 * (images - back).square().flatten(1).sum(dim=1).mean()
    return cost, shared, error


def decoder_columns(flow: ImageFlow, latents: Tensor, classes: Tensor | None, dimensions: Tensor) -> Tensor:
    """Columns (k x n x D) of the decoder's Jacobian at these latents, for k latent dimensions of every row (k x n)."""
    directions = torch.nn.functional.one_hot(dimensions, flow.size).to(latents.dtype)

    def column(direction: Tensor) -> Tensor:
        return jvp(lambda z: flow.decode(z, classes), (latents,), (direction,))[1].flatten(1)

    return vmap(column)(directions)


def held_out_costs(flow: ImageFlow, images: Images, classes: Classes) -> tuple[FloatArray, FloatArray]:
    """Negative log-likelihoods (nats) and latents of held-out images; raises an error if the flow does not invert."""
    dtype = next(flow.parameters()).dtype
    rows, labels = torch.as_tensor(images, dtype=dtype), torch.as_tensor(classes, dtype=torch.int64)
    flow.refuse_if_not_invertible(rows[:N_INVERTED], labels[:N_INVERTED])
    with torch.no_grad():
        latents, log_volume = flow.encode_with_volume(rows, labels)
        costs = flow.prior_cost(latents, labels) - log_volume
    return costs.numpy().astype(np.float64), latents.numpy().astype(np.float64)
