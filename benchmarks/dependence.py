"""CPU time of information metrics by the number of factors (as in 004), relative to a plain loop over scikit-learn.

The loop is the usual implementation of one such metric: it bins the codes and calls `mutual_info_score` for every pair.
Every metric is timed on new evidence; minimality and sufficiency share one matrix and are timed together, as in 004.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.metrics import mutual_info_score

from unweave import Evidence
from unweave.estimators.information import Histogram
from unweave.metrics import dci_completeness, dci_disentanglement, mig, minimality, modularity, sufficiency
from unweave.synthetic.toys import DependentClasses

WIDTH = Histogram(20, "equal_width")
TIMED: dict[str, Sequence[Callable[[Evidence], object]]] = {
    "minimality + sufficiency": (minimality, lambda evidence: sufficiency(evidence, estimator=WIDTH)),
    "mig": (mig,),
    "modularity": (modularity,),
    "mig + modularity + minimality + sufficiency": (mig, modularity, minimality, sufficiency),
}
SLOW = {"dci disentanglement + completeness": (dci_disentanglement, dci_completeness)}


def loop_over_sklearn(factors: np.ndarray, codes: np.ndarray, bins: int = 20) -> np.ndarray:
    edges = [np.linspace(column.min(), column.max(), bins + 1)[1:-1] for column in codes.T]
    labels = [np.digitize(column, edge) for column, edge in zip(codes.T, edges, strict=True)]
    return np.array([[mutual_info_score(factor, label) for factor in factors.T] for label in labels])


def rows(
    n_factors: Sequence[int] = (2, 4, 8, 16, 32), n_rows: int = 5000, repeats: int = 3, with_dci: bool = False
) -> list[dict[str, object]]:
    """Return CPU seconds, those of the loop, and their ratio for every metric and number of factors."""
    found: list[dict[str, object]] = []
    for d in n_factors:
        factors, codes, _ = DependentClasses(alpha=0.7, delta=1.0, n_factors=d).sample(n_rows)
        loop = _cpu_seconds(lambda factors=factors, codes=codes: loop_over_sklearn(factors, codes), 1)
        for name, metrics in (TIMED | (SLOW if with_dci else {})).items():

            def once(factors=factors, codes=codes, metrics=metrics) -> None:
                evidence = Evidence(factors, codes, kinds="ordinal")
                for metric in metrics:
                    metric(evidence)

            seconds = _cpu_seconds(once, 1 if name in SLOW else repeats)
            found.append(
                {"metric": name, "factors": d, "seconds": seconds, "loop seconds": loop, "ratio": loop / seconds}
            )
    return found


def wide_rows(n_rows: int = 10_000, n_codes: int = 512, n_factors: int = 20) -> list[dict[str, object]]:
    """Time four metrics together on many codes; the loop is timed on a tenth of the codes and scaled."""
    rng = np.random.default_rng(12)
    factors = rng.normal(size=(n_rows, n_factors))
    mixed = np.tanh(factors @ rng.normal(size=(n_factors, n_codes - n_factors)))
    codes = np.column_stack([factors, mixed]) + 0.1 * rng.normal(size=(n_rows, n_codes))
    edges = np.linspace(-3, 3, 19)
    part = codes[:, :: max(1, n_codes // 51)]
    loop = _cpu_seconds(lambda: loop_over_sklearn(np.digitize(factors, edges), part), 1) * n_codes / part.shape[1]

    def together(evidence: Evidence, **minimality_options: object) -> None:
        for metric in (mig, modularity, sufficiency):
            metric(evidence)
        minimality(evidence, **minimality_options)

    name = "mig + modularity + minimality + sufficiency"
    built = [Evidence(factors, codes) for _ in range(8)]  # results are memoised, so each run needs new evidence
    # minimality uses other bins by default, so two matrices are computed
    timed = {name: min(_cpu_seconds(lambda e=e: together(e), 1) for e in built[:4])}
    one_matrix = {"estimator": Histogram()}
    timed[f"{name}, one matrix"] = min(_cpu_seconds(lambda e=e: together(e, **one_matrix), 1) for e in built[4:])
    return [
        {"metric": name, "factors": n_factors, "seconds": seconds, "loop seconds": loop, "ratio": loop / seconds}
        for name, seconds in timed.items()
    ]


def _cpu_seconds(run: Callable[[], object], repeats: int) -> float:
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    print(f"{'metric':56} {'factors':>7} {'seconds':>9} {'loop':>9} {'ratio':>7}")
    for row in [*rows(with_dci=False), *wide_rows()]:
        numbers = f"{row['factors']:7} {row['seconds']:9.4f} {row['loop seconds']:9.4f} {row['ratio']:7.0f}"
        print(f"{row['metric']:56} {numbers}")
