"""Measure the computing time of every metric, and write the table with which numbers of draws are planned.

Run ``python -m benchmarks.costs`` if metrics have become much slower or faster; it takes about ten minutes. Times are
CPU seconds of one thread, for continuous and for categorical factors. The non-negative coefficients minimise the sum of
squared relative errors. With names of metrics as arguments, only the computations of these metrics are measured.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from unweave import Evidence, Posterior, ladder
from unweave.estimators.probes import MOST_TREE_ROWS
from unweave.evidence import FactorKind
from unweave.memo import DRAWN_TOGETHER, drawn_together
from unweave.metrics import CATALOGUE
from unweave.trust import budget as costs
from unweave.trust.budget import SMALLEST, TERMS, DataSizes

LADDER = "ladder"  # which evaluations compute beside the metrics
TABLE = Path(costs.__file__).with_name("costs.json")
SHARED = {
    "correlation": ("mcc",),
    "trees": ("dci_disentanglement", "dci_completeness", "dci_informativeness"),
    "capacity": ("dci_explicitness", "dci_size"),
    "histograms": ("mig", "mig_sup", "dcimig", "modularity", "minimality", "sufficiency"),
    "infomec neighbours": ("infomec_modularity", "infomec_compactness"),
    "usable information": ("infomec_explicitness", "explicitness_ratio", "representations_invariance"),
    "posterior grid": ("rmig", "jemmig", "informativeness", "misjed"),
    "sample mixtures": ("separability", "sepin_at_k", "wsepin", "indin_at_k", "windin"),
    "factor mixtures": (
        *("unibound", "unique_upper_bound", "redundancy_lower_bound"),
        *("redundancy_upper_bound", "synergy_lower_bound", "synergy_upper_bound"),
    ),
}
MOST_ROWS = {
    "identification": 10_000,
    "usable information": 10_000,
    "factors_invariance": 10_000,
    "nuisances_invariance": 10_000,
    "sample mixtures": 10_000,
    "factor mixtures": 10_000,
    "three_way_information": 10_000,
    LADDER: 10_000,
    "trees": MOST_TREE_ROWS,
}
GRID = [
    *((300, 3, 2), (300, 10, 5), (1000, 10, 5), (3000, 10, 5), (10_000, 10, 5), (30_000, 10, 5)),
    *((1000, 40, 5), (1000, 10, 20), (3000, 40, 10), (1000, 120, 5)),
]


def world(n: int, m: int, d: int, kind: str) -> Evidence:
    """Return evidence whose codes are those of a random network with noise: no search ends early, as for real codes."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n, d)) if kind == "continuous" else rng.integers(8, size=(n, d)).astype(float)
    hidden = np.tanh((factors - factors.mean(axis=0)) / factors.std(axis=0) @ rng.normal(size=(d, 64)) / np.sqrt(d))
    codes = hidden @ rng.normal(size=(64, m)) / 8 + 0.1 * rng.normal(size=(n, m))
    spread = rng.uniform(0.1, 0.3, size=(n, m))
    besides = {"nuisances": rng.normal(size=(n, 2)), "target": factors[:, 0]}
    return Evidence(factors, Posterior(codes, spread), kinds=kind, **besides)


def measured(metric: str, evidence: Evidence) -> float:
    """Return the smallest CPU time of up to three computations in seconds; slow metrics are repeated less often."""
    seconds: list[float] = []
    while len(seconds) < (3 if sum(seconds) < 1 else 2 if sum(seconds) < 10 else 1):
        fresh = evidence.rows(np.arange(evidence.n_rows))
        if metric == LADDER:
            CATALOGUE["identification"](fresh)  # the ladder of an evaluation continues from it
        start = time.process_time()
        (ladder if metric == LADDER else CATALOGUE[metric])(fresh)
        seconds.append(time.process_time() - start)
    return min(seconds)


