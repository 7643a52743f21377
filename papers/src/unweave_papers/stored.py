"""Numbers and encoded grids that experiments compute once and store."""

from __future__ import annotations

import sys
from collections.abc import Callable

from unweave.store import Results


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


class StoredNumbers(Results):
    """A file of numbers by name, each of which is computed once.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = StoredNumbers(Path(folder) / "numbers.json").number("one", lambda: 1.0)
    ...     StoredNumbers(Path(folder) / "numbers.json").number("one", lambda: 2.0)
    1.0
    """

    def number(self, name: str, compute: Callable[[], float]) -> float:
        """Return the stored number of this name, or compute and store it."""
        return float(self.value(name, lambda: float(compute())))
