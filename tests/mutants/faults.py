"""A fault: one edit of one file, and the lists of faults that are kept."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "unweave", ROOT / "papers" / "src" / "unweave_papers")


@dataclass(frozen=True)
class Fault:
    """One edit: a text that occurs once in a file, and what replaces it."""

    name: str
    file: str
    find: str
    replace: str
    digest: str = ""

    @property
    def key(self) -> str:
        """The same for the same edit of the same file."""
        return hashlib.sha256("\0".join([self.file, self.find, self.replace, self.digest]).encode()).hexdigest()[:16]


def faults_in(path: Path, root: Path = ROOT) -> list[Fault]:
    """The faults of a list, in its order, without those that have no effect; a name may come once."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    repeated = [name for name, count in Counter(entry["name"] for entry in entries).items() if count > 1]
    if repeated:
        raise ValueError(f"{path.name} has two faults called {repeated[0]!r}: give each a name of its own.")
    return [
        Fault(**{key: entry[key] for key in ("name", "file", "find", "replace")}, digest=digest([root / entry["file"]]))
        for entry in entries
        if "equivalent" not in entry
    ]


def faulty(text: str, fault: Fault) -> str | None:
    """The text with the fault in it; None where the place is not there exactly once.

    >>> faulty("a + b", Fault("sign", "sum.py", " + ", " - "))
    'a - b'
    >>> faulty("a + b + c", Fault("sign", "sum.py", " + ", " - ")) is None
    True
    """
    return text.replace(fault.find, fault.replace) if text.count(fault.find) == 1 else None


def digest(paths: Iterable[Path]) -> str:
    """One text for the contents of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes() if path.exists() else b"")
    return found.hexdigest()
