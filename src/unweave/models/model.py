"""A trained model: its encoder and decoder as functions of arrays, and the history of its training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError
from unweave.evidence import Posterior
from unweave.models.networks import Device, EncodedBatch, Likelihood, Network, refuse_missing_device
from unweave.models.objectives import categorical_kl, gaussian_kl_per_code, setting_name
from unweave.models.training import ModelSpec, Record
from unweave.randomness import random_stream

ROWS_AT_A_TIME = 1000
LEAST_ACTIVE = 0.05  # nats; 001 calls codes above about this level informative
Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """One model of a fleet after training; if training failed, ``problem`` gives the reason.

    Calling the model encodes images, so a model can be used wherever an encoder is expected.
    """

    name: str
    spec: ModelSpec
    network: Network | None = field(repr=False)
    likelihood: Likelihood
    history: tuple[Record, ...] = field(repr=False)
    problem: str | None = None

    @property
    def is_deterministic(self) -> bool:
        """Whether codes are points rather than distributions."""
        return self.spec.objective.deterministic

    def to(self, device: Device) -> TrainedModel:
        """The same model on another device; arrays that it takes and returns are on the CPU."""
        refuse_missing_device(device)
        return self if self.network is None else replace(self, network=self.network.to(device))

    def encode(self, images: Array) -> Posterior | NDArray[np.float32]:
        """Posteriors of images (n x channels x height x width, or n x pixels); plain codes if deterministic."""
        parts = [self._encode(batch) for batch in _batches(images)]
        mean = np.concatenate([part.mean.numpy() for part in parts])
        if self.is_deterministic:
            return mean
        log_variance = np.concatenate([part.log_variance.numpy() for part in parts])
        tables = [
            np.concatenate(column)
            for column in zip(*([_shares(t) for t in part.logits] for part in parts), strict=True)
        ]
        categories = {f"category {k}": table for k, table in enumerate(tables)}
        posterior = Posterior(mean, log_variance=log_variance, categories=categories or None)
        posterior.trained_with = setting_name(self.spec.objective)
        return posterior

    __call__ = encode

    def decode(self, codes: Array) -> NDArray[np.float32]:
        """Images (n x channels x height x width) of codes (Gaussian codes, then probabilities of categories)."""
        outputs = torch.cat([self.likelihood.pixels(self._decode(part))[0] for part in _batches(codes)])
        return outputs.view(-1, *self._required_network().architecture.image_shape).numpy()

    def codes_of(self, images: Array) -> NDArray[np.float32]:
        """Inputs of the decoder for these images: means of Gaussian codes, then the probabilities of the categories."""
        parts = [self._encode(batch) for batch in _batches(images)]
        return np.concatenate(
            [np.concatenate([part.mean.numpy(), *map(_shares, part.logits)], axis=1) for part in parts]
        )

    def kl_per_code(self, images: Array) -> NDArray[np.float64]:
        """KL of every code from the prior in nats, mean over images, Gaussian codes first; nan if deterministic."""
        total: NDArray[np.float64] = np.zeros(())
        n_rows = 0
        for batch in _batches(images):
            encoded = self._encode(batch)
            gaussian = gaussian_kl_per_code(encoded.mean, encoded.log_variance)
            discrete = [categorical_kl(logits)[None] for logits in encoded.logits]
            total, n_rows = total + len(batch) * torch.cat([gaussian, *discrete]).double().numpy(), n_rows + len(batch)
        return np.full(np.shape(total), np.nan) if self.is_deterministic else np.asarray(total / n_rows)

    def reconstruction_cost(self, images: Array, rng: int = 0) -> float:
        """-E log p(x | z) in nats per image, from one sample of the Gaussian codes (the mean, if deterministic)."""
        generator = random_stream(rng, "codes of a model")
        total = 0.0
        for batch in _batches(images):
            mean, log_variance, tables = self._encode(batch)
            noise = torch.from_numpy(generator.standard_normal(mean.shape, dtype=np.float32))
            gaussian = mean if self.is_deterministic else mean + (0.5 * log_variance).exp() * noise
            codes = torch.cat([gaussian, *(logits.softmax(1) for logits in tables)], dim=1)
            total += float(self.likelihood.cost(self._decode(codes), batch[None])) * len(batch)
        return total / len(images)

    def n_active_codes(self, images: Array) -> int:
        """Number of codes whose KL from the prior, averaged over the images, is above 0.05 nats."""
        return int((self.kl_per_code(images) > LEAST_ACTIVE).sum())

    def _required_network(self) -> Network:
        if self.network is None:
            raise InputError(f"{self.name} has no weights: {self.problem}")
        return self.network

    def _encode(self, batch: Tensor) -> EncodedBatch:
        network = self._required_network()
        n_pixels = network.architecture.sizes.n_pixels
        if batch.shape[1] != n_pixels:
            raise InputError(
                f"{self.name} was trained on images of {network.architecture.image_shape}, and these have "
                f"{batch.shape[1]} numbers each: pass images of the same shape."
            )
        with torch.no_grad():
            encoded = network.encode(batch[None].to(network.device))
        mean, log_variance, *logits = (part[0].cpu() for part in (encoded.mean, encoded.log_variance, *encoded.logits))
        return EncodedBatch(mean, log_variance, tuple(logits))

    def _decode(self, codes: Tensor) -> Tensor:
        network = self._required_network()
        n_codes = network.architecture.sizes.n_codes
        if codes.shape[1] != n_codes:
            raise InputError(
                f"{self.name} decodes {n_codes} codes, and these are {codes.shape[1]}: pass codes_of(images)."
            )
        with torch.no_grad():
            return network.decode(codes[None].to(network.device)).cpu()


def _batches(rows: Any) -> Iterator[Tensor]:
    """Batches of rows, each row flattened to float32."""
    try:
        given = np.asarray(rows)
        if given.dtype.kind not in "biuf" or given.ndim < 2 or not given.size:
            raise ValueError
    except ValueError:
        raise InputError("The images are no array of numbers: give one row or picture for each image.") from None
    for start in range(0, len(given), ROWS_AT_A_TIME):
        part = np.ascontiguousarray(given[start : start + ROWS_AT_A_TIME], dtype=np.float32)
        yield torch.from_numpy(part.reshape(len(part), -1))


def _shares(logits: Tensor) -> NDArray[np.float64]:
    return logits.double().softmax(1).numpy()


Pixels = NDArray[np.float32]
Curves = dict[str, tuple[list[float], list[float]]]
REACH, N_PLACES = 2.0, 9


def loss_curves(models: Sequence[TrainedModel]) -> dict[str, dict[str, Curves]]:
    """Training steps and values of the terms of the loss, keyed by term, setting and model."""
    curves: dict[str, dict[str, Curves]] = {}
    for model in models:
        for term in dict.fromkeys(key for record in model.history for key in record if key != "step"):
            records = [record for record in model.history if term in record]
            points = ([record["step"] for record in records], [record[term] for record in records])
            curves.setdefault(term, {}).setdefault(setting_name(model.spec.objective), {})[model.name] = points
    return curves


def reconstructions(models: Sequence[TrainedModel], images: Pixels) -> dict[str, Pixels]:
    """Reconstructions of these images by every model that has weights."""
    return {model.name: model.decode(model.codes_of(images)) for model in models if model.network is not None}


def traversals(model: TrainedModel, images: NDArray[Any], start: int = 0) -> dict[str, Pixels]:
    """Decoded images of one model in which one code varies, by the name of the code; the most informative code first.

    A Gaussian code varies from -2 to 2, and a categorical code takes each of its values; all other codes are those of
    image ``start``. Codes are sorted by their mean KL over the images, or by their variance if the encoder is
    deterministic.
    """
    codes = model.codes_of(images)
    sizes = model.spec.objective.category_sizes
    n_gaussian = codes.shape[1] - sum(sizes)
    weights = codes[:, :n_gaussian].var(axis=0) if model.is_deterministic else model.kl_per_code(images)
    images_of = {}
    for code in np.argsort(-weights):
        if code < n_gaussian:
            moved = np.repeat(codes[start : start + 1], N_PLACES, axis=0)
            moved[:, code] = np.linspace(-REACH, REACH, N_PLACES)
        else:
            first = n_gaussian + sum(sizes[: code - n_gaussian])
            size = sizes[code - n_gaussian]
            moved = np.repeat(codes[start : start + 1], size, axis=0)
            moved[:, first : first + size] = np.eye(size)
        name = f"code {code}" if code < n_gaussian else f"category {code - n_gaussian}"
        images_of[f"{name} ({weights[code]:.2f})"] = model.decode(moved)
    return images_of
