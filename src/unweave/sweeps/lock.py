"""One process at a time in a folder; the lock goes with its process, however that ends."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import IO

from unweave.evidence import EvidenceError

if sys.platform == "win32":
    import msvcrt

    def _acquired(file: IO[str]) -> bool:
        try:
            file.seek(2**30)  # beyond the text, which others must be able to read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _acquired(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class FolderLock:
    """Lock on a folder, to be used in a with statement.

    The operating system holds it, so that a killed process leaves no lock behind and no process number has to be
    guessed about; the file says who has it, for the sentence that others get.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder)):
    ...     (Path(folder) / "lock").read_text().split()[0] == str(os.getpid())
    True
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._file: IO[str] | None = None

    def __enter__(self) -> FolderLock:
        file = self.path.open("a+", encoding="utf-8")
        if not _acquired(file):
            file.seek(0)
            owner = " ".join(file.read().split()) or "unknown"
            file.close()
            raise EvidenceError(
                f"{self.path.parent} is in use by another run (process {owner}): wait for it, or choose another folder."
            )
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()  # the file stays: removing it would let two others lock two different files
            self._file = None
