"""Arrays of HDF5 files and Zarr stores, which are read by slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError

STORED = (".h5", ".hdf5", ".zarr")


def is_store(path: str | Path) -> bool:
    """Whether a path has the extension of an HDF5 file or a Zarr store.

    >>> is_store("codes.zarr"), is_store("codes.npy")
    (True, False)
    """
    return Path(path).suffix.lower() in STORED


def stored_arrays(path: Path) -> dict[str, Any]:
    """Arrays of the root group by name, without reading their values."""
    try:
        group: Any = _zarr(path) if path.suffix.lower() == ".zarr" else _hdf5(path)
        arrays = {str(name): entry for name, entry in group.items() if hasattr(entry, "shape")}
    except ImportError as error:
        extra = "zarr" if path.suffix.lower() == ".zarr" else "datasets"
        raise EvidenceError(f"{path} needs the package {error.name}: install unweave[{extra}].") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise EvidenceError(f"{path} cannot be read as arrays ({reason}): check the file, or save it again.") from None
    if not arrays:
        raise EvidenceError(f"{path} has no arrays in its root group: store 'factors' and 'codes' there.")
    return arrays


def _hdf5(path: Path) -> Any:
    import h5py

    return h5py.File(path, "r")


def _zarr(path: Path) -> Any:
    import zarr

    group = zarr.open_group(str(path), mode="r")
    return dict(group.arrays())
