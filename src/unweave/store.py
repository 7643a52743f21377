"""A lock on a folder of results."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from unweave.evidence import EvidenceError
from unweave.whole_files import write_whole


class FolderLock:
    """Lock on a folder, to be used in a with statement; the file ``owner`` names the process that has it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder)):
    ...     (Path(folder) / "owner").read_text().split()[0] == str(os.getpid())
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock, self._owner = FileLock(folder / "lock"), folder / "owner"

    def __enter__(self) -> Self:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            owner = " ".join(self._owner.read_text().split()) if self._owner.exists() else "unknown"
            raise EvidenceError(
                f"{self.folder} is in use by another run (process {owner}): wait for it, or choose another folder."
            ) from None
        write_whole(self._owner, lambda file: file.write(f"{os.getpid()} on {socket.gethostname()}\n".encode()))
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()
