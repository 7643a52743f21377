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
from unweave.errors import InputError
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
    """Train a flow of images in place.

    Parameters
    ----------
    flow : ImageFlow
    images : array, n x c x h x w
        Drawn with replacement; normalise them first.
    classes : array of n integers, optional
        Needed for conditional flows, and for priors with one Gaussian per class.
    objective : FlowObjective
        Terms that are added to the negative log-likelihood.
    settings : FlowTraining
        Steps, batches, learning rate and seed.
    noise : float
        Standard deviation of the noise that is added at every step.
    checkpoint : path, optional
        Training continues from this file if it exists.
    progress : bool
        Show a bar with the likelihood, on a terminal only.

    Returns
    -------
    list of Record
        One for every ``checkpoint_every`` steps, and one for the last step.

    Examples
    --------
    >>> from unweave_papers.image_flows import ImageFlowSettings, image_flow
    >>> flow = image_flow(ImageFlowSettings(side=8, n_convolutional=1, n_dense=1))
    >>> pictures = np.random.default_rng(0).normal(size=(50, 1, 8, 8))
    >>> train_on_images(flow, pictures, settings=FlowTraining(n_steps=3, batch_size=10))[-1].step
    3
    """
    rng = random_stream(settings.seed, "training of an image flow")
    dtype = next(flow.parameters()).dtype
    _refuse_unusable(images, classes, objective, flow)

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


def _refuse_unusable(images: Images, classes: Classes | None, objective: FlowObjective, flow: ImageFlow) -> None:
    if images.shape[1:] != flow.image_shape:
        raise InputError(
            f"Images of shape {images.shape[1:]} do not fit this flow, which is of {flow.image_shape}: resize them, or "
            "build a flow of their size."
        )
    if not np.isfinite(images).all():
        raise InputError("Some pixels are nan or infinite: leave those images out.")
    if classes is not None and len(classes) != len(images):
        raise InputError(f"There are {len(classes)} classes for {len(images)} images: pass one each.")
    if classes is not None:
        n_classes = max(flow.n_classes, 0 if flow.prior is None else len(flow.prior.means))
        _refuse_other_classes(np.asarray(classes), n_classes)
    if objective.reconstruction and not all(0 <= i < flow.size for i in objective.core):
        raise InputError(
            f"The core {objective.core} names latents that do not exist: use numbers from 0 to {flow.size - 1}."
        )


def _refuse_other_classes(classes: Classes, n_classes: int) -> None:
    """Raise an error unless the classes are 0, 1, ..., and all of them occur; flows without classes accept any."""
    present = set(np.unique(classes).tolist())
    others = sorted(present - set(range(n_classes)))
    if n_classes and others:
        raise InputError(
            f"Class {others[0]} is not a class of this flow, whose classes are 0 to {n_classes - 1}: number the "
            "classes from 0, or build a flow with more classes."
        )
    missing = sorted(set(range(n_classes)) - present)
    if missing:
        raise InputError(
            f"Class {missing[0]} has no samples, so it cannot be learned: give samples of all {n_classes} classes, or "
            "build a flow with fewer."
        )
