"""The whole sample-based catalogue in one go, and what four information metrics cost together."""

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
    """Every metric that factors and codes are enough for, sharing what it can."""
    for entry in CATALOGUE.values():
        if entry.card.lacking(evidence) is None:
            entry(evidence)


def catalogue_time() -> Measurement:
    """All metrics together, as a share of what one of them takes elsewhere; both read the factors as categories."""
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
        unit="times what sklearn's GradientBoostingClassifier takes for DCI alone",
        target=Target("at most", 0.2),
        notes=(f"slice: {FEW_TREES} of {ALL_TREES} trees, x {scale:.1f}", seconds(times)),
    )


def catalogue_sharing() -> Measurement:
    """The catalogue costs little more than its distinct shared computations, each timed on evidence of its own."""
    factors, codes, origin = discrete_case()
    # one metric for each thing that is computed once: the others read it
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
        unit=f"times the sum of {len(distinct)} metrics that share nothing with each other",
        target=Target("at most", 1.3),
        notes=(seconds({"catalogue": times["catalogue"]}),),
    )


def catalogue_memory() -> Measurement:
    """A common size of evaluation on a laptop."""
    return Measurement(
        subject="evaluate with all metrics, n = 50,000, m = 32, d = 10: interpreter, imports, inputs and all",
        figure=peak_gigabytes(LARGE_CATALOGUE),
        unit="GB peak of a fresh process",
        target=Target("at most", 2),
    )


def four_information_metrics() -> Measurement:
    """MIG, modularity, minimality and sufficiency against the loop that other libraries run for MIG alone."""
    found = wide_rows()[0]
    return Measurement(
        subject="mig, modularity, minimality and sufficiency together on built evidence, n = 10,000, m = 512, d = 20",
        figure=float(str(found["ratio"])),
        unit="times faster than a loop over sklearn's mutual_info_score for MIG alone",
        target=Target("at least", 50),
        notes=(
            "slice: the loop runs on a tenth of the codes and is scaled",
            seconds({"four metrics": float(str(found["seconds"])), "loop": float(str(found["loop seconds"]))}),
        ),
    )
