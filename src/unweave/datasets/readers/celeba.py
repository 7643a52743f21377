"""CelebA from its folder of images and its list of attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSetError, Factor, Images, Indices, scaled
from unweave.datasets.tabled import TabledDataSet

PICTURES, ATTRIBUTES = "img_align_celeba", "list_attr_celeba.txt"


class CelebA(TabledDataSet):
    """CelebA as published: faces with forty attributes, each absent (0) or present (1).

    Images are cropped to the central square and resized.

    Parameters
    ----------
    folder : path
        The folder with img_align_celeba and list_attr_celeba.txt. Reading needs Pillow.
    size : int
        Height and width of the images.
    """

    def __init__(self, folder: str | Path, size: int = 64) -> None:
        folder = Path(folder)
        names, self._files, table = _attributes(folder / ATTRIBUTES)
        self._folder = folder / PICTURES
        if not self._folder.is_dir():
            raise DataSetError(f"There is no folder {PICTURES} in {folder}: the pictures of CelebA go there.")
        described = [Factor(name.replace("_", " "), "categorical", ("absent", "present")) for name in names]
        super().__init__("celeba", described, table, (3, size, size))

    def _images(self, indices: Indices) -> Images:
        if not indices.size:
            return np.empty((0, *self.image_shape), dtype=np.float32)
        return np.stack([self._picture(self._files[at]) for at in indices])

    def _picture(self, name: str) -> Images:
        opened = _image_reader()
        path = self._folder / name
        try:
            with opened.open(path) as picture:
                side = min(picture.size)
                left, top = (picture.size[0] - side) // 2, (picture.size[1] - side) // 2
                square = picture.convert("RGB").crop((left, top, left + side, top + side))
                square = square.resize(self.image_shape[1:], opened.Resampling.BILINEAR)
        except FileNotFoundError:
            raise DataSetError(f"{ATTRIBUTES} lists {name}, but there is no file {path}.") from None
        except OSError as error:
            raise DataSetError(f"{path} is not a whole picture ({error}): get it again.") from None
        return scaled(np.asarray(square).transpose(2, 0, 1))


def _image_reader() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise DataSetError("Pictures of CelebA need Pillow: pip install 'unweave[datasets]'.") from None
    return Image


def _attributes(path: Path) -> tuple[list[str], list[str], FloatArray]:
    """Names of attributes, file names of images, and the attributes as 0 and 1."""
    if not path.is_file():
        raise DataSetError(f"There is no file {path.name} in {path.parent}: the attributes of CelebA are in it.")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) < 2 or not lines[0].strip().isdigit():
        raise DataSetError(
            f"{path} should begin with the number of pictures and a line of attributes: it is another file."
        )
    names = lines[1].split()
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise DataSetError(f"{path} should list {lines[0].strip()} pictures, but has {len(rows)}: get it again.")
    for number, row in enumerate(rows, start=3):
        if len(row) != len(names) + 1 or not set(row[1:]) <= {"1", "-1"}:
            raise DataSetError(f"Line {number} of {path} is not a picture and {len(names)} attributes of 1 or -1.")
    table = np.array([[float(word == "1") for word in row[1:]] for row in rows])
    return names, [row[0] for row in rows], table
