"""Data sets of images with known factors."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.options import checks_options
from unweave.randomness import random_stream

Images = NDArray[np.float32]
Indices = NDArray[np.int64]
Rng = int | np.random.Generator | None


@dataclass(frozen=True)
class Batch:
    """Some images of a data set: their indices, the values of their factors, and the images themselves."""

    indices: Indices
    factors: FloatArray
    images: Images


@checks_options
@dataclass(frozen=True)
class Factor:
    """One factor of a data set: its name, its kind for `Evidence`, and the names of its values if it has any."""

    name: str
    kind: str
    value_names: tuple[str, ...] = ()


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
            raise InputError(f"A batch cannot have {size} images: choose a size of at least 1.")
        for start in range(0, len(self), size):
            yield self.batch(np.arange(start, min(start + size, len(self))))

    def _checked(self, indices: ArrayLike) -> Indices:
        given = np.asarray(indices)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise InputError(
                f"Indices of images are a list of whole numbers, not an array of {given.dtype} with {given.ndim} axes."
            )
        outside = given[(given < 0) | (given >= len(self))]
        if outside.size:
            raise InputError(f"{self.name} has images 0 to {len(self) - 1}, so there is no image {outside[0]}.")
        return given.astype(np.int64)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} images of {self.image_shape}, factors {', '.join(self.factor_names)})"
        )


def scaled(pixels: NDArray[np.uint8]) -> Images:
    """Pixels of 0 to 255 as float32 from 0 to 1."""
    return np.multiply(pixels, np.float32(1 / 255), dtype=np.float32)


Selection = slice | Sequence[int] | Sequence[str]
TOLERANCE = 1e-6


class GridDataSet(DataSet):
    """All combinations of the values of some factors; images are numbered with the last factor changing fastest.

    ``keep`` selects values of factors by a slice, indices or names. A factor with one value left is no factor any more.
    """

    def __init__(
        self,
        name: str,
        factors: Sequence[Factor],
        values: Sequence[ArrayLike],
        keep: Mapping[str, Selection] | None = None,
    ) -> None:
        self.name = name
        self._all_factors = tuple(factors)
        self._places = _selected_places(self._all_factors, [len(np.asarray(column)) for column in values], keep or {})
        self._values = [
            np.arange(float(places.size)) if factor.value_names else np.asarray(column, dtype=np.float64)[places]
            for factor, column, places in zip(factors, values, self._places, strict=True)
        ]
        self._shape = tuple(places.size for places in self._places)
        self._varying = [j for j, size in enumerate(self._shape) if size > 1]
        varying = [(factors[j], self._places[j]) for j in self._varying]
        self.described_factors = tuple(
            replace(factor, value_names=tuple(factor.value_names[at] for at in places) if factor.value_names else ())
            for factor, places in varying
        )

    @abstractmethod
    def _rendered(self, places: Indices) -> Images:
        """Images of combinations, given as indices into the values of all factors, n x all factors."""

    def __len__(self) -> int:
        return int(np.prod(self._shape))

    @property
    def n_values(self) -> tuple[int, ...]:
        """Number of values of each factor."""
        return tuple(self._shape[j] for j in self._varying)

    @property
    def values(self) -> tuple[FloatArray, ...]:
        """The values of each factor."""
        return tuple(self._values[j] for j in self._varying)

    def places(self, indices: ArrayLike | None = None) -> Indices:
        """Factors of every image as indices into their values, n x d integers from 0."""
        wanted = np.arange(len(self)) if indices is None else self._checked(indices)
        return self._all_places(wanted)[:, self._varying]

    def indices_of(self, factors: ArrayLike) -> Indices:
        """Indices of the images with these values of the factors, n x d."""
        given = np.asarray(factors, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.n_factors:
            raise InputError(
                f"{self.name} has the factors {', '.join(self.factor_names)}: give one column for each, not an array "
                f"of shape {given.shape}."
            )
        places = np.zeros((len(given), len(self._shape)), dtype=np.int64)
        for column, j in zip(given.T, self._varying, strict=True):
            places[:, j] = self._places_of(j, column)
        return self._numbered(places)

    def images_of(self, factors: ArrayLike) -> Images:
        """Images with these values of the factors, n x d."""
        return self._images(self.indices_of(factors))

    def indices_with(self, fixed: Mapping[str, float], n: int, rng: np.random.Generator) -> Indices:
        """Indices of ``n`` random images in which some factors are held fixed at given values and all others vary."""
        places = np.stack([rng.integers(count, size=n) for count in self._shape], axis=1)
        for name, value in fixed.items():
            if name not in self.factor_names:
                raise InputError(
                    f"{self.name} has no factor {name!r} to hold: its factors are {', '.join(self.factor_names)}."
                )
            j = self._varying[self.factor_names.index(name)]
            places[:, j] = self._places_of(j, np.array([value]))[0]
        return self._numbered(places)

    def sampler(self, encode: Callable[[Images], Any]) -> Interventions:
        """Sampler for `Evidence`: images with some factors held fixed, and their codes by an encoder."""
        return Interventions(self, encode)

    def sampler_of_codes(self, codes: ArrayLike) -> Interventions:
        """Sampler for `Evidence` that looks up codes in a table with the codes of all images."""
        table = np.asarray(codes)
        if table.ndim != 2 or len(table) != len(self):
            raise InputError(
                f"{self.name} has {len(self)} images, but the codes have the shape {table.shape}: pass one row "
                "per image, in the order of the data set."
            )
        return Interventions(self, table)

    @property
    def fingerprint(self) -> str:
        """Digest that identifies the data set; equal digests mean the same images in the same order."""
        digest = hashlib.blake2b(repr((self.name, self.image_shape, self._all_factors)).encode(), digest_size=16)
        for places, column in zip(self._places, self._values, strict=True):
            digest.update(places.tobytes() + column.tobytes())
        return digest.hexdigest()

    def _numbered(self, places: Indices) -> Indices:
        return np.asarray(np.ravel_multi_index(tuple(places.T), self._shape))

    def _all_places(self, indices: Indices) -> Indices:
        return np.stack(np.unravel_index(indices, self._shape), axis=1)

    def _factors(self, indices: Indices) -> FloatArray:
        places = self._all_places(indices)
        columns = [self._values[j][places[:, j]] for j in self._varying]
        return np.stack(columns, axis=1) if columns else np.empty((indices.size, 0))

    def _images(self, indices: Indices) -> Images:
        places = self._all_places(indices)
        return self._rendered(np.stack([own[at] for own, at in zip(self._places, places.T, strict=True)], axis=1))

    def _places_of(self, j: int, column: FloatArray) -> Indices:
        """Indices of values; the first index for values that occur twice."""
        values, first = np.unique(self._values[j], return_index=True)
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2, column)
        far = ~(np.abs(values[nearest] - column) <= TOLERANCE * max(1.0, float(np.abs(values).max())))
        if far.any():
            wrong = int(np.flatnonzero(far)[0])
            raise InputError(
                f"{self._all_factors[j].name} is never {column[wrong]:g} in {self.name}: the nearest value is "
                f"{values[nearest[wrong]]:g}."
            )
        return first[nearest]


@dataclass(frozen=True, eq=False)
class Interventions:
    """A sampler for `Evidence` that holds factors of real images fixed, and encodes them or looks up their codes."""

    dataset: GridDataSet
    codes: Callable[[Images], Any] | NDArray[Any]

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[FloatArray, Any]:
        """Factors and codes of ``n_rows`` random images with these factors held fixed."""
        indices = self.dataset.indices_with(fixed, n_rows, rng)
        codes = self.codes(self.dataset.images(indices)) if callable(self.codes) else self.codes[indices]
        return self.dataset.factors(indices), codes


def _selected_places(
    factors: Sequence[Factor], n_values: Sequence[int], keep: Mapping[str, Selection]
) -> list[NDArray[np.int64]]:
    names = [factor.name for factor in factors]
    for name in keep:
        if name not in names:
            raise InputError(
                f"There is no factor {name!r} of which to keep values: the factors are {', '.join(names)}."
            )
    return [
        _places_selected(factor, count, keep.get(factor.name, slice(None)))
        for factor, count in zip(factors, n_values, strict=True)
    ]


def _places_selected(factor: Factor, count: int, selection: Selection) -> NDArray[np.int64]:
    if isinstance(selection, slice):
        places = np.arange(count)[selection]
    else:
        unknown = [word for word in selection if isinstance(word, str) and word not in factor.value_names]
        if unknown:
            choice = ", ".join(factor.value_names) or "numbers"
            raise InputError(f"{factor.name} is never {unknown[0]!r}: its values are {choice}.")
        places = np.array(
            [factor.value_names.index(at) if isinstance(at, str) else int(at) for at in selection], dtype=np.int64
        )
    if places.size == 0 or (places < 0).any() or (places >= count).any():
        raise InputError(f"{factor.name} has the values 0 to {count - 1}: keep at least one of these, and no other.")
    return places


class TabledDataSet(DataSet):
    """Images whose factors were measured, read or annotated, and are given as an n x d table."""

    def __init__(
        self, name: str, factors: Sequence[Factor], table: FloatArray, image_shape: tuple[int, int, int]
    ) -> None:
        if table.ndim != 2 or table.shape[1] != len(factors) or len(table) == 0:
            raise InputError(f"{name} has a table of factors of shape {table.shape}: it needs one column per factor.")
        self.name = name
        self.described_factors = tuple(factors)
        self.image_shape = image_shape
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @property
    def fingerprint(self) -> str:
        """Digest of the name, the factors of all images and the first 16 images; other images are not read."""
        digest = hashlib.blake2b(repr((self.name, self.image_shape, self.described_factors)).encode(), digest_size=16)
        digest.update(self._table.tobytes())
        digest.update(self.images(range(min(16, len(self)))).tobytes())
        return digest.hexdigest()

    def _factors(self, indices: Indices) -> FloatArray:
        return self._table[indices]

    @abstractmethod
    def _images(self, indices: Indices) -> Images:
        """Images with valid indices."""
