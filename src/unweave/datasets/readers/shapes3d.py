"""Shapes3D from its published .h5 file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unweave.datasets.grid import GridDataSet
from unweave.datasets.interface import DataSetError, Factor, Images, Indices, scaled
from unweave.datasets.readers.complete_grid import refuse_incomplete

FILE = "3dshapes.h5"
SHAPES = ("cube", "cylinder", "sphere", "capsule")


class Shapes3D(GridDataSet):
    """Shapes3D as published: the arrays images and labels of 3dshapes.h5. Hues are circular with period 1.

    Parameters
    ----------
    path : path
        The file, or the folder that contains it under its published name. Reading needs h5py.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path) / FILE if Path(path).is_dir() else Path(path)
        file = _opened(path)
        missing = [name for name in ("images", "labels") if name not in file]
        if missing:
            raise DataSetError(f"{path} has no array {missing[0]!r} but {', '.join(file)}: it is another file.")
        self._pixels = file["images"]
        labels = np.asarray(file["labels"], dtype=np.float64)
        in_colour = self._pixels.ndim == 4 and self._pixels.shape[-1] == 3 and self._pixels.dtype == np.uint8
        if not in_colour or labels.shape != (len(self._pixels), 6):
            raise DataSetError(
                f"images and labels of {path} have shapes {self._pixels.shape} and {labels.shape}: they should be "
                "bytes, n x height x width x 3, and n x 6."
            )
        places = np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1)
        columns = refuse_incomplete(path, places, labels)
        described = (
            Factor("floor hue", "circular:1"),
            Factor("wall hue", "circular:1"),
            Factor("object hue", "circular:1"),
            Factor("scale", "ordinal"),
            Factor("shape", "categorical", SHAPES),
            Factor("orientation", "ordinal"),
        )
        super().__init__(f"shapes3d of {path.name}", described, columns)
        height, width, channels = self._pixels.shape[1:]
        self.image_shape = (channels, height, width)

    def _rendered(self, places: Indices) -> Images:
        wanted, order = np.unique(self._numbered(places), return_inverse=True)  # h5py needs increasing indices
        pixels = np.asarray(self._pixels[wanted])[order]
        return scaled(pixels.transpose(0, 3, 1, 2))


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError:
        raise DataSetError("Shapes3D is an .h5 file, which needs h5py: pip install 'unweave[datasets]'.") from None
    if not path.is_file():
        raise DataSetError(f"There is no file {path}: Shapes3D is called {FILE}.")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise DataSetError(
            f"{path} cannot be opened ({error}): it was cut off or is another file, so get it again."
        ) from None
