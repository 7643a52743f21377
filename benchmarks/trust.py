"""Cost of noise floors and intervals relative to the scores."""

from __future__ import annotations

from benchmarks.matching import noisy_copies
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.evidence import Evidence
from unweave.metrics import dci_disentanglement, mcc, mig, r2
from unweave.trust.floors import noise_floors
from unweave.trust.intervals import intervals

N_PERMUTATIONS = 200
METRICS = {"mcc": mcc, "r2": r2, "mig": mig}


def noise_floor_time() -> Measurement:
    """Time of noise floors, whose permutations share ranks, bins, norms and factorizations."""
    factors, codes = noisy_copies(n_rows=10_000, n_codes=10, n_factors=5)
    contestants = {
        "bare scores": lambda evidence: [score(evidence) for score in METRICS.values()],
        "noise floors": lambda evidence: noise_floors(METRICS, evidence, n_draws=N_PERMUTATIONS),
    }
    times = best_cpu_seconds(contestants, repetitions=3, prepare=lambda: Evidence(factors, codes))
    return Measurement(
        subject=f"{N_PERMUTATIONS} permutations of mcc, r2 and mig together, n = 10,000, m = 10, d = 5",
        figure=times["noise floors"] / times["bare scores"],
        unit="times the three scores alone",
        target=Target("at most", 150),
        notes=(seconds(times),),
    )


def interval_time() -> Measurement:
    """Time of intervals, which compute each metric on 24 halves of the rows."""
    factors, codes = noisy_copies(n_rows=10_000, n_codes=10, n_factors=5)
    metrics = METRICS | {"dci_disentanglement": dci_disentanglement}
    contestants = {
        "bare scores": lambda evidence: [score(evidence) for score in metrics.values()],
        "intervals": lambda evidence: intervals(metrics, evidence),
    }
    times = best_cpu_seconds(contestants, repetitions=1, prepare=lambda: Evidence(factors, codes))
    return Measurement(
        subject="intervals of mcc, r2, mig and dci_disentanglement together, n = 10,000, m = 10, d = 5",
        figure=times["intervals"] / times["bare scores"],
        unit="times the four scores alone",
        notes=(seconds(times),),
    )


TRUST = {"noise-floor-time": noise_floor_time, "interval-time": interval_time}
