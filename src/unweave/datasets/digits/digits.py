"""MNIST, Fashion-MNIST and EMNIST from their idx files."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.digits.idx import read_idx
from unweave.datasets.digits.strokes import MEASURED, measured
from unweave.datasets.interface import DataSet, DataSetError, Factor, Images, Indices, scaled

Split = Literal["train", "test"]
CLOTHES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


class Digits(DataSet):
    """Grey images with labels, whose slant, thickness, width and height are measured from the pixels.

    Parameters
    ----------
    images, labels : path
        idx files, plain or compressed with gzip.
    name : str
        Name of the data set.
    label_names : sequence of str, optional
        Names of the labels; by default their numbers.
    size : int, optional
        Pad images with black to this height and width; published models of MNIST expect 32 x 32.
    transposed : bool
        Whether rows and columns are exchanged in the file, as in EMNIST.
    """

    def __init__(
        self,
        images: str | Path,
        labels: str | Path,
        *,
        name: str = "digits",
        label_names: tuple[str, ...] = (),
        size: int | None = None,
        transposed: bool = False,
    ) -> None:
        self._pixels, self._labels = read_idx(images), read_idx(labels)
        _refuse_other_shapes(self._pixels, self._labels, images, labels)
        self.name, self._transposed = name, transposed
        height, width = self._pixels.shape[1:]
        self._padding = _padding(height, width, size)
        self.image_shape = (1, size or height, size or width)
        names = label_names or tuple(str(label) for label in range(int(self._labels.max()) + 1))
        if int(self._labels.max()) >= len(names):
            raise DataSetError(f"{labels} has label {self._labels.max()}, but {name} has {len(names)} labels.")
        continuous = (Factor(measure, "continuous") for measure in MEASURED)
        self.described_factors = (Factor("label", "categorical", names), *continuous)

    def __len__(self) -> int:
        return len(self._pixels)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The label of every image, without computing the other factors."""
        return np.asarray(self._labels, dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the images and labels."""
        digest = hashlib.blake2b(repr((self.name, self.image_shape, self._transposed)).encode(), digest_size=16)
        digest.update(self._labels.tobytes())
        digest.update(self._pixels.ravel().data)
        return digest.hexdigest()

    def _upright(self, indices: Indices) -> NDArray[Any]:
        pixels = self._pixels[indices]
        return pixels.transpose(0, 2, 1) if self._transposed else pixels

    def _factors(self, indices: Indices) -> FloatArray:
        return np.column_stack([self._labels[indices].astype(np.float64), measured(self._upright(indices))])

    def _images(self, indices: Indices) -> Images:
        return np.pad(scaled(self._upright(indices)[:, None]), ((0, 0), (0, 0), *self._padding))


def mnist(folder: str | Path, split: Split = "train", size: int | None = None) -> Digits:
    """MNIST from the folder with its four files, such as train-images-idx3-ubyte, with or without .gz."""
    images, labels = (_found(Path(folder), name) for name in _mnist_files(split))
    return Digits(images, labels, name="mnist", size=size)


def fashion_mnist(folder: str | Path, split: Split = "train", size: int | None = None) -> Digits:
    """Fashion-MNIST from the folder with its four files, which have the same names as those of MNIST."""
    images, labels = (_found(Path(folder), name) for name in _mnist_files(split))
    return Digits(images, labels, name="fashion_mnist", size=size, label_names=CLOTHES)


def emnist(folder: str | Path, split: Split = "train", part: str = "digits", size: int | None = None) -> Digits:
    """A part of EMNIST (digits, letters, balanced, byclass, bymerge, mnist); its files contain transposed images."""
    stem = f"emnist-{part}-{split}"
    images, labels = (_found(Path(folder), f"{stem}-{what}") for what in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    return Digits(images, labels, name=f"emnist_{part}", size=size, transposed=True)


def _mnist_files(split: str) -> tuple[str, str]:
    stems = {"train": "train", "test": "t10k"}
    if split not in stems:
        raise DataSetError(f"There is no split {split!r}: use train or test.")
    return f"{stems[split]}-images-idx3-ubyte", f"{stems[split]}-labels-idx1-ubyte"


def _found(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.gz", folder / name.replace("-idx", ".idx")):
        if candidate.is_file():
            return candidate
    raise DataSetError(f"{folder} has no file {name} or {name}.gz: put it there, or name the folder that has it.")


def _refuse_other_shapes(pixels: NDArray[Any], labels: NDArray[Any], images_at: object, labels_at: object) -> None:
    if pixels.ndim != 3 or pixels.dtype != np.uint8:
        raise DataSetError(
            f"{images_at} has {pixels.dtype} values with {pixels.ndim} axes: images are bytes with three axes."
        )
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(pixels):
        raise DataSetError(
            f"{labels_at} has an array of shape {labels.shape} for {len(pixels)} images: it needs one number per image."
        )
    if len(pixels) == 0:
        raise DataSetError(f"{images_at} has no images: get the file again.")


def _padding(height: int, width: int, size: int | None) -> tuple[tuple[int, int], tuple[int, int]]:
    if size is None:
        return (0, 0), (0, 0)
    if size < max(height, width):
        raise DataSetError(f"Images of {height} x {width} cannot be padded to {size}: choose a larger size, or none.")
    down, across = size - height, size - width
    return (down // 2, down - down // 2), (across // 2, across - across // 2)
