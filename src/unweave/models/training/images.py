"""Images to train on: a data set with known factors or a plain array, in memory if small, else read in batches."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.models.errors import TrainingError
from unweave.models.randomness import Randomness

MOST_BYTES_IN_MEMORY = 2**29
ROWS_AT_A_TIME = 4096
Reader = Callable[[NDArray[np.int64]], Tensor]


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """Images by index, as float32 between 0 and 1.

    ``n_values`` are the numbers of values of the factors if the images are all combinations of them, the last factor
    changing fastest. Objectives with pairs of images need it.
    """

    name: str
    image_shape: tuple[int, int, int]
    n_rows: int
    fingerprint: str
    n_values: tuple[int, ...] | None
    read: Reader

    def rows(self, numbers: Tensor) -> Tensor:
        """Images with these indices, (shape of the indices) x pixels."""
        return self.read(numbers.reshape(-1).numpy()).view(*numbers.shape, -1)

    def partners(self, numbers: Tensor, random: Randomness) -> Tensor:
        """Indices of images that share some factors with these: 1 to d - 1 of the d factors are drawn again."""
        assert self.n_values is not None
        sizes = torch.tensor(self.n_values)
        n_rows, n_factors = numbers.shape[-1], len(sizes)
        n_changed = 1 + random.whole_numbers("number of changed factors", (n_rows, 1), n_factors - 1)
        changed = random.orders("changed factors", n_rows, n_factors) < n_changed
        fresh = (random.uniform("changed values", (n_rows, n_factors)) * sizes).long()
        strides = torch.tensor([math.prod(self.n_values[j + 1 :]) for j in range(n_factors)])
        places = numbers.unsqueeze(-1) // strides % sizes
        return (torch.where(changed, fresh, places) * strides).sum(-1)


def training_images(source: Any) -> TrainingImages:
    """Images of a data set (an object with ``images`` and ``len``), of an array, or of a pair (images, factors).

    An array is n x pixels, n x height x width, or n x channels x height x width, between 0 and 1.

    >>> training_images(np.zeros((5, 8, 8))).image_shape
    (1, 8, 8)
    """
    if isinstance(source, TrainingImages):
        return source
    if hasattr(source, "images") and hasattr(source, "__len__"):
        return _of_data_set(source)
    images, factors = source if isinstance(source, tuple) and len(source) == 2 else (source, None)
    return _of_array(images, factors)


def _of_data_set(data_set: Any) -> TrainingImages:
    n_rows, shape = len(data_set), tuple(data_set.image_shape)
    n_values = getattr(data_set, "n_values", None)

    def read(numbers: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(np.asarray(data_set.images(numbers), dtype=np.float32).reshape(len(numbers), -1))

    reader: Reader = read
    if 4 * n_rows * math.prod(shape) <= MOST_BYTES_IN_MEMORY:
        starts = range(0, n_rows, ROWS_AT_A_TIME)
        pixels = torch.cat([read(np.arange(at, min(at + ROWS_AT_A_TIME, n_rows))) for at in starts])
        reader = _reader(pixels)
    return TrainingImages(
        str(data_set.name),
        shape,
        n_rows,
        str(data_set.fingerprint),
        None if n_values is None else tuple(n_values),
        reader,
    )


def _of_array(images: Any, factors: Any) -> TrainingImages:
    try:
        given = np.asarray(images, dtype=np.float32)
    except (TypeError, ValueError):
        raise TrainingError(
            f"{type(images).__name__} cannot be trained on: pass images as an array of numbers, or a data set."
        ) from None
    shape = {2: (1, 1, *given.shape[1:]), 3: (1, *given.shape[1:]), 4: given.shape[1:]}.get(given.ndim)
    if shape is None or not given.size:
        raise TrainingError(
            f"Images of shape {given.shape} are not understood: pass n x pixels, n x height x width, or n x channels x "
            "height x width, with at least one image."
        )
    if not np.isfinite(given).all():
        raise TrainingError("Some pixels are nan or infinite: replace them before training.")
    pixels = np.ascontiguousarray(given.reshape(len(given), -1))
    digest = hashlib.blake2b(repr(given.shape).encode() + pixels.tobytes(), digest_size=16).hexdigest()
    n_values = None
    if factors is not None:
        pixels, n_values = _ordered_as_a_grid(pixels, np.asarray(factors))
    return TrainingImages("array", shape, len(pixels), digest, n_values, _reader(torch.from_numpy(pixels)))


def _ordered_as_a_grid(
    pixels: NDArray[np.float32], factors: NDArray[Any]
) -> tuple[NDArray[np.float32], tuple[int, ...] | None]:
    """Images sorted by factors, and each factor's number of values; unsorted and None if combinations are missing."""
    if factors.ndim != 2 or len(factors) != len(pixels):
        raise TrainingError(f"Factors of shape {factors.shape} do not fit {len(pixels)} images: pass a row per image.")
    places = np.stack([np.unique(column, return_inverse=True)[1] for column in factors.T], axis=1)
    n_values = tuple(int(column.max()) + 1 for column in places.T)
    order = np.lexsort(places.T[::-1])
    complete = math.prod(n_values) == len(pixels) and len(np.unique(places, axis=0)) == len(pixels)
    return (pixels[order], n_values) if complete else (pixels, None)


def _reader(pixels: Tensor) -> Reader:
    return lambda numbers: pixels[torch.from_numpy(numbers)]
