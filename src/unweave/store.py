"""Results that are computed once: a lock on a folder, results by key in a file, and folders of one computation."""

from __future__ import annotations

import errno
import json
import os
import socket
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from unweave.errors import FileError
from unweave.evidence.archives import array_in
from unweave.whole_files import remove_unfinished, write_whole


def write_result(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically; raises a `FileError` if the system refuses it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, write)
    except OSError as problem:
        raise FileError(_refusal(path, problem)) from None


def _refusal(path: Path, problem: OSError) -> str:
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    advice = "make room and give the same command again" if full else "choose another place, or change its permissions"
    return f"{path} cannot be written: {problem.strerror}; {advice}."


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
            raise FileError(
                f"{self.folder} is in use by another run (process {owner}): wait for it, or choose another folder."
            ) from None
        try:
            write_result(self._owner, lambda file: file.write(f"{os.getpid()} on {socket.gethostname()}\n".encode()))
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Results:
    """Plain data by key, in a file with one line of JSON for everything that is added at once.

    What is added is on the disk when `add` returns. Several processes may add to the same file. A line that was cut off
    is left out with a warning. Without a path, results are in memory only.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Results(Path(folder) / "results.jsonl").add({"first": 0.5, "second": [1, None]})
    ...     Results(Path(folder) / "results.jsonl").by_key
    {'first': 0.5, 'second': [1, None]}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.by_key: dict[str, Any] = {}
        self._cut = False
        if self.path is None or not self.path.exists():
            return
        content = self.path.read_bytes()
        self._cut = bool(content) and not content.endswith(b"\n")
        n_damaged = 0
        for line in content.splitlines():
            try:
                added = json.loads(line)
            except ValueError:
                added = None
            if isinstance(added, dict):
                self.by_key |= added
            else:
                n_damaged += 1
        if n_damaged:
            warnings.warn(
                f"{self.path} has {n_damaged} lines that cannot be read, so their results are computed again.",
                stacklevel=4,
            )

    def add(self, results: Mapping[str, Any]) -> None:
        """Add results, and write them to the file."""
        self.by_key |= results
        if self.path is None:
            return
        line = b"\n" * self._cut + json.dumps(dict(results)).encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:  # one write, so that lines of two processes do not mix
                self._cut = True
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
                self._cut = False
        except OSError as problem:
            raise FileError(_refusal(self.path, problem)) from None

    def value(self, key: str, compute: Callable[[], Any]) -> Any:
        """The result with this key, which is computed and added if there is none."""
        if key not in self.by_key:
            self.add({key: compute()})
        return self.by_key[key]

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


class Store(FolderLock):
    """A folder for one computation that may be interrupted: results and arrays by key, used in a with statement.

    ``identity`` is plain data that says what is computed. It is written to ``manifest.json``, and a folder with another
    identity is refused. Only one process at a time can use the folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(folder, {"model": "a"}) as store:
    ...         store.add_arrays("codes", {"mean": np.ones(2)})
    ...     with Store(folder, {"model": "a"}) as store:
    ...         store.arrays("codes")["mean"].tolist(), store.arrays("other") is None
    ([1.0, 1.0], True)
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, Any]) -> None:
        super().__init__(Path(folder))
        self.identity: dict[str, Any] = json.loads(json.dumps(dict(identity)))
        self.results = Results()

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            super().__enter__()
        except ValueError as problem:  # a name that no system can have
            raise FileError(f"{self.folder} cannot be the name of a folder ({problem}): choose another one.") from None
        except OSError as problem:
            raise FileError(_refusal(self.folder, problem)) from None
        try:
            remove_unfinished(self.folder)  # of killed processes, because no other one has the lock
            self._refuse_another()
            self.results = Results(self.folder / "results.jsonl")
        except BaseException:
            self.__exit__()
            raise
        return self

    def describe(self, **facts: Any) -> None:
        """Write the manifest, with further facts, unless the folder already has the same one."""
        content = (json.dumps({**self.identity, **facts}, indent=1) + "\n").encode()
        self.write("manifest.json", content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder, unless it already has this content."""
        path = self.folder / name
        if not path.exists() or path.read_bytes() != content:
            write_result(path, lambda file: file.write(content))

    def add_arrays(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Store named arrays under a key that may be part of a file name."""
        write_result(self.folder / f"{key}.npz", lambda file: np.savez(file, **arrays))

    def arrays(self, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of this key by name; None if there are none, or if the file is damaged, which is then removed."""
        path = self.folder / f"{key}.npz"
        try:
            with np.load(path, allow_pickle=False) as content:
                return {name: array_in(content, name, path) for name in content.files}
        except (ValueError, OSError, EOFError, zipfile.BadZipFile):
            path.unlink(missing_ok=True)
            return None

    def _refuse_another(self) -> None:
        path = self.folder / "manifest.json"
        stated: Any = None
        if path.exists():
            try:
                stated = json.loads(path.read_bytes())
            except ValueError:
                warnings.warn(f"{path} cannot be read, and is written again.", stacklevel=4)
        if not isinstance(stated, dict):
            # keys of results say all about them, while arrays belong to the identity
            if any(self.folder.glob("*.npz")):
                raise FileError(f"{self.folder} has arrays of an unknown origin: remove it, or choose another place.")
            self.describe()
            return
        for name, wanted in self.identity.items():
            if stated.get(name) != wanted:
                raise FileError(
                    f"{self.folder} has results of another {name} ({stated.get(name)!r} there, {wanted!r} now): remove "
                    "the folder to start again, or choose another place."
                )
