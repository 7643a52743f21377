"""How time and memory are measured."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

# The peak of this very program: getrusage would also count the parent's, which a child inherits until it loads its own.
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
    """Smallest CPU time of every contestant, each called with a freshly prepared input that is not timed.

    ``prepared_for`` names those that need the input, all by default; the others are called with None.

    Contestants take turns, so that whatever else the machine does hits them alike; the smallest time is the one that
    was disturbed least, and CPU time does not count waiting for a core.
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
    """Peak memory of a fresh process that runs this program: interpreter, imports, inputs and all."""
    finished = subprocess.run(
        [sys.executable, "-c", program + PRINT_PEAK_KILOBYTES], check=True, capture_output=True, text=True
    )
    return int(finished.stdout.split()[-1]) * 1024 / 1e9
