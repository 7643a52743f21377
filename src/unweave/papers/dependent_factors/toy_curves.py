"""Scores on the toy data of 004, section 5, by mixing, dependence, nuisance, and numbers of bins, rows and factors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from unweave.estimators.information.histogram import Histogram
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    factor_vae_score,
    mig,
    minimality,
    modularity,
    sap,
    sufficiency,
)
from unweave.papers.dependent_factors.evidence.toys import with_lasso
from unweave.papers.experiment import Options
from unweave.progress import progress_bar
from unweave.score import Score
from unweave.synthetic.toys import DependentClasses, NuisedClasses

N_ROWS, N_BINS = 5000, 20
ALPHAS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
DELTAS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
BETAS = (0.0, 0.2, 0.4, 0.6, 0.8)
BINS = (10, 20, 40, 80)
ROWS = (500, 1000, 5000, 20_000)
N_FACTORS = (2, 4, 8, 16)
TIMED_ROWS = 2000

Scored = Callable[[Evidence], Score]


def with_bins(metric: Callable[..., Score], n_bins: int) -> Scored:
    """Return an information metric with bins of equal width, as in 004."""
    return partial(metric, estimator=Histogram(n_bins, "equal_width"))


MINIMALITY, SUFFICIENCY = with_bins(minimality, N_BINS), with_bins(sufficiency, N_BINS)
METRICS: dict[str, Scored] = {
    "FactorVAE": factor_vae_score,
    "MIG": mig,
    "SAP": sap,
    "modularity": modularity,
    "D (lasso)": with_lasso(dci_disentanglement),
    "C (lasso)": with_lasso(dci_completeness),
    "minimality": MINIMALITY,
    "sufficiency": SUFFICIENCY,
}


@dataclass(frozen=True)
class ToyCurves:
    """Values by panel and by curve at ``ticks`` of the quantity ``across``; ``label`` names the values."""

    across: str
    ticks: tuple[float, ...]
    panels: Mapping[str, Mapping[str, Sequence[float]]]
    label: str = "score"


def over_mixing(metrics: Mapping[str, Scored], options: Options, n_rows: int = N_ROWS) -> ToyCurves:
    """Scores by alpha, with a panel for every metric and a curve for every delta (Figures 2, 7 and 8)."""
    panels: dict[str, dict[str, list[float]]] = {name: {} for name in metrics}
    with progress_bar(len(DELTAS) * len(ALPHAS), options.progress, what="cells") as bar:
        for delta in DELTAS:
            for alpha in ALPHAS:
                evidence = _dependent(alpha, delta, n_rows, options)
                for name, metric in metrics.items():
                    panels[name].setdefault(f"delta = {delta:g}", []).append(metric(evidence).value)
                bar.advance()
    return ToyCurves("alpha", ALPHAS, panels)


def over_mixing_by_rows(metric: Scored, options: Options) -> ToyCurves:
    """Scores of one metric by alpha and delta, with a panel for every number of rows (Figures 12 and 13)."""
    found = {n: over_mixing({f"{n:,} rows": metric}, options, n) for n in ROWS}
    return ToyCurves("alpha", ALPHAS, {name: panel for part in found.values() for name, panel in part.panels.items()})


def over_nuisance(metrics: Mapping[str, Scored], options: Options) -> ToyCurves:
    """Scores by beta, with a curve for every metric (Figures 3 and 9)."""
    evidences = [_nuised(beta, N_ROWS, options) for beta in BETAS]
    curves = {name: [metric(evidence).value for evidence in evidences] for name, metric in metrics.items()}
    return ToyCurves("beta", BETAS, {"": curves})


def over_nuisance_by_bins(options: Options) -> ToyCurves:
    """Minimality and sufficiency by beta, with a curve for every number of bins (Figure 9)."""
    both = {"minimality": minimality, "sufficiency": sufficiency}
    panels = {
        name: over_nuisance({f"{n} bins": with_bins(metric, n) for n in BINS}, options).panels[""]
        for name, metric in both.items()
    }
    return ToyCurves("beta", BETAS, panels)


def over_nuisance_by_rows(options: Options) -> ToyCurves:
    """Minimality and sufficiency by beta, with a curve for every number of rows (Figure 14)."""
    panels: dict[str, dict[str, list[float]]] = {"minimality": {}, "sufficiency": {}}
    for n_rows in ROWS:
        for beta in BETAS:
            evidence = _nuised(beta, n_rows, options)
            for name, metric in (("minimality", MINIMALITY), ("sufficiency", SUFFICIENCY)):
                panels[name].setdefault(f"{n_rows:,} rows", []).append(metric(evidence).value)
    return ToyCurves("beta", BETAS, panels)


TIMED: dict[str, tuple[Scored, ...]] = {
    "FactorVAE": (factor_vae_score,),
    "SAP": (sap,),
    "MIG": (with_bins(mig, N_BINS),),
    "modularity": (with_bins(modularity, N_BINS),),
    "DCI with trees": (dci_disentanglement, dci_completeness),
    "minimality, sufficiency": (MINIMALITY, SUFFICIENCY),
}


def times(options: Options) -> ToyCurves:
    """CPU seconds by the number of factors; metrics that share a step are timed together (Figure 4)."""
    curves: dict[str, list[float]] = {}
    warm = Evidence(*DependentClasses(0.7, 1.0).sample(200)[:2], kinds="ordinal")
    for metric in (metric for metrics in TIMED.values() for metric in metrics):
        metric(warm)  # so that imports and first calls are not timed
    with progress_bar(len(TIMED) * len(N_FACTORS), options.progress, what="cells") as bar:
        for d in N_FACTORS:
            toy = DependentClasses(0.7, 1.0, n_factors=d).sample(TIMED_ROWS, rng=options.seed or 0)
            for name, metrics in TIMED.items():
                evidence = Evidence(toy.factors, toy.codes, kinds="ordinal")  # a new one without memoised results
                start = time.process_time()
                for metric in metrics:
                    metric(evidence)
                curves.setdefault(name, []).append(time.process_time() - start)
                bar.advance()
    return ToyCurves("number of factors", N_FACTORS, {"": curves}, "seconds of computing")


def _dependent(alpha: float, delta: float, n_rows: int, options: Options) -> Evidence:
    factors, codes, _ = DependentClasses(alpha, delta).sample(n_rows, rng=options.seed or 0)
    return Evidence(factors, codes, kinds="ordinal")


def _nuised(beta: float, n_rows: int, options: Options) -> Evidence:
    factors, codes, _ = NuisedClasses(beta).sample(n_rows, rng=options.seed or 0)
    return Evidence(factors, codes, kinds="ordinal")
