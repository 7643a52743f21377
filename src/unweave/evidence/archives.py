"""Arrays of .npz archives, HDF5 and Zarr, and the limit on the size that any file may have once it is unpacked."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import FileError, OptionError, UnweaveError
from unweave.evidence.columns import quoted

LARGEST_UNPACKED, MOST_COMPRESSED = 1_000_000_000, 100  # larger data (in bytes) may not be compressed more than this


def refuse_bomb(what: str, unpacked: int, stored: int) -> None:
    """Raise an error for data that are far larger in memory than in their file; call it before they are read.

    >>> refuse_bomb("The array 'codes' of a.npz", unpacked=5_000_000_000, stored=1_000_000)
    Traceback (most recent call last):
    unweave.FileError: The array 'codes' of a.npz takes 5.0 GB once unpacked from 1.0 MB: \
save it without compression if this is intended.
    """
    if unpacked > LARGEST_UNPACKED and unpacked > MOST_COMPRESSED * stored:
        raise FileError(
            f"{what} takes {min(unpacked, 10**18) / 1e9:.1f} GB once unpacked from {stored / 1e6:.1f} MB: save it "
            "without compression if this is intended."
        )


def array_in(archive: np.lib.npyio.NpzFile, name: str, path: str | Path) -> NDArray[Any]:
    """The array of this name in an open archive, after a check of its header against the size of the file."""
    with refusing_broken_arrays(Path(path)):
        assert archive.zip is not None
        entries = [entry for entry in archive.zip.infolist() if entry.filename.removesuffix(".npy") == name]
        if len(entries) > 1:
            raise FileError(f"{path} has {len(entries)} arrays called {quoted(name)}: give each a name of its own.")
        if entries[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("other compressions are unpacked without a limit, and numpy does not write them")
        with archive.zip.open(entries[0]) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(member)
        unpacked = max(entries[0].file_size, math.prod(shape) * (dtype.itemsize or 8))
        # the sizes in an archive may be false, so an entry counts as no larger than the whole file
        stored = min(entries[0].compress_size, os.path.getsize(path))
        refuse_bomb(f"The array {quoted(name)} of {path}", unpacked, stored)
        with archive.zip.open(entries[0]) as member:
            return np.lib.format.read_array(member, allow_pickle=False)


def _first_letters(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return " ".join(file.read(64).decode("ascii", "replace").split())[:15]
    except OSError:
        return ""


@contextmanager
def refusing_broken_arrays(path: Path) -> Iterator[None]:
    """Turn all errors of reading a damaged numpy file into a FileError."""
    try:
        yield
    except UnweaveError:
        raise
    except Exception as error:  # numpy, zip, zlib and tokenize have different errors for damaged files
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise FileError(
                f"{path} contains Python objects, which are not read: save plain arrays of numbers, and names as "
                "np.array(names, dtype=str)."
            ) from None
        begins = _first_letters(path)
        if begins.startswith("<"):
            raise FileError(
                f"{path} is not a {path.suffix} file: it begins with {begins!r}, so it may be a failed download; get "
                "it again."
            ) from None
        function = "numpy.save" if path.suffix.lower() == ".npy" else "numpy.savez"
        raise FileError(f"{path} is not a complete {path.suffix} file: save it again with {function}.") from None


STORED = (".h5", ".hdf5", ".zarr")

MOST_DEFLATED = 1_032  # the largest factor by which a stream of zlib can expand


def is_store(path: str | Path) -> bool:
    """Whether a path has the extension of an HDF5 file or a Zarr store.

    >>> is_store("codes.zarr"), is_store("codes.npy")
    (True, False)
    """
    return Path(path).suffix.lower() in STORED


def stored_arrays(path: Path) -> dict[str, Any]:
    """Arrays of the root group by name, without reading their values."""
    is_zarr = path.suffix.lower() == ".zarr"
    try:
        arrays = _zarr(path) if is_zarr else _hdf5(path)
    except UnweaveError:
        raise
    except ImportError as error:
        extra = "zarr" if is_zarr else "datasets"
        raise OptionError(f"{path} needs the package {error.name}: install unweave[{extra}].") from None
    except Exception as error:  # both libraries raise many kinds of errors for damaged files
        reason = " ".join(str(error).split())[:100]
        raise FileError(f"{path} cannot be read as arrays ({reason}): check the file, or save it again.") from None
    if not arrays:
        raise FileError(f"{path} has no arrays in its root group: store 'factors' and 'codes' there.")
    return arrays


def checked_array(path: Path, name: str, array: Any) -> Any:
    """An array of `stored_arrays`; raises an error if it has no entries or would be too large once unpacked."""
    what = f"The array {quoted(name)} of {path}"
    try:
        chunk = math.prod(array.chunks or ())
        if array.shape is None or not math.prod(array.shape):
            raise FileError(f"{what} is empty: store one row per sample.")
        unpacked = max(math.prod(array.shape), chunk) * (array.dtype.itemsize or 8)
        if path.suffix.lower() == ".zarr":
            stored = array.nbytes_stored()
        else:
            stored = min(array.id.get_storage_size(), os.path.getsize(path))
            _refuse_false_chunks(what, array, chunk * array.dtype.itemsize)
    except UnweaveError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:100]
        raise FileError(f"{what} cannot be read ({reason}): check the file, or save it again.") from None
    refuse_bomb(what, unpacked, stored)
    return array


MOST_GROUPS = 3  # groups in groups that are read: obs of AnnData, a column, and its categories


def hdf5_groups(path: Path) -> Any:
    """The root group of an HDF5 file without links, and without values that are in other files."""
    try:
        import h5py

        file = h5py.File(path, "r")
        _refuse_links(path, file)
    except UnweaveError:
        raise
    except ImportError as error:
        raise OptionError(f"{path} needs the package {error.name}: install unweave[datasets].") from None
    except Exception as error:  # the library raises many kinds of errors for damaged files
        reason = " ".join(str(error).split())[:100]
        raise FileError(f"{path} cannot be read as arrays ({reason}): check the file, or save it again.") from None
    return file


def _refuse_links(path: Path, group: Any, depth: int = 0) -> None:
    import h5py

    for name in group if depth < MOST_GROUPS else ():
        entry = group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
        if entry is None or (isinstance(entry, h5py.Dataset) and (entry.is_virtual or entry.external)):
            raise FileError(f"{path} has a link called {quoted(name)}, which is not followed: store the array itself.")
        if isinstance(entry, h5py.Group):
            _refuse_links(path, entry, depth + 1)


def _hdf5(path: Path) -> dict[str, Any]:
    import h5py

    file = h5py.File(path, "r")
    arrays = {}
    for name in file:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise FileError(f"{path} has a link called {quoted(name)}, which is not followed: store the array itself.")
        entry = file[name]
        if not isinstance(entry, h5py.Dataset):
            continue
        if entry.is_virtual or entry.external:
            raise FileError(
                f"The array {quoted(name)} of {path} is in other files, which are not read: store its values here."
            )
        arrays[str(name)] = entry
    return arrays


def _refuse_false_chunks(what: str, array: Any, n_bytes: int) -> None:
    """Raise an error for a compressed chunk that is larger than the file says, because HDF5 would unpack all of it."""
    filters = [array.id.get_create_plist().get_filter(k)[0] for k in range(array.id.get_create_plist().get_nfilters())]
    if len(set(filters)) < len(filters):
        raise FileError(f"{what} is compressed more than once: store it with one compression.")
    if 1 not in filters:  # other compressions than zlib are too weak to matter
        return
    chunks: list[Any] = []
    array.id.chunk_iter(chunks.append)
    for chunk in chunks:
        if chunk.size * MOST_DEFLATED > LARGEST_UNPACKED:
            stream = zlib.decompressobj()
            stream.decompress(array.id.read_direct_chunk(chunk.chunk_offset)[1], n_bytes + 1024)
            if not stream.eof:
                raise FileError(f"{what} has a part that is larger than it says: store it again.")


def _zarr(path: Path) -> dict[str, Any]:
    import zarr

    for entry in path.rglob("*"):
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise FileError(f"{path} contains a link or device, {quoted(entry.name)}: store the arrays themselves.")
    return {str(name): array for name, array in zarr.open_group(str(path), mode="r").arrays()}
