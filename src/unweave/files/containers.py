"""Arrays by name in files of other libraries: safetensors and AnnData."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import FileError
from unweave.evidence.columns import quoted

SAFETENSORS_TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1"} | {
    "U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "?", "BF16": "u2"
}  # fmt: skip

LONGEST_HEADER = 100_000_000  # bytes, as in the library safetensors


def safetensors_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays of a .safetensors file, which are read when they are used.

    The file is a length of 8 bytes, a header in JSON, and the values. It is read here, because the package would only
    be needed for this header.
    """
    try:
        size = os.path.getsize(path)
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if length > min(LONGEST_HEADER, size - 8):
                raise ValueError("the header ends after the file")
            header = json.loads(stream.read(length))
        header.pop("__metadata__", None)
        return {name: _tensor(path, entry, 8 + length, size) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise _unreadable(path, error) from None


def _tensor(path: Path, entry: dict[str, Any], start: int, size: int) -> NDArray[Any]:
    if entry["dtype"] not in SAFETENSORS_TYPES:
        raise ValueError(f"the type {str(entry['dtype'])[:20]} is not known")
    kind, shape = np.dtype("<" + SAFETENSORS_TYPES[entry["dtype"]]), tuple(entry["shape"])
    first, last = entry["data_offsets"]
    sizes = (*shape, first, last)
    if not all(isinstance(n, int) and n >= 0 for n in sizes) or last - first != math.prod(shape) * kind.itemsize:
        raise ValueError("an array has another size than its values")
    if start + last > size:
        raise ValueError("an array ends after the file")
    if not math.prod(shape):
        return np.empty(shape, kind)
    array = np.memmap(path, kind, "r", start + first, shape)
    # the upper half of a float32
    return (array.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else array


GROUPS = ("obs", "obsm", "layers")


class AnnDataArrays(dict[str, Any]):
    """Entries of an .h5ad file, read when they are used: 'obs:cell_type', 'obsm:X_pca', 'layers:counts' and 'X'."""

    def __init__(self, path: Path, file: Any, checked: Any) -> None:
        super().__init__({"X": file["X"]} if "X" in file else {})
        self.path, self._checked = path, checked
        for group in GROUPS:
            entries = file.get(group, {})
            names = [name for name in entries if name != entries.attrs.get("_index")] if len(entries) else []
            self.update({f"{group}:{name}": entries[name] for name in names})

    def read(self, name: str) -> Any:
        """The values of an entry: numbers, texts, or a sparse matrix."""
        try:
            return self._read(name, self[name])
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, OSError) as error:
            raise _unreadable(self.path, error) from None

    def _read(self, name: str, entry: Any) -> Any:
        kind = _text(entry.attrs.get("encoding-type", "array"))
        if kind == "categorical":
            levels, places = self._array(name, entry["categories"]), self._array(name, entry["codes"]).astype(np.intp)
            if places.max(initial=-1) >= len(levels) or places.min(initial=0) < -1:
                raise ValueError("a category does not exist")
            if entry.attrs.get("ordered", False):
                return np.where(places < 0, np.nan, places)
            return np.array([*map(str, levels), None], dtype=object)[places]  # -1 is missing
        if kind in ("nullable-integer", "nullable-boolean", "nullable-string-array"):
            values, mask = self._array(name, entry["values"]), self._array(name, entry["mask"]).astype(bool)
            texts = values.astype(object)
            texts[mask] = None
            return texts
        if kind in ("csr_matrix", "csc_matrix"):
            from unweave.evidence.sparse import sparse_array

            parts = [self._array(name, entry[part]) for part in ("data", "indices", "indptr")]
            return sparse_array(kind[:3], np.asarray(entry.attrs["shape"]), *parts)
        if not hasattr(entry, "dtype"):
            raise FileError(f"{quoted(name)} of {self.path} is a {kind}, which is not read: store it as an array.")
        return self._array(name, entry)

    def _array(self, name: str, dataset: Any) -> NDArray[Any]:
        values = np.asarray(self._checked(self.path, name, dataset)[...])
        return np.array([_text(word) for word in values], dtype=object) if values.dtype.kind in "SO" else values


def _text(word: Any) -> str:
    return word.decode("utf-8", "backslashreplace") if isinstance(word, bytes) else str(word)


def _unreadable(path: Path, error: Exception) -> FileError:
    reason = " ".join(str(error).split())[:100]
    return FileError(f"{path} cannot be read as a {path.suffix} file ({reason}): check the file, or save it again.")
