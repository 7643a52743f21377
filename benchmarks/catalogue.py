"""Time and memory of all metrics of factors and codes together, and of four information metrics."""

from __future__ import annotations

from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.dependence import wide_rows
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.prediction import ALL_TREES, FEW_TREES, LEVELS, discrete_case
from benchmarks.timing import best_cpu_seconds, peak_gigabytes
from unweave.evidence import Evidence
from unweave.metrics import CATALOGUE

LARGE_CATALOGUE = """
import benchmarks
import numpy as np
from unweave.evaluation import evaluate
rng = np.random.default_rng(11)
factors = rng.normal(size=(50_000, 10))
mixed = np.tanh(factors @ rng.normal(size=(10, 22)))
codes = np.column_stack([factors, mixed]) + 0.1 * rng.normal(size=(50_000, 32))
assert all(row.score is not None for row in evaluate(factors, codes).rows)
"""


def whole_catalogue(evidence: Evidence) -> None:
    """Compute every metric that needs only factors and codes, with shared computations."""
    for entry in CATALOGUE.values():
        if entry.card.refusal(evidence) is None:
            entry(evidence)


def catalogue_time() -> Measurement:
    """Time of all metrics together relative to the usual fits for DCI alone, both with categorical factors."""
    factors, codes, origin = discrete_case()
    train, _ = Evidence(factors, codes).split(0.2, seed=0)

    def exact_fits(columns: list[int], n_trees: int) -> list[object]:
        recipe = {"n_estimators": n_trees, "random_state": 0}
        return [GradientBoostingClassifier(**recipe).fit(codes[train], factors[train, j]) for j in columns]

    contestants = {
        "catalogue": whole_catalogue,
        "few trees, all factors": lambda _: exact_fits(list(range(len(LEVELS))), FEW_TREES),
        "few trees, factor 0": lambda _: exact_fits([0], FEW_TREES),
        "all trees, factor 0": lambda _: exact_fits([0], ALL_TREES),
    }
    times = best_cpu_seconds(contestants, 1, lambda: Evidence(factors, codes, kinds="categorical"))
    scale = times["all trees, factor 0"] / times["few trees, factor 0"]
    return Measurement(
        subject=f"all metrics of factors and codes, {origin}, categorical factors of {LEVELS} values",
        figure=times["catalogue"] / (times["few trees, all factors"] * scale),
        unit="times the time of sklearn's GradientBoostingClassifier for DCI alone",
        target=Target("at most", 0.2),
        notes=(f"slice: {FEW_TREES} of {ALL_TREES} trees, x {scale:.1f}", seconds(times)),
    )


def catalogue_sharing() -> Measurement:
    """Time of all metrics relative to the sum of their distinct computations, each timed on new evidence."""
    factors, codes, origin = discrete_case()
    # one metric for each shared computation; the other metrics use its results
    distinct = (
        "mcc", "r2", "dci_disentanglement", "dci_explicitness", "sap", "explicitness", "mig", "t_mex",
        "beta_vae_score", "factor_vae_score", "relevance_factor_vae_score", "irs", "infomec_modularity",
        "infomec_explicitness", "minimality", "factors_invariance", "representations_invariance", "identification",
    )  # fmt: skip
    contestants = {name: CATALOGUE[name] for name in distinct} | {"catalogue": whole_catalogue}
    times = best_cpu_seconds(contestants, 2, lambda: Evidence(factors, codes))
    return Measurement(
        subject=f"all metrics of factors and codes, {origin}",
        figure=times["catalogue"] / sum(times[name] for name in distinct),
        unit=f"times the sum of {len(distinct)} metrics that share no computation with each other",
        target=Target("at most", 1.3),
        notes=(seconds({"catalogue": times["catalogue"]}),),
    )


def catalogue_memory() -> Measurement:
    """Peak memory of an evaluation of a size that is common on laptops."""
    return Measurement(
        subject="evaluate with all metrics, n = 50,000, m = 32, d = 10, including interpreter, imports and inputs",
        figure=peak_gigabytes(LARGE_CATALOGUE),
        unit="GB peak memory of a new process",
        target=Target("at most", 2),
    )


def four_information_metrics() -> Measurement:
    """Speed of MIG, modularity, minimality and sufficiency relative to the usual loop for MIG alone."""
    found = wide_rows()[0]
    return Measurement(
        subject="mig, modularity, minimality and sufficiency on existing evidence, n = 10,000, m = 512, d = 20",
        figure=float(str(found["ratio"])),
        unit="times faster than a loop over sklearn's mutual_info_score for MIG alone",
        target=Target("at least", 50),
        notes=(
            "the loop is timed on a tenth of the codes and scaled",
            seconds({"four metrics": float(str(found["seconds"])), "loop": float(str(found["loop seconds"]))}),
        ),
    )
