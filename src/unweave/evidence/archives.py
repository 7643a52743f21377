"""Arrays of .npz archives, and the limit on the size that any file may have once it is unpacked."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import FileError, UnweaveError
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
                f"{path} contains Python objects, which are not read: save plain arrays of numbers."
            ) from None
        function = "numpy.save" if path.suffix.lower() == ".npy" else "numpy.savez"
        raise FileError(f"{path} is not a complete {path.suffix} file: save it again with {function}.") from None