def share_of_permutation(metric: str, evidences: Iterable[Evidence]) -> float:
    """Return the cost of a permutation relative to that of the score, averaged over data of several sizes, at most 1.

    Ten permutations are drawn together, as floors draw them. Results that depend on factors or codes alone are computed
    before, with the score.
    """
    shares = []
    for evidence in evidences:
        score = measured(metric, evidence)
        shared = evidence.rows(np.arange(evidence.n_rows))
        CATALOGUE[metric](shared)
        draw = drawn_together(shared.permuted, DRAWN_TOGETHER)
        start = time.process_time()
        for seed in range(DRAWN_TOGETHER):
            CATALOGUE[metric](draw(seed))
        shares.append((time.process_time() - start) / DRAWN_TOGETHER / max(score, SMALLEST))
    return float(f"{min(np.mean(shares), 1.0):.2g}")


def fitted(points: list[tuple[DataSizes, float]]) -> dict[str, float]:
    """Fit the coefficients of the cost terms to pairs of data sizes and seconds."""
    matrix = np.array([[term(sizes) for term in TERMS.values()] for sizes, _ in points])
    seconds = np.array([max(taken, SMALLEST) for _, taken in points])
    scaled = matrix / seconds[:, None]
    norms = np.linalg.norm(scaled, axis=0)
    found = nnls(scaled / norms, np.ones(len(points)), maxiter=1000)[0] / norms
    return {name: float(f"{value:.3g}") for name, value in zip(TERMS, found, strict=True) if value > 0}


def main() -> None:
    """Measure all metrics, fit the coefficients and write the table."""
    warnings.simplefilter("ignore")
    together = {metric for metrics in SHARED.values() for metric in metrics}
    any_world = world(300, 3, 2, "continuous")
    alone = {
        name: (name,)
        for name, entry in CATALOGUE.items()
        if name not in together and entry.card.lacking(any_world) is None
    }
    alone[LADDER] = (LADDER,)
    content: dict[str, dict[str, object]] = {}
    grids = {point: [world(*point, kind) for kind in ("continuous", "categorical")] for point in GRID}
    wanted = set(sys.argv[1:])
    if TABLE.exists():
        content = json.loads(TABLE.read_text(encoding="utf-8"))["works"]
    for name, metrics in {**SHARED, **alone}.items():
        if wanted and not wanted & set(metrics):
            continue
        fixed = name in MOST_ROWS and name != "trees"  # whose parts are parts of all rows
        found: dict[str, object] = {"metrics": metrics, "most_rows": MOST_ROWS.get(name), "fixed_rows": fixed}
        kinds = CATALOGUE[metrics[0]].card.factor_kinds
        takes_classes = kinds is None or FactorKind.CATEGORICAL in kinds
        for place, what in enumerate(("numbers", "classes")[: 1 + takes_classes]):
            points = [
                (DataSizes(n, m, d), measured(metrics[0], evidences[place]))
                for (n, m, d), evidences in grids.items()
                if n <= MOST_ROWS.get(name, n) and not (name.endswith("mixtures") and m * d > 400)
            ]
            found[what] = coefficients = fitted(points)
            work = costs.Work(name, coefficients)
            errors = [work.seconds(sizes) / (taken + SMALLEST) for sizes, taken in points]
            print(f"{name:26s} {what} predicted / measured {min(errors):.2f} to {max(errors):.2f}", file=sys.stderr)
        at = [
            evidence
            for (n, m, d), evidences in grids.items()
            if 1000 <= n <= 10_000 and (m, d) == (10, 5)
            for evidence in evidences
        ]
        found["share_of_permutation"] = 1.0 if name == LADDER else share_of_permutation(metrics[0], at[::2])
        if takes_classes and name != LADDER:
            found["share_of_permuted_classes"] = share_of_permutation(metrics[0], at[1::2])
        content[name] = found
        TABLE.write_text(json.dumps({"works": content}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
