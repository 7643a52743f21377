"""Measurement of CPU time and peak memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

# VmHWM is the peak of this program only; getrusage also counts the parent's peak, which a child inherits at its start.
PRINT_PEAK_KILOBYTES = """
try:
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
except OSError:
    import resource, sys
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak // 1024 if sys.platform == "darwin" else peak)
"""


def best_cpu_seconds(
    contestants: Mapping[str, Callable[[Any], object]],
    repetitions: int,
    prepare: Callable[[], Any] = lambda: None,
    prepared_for: Collection[str] | None = None,
) -> dict[str, float]:
    """Return the smallest CPU time of every contestant; each call gets a new input, whose preparation is not timed.

    ``prepared_for`` names the contestants that need the input, all by default; the others are called with None.

    Contestants take turns, so that the load of the machine affects all of them. The smallest time is the least
    disturbed one, and CPU time does not include waiting for a core.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repetitions):
        for name, run in contestants.items():
            prepared = prepare() if prepared_for is None or name in prepared_for else None
            start = time.process_time()
            run(prepared)
            best[name] = min(best[name], time.process_time() - start)
    return best


def peak_gigabytes(program: str) -> float:
    """Return the peak memory in GB of a new process that runs this program, including interpreter and imports."""
    finished = subprocess.run(
        [sys.executable, "-c", program + PRINT_PEAK_KILOBYTES], check=True, capture_output=True, text=True
    )
    return int(finished.stdout.split()[-1]) * 1024 / 1e9
