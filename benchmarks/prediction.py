"""Metrics that fit probes, relative to the fits that are usual elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.matching import noisy_copies
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.evidence import Evidence
from unweave.metrics import dci_completeness, dci_disentanglement, dci_informativeness, r2

GOLDEN_CASE = Path(__file__).parents[1] / "tests" / "reference" / "golden" / "c09.npz"
LEVELS = (3, 6, 40, 32, 32)
ALL_TREES, FEW_TREES = 100, 4


def dci_time() -> Measurement:
    """Speed of the three DCI metrics, which share one fit per factor, relative to exact gradient boosting.

    The exact fit takes minutes, so only its first trees are timed, on all factors. Later trees are cheaper. The time is
    therefore scaled by the ratio measured with all trees on the factor with the fewest levels, and not by the number
    of trees.
    """
    factors, codes, origin = discrete_case()
    evidence = Evidence(factors, codes, kinds="categorical")
    train, _ = evidence.folds(5, seed=0)[0]

    def exact_fits(columns: list[int], n_trees: int) -> Callable[[object], object]:
        return lambda _: [
            GradientBoostingClassifier(n_estimators=n_trees, random_state=0).fit(codes[train], factors[train, j])
            for j in columns
        ]

    contestants = {
        "dci": lambda fresh: [score(fresh) for score in (dci_disentanglement, dci_completeness, dci_informativeness)],
        "few trees, all factors": exact_fits(list(range(len(LEVELS))), FEW_TREES),
        "few trees, factor 0": exact_fits([0], FEW_TREES),
        "all trees, factor 0": exact_fits([0], ALL_TREES),
    }
    fresh = lambda: Evidence(factors, codes, kinds="categorical")  # noqa: E731 - fits are memoised in evidence
    times = best_cpu_seconds(contestants, repetitions=2, prepare=fresh)
    scale = times["all trees, factor 0"] / times["few trees, factor 0"]
    return Measurement(
        subject=f"the three DCI metrics together, {origin}: n = 10,000, 10 codes, factors of {LEVELS} values",
        figure=times["few trees, all factors"] * scale / times["dci"],
        unit="times faster than fitting sklearn's GradientBoostingClassifier",
        target=Target("at least", 20),
        notes=(
            f"exact fits are timed on {FEW_TREES} of {ALL_TREES} trees for each of {sum(LEVELS)} classes and scaled by "
            f"{scale:.1f} (the ratio of all trees to {FEW_TREES} trees on factor 0)",
            seconds(times),
        ),
    )


def r2_time() -> Measurement:
    """Time of five fits with a selected penalty, relative to one least-squares fit of the same training size."""
    factors, codes = noisy_copies(n_rows=50_000, n_codes=512, n_factors=20)
    train, _ = Evidence(factors, codes).folds(5, seed=0)[0]
    train_codes, train_factors = codes[train], factors[train]
    contestants = {
        "r2": r2,
        "lstsq": lambda _: np.linalg.lstsq(train_codes, train_factors),
    }
    times = best_cpu_seconds(contestants, 2, lambda: Evidence(factors, codes), prepared_for=["r2"])
    return Measurement(
        subject="r2 (5 folds), n = 50,000, m = 512, d = 20",
        figure=times["r2"] / times["lstsq"],
        unit="times one numpy.linalg.lstsq of one fold's training rows",
        notes=(seconds(times),),
    )


def discrete_case() -> tuple[np.ndarray, np.ndarray, str]:
    """Return discrete factors, codes that depend on them, and their origin: golden case c09 or data of its shape."""
    if GOLDEN_CASE.exists():
        with np.load(GOLDEN_CASE) as case:
            return case["factors"], case["codes"], "golden case c09"
    rng = np.random.default_rng(0)
    factors = rng.integers(0, LEVELS, size=(10_000, len(LEVELS)))
    codes = 0.1 * rng.normal(size=(10_000, 10))
    codes[:, : len(LEVELS)] += factors / LEVELS
    return factors, codes, "a stand-in for golden case c09"
