"""MPI3D from its published .npz files, which have no labels: the order of the images determines their factors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unweave.datasets.grid import GridDataSet
from unweave.datasets.interface import DataSetError, Factor, Images, Indices, scaled
from unweave.datasets.readers.zipped_arrays import ZippedArrays

FILES = ("mpi3d_real.npz", "mpi3d_realistic.npz", "mpi3d_toy.npz", "mpi3d_real_complex.npz")
FACTORS = (
    Factor("object colour", "categorical"),
    Factor("object shape", "categorical"),
    Factor("object size", "ordinal"),
    Factor("camera height", "ordinal"),
    Factor("background colour", "categorical"),
    Factor("horizontal axis", "ordinal"),
    Factor("vertical axis", "ordinal"),
)
PUBLISHED = {1_036_800: (6, 6, 2, 3, 3, 40, 40), 460_800: (4, 4, 2, 3, 3, 40, 40)}


class MPI3D(GridDataSet):
    """MPI3D as published: the array images of mpi3d_real.npz, _realistic, _toy or _real_complex.

    Parameters
    ----------
    path : path
        The file, or a folder that contains one of them under its published name.
    n_values : sequence of int, optional
        Number of values of each of the seven factors; by default those of the published file with as many images.
    """

    def __init__(self, path: str | Path, n_values: Sequence[int] | None = None) -> None:
        path = _found(Path(path))
        self._pixels = ZippedArrays(path).rows_of("images")
        if len(self._pixels.shape) != 4 or self._pixels.shape[-1] != 3 or self._pixels.dtype != np.uint8:
            raise DataSetError(
                f"images of {path} has shape {self._pixels.shape}: it should be bytes, n x height x width x 3."
            )
        counts = tuple(n_values) if n_values else PUBLISHED.get(len(self._pixels), ())
        if len(counts) != len(FACTORS) or int(np.prod(counts)) != len(self._pixels):
            raise DataSetError(
                f"{path} has {len(self._pixels)} images, which is none of the published files: give n_values, the "
                "number of values of each of the seven factors."
            )
        super().__init__(f"mpi3d of {path.name}", FACTORS, [np.arange(float(count)) for count in counts])
        height, width, channels = self._pixels.shape[1:]
        self.image_shape = (channels, height, width)

    def _rendered(self, places: Indices) -> Images:
        return scaled(self._pixels[self._numbered(places)].transpose(0, 3, 1, 2))


def _found(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in FILES:
        if (path / name).is_file():
            return path / name
    raise DataSetError(f"{path} has none of {', '.join(FILES)}: put one there, or give the path of the file.")
