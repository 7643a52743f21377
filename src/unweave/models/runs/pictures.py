"""Plain data for figures of a fleet: loss curves, reconstructions and traversals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.models.model import TrainedModel
from unweave.models.runs.naming import setting_name

Pixels = NDArray[np.float32]
Curves = dict[str, tuple[list[float], list[float]]]
REACH, N_PLACES = 2.0, 9


def loss_curves(models: Sequence[TrainedModel]) -> dict[str, dict[str, Curves]]:
    """Training steps and values of the terms of the loss, keyed by term, setting and model."""
    found: dict[str, dict[str, Curves]] = {}
    for model in models:
        for term in dict.fromkeys(key for record in model.history for key in record if key != "step"):
            records = [record for record in model.history if term in record]
            curve = ([record["step"] for record in records], [record[term] for record in records])
            found.setdefault(term, {}).setdefault(setting_name(model.member.objective), {})[model.name] = curve
    return found


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
    sizes = model.member.objective.category_sizes
    n_gaussian = codes.shape[1] - sum(sizes)
    weights = codes[:, :n_gaussian].var(axis=0) if model.is_deterministic else model.kl_per_code(images)
    found = {}
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
        found[f"{name} ({weights[code]:.2f})"] = model.decode(moved)
    return found
