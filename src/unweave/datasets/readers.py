"""Files of published image data sets."""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.digits import refuse_other_size
from unweave.datasets.dsprites import sprite_factors
from unweave.datasets.interface import Factor, GridDataSet, Images, Indices, TabledDataSet, scaled
from unweave.errors import FileError, InputError, OptionError, UnweaveError
from unweave.evidence.archives import array_in, checked_array, refuse_bomb, stored_arrays
from unweave.options import checks_options
from unweave.sentences import printable

CARS_IN_MEMORY = 8


@checks_options
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
        self._paths = sorted(Path(folder).glob("*.mat")) if os.path.isdir(folder) else []
        if not self._paths:
            raise FileError(f"{folder} has no .mat file: give the folder cars of nips2015-analogy-data.tar.gz.")
        self._read = lru_cache(CARS_IN_MEMORY)(_views)
        height, width, channels, n_azimuths, n_elevations = self._read(self._paths[0]).shape
        size = size or height
        if height != width or size < 1 or height % size:
            raise OptionError(
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
                raise InputError(
                    f"im of {self._paths[car]} has shape {views.shape}, but that of the first car {first}."
                )
            rows = np.flatnonzero(places[:, 2] == car)
            chosen = views[:, :, :, places[rows, 1], places[rows, 0]].transpose(3, 2, 0, 1)
            blocks = chosen.reshape(len(rows), channels, size, self._step, size, self._step)
            images[rows] = blocks.mean(axis=(3, 5), dtype=np.float32) / 255
        return images


def _views(path: Path) -> NDArray[Any]:
    from scipy.io import loadmat, whosmat

    try:
        sizes = {name: math.prod(shape) for name, shape, _ in whosmat(path)}
        if "im" not in sizes:
            raise FileError(
                f"{path} has no array 'im' but {printable(', '.join(sizes)) or 'nothing'}: it is another file."
            )
        refuse_bomb(f"The array 'im' of {path}", sizes["im"], path.stat().st_size)
        views = np.asarray(loadmat(path, variable_names=["im"])["im"])
    except UnweaveError:
        raise
    except Exception as error:  # scipy raises many kinds of errors for damaged files
        raise FileError(f"{path} cannot be read as a .mat file ({printable(str(error))}): get it again.") from None
    if views.ndim != 5 or views.dtype != np.uint8:
        raise FileError(
            f"im of {path} has shape {views.shape}: it should be bytes, height x width x 3 x azimuths x elevations."
        )
    return views


PICTURES, ATTRIBUTES = "img_align_celeba", "list_attr_celeba.txt"


@checks_options
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
        if not os.path.isdir(self._folder):
            raise FileError(f"There is no folder {PICTURES} in {folder}: the pictures of CelebA go there.")
        described = [Factor(name.replace("_", " "), "categorical", ("absent", "present")) for name in names]
        super().__init__("celeba", described, table, (3, size, size))

    def _images(self, indices: Indices) -> Images:
        if not indices.size:
            return np.empty((0, *self.image_shape), dtype=np.float32)
        return np.stack([self._picture(self._files[at]) for at in indices])

    def _picture(self, name: str) -> Images:
        try:
            from PIL import Image
        except ImportError:
            raise OptionError("Pictures of CelebA need Pillow: pip install 'unweave[datasets]'.") from None
        path = self._folder / name
        try:
            with Image.open(path) as picture:
                refuse_bomb(f"The picture {path}", 4 * math.prod(picture.size), path.stat().st_size)
                side = min(picture.size)
                left, top = (picture.size[0] - side) // 2, (picture.size[1] - side) // 2
                square = picture.convert("RGB").crop((left, top, left + side, top + side))
                square = square.resize(self.image_shape[1:], Image.Resampling.BILINEAR)
        except FileNotFoundError:
            raise FileError(f"{ATTRIBUTES} lists {name}, but there is no file {path}.") from None
        except (OSError, SyntaxError, Image.DecompressionBombError) as error:
            raise FileError(f"{path} is not a whole picture ({error}): get it again.") from None
        return scaled(np.asarray(square).transpose(2, 0, 1))


def _attributes(path: Path) -> tuple[list[str], list[str], FloatArray]:
    """Names of attributes, file names of images, and the attributes as 0 and 1."""
    if not os.path.isfile(path):
        raise FileError(f"There is no file {path.name} in {path.parent}: the attributes of CelebA are in it.")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) < 2 or not lines[0].strip().isdigit():
        raise FileError(
            f"{path} should begin with the number of pictures and a line of attributes: it is another file."
        )
    names = lines[1].split()
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise FileError(f"{path} should list {lines[0].strip()} pictures, but has {len(rows)}: get it again.")
    for number, row in enumerate(rows, start=3):
        if len(row) != len(names) + 1 or not set(row[1:]) <= {"1", "-1"}:
            raise FileError(f"Line {number} of {path} is not a picture and {len(names)} attributes of 1 or -1.")
    table = np.array([[float(word == "1") for word in row[1:]] for row in rows])
    return names, [row[0] for row in rows], table


