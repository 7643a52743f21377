"""SmallNORB from its published binary matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.digits.idx import refuse_other_size
from unweave.datasets.interface import DataSetError, Factor, Images, Indices, scaled
from unweave.datasets.tabled import TabledDataSet

STEMS = {"train": "smallnorb-5x46789x9x18x6x2x96x96-training", "test": "smallnorb-5x01235x9x18x6x2x96x96-testing"}
CATEGORIES = ("animal", "human", "airplane", "truck", "car")
TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8", 0x1E3D4C56: "<i2"}
LONGEST_NORB_HEADER = 8 + 4 * 32


class SmallNORB(TabledDataSet):
    """SmallNORB as published: grey images of toys; the left image of each stereo pair is used.

    Factors are category, instance, elevation (0 to 8), azimuth (0 to 340 degrees) and lighting.

    Parameters
    ----------
    folder : path
        The folder with the files -dat.mat, -cat.mat and -info.mat.
    split : {"train", "test"}
        Which instances: each category has five for training and five for testing.
    """

    def __init__(self, folder: str | Path, split: Literal["train", "test"] = "train") -> None:
        if split not in STEMS:
            raise DataSetError(f"There is no split {split!r}: use train or test.")
        paths = {part: Path(folder) / f"{STEMS[split]}-{part}.mat" for part in ("dat", "cat", "info")}
        arrays = {part: read_binary_matrix(path) for part, path in paths.items()}
        self._pixels, categories, info = arrays["dat"], arrays["cat"], arrays["info"]
        if self._pixels.ndim != 4 or self._pixels.dtype != np.uint8:
            raise DataSetError(f"{paths['dat']} has shape {self._pixels.shape}: it should be bytes, n x 2 x 96 x 96.")
        n_images = len(self._pixels)
        if categories.shape != (n_images,) or info.shape != (n_images, 4):
            raise DataSetError(
                f"{paths['cat']} and {paths['info']} have shapes {categories.shape} and {info.shape} for {n_images} "
                "images: the three files do not belong together."
            )
        instance, elevation, azimuth, lighting = np.asarray(info, dtype=np.float64).T
        described = (
            Factor("category", "categorical", CATEGORIES),
            Factor("instance", "categorical"),
            Factor("elevation", "ordinal"),
            Factor("azimuth", "circular:360"),
            Factor("lighting", "categorical"),
        )
        # the unit of azimuths in the file is ten degrees
        table = np.column_stack([categories.astype(np.float64), instance, elevation, 10 * azimuth, lighting])
        super().__init__(f"small_norb {split}", described, table, (1, *self._pixels.shape[2:]))

    def _images(self, indices: Indices) -> Images:
        return scaled(self._pixels[indices, 0][:, None])


def read_binary_matrix(path: Path) -> NDArray[Any]:
    """Array of a file in NORB's format: little-endian type, number of axes, at least three sizes, and the numbers."""
    if not path.is_file():
        raise DataSetError(f"There is no file {path.name} in {path.parent}: SmallNORB needs it by this name.")
    with path.open("rb") as file:
        head = file.read(LONGEST_NORB_HEADER)
    words = np.frombuffer(head[: len(head) // 4 * 4], dtype="<u4")
    if len(words) < 5 or int(words[0]) not in TYPES:
        swapped = len(words) > 0 and int(words[0].byteswap()) in TYPES
        why = "its bytes are in big-endian order" if swapped else "it begins with another number"
        raise DataSetError(f"{path} is not a binary matrix of NORB: {why}.")
    n_axes = int(words[1])
    n_sizes = max(3, n_axes)
    if n_axes > 8 or len(words) < 2 + n_sizes:
        raise DataSetError(f"{path} is not a binary matrix of NORB: its header states {n_axes} axes.")
    shape = tuple(int(size) for size in words[2 : 2 + n_axes])
    dtype, start = np.dtype(TYPES[int(words[0])]), 8 + 4 * n_sizes
    refuse_other_size(path.stat().st_size - start, shape, dtype, path)
    return np.memmap(path, dtype=dtype, mode="r", offset=start, shape=shape)
