"""dSprites from its published .npz file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unweave.datasets.grid import GridDataSet
from unweave.datasets.interface import DataSetError, Factor, Images, Indices
from unweave.datasets.readers.complete_grid import refuse_incomplete
from unweave.datasets.readers.zipped_arrays import ZippedArrays
from unweave.datasets.sprite_shapes import SHAPES

FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


class DSpritesFile(GridDataSet):
    """dSprites as published: the arrays imgs, latents_classes and latents_values.

    Numbering, names and kinds of the factors are those of `DSprites`, which renders the same images without a file.

    Parameters
    ----------
    path : path
        The file, or the folder that contains it under its published name.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path) / FILE if Path(path).is_dir() else Path(path)
        arrays = ZippedArrays(path)
        self._pixels = arrays.rows_of("imgs")
        classes, values = arrays.whole("latents_classes"), arrays.whole("latents_values")
        if self._pixels.dtype != np.uint8 or len(self._pixels.shape) != 3:
            raise DataSetError(
                f"imgs of {path} has shape {self._pixels.shape}: it should be bytes, n x height x width."
            )
        if classes.shape != (len(self._pixels), 6) or values.shape != classes.shape:
            raise DataSetError(
                f"latents_classes and latents_values of {path} have shapes {classes.shape} and {values.shape}: they "
                f"should be {len(self._pixels)} x 6 (colour, shape, scale, orientation, x, y)."
            )
        columns = refuse_incomplete(path, classes[:, 1:], values[:, 1:])
        described = (
            Factor("shape", "categorical", SHAPES),
            Factor("scale", "ordinal"),
            Factor("orientation", f"circular:{2 * np.pi!r}"),
            Factor("x", "ordinal"),
            Factor("y", "ordinal"),
        )
        columns[2] = np.where(np.isclose(columns[2], 2 * np.pi), 0.0, columns[2])  # a full turn equals no turn
        self._path = path
        super().__init__(f"dsprites of {path.name}", described, columns)
        self.image_shape = (1, *self._pixels.shape[1:])

    def _rendered(self, places: Indices) -> Images:
        pixels = self._pixels[self._numbered(places)][:, None]
        if pixels.size and pixels.max() > 1:
            raise DataSetError(f"imgs of {self._path} has bytes up to {pixels.max()}: those of dSprites are 0 and 1.")
        return pixels.astype(np.float32)
