"""Numbers and encoded grids that experiments compute once and store."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.whole_files import write_whole


def peak_memory() -> float:
    """Return the peak memory of this process so far, in GB; nan if the system does not report it.

    >>> peak_memory() < 1000 or peak_memory() != peak_memory()
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    # macOS reports bytes, other systems kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


def cost_sentence(seconds: float, memory: float) -> str:
    """Return a sentence about CPU time (seconds) and peak memory (GB), for the end of a command.

    >>> cost_sentence(34.2, 0.518), cost_sentence(200.0, float("nan"))
    ('This took 34 CPU seconds and at most 0.52 GB.', 'This took 3.3 CPU minutes.')
    """
    shown = f"{seconds:.0f} CPU seconds" if seconds < 100 else f"{seconds / 60:.1f} CPU minutes"
    return f"This took {shown}." if memory != memory else f"This took {shown} and at most {memory:.2f} GB."


class StoredNumbers:
    """A JSON file of numbers by name; each is computed once, and writing is atomic.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = StoredNumbers(Path(folder) / "numbers.json")
    ...     first = kept.number("one", lambda: 1.0)
    ...     StoredNumbers(Path(folder) / "numbers.json").number("one", lambda: 2.0)
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
