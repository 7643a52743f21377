"""Digits: MNIST and its relatives, and strokes."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSet, Factor, Images, Indices, scaled
from unweave.errors import FileError, OptionError
from unweave.evidence.archives import refuse_bomb
from unweave.options import checks_options

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LONGEST_IDX_HEADER = 4 + 4 * 255  # of an array with 255 axes


def read_idx(path: str | Path) -> NDArray[Any]:
    """Array of an idx file, plain or compressed with gzip. A plain file is memory-mapped.

    Raises `FileError` if the file is truncated, does not have the size that its header states, or is not idx.
    """
    path = Path(path)
    if not os.path.isfile(path):
        raise FileError(f"There is no file {path}: check the name and the folder.")
    if path.suffix != ".gz":
        size = path.stat().st_size
        with path.open("rb") as file:
            shape, dtype, start = _header(file.read(LONGEST_IDX_HEADER), path)
        refuse_other_size(size - start, shape, dtype, path)
        return np.memmap(path, dtype=dtype, mode="r", offset=start, shape=shape)
    try:
        with gzip.open(path) as packed:
            shape, dtype, start = _header(packed.read(LONGEST_IDX_HEADER), path)
            n_bytes = math.prod(shape) * dtype.itemsize
            refuse_bomb(f"The array of {path}", n_bytes, path.stat().st_size)
            packed.seek(0)
            content = packed.read(start + n_bytes + 1)  # one byte more than stated, and not all that there may be
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path} cannot be unpacked ({error}): it was cut off or damaged, so get it again.") from None
    refuse_other_size(len(content) - start, shape, dtype, path)
    return np.frombuffer(content, dtype=dtype, offset=start).reshape(shape)


def _header(content: bytes, path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in TYPES:
        if len(content) >= 4 and content[2:4] == b"\0\0" and content[1] in TYPES:
            raise FileError(f"{path} is an idx file with its bytes in little-endian order: idx files are big-endian.")
        raise FileError(f"{path} is not an idx file: it should begin with two zero bytes, a type and a number of axes.")
    n_axes = content[3]
    start = 4 + 4 * n_axes
    if len(content) < start:
        raise FileError(f"{path} ends within its header: it was cut off, so get it again.")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    return shape, np.dtype(TYPES[content[2]]), start


def refuse_other_size(n_bytes: int, shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> None:
    """Raise an error unless there are as many bytes as the array that the header of a file states."""
    wanted = math.prod(shape) * dtype.itemsize
    if n_bytes != wanted:
        what = "it was cut off, so get it again" if n_bytes < wanted else "it is another file, or damaged"
        raise FileError(
            f"The header of {path} states an array of shape {shape}, {wanted} bytes, but it has {n_bytes}: {what}."
        )


MEASURED = ("slant", "thickness", "width", "height")
MEASURED_AT_ONCE = 2000


def measured_digits(images: NDArray[np.generic], brightest: float = 255.0) -> FloatArray:
    """Slant (radians), thickness, width and height (pixels) of images, n x height x width, as an n x 4 table.

    An empty image has thickness 0, and its slant, width and height are nan.
    """
    parts = []
    for start in range(0, len(images), MEASURED_AT_ONCE):
        grey = np.asarray(images[start : start + MEASURED_AT_ONCE], dtype=np.float64) / brightest
        parts.append(np.stack([slants(grey), thicknesses(grey), extents(grey, 1), extents(grey, 2)], axis=1))
    return np.concatenate(parts) if parts else np.empty((0, 4))


def slants(grey: FloatArray) -> FloatArray:
    """Angle by which a character leans to the right, by linear regression of x on y; positive for italics.

    >>> upright = np.zeros((1, 9, 9)); upright[0, :, 4] = 1
    >>> float(slants(upright)[0])
    0.0
    """
    mass = grey.sum(axis=(1, 2))
    down, across = np.arange(grey.shape[1], dtype=float), np.arange(grey.shape[2], dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_down = grey.sum(axis=2) @ down / mass
        mean_across = grey.sum(axis=1) @ across / mass
        covariance = np.einsum("nyx,y,x->n", grey, down, across) / mass - mean_down * mean_across
        variance = grey.sum(axis=2) @ down**2 / mass - mean_down**2
        return np.arctan(-covariance / variance) + 0.0  # row numbers increase downwards


def thicknesses(grey: FloatArray) -> FloatArray:
    """Mean thickness of the stroke: twice its area over the length of its edge.

    A stroke that is much longer than thick has two edges of its own length. The length of the edge is the total
    variation of the image, which counts an antialiased edge once.
    """
    padded = np.pad(grey, ((0, 0), (1, 1), (1, 1)))
    # differences at the corners where four pixels meet
    down = (padded[:, 1:, :-1] + padded[:, 1:, 1:] - padded[:, :-1, :-1] - padded[:, :-1, 1:]) / 2
    across = (padded[:, :-1, 1:] + padded[:, 1:, 1:] - padded[:, :-1, :-1] - padded[:, 1:, :-1]) / 2
    edge = np.hypot(down, across).sum(axis=(1, 2))
    return 2 * grey.sum(axis=(1, 2)) / np.maximum(edge, np.finfo(float).tiny)


def extents(grey: FloatArray, over: int) -> FloatArray:
    """Width (over=1) or height (over=2) of the region brighter than one half, interpolated between pixels."""
    profile = np.pad(grey.max(axis=over), ((0, 0), (1, 1)))
    return _last_crossing(profile) + _last_crossing(profile[:, ::-1]) - (profile.shape[1] - 1)


def _last_crossing(profile: FloatArray) -> FloatArray:
    """Position at which each row falls below one half for the last time, by linear interpolation."""
    bright = profile >= 0.5
    last = profile.shape[1] - 1 - np.argmax(bright[:, ::-1], axis=1)
    last = np.minimum(last, profile.shape[1] - 2)  # for rows without bright pixels, whose result is nan
    rows = np.arange(len(profile))
    here, after = profile[rows, last], profile[rows, last + 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = last + (here - 0.5) / (here - after)
    return np.where(bright.any(axis=1), crossing, np.nan)


Split = Literal["train", "test"]
CLOTHES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


@checks_options
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
            raise FileError(f"{labels} has label {self._labels.max()}, but {name} has {len(names)} labels.")
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
        return np.column_stack([self._labels[indices].astype(np.float64), measured_digits(self._upright(indices))])

    def _images(self, indices: Indices) -> Images:
        return np.pad(scaled(self._upright(indices)[:, None]), ((0, 0), (0, 0), *self._padding))


@checks_options
def mnist(folder: str | Path, split: Split = "train", size: int | None = None) -> Digits:
    """MNIST from the folder with its four files, such as train-images-idx3-ubyte, with or without .gz."""
    return _mnist(folder, split, name="mnist", size=size)


@checks_options
def fashion_mnist(folder: str | Path, split: Split = "train", size: int | None = None) -> Digits:
    """Fashion-MNIST from the folder with its four files, which have the same names as those of MNIST."""
    return _mnist(folder, split, name="fashion_mnist", size=size, label_names=CLOTHES)


@checks_options
def emnist(folder: str | Path, split: Split = "train", part: str = "digits", size: int | None = None) -> Digits:
    """A part of EMNIST (digits, letters, balanced, byclass, bymerge, mnist); its files contain transposed images."""
    return Digits(*_files(folder, f"emnist-{part}-{split}"), name=f"emnist_{part}", size=size, transposed=True)


def _mnist(folder: str | Path, split: str, **options: Any) -> Digits:
    stems = {"train": "train", "test": "t10k"}
    if split not in stems:
        raise OptionError(f"There is no split {split!r}: use train or test.")
    return Digits(*_files(folder, stems[split]), **options)


def _files(folder: str | Path, stem: str) -> Iterator[Path]:
    """The files of images and of labels whose names begin in this way, as they are published."""
    for name in (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"):
        candidates = [Path(folder) / name, Path(folder) / f"{name}.gz", Path(folder) / name.replace("-idx", ".idx")]
        path = next(filter(os.path.isfile, candidates), None)
        if path is None:
            raise FileError(f"{folder} has no file {name} or {name}.gz: put it there, or name the folder that has it.")
        yield path


def _refuse_other_shapes(pixels: NDArray[Any], labels: NDArray[Any], images_at: object, labels_at: object) -> None:
    if pixels.ndim != 3 or pixels.dtype != np.uint8:
        raise FileError(
            f"{images_at} has {pixels.dtype} values with {pixels.ndim} axes: images are bytes with three axes."
        )
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(pixels):
        raise FileError(
            f"{labels_at} has an array of shape {labels.shape} for {len(pixels)} images: it needs one number per image."
        )
    if len(pixels) == 0:
        raise FileError(f"{images_at} has no images: get the file again.")


def _padding(height: int, width: int, size: int | None) -> tuple[tuple[int, int], tuple[int, int]]:
    if size is None:
        return (0, 0), (0, 0)
    if size < max(height, width):
        raise OptionError(f"Images of {height} x {width} cannot be padded to {size}: choose a larger size, or none.")
    down, across = size - height, size - width
    return (down // 2, down - down // 2), (across // 2, across - across // 2)
