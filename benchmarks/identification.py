"""Time and memory of identification, relative to the least-squares fits on which its models are based."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.matching import noisy_copies
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds, peak_gigabytes
from unweave.evidence import Evidence
from unweave.metrics import identification

N_ROWS, N_FACTORS, FUNCTIONS, N_FOLDS = 10_000, 10, 8, 5
WIDE = """
import benchmarks
from benchmarks.identification import mixed_codes
from unweave.evidence import Evidence
from unweave.metrics import identification
identification(Evidence(*mixed_codes(1024)))
"""


def mixed_codes(n_codes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return factors, and codes of a random network with some noise; every code depends on all factors."""
    factors, _ = noisy_copies(N_ROWS, N_FACTORS, N_FACTORS)
    rng = np.random.default_rng(1)
    hidden = np.tanh(factors @ rng.normal(size=(N_FACTORS, 64)))
    codes = hidden @ rng.normal(size=(64, n_codes))
    return factors, codes + 0.1 * rng.normal(size=codes.shape)


def _time(n_codes: int, target: Target | None) -> Measurement:
    factors, codes = mixed_codes(n_codes)
    design = np.random.default_rng(2).normal(size=(N_ROWS, N_FACTORS * FUNCTIONS))

    def fits(_: object) -> list[object]:
        return [np.linalg.lstsq(design[k::N_FOLDS], codes[k::N_FOLDS]) for k in range(N_FOLDS)]

    times = best_cpu_seconds(
        {"identification": identification, "lstsq": fits}, 1, lambda: Evidence(factors, codes), ["identification"]
    )
    return Measurement(
        subject=f"identification, n = 10,000, m = {n_codes:,}, d = 10, codes that mix all factors",
        figure=times["identification"] / times["lstsq"],
        unit="times numpy.linalg.lstsq of all codes on 80 functions, once over all rows in five parts",
        target=target,
        notes=(seconds(times),),
    )


def identification_memory() -> Measurement:
    """Peak memory for many codes, which are processed in blocks."""
    return Measurement(
        subject="identification, n = 10,000, m = 1,024, d = 10, including interpreter, imports and inputs",
        figure=peak_gigabytes(WIDE),
        unit="GB peak memory of a new process",
        target=Target("at most", 2),
        notes=(f"the codes alone are {N_ROWS * 1024 * 8 / 1e9:.2f} GB, and evidence keeps a copy",),
    )


IDENTIFICATION: dict[str, Callable[[], Measurement]] = {
    "identification": lambda: _time(64, Target("at most", 100)),
    "identification-wide": lambda: _time(1024, Target("at most", 150)),
    "identification-memory": identification_memory,
}
