"""Atomic writing of files: a file is written under a temporary name in its folder, and then renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from unweave.errors import FileError, OptionError, UnweaveError

T = TypeVar("T")
# short, so that it is legal wherever the name of the file is, and random, so that nobody else has it
UNFINISHED = re.compile(r"\.unweave-[0-9a-f]{16}\.unfinished")


def write_whole(path: str | Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically; if writing fails, the file that was there before is kept.

    Several processes may write the same file: it is always the complete file of one of them. A symbolic link is kept,
    and the file it points to is replaced. Devices and pipes are written to and never replaced. A new file has the
    permissions of any new file, and a replaced file keeps its permissions. When the function returns, the file is on
    the disk. Errors name ``path``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", lambda file: file.write(b"all of it"))
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    target = Path(os.path.realpath(path))
    try:
        before = target.stat().st_mode if target.exists() else None
        if before is None or stat.S_ISREG(before):
            _replace(target, before, write)
        else:
            with target.open("wb") as file:
                write(file)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def write_output(path: str | Path, text: str) -> None:
    """Write a text to the path that a person named; raises a `FileError` if the system refuses it."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise FileError(f"An object of type {type(path).__name__} with this content is no path: name a file.")
    try:
        write_whole(path, lambda file: file.write(text.encode()))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}; name another file.") from None


def read_toml(path: Path, made: Callable[[dict[str, Any]], T]) -> T:
    """What ``made`` makes of the content of a TOML file; what it refuses names the file."""
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is not a TOML file: {error}.") from None
    try:
        return made(declared)
    except UnweaveError as error:
        raise OptionError(f"In {path}: {error}") from None


def _replace(target: Path, before: int | None, write: Callable[[IO[bytes]], object]) -> None:
    """Write a regular file; ``before`` is the mode of the file that is there."""
    unfinished = target.with_name(f".unweave-{secrets.token_hex(8)}.unfinished")
    mode = (0o666 if before is None else before) & 0o777
    is_ours = False
    try:
        # "x" creates the file, and neither opens a file nor follows a link that is already there
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            is_ours = True
            if before is not None:
                with suppress(PermissionError):  # some file systems have no permissions
                    os.chmod(unfinished, mode)  # without the limits of the umask
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException:
        if is_ours:
            with suppress(OSError):
                unfinished.unlink()
        raise
    _sync_folder(target.parent)


def remove_unfinished(folder: Path, seconds: float = 0.0) -> None:
    """Remove temporary files that killed processes left in a folder and that did not change for some seconds.

    Without ``seconds``, the caller makes sure that no other process writes files in this folder.
    """
    for path in folder.iterdir():
        if UNFINISHED.fullmatch(path.name) and path.lstat().st_mtime <= time.time() - seconds:
            path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make sure that a renamed file has its new name after a loss of power, where the system allows it."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder in which files may be made but not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot do this for folders
            raise
    finally:
        os.close(descriptor)