def refuse_incomplete(path: Path, places: NDArray[Any], values: NDArray[Any]) -> list[FloatArray]:
    """Values of each factor; raises an error unless all combinations occur in order, with the last factor fastest."""
    if not np.isfinite(values).all():
        raise FileError(f"The factors of {path} have values that are not numbers: it is another file, or damaged.")
    counts = [int(column.max()) + 1 for column in places.T]
    whole = int(np.prod(counts)) == len(places)
    if not whole or not np.array_equal(np.ravel_multi_index(tuple(places.T), counts), np.arange(len(places))):
        raise FileError(
            f"The {len(places)} images of {path} are not all combinations of {' x '.join(map(str, counts))} values in "
            "order: the file is not the whole data set, or was shuffled."
        )
    strides = np.append(np.cumprod(counts[::-1])[::-1][1:], 1)
    return [
        values[np.arange(count) * stride, j].astype(np.float64)
        for j, (count, stride) in enumerate(zip(counts, strides, strict=True))
    ]


SHAPES3D_FILE = "3dshapes.h5"
SHAPES3D_SHAPES = ("cube", "cylinder", "sphere", "capsule")


@checks_options
class Shapes3D(GridDataSet):
    """Shapes3D as published: the arrays images and labels of 3dshapes.h5. Hues are circular with period 1.

    Parameters
    ----------
    path : path
        The file, or the folder that contains it under its published name. Reading needs h5py.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path) / SHAPES3D_FILE if os.path.isdir(path) else Path(path)
        if not os.path.isfile(path):
            raise FileError(f"There is no file {path}: Shapes3D is called {SHAPES3D_FILE}.")
        arrays = stored_arrays(path)
        missing = [name for name in ("images", "labels") if name not in arrays]
        if missing:
            raise FileError(
                f"{path} has no array {missing[0]!r} but {printable(', '.join(arrays))}: it is another file."
            )
        self._pixels, labels = (checked_array(path, name, arrays[name]) for name in ("images", "labels"))
        if labels.dtype.kind not in "iuf":
            raise FileError(f"labels of {path} are not numbers: it is another file, or damaged.")
        labels = np.asarray(labels, dtype=np.float64)
        in_colour = self._pixels.ndim == 4 and self._pixels.shape[-1] == 3 and self._pixels.dtype == np.uint8
        if not in_colour or labels.shape != (len(self._pixels), 6):
            raise FileError(
                f"images and labels of {path} have shapes {self._pixels.shape} and {labels.shape}: they should be "
                "bytes, n x height x width x 3, and n x 6."
            )
        places = np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1)
        columns = refuse_incomplete(path, places, labels)
        described = (
            *(Factor(f"{part} hue", "circular:1") for part in ("floor", "wall", "object")),
            Factor("scale", "ordinal"),
            Factor("shape", "categorical", SHAPES3D_SHAPES),
            Factor("orientation", "ordinal"),
        )
        super().__init__(f"shapes3d of {path.name}", described, columns)
        height, width, channels = self._pixels.shape[1:]
        self.image_shape = (channels, height, width)

    def _rendered(self, places: Indices) -> Images:
        wanted, order = np.unique(self._numbered(places), return_inverse=True)  # h5py needs increasing indices
        pixels = np.asarray(self._pixels[wanted])[order]
        return scaled(pixels.transpose(0, 3, 1, 2))


STEMS = {"train": "smallnorb-5x46789x9x18x6x2x96x96-training", "test": "smallnorb-5x01235x9x18x6x2x96x96-testing"}
CATEGORIES = ("animal", "human", "airplane", "truck", "car")
TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8", 0x1E3D4C56: "<i2"}
LONGEST_NORB_HEADER = 8 + 4 * 32


@checks_options
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
        paths = {part: Path(folder) / f"{STEMS[split]}-{part}.mat" for part in ("dat", "cat", "info")}
        arrays = {part: read_binary_matrix(path) for part, path in paths.items()}
        self._pixels, categories, info = arrays["dat"], arrays["cat"], arrays["info"]
        if self._pixels.ndim != 4 or self._pixels.dtype != np.uint8:
            raise InputError(f"{paths['dat']} has shape {self._pixels.shape}: it should be bytes, n x 2 x 96 x 96.")
        n_images = len(self._pixels)
        if categories.shape != (n_images,) or info.shape != (n_images, 4):
            raise InputError(
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
    if not os.path.isfile(path):
        raise FileError(f"There is no file {path.name} in {path.parent}: SmallNORB needs it by this name.")
    with path.open("rb") as file:
        head = file.read(LONGEST_NORB_HEADER)
    words = np.frombuffer(head[: len(head) // 4 * 4], dtype="<u4")
    if len(words) < 5 or int(words[0]) not in TYPES:
        swapped = len(words) > 0 and int(words[0].byteswap()) in TYPES
        why = "its bytes are in big-endian order" if swapped else "it begins with another number"
        raise FileError(f"{path} is not a binary matrix of NORB: {why}.")
    n_axes = int(words[1])
    n_sizes = max(3, n_axes)
    if n_axes > 8 or len(words) < 2 + n_sizes:
        raise FileError(f"{path} is not a binary matrix of NORB: its header states {n_axes} axes.")
    shape = tuple(int(size) for size in words[2 : 2 + n_axes])
    dtype, start = np.dtype(TYPES[int(words[0])]), 8 + 4 * n_sizes
    refuse_other_size(path.stat().st_size - start, shape, dtype, path)
    return np.memmap(path, dtype=dtype, mode="r", offset=start, shape=shape)


FED_AT_ONCE, KEPT_EVERY, LONGEST_HEADER = 1 << 14, 1 << 25, 1 << 12  # bytes


class ZippedArrays:
    """The arrays of an .npz file by name: small arrays as a whole, large arrays by rows."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not os.path.isfile(self.path):
            raise FileError(f"There is no file {self.path}: put it there, or give the path of where it is.")
        try:
            with zipfile.ZipFile(self.path) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise FileError(
                f"{self.path} is not a whole .npz file ({error}): it was cut off or is another file, so get it again."
            ) from None
        self._members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self._members) < len(entries):
            raise FileError(f"{self.path} has two arrays of one name: get the file again.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(self._members)

    def whole(self, name: str) -> NDArray[Any]:
        """A small array, in memory."""
        self._refuse_missing(name)
        with np.load(self.path, allow_pickle=False) as archive:
            return array_in(archive, name, self.path)

    def rows_of(self, name: str) -> RowsOnDemand:
        """A large array, whose rows are read on demand."""
        self._refuse_missing(name)
        return RowsOnDemand(self.path, self._members[name])

    def _refuse_missing(self, name: str) -> None:
        if name not in self._members:
            raise FileError(
                f"{self.path} has no array {name!r} but {printable(', '.join(self.names))}: it is another file."
            )


class RowsOnDemand:
    """An array in an .npz file whose rows are read on demand."""

    def __init__(self, path: Path, member: zipfile.ZipInfo) -> None:
        self._path = path
        with path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(30)
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        self._start = member.header_offset + 30 + name_length + extra_length
        self._stream = _Inflated(path, self._start, member.compress_size) if member.compress_type else None
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"{path} is packed in a way that numpy does not use: save it with numpy.savez_compressed.")
        head = io.BytesIO(self._bytes(0, min(LONGEST_HEADER, member.file_size)))
        try:
            version = np.lib.format.read_magic(head)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, fortran, self.dtype = read(head)
        except (ValueError, SyntaxError, TokenError) as error:  # numpy raises these for a damaged header
            raise FileError(
                f"{member.filename} in {path} is not a numpy array ({error}): get the file again."
            ) from None
        self._offset = head.tell()
        self._row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        if fortran or self.dtype.hasobject or self._offset + len(self) * self._row_bytes != member.file_size:
            raise FileError(f"{member.filename} in {path} is not an array of whole rows of numbers.")

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, indices: Indices) -> NDArray[Any]:
        wanted, places = np.unique(indices, return_inverse=True)
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1) if wanted.size else []
        rows = [self._bytes(self._offset + int(run[0]) * self._row_bytes, run.size * self._row_bytes) for run in runs]
        table = np.frombuffer(b"".join(rows), dtype=self.dtype).reshape(wanted.size, *self.shape[1:])
        return table[places]

    def _bytes(self, at: int, n_bytes: int) -> bytes:
        if self._stream is not None:
            return self._stream.read(at, n_bytes)
        with self._path.open("rb") as file:
            file.seek(self._start + at)
            return file.read(n_bytes)


