"""Cars3D from its published .mat files, one per car."""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.grid import GridDataSet
from unweave.datasets.interface import DataSetError, Factor, Images, Indices

CARS_IN_MEMORY = 8


class Cars3D(GridDataSet):
    """Cars3D as published: the array im (128 x 128 x 3 x 24 azimuths x 4 elevations) in one .mat file per car.

    Factors are elevation, azimuth (degrees) and car; cars are numbered in the order of their file names. Only a few
    cars are in memory at a time.

    Parameters
    ----------
    folder : path
        The folder cars of nips2015-analogy-data.tar.gz.
    size : int, optional
        Height and width, a divisor of those in the files; pixels are averaged.
    """

    def __init__(self, folder: str | Path, size: int | None = None) -> None:
        self._paths = sorted(Path(folder).glob("*.mat"))
        if not self._paths:
            raise DataSetError(f"{folder} has no .mat file: give the folder cars of nips2015-analogy-data.tar.gz.")
        self._read = lru_cache(CARS_IN_MEMORY)(_views)
        height, width, channels, n_azimuths, n_elevations = self._read(self._paths[0]).shape
        size = size or height
        if height != width or size < 1 or height % size:
            raise DataSetError(
                f"Images of {height} x {width} cannot be averaged to {size}: choose a divisor of their size."
            )
        described = (Factor("elevation", "ordinal"), Factor("azimuth", "circular:360"), Factor("car", "categorical"))
        values = (
            np.arange(float(n_elevations)),
            np.arange(n_azimuths) * (360 / n_azimuths),
            np.arange(float(len(self._paths))),
        )
        super().__init__("cars3d", described, values)
        self.image_shape = (channels, size, size)
        self._step = height // size

    def _rendered(self, places: Indices) -> Images:
        channels, size, _ = self.image_shape
        images = np.empty((len(places), *self.image_shape), dtype=np.float32)
        first = self._read(self._paths[0]).shape
        for car in np.unique(places[:, 2]):
            views = self._read(self._paths[car])
            if views.shape != first:
                raise DataSetError(
                    f"im of {self._paths[car]} has shape {views.shape}, but that of the first car {first}."
                )
            rows = np.flatnonzero(places[:, 2] == car)
            chosen = views[:, :, :, places[rows, 1], places[rows, 0]].transpose(3, 2, 0, 1)
            blocks = chosen.reshape(len(rows), channels, size, self._step, size, self._step)
            images[rows] = blocks.mean(axis=(3, 5), dtype=np.float32) / 255
        return images


def _views(path: Path) -> NDArray[Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path)
    except (ValueError, NotImplementedError, OSError, TypeError, MatReadError, zlib.error) as error:
        raise DataSetError(f"{path} cannot be read as a .mat file ({error}): get it again.") from None
    if "im" not in content:
        names = ", ".join(name for name in content if not name.startswith("__")) or "nothing"
        raise DataSetError(f"{path} has no array 'im' but {names}: it is another file.")
    views = np.asarray(content["im"])
    if views.ndim != 5 or views.dtype != np.uint8:
        raise DataSetError(
            f"im of {path} has shape {views.shape}: it should be bytes, height x width x 3 x azimuths x elevations."
        )
    return views
