"""Arrays of HDF5 files and Zarr stores, which are read by slices."""

from __future__ import annotations

import math
import os
import zlib
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.evidence.reading import archives
from unweave.evidence.reading.archives import refuse_bomb
from unweave.evidence.reading.columns import quoted

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
    except EvidenceError:
        raise
    except ImportError as error:
        extra = "zarr" if is_zarr else "datasets"
        raise EvidenceError(f"{path} needs the package {error.name}: install unweave[{extra}].") from None
    except Exception as error:  # both libraries raise many kinds of errors for damaged files
        reason = " ".join(str(error).split())[:100]
        raise EvidenceError(f"{path} cannot be read as arrays ({reason}): check the file, or save it again.") from None
    if not arrays:
        raise EvidenceError(f"{path} has no arrays in its root group: store 'factors' and 'codes' there.")
    return arrays


def checked_array(path: Path, name: str, array: Any) -> Any:
    """An array of `stored_arrays`; raises an error if it has no entries or would be too large once unpacked."""
    what = f"The array {quoted(name)} of {path}"
    try:
        chunk = math.prod(array.chunks or ())
        if array.shape is None or not math.prod(array.shape):
            raise EvidenceError(f"{what} is empty: store one row per sample.")
        unpacked = max(math.prod(array.shape), chunk) * (array.dtype.itemsize or 8)
        if path.suffix.lower() == ".zarr":
            stored = array.nbytes_stored()
        else:
            stored = min(array.id.get_storage_size(), os.path.getsize(path))
            _refuse_false_chunks(what, array, chunk * array.dtype.itemsize)
    except EvidenceError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:100]
        raise EvidenceError(f"{what} cannot be read ({reason}): check the file, or save it again.") from None
    refuse_bomb(what, unpacked, stored)
    return array


def _hdf5(path: Path) -> dict[str, Any]:
    import h5py

    file = h5py.File(path, "r")
    arrays = {}
    for name in file:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise EvidenceError(
                f"{path} has a link called {quoted(name)}, which is not followed: store the array itself."
            )
        entry = file[name]
        if not isinstance(entry, h5py.Dataset):
            continue
        if entry.is_virtual or entry.external:
            raise EvidenceError(
                f"The array {quoted(name)} of {path} is in other files, which are not read: store its values here."
            )
        arrays[str(name)] = entry
    return arrays


def _refuse_false_chunks(what: str, array: Any, n_bytes: int) -> None:
    """Raise an error for a compressed chunk that is larger than the file says, because HDF5 would unpack all of it."""
    filters = [array.id.get_create_plist().get_filter(k)[0] for k in range(array.id.get_create_plist().get_nfilters())]
    if len(set(filters)) < len(filters):
        raise EvidenceError(f"{what} is compressed more than once: store it with one compression.")
    if 1 not in filters:  # other compressions than zlib are too weak to matter
        return
    for k in range(array.id.get_num_chunks()):
        chunk = array.id.get_chunk_info(k)
        if chunk.size * MOST_DEFLATED > archives.LARGEST_UNPACKED:
            stream = zlib.decompressobj()
            stream.decompress(array.id.read_direct_chunk(chunk.chunk_offset)[1], n_bytes + 1024)
            if not stream.eof:
                raise EvidenceError(f"{what} has a part that is larger than it says: store it again.")


def _zarr(path: Path) -> dict[str, Any]:
    import zarr

    for entry in path.rglob("*"):
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise EvidenceError(f"{path} contains a link or device, {quoted(entry.name)}: store the arrays themselves.")
    return {str(name): array for name, array in zarr.open_group(str(path), mode="r").arrays()}
