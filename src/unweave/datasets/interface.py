"""`DataSet`: images with known factors, the interface of all data sets that are read or rendered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream

Images = NDArray[np.float32]
Indices = NDArray[np.int64]
Rng = int | np.random.Generator | None


class DataSetError(EvidenceError):
    """Raised if a data set cannot be read or cannot do what is requested; the message says what to do."""


@dataclass(frozen=True)
class Batch:
    """Some images of a data set: their indices, the values of their factors, and the images themselves."""

    indices: Indices
    factors: FloatArray
    images: Images


@dataclass(frozen=True)
class Factor:
    """One factor of a data set: its name, its kind for `Evidence`, and the names of its values if it has any."""

    name: str
    kind: str
    value_names: tuple[str, ...] = field(default=())


class DataSet(ABC):
    """Images with known factors, numbered from 0.

    A subclass sets `name`, `described_factors` and `image_shape` (channels, height, width), and implements `__len__`,
    `_factors`, `_images` and `fingerprint`. Images are float32 between 0 and 1 (n x channels x height x width). They
    are rendered or read on demand, so that a data set is never in memory as a whole.
    """

    name: str
    described_factors: tuple[Factor, ...]
    image_shape: tuple[int, int, int]

    @abstractmethod
    def __len__(self) -> int:
        """Number of images."""

    @abstractmethod
    def _factors(self, indices: Indices) -> FloatArray:
        """Factors of images with valid indices."""

    @abstractmethod
    def _images(self, indices: Indices) -> Images:
        """Images with valid indices."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Digest that identifies the data set; equal digests mean the same images in the same order."""

    @property
    def n_images(self) -> int:
        """Number of images."""
        return len(self)

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.described_factors)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors, in the order of their columns."""
        return tuple(factor.name for factor in self.described_factors)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the factors, for `Evidence`."""
        return tuple(factor.kind for factor in self.described_factors)

    @property
    def value_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the values of categorical factors; the value of the factor is the index into this tuple."""
        return {factor.name: factor.value_names for factor in self.described_factors if factor.value_names}

    def factors(self, indices: ArrayLike | None = None) -> FloatArray:
        """Values of the factors of these images, n x d; of all images if no indices are given."""
        return self._factors(np.arange(len(self)) if indices is None else self._checked(indices))

    def images(self, indices: ArrayLike | None = None) -> Images:
        """These images, n x channels x height x width, float32 from 0 to 1; all images if no indices are given."""
        return self._images(np.arange(len(self)) if indices is None else self._checked(indices))

    def sample_indices(self, n: int, rng: Rng = None) -> Indices:
        """Indices of this many images, drawn with replacement."""
        return random_stream(rng, "images").integers(len(self), size=n)

    def sample(self, n: int, rng: Rng = None) -> Batch:
        """This many images, drawn at random with replacement."""
        return self.batch(self.sample_indices(n, rng))

    def batch(self, indices: ArrayLike) -> Batch:
        """These images with their factors."""
        checked = self._checked(indices)
        return Batch(checked, self._factors(checked), self._images(checked))

    def batches(self, size: int = 1000) -> Iterator[Batch]:
        """All images in order, in batches of this size."""
        if size < 1:
            raise DataSetError(f"A batch cannot have {size} images: choose a size of at least 1.")
        for start in range(0, len(self), size):
            yield self.batch(np.arange(start, min(start + size, len(self))))

    def _checked(self, indices: ArrayLike) -> Indices:
        given = np.asarray(indices)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise DataSetError(
                f"Indices of images are a list of whole numbers, not an array of {given.dtype} with {given.ndim} axes."
            )
        outside = given[(given < 0) | (given >= len(self))]
        if outside.size:
            raise DataSetError(f"{self.name} has images 0 to {len(self) - 1}, so there is no image {outside[0]}.")
        return given.astype(np.int64)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} images of {self.image_shape}, factors {', '.join(self.factor_names)})"
        )


def scaled(pixels: NDArray[np.uint8]) -> Images:
    """Pixels of 0 to 255 as float32 from 0 to 1."""
    return np.multiply(pixels, np.float32(1 / 255), dtype=np.float32)