class _Inflated:
    """A compressed stream with random access; the state of the decompression is saved every 32 MB."""

    def __init__(self, path: Path, start: int, n_bytes: int) -> None:
        self._path, self._start, self._end = path, start, start + n_bytes
        # a state has the number of decompressed bytes, the position in the file, and the decompressor
        self._kept: list[tuple[int, int, Any]] = [(0, start, zlib.decompressobj(-15))]
        self._now = self._kept[0]

    def read(self, at: int, n_bytes: int) -> bytes:
        best = max((state for state in (*self._kept, self._now) if state[0] <= at), key=lambda state: state[0])
        given_out, place, unpacker = best[0], best[1], best[2].copy()
        pieces: list[bytes] = []
        with self._path.open("rb") as file:
            file.seek(place)
            # the saved state is never later than the first requested byte
            while given_out < at + n_bytes and place < self._end:
                if given_out <= at:
                    self._now = (given_out, place, unpacker.copy())
                    pieces.clear()
                piece, place = self._next(file, place, unpacker)
                pieces.append(piece)
                given_out += len(piece)
                if given_out >= self._kept[-1][0] + KEPT_EVERY:
                    self._kept.append((given_out, place, unpacker.copy()))
        content = b"".join(pieces)
        begin = at - (given_out - len(content))
        if len(content) < begin + n_bytes:
            raise FileError(f"{self._path} ends before its arrays do: it was cut off, so get it again.")
        return content[begin : begin + n_bytes]

    def _next(self, file: Any, place: int, unpacker: Any) -> tuple[bytes, int]:
        fed = file.read(min(FED_AT_ONCE, self._end - place))
        try:
            return unpacker.decompress(fed), place + len(fed)
        except zlib.error as error:
            raise FileError(f"{self._path} is damaged ({error}): get it again.") from None


