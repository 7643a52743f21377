"""Finished parts of an encoding that is still running, in a folder next to its output file.

Each part is written under another name and renamed in one step, so that an interruption leaves complete parts only. A
manifest in the folder identifies the encoding, so that parts of another model, data set or choice of rows are not used.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.encoding.encoded import EncodingError, write_arrays
from unweave.whole_files import write_whole

MANIFEST = "manifest.json"


class KeptParts:
    """Finished parts of an encoding, each with a range of rows."""

    def __init__(self, out: Path, identity: Mapping[str, Any]) -> None:
        name = out.name if len(os.fsencode(out.name)) < 250 else sha256(os.fsencode(out.name)).hexdigest()
        self.out, self.folder = out, out.with_name(name + ".parts")
        self._identity = json.loads(json.dumps(dict(identity)))
        if (self.folder / MANIFEST).exists() or any(self.folder.glob("*.npz")):
            self._refuse_others()
        else:
            content = json.dumps(self._identity).encode()
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_whole(self.folder / MANIFEST, lambda stream: stream.write(content))
            except OSError as error:
                raise EncodingError(f"{self.folder} cannot be written: {error.strerror}; name another file.") from None

    def has(self, start: int, stop: int) -> bool:
        """Whether there is a complete part with these rows; a damaged one is removed."""
        path = self._path(start, stop)
        if not path.is_file():
            return False
        try:
            with np.load(path, allow_pickle=False) as content:
                return all(len(content[name]) == stop - start for name in content.files) and bool(content.files)
        except (ValueError, OSError, EOFError, zipfile.BadZipFile):
            path.unlink(missing_ok=True)
            return False

    def add(self, start: int, stop: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store the part with these rows."""
        write_arrays(self._path(start, stop), arrays)

    def read(self, start: int, stop: int) -> dict[str, NDArray[Any]]:
        """Arrays of the part with these rows, by name."""
        with np.load(self._path(start, stop), allow_pickle=False) as content:
            return {name: content[name] for name in content.files}

    def remove(self) -> None:
        """Remove the folder, after the output file has been written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, start: int, stop: int) -> Path:
        return self.folder / f"{start:09}-{stop:09}.npz"

    def _refuse_others(self) -> None:
        try:
            found = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        different = [name for name, value in self._identity.items() if found.get(name) != value]
        if different:
            raise EncodingError(
                f"{self.folder} has parts of another encoding, whose {different[0]} is different: remove the folder to "
                "start again, or name another file."
            )
