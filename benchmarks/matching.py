"""Metrics that match codes to factors, relative to the matrix product that they need."""

from __future__ import annotations

import numpy as np

from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds, peak_gigabytes
from unweave.evidence import Evidence
from unweave.metrics import mcc

WIDE_MCC = """
import benchmarks
import numpy as np
from unweave.evidence import Evidence
from unweave.metrics import mcc
rng = np.random.default_rng(0)
mcc(Evidence(rng.normal(size=(1000, 100)), rng.normal(size=(1000, 16384))))
"""


def mcc_time() -> Measurement:
    """Time of MCC on existing evidence, relative to the product of factors and codes."""
    factors, codes = noisy_copies(n_rows=50_000, n_codes=512, n_factors=20)
    kept = Evidence(factors, codes)
    contestants = {
        "mcc": mcc,
        "product": lambda _: kept.factors.T @ kept.codes,
    }
    # new evidence for each repetition, because results are memoised
    times = best_cpu_seconds(contestants, 12, lambda: Evidence(factors, codes), prepared_for=["mcc"])
    return Measurement(
        subject="mcc on existing evidence, n = 50,000, m = 512, d = 20",
        figure=times["mcc"] / times["product"],
        unit="times the bare product factors.T @ codes",
        target=Target("at most", 4),
        notes=(seconds(times),),
    )


def mcc_memory() -> Measurement:
    """Peak memory for so many codes that an m x m matrix would not fit into the limit."""
    return Measurement(
        subject="mcc, n = 1,000, m = 16,384, d = 100, including interpreter, imports and inputs",
        figure=peak_gigabytes(WIDE_MCC),
        unit="GB peak memory of a new process",
        target=Target("at most", 1),
        notes=(f"the inputs alone are {1000 * (16_384 + 100) * 8 / 1e9:.2f} GB, and evidence keeps a copy",),
    )


def mcc_spearman() -> Measurement:
    """Time of Spearman correlation relative to Pearson correlation."""
    return _against_pearson("spearman")


def mcc_rdc() -> Measurement:
    """Time of the randomised dependence coefficient relative to Pearson correlation."""
    return _against_pearson("rdc")


def _against_pearson(correlation: str) -> Measurement:
    factors, codes = noisy_copies(n_rows=10_000, n_codes=64, n_factors=10)
    contestants = {
        correlation: lambda evidence: mcc(evidence, correlation=correlation),
        "pearson": mcc,
    }
    times = best_cpu_seconds(contestants, repetitions=5, prepare=lambda: Evidence(factors, codes))
    return Measurement(
        subject=f"mcc with correlation='{correlation}', n = 10,000, m = 64, d = 10",
        figure=times[correlation] / times["pearson"],
        unit="times mcc with correlation='pearson'",
        notes=(seconds(times),),
    )


def noisy_copies(n_rows: int, n_codes: int, n_factors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return independent factors, and codes: the first are factors with noise, the others are noise."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, n_factors))
    codes = rng.normal(size=(n_codes, n_rows)).T  # stored column by column, as in evidence
    codes[:, :n_factors] += factors
    return factors, codes
