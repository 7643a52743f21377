"""Numbers of a reproduction, stored as they are computed, so that an interrupted run can be continued."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.whole_files import write_whole


class KeptNumbers:
    """A JSON file of numbers by name; each is computed once, and writing is atomic.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = KeptNumbers(Path(folder) / "numbers.json")
    ...     first = kept.number("one", lambda: 1.0)
    ...     KeptNumbers(Path(folder) / "numbers.json").number("one", lambda: 2.0)
    1.0
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Any] = {}
        if path.exists():
            try:
                self._found = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:  # not a file of ours, or damaged: all numbers are computed again
                self._found = {}

    def number(self, name: str, compute: Callable[[], float]) -> float:
        """Return the stored number of this name, or compute and store it."""
        return float(self.value(name, lambda: float(compute())))

    def value(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the stored value of this name (a number, or lists and mappings of numbers), or compute it."""
        if name not in self._found:
            self._found[name] = compute()
            self._write(self._found)
        return self._found[name]

    def _write(self, found: Mapping[str, Any]) -> None:
        content = json.dumps(found, indent=1).encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, lambda stream: stream.write(content))
        except OSError as error:
            raise EvidenceError(
                f"{self.path} cannot be written: {error.strerror}; free some space or choose another folder, and run "
                "the same command again."
            ) from None