DSPRITES_FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


@checks_options
class DSpritesFile(GridDataSet):
    """dSprites as published: the arrays imgs, latents_classes and latents_values.

    Numbering, names and kinds of the factors are those of `DSprites`, which renders the same images without a file.

    Parameters
    ----------
    path : path
        The file, or the folder that contains it under its published name.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path) / DSPRITES_FILE if os.path.isdir(path) else Path(path)
        arrays = ZippedArrays(path)
        self._pixels = arrays.rows_of("imgs")
        classes, values = arrays.whole("latents_classes"), arrays.whole("latents_values")
        if self._pixels.dtype != np.uint8 or len(self._pixels.shape) != 3:
            raise FileError(f"imgs of {path} has shape {self._pixels.shape}: it should be bytes, n x height x width.")
        if classes.shape != (len(self._pixels), 6) or values.shape != classes.shape:
            raise FileError(
                f"latents_classes and latents_values of {path} have shapes {classes.shape} and {values.shape}: they "
                f"should be {len(self._pixels)} x 6 (colour, shape, scale, orientation, x, y)."
            )
        columns = refuse_incomplete(path, classes[:, 1:], values[:, 1:])
        columns[2] = np.where(np.isclose(columns[2], 2 * np.pi), 0.0, columns[2])  # a full turn equals no turn
        self._path = path
        super().__init__(f"dsprites of {path.name}", sprite_factors(f"circular:{2 * np.pi!r}"), columns)
        self.image_shape = (1, *self._pixels.shape[1:])

    def _rendered(self, places: Indices) -> Images:
        pixels = self._pixels[self._numbered(places)][:, None]
        if pixels.size and pixels.max() > 1:
            raise FileError(f"imgs of {self._path} has bytes up to {pixels.max()}: those of dSprites are 0 and 1.")
        return pixels.astype(np.float32)


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


@checks_options
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
        path = Path(path)
        if os.path.isdir(path):
            folder, path = path, next((path / name for name in FILES if os.path.isfile(path / name)), path)
            if path == folder:
                raise FileError(f"{path} has none of {', '.join(FILES)}: put one there, or give the path of the file.")
        self._pixels = ZippedArrays(path).rows_of("images")
        if len(self._pixels.shape) != 4 or self._pixels.shape[-1] != 3 or self._pixels.dtype != np.uint8:
            raise FileError(
                f"images of {path} has shape {self._pixels.shape}: it should be bytes, n x height x width x 3."
            )
        counts = tuple(n_values) if n_values else PUBLISHED.get(len(self._pixels), ())
        if len(counts) != len(FACTORS) or int(np.prod(counts)) != len(self._pixels):
            raise FileError(
                f"{path} has {len(self._pixels)} images, which is none of the published files: give n_values, the "
                "number of values of each of the seven factors."
            )
        super().__init__(f"mpi3d of {path.name}", FACTORS, [np.arange(float(count)) for count in counts])
        height, width, channels = self._pixels.shape[1:]
        self.image_shape = (channels, height, width)

    def _rendered(self, places: Indices) -> Images:
        return scaled(self._pixels[self._numbered(places)].transpose(0, 3, 1, 2))
