"""Atomic writing of files: a file is written under a temporary name beside its path, and then renamed."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

UNFINISHED = ".unfinished"


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically; if writing fails, the file that was there before is kept.

    A symbolic link is kept, and the file it points to is replaced. Devices and pipes are written to and never replaced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", lambda file: file.write(b"all of it"))
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file)
        return
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with unfinished.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
