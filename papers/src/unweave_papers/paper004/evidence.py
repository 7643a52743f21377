"""Evidence for the claims of 004 about its toy models (section 5 and appendices): 121 to 134 and 136."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import Lasso
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    explicitness_ratio,
    factor_vae_score,
    factors_invariance,
    mig,
    minimality,
    modularity,
    nuisances_invariance,
    representations_invariance,
    sap,
    sufficiency,
)
from unweave.score import Score
from unweave.synthetic.toys import ClassesWithNuisance, DependentClasses
from unweave_papers.experiment import MeasuredFigure
from unweave_papers.ledger import Figures

N_ROWS = 5000
DELTAS = (1.0, 0.85, 0.7, 0.55, 0.4)


def with_lasso(metric: Callable[..., Score]) -> Callable[[Evidence], Score]:
    """DCI as defined in 004: a lasso probe whose importances are not normalised."""
    return partial(metric, probe=Lasso(0.001), normalise="none", weights="uniform")


N_SEEDS = 20
DCI_SEEDS = 20


@cache
def _classes(alpha: float, delta: float, n_rows: int = N_ROWS, seed: int = 0) -> Evidence:
    factors, codes, _ = DependentClasses(alpha=alpha, delta=delta).sample(n_rows, rng=seed)
    return Evidence(factors, codes, kinds="ordinal")


def _nuisance(beta: float, seed: int = 0, printed: bool = False) -> Evidence:
    """Codes with a nuisance; the printed classes go from 1 to K, ours from 0 to K - 1."""
    factors, codes, nuisance = ClassesWithNuisance(beta).sample(N_ROWS, rng=seed)
    return Evidence(factors, np.cos(np.pi * (factors + 1 + beta * nuisance) / 5) if printed else codes, kinds="ordinal")


SCORES: dict[str, Callable[[Evidence], Score]] = {
    "FactorVAE": factor_vae_score,
    "MIG": mig,
    "SAP": sap,
    "modularity": modularity,
    "DCI-D with trees": dci_disentanglement,
    "DCI-D with a lasso": with_lasso(dci_disentanglement),
    "DCI-C with a lasso": with_lasso(dci_completeness),
}


def _score_on_bins(name: str, evidence: Evidence, bins: int = 20) -> float:
    both = {"minimality": minimality, "sufficiency": sufficiency}
    return (
        both[name](evidence, estimator=Histogram(bins, "equal_width")).raw
        if name in both
        else SCORES[name](evidence).raw
    )


def of_classes(score: str, alpha: float, delta: float, bins: int = 20, n_rows: int = N_ROWS) -> MeasuredFigure:
    """Return a score of mixed and dependent classes."""
    seeds = range(DCI_SEEDS if score.startswith("DCI") else N_SEEDS)
    return MeasuredFigure.over_seeds([_score_on_bins(score, _classes(alpha, delta, n_rows, k), bins) for k in seeds])


def of_nuisance(score: str, beta: float, printed: bool = False) -> MeasuredFigure:
    """Return a score of codes with a nuisance."""
    return MeasuredFigure.over_seeds([_score_on_bins(score, _nuisance(beta, k, printed)) for k in range(N_SEEDS)])


def change_with_dependence(score: str, alpha: float, first: float, last: float) -> MeasuredFigure:
    """Return by how much a score changes between two levels of dependence; seeds are paired."""
    seeds = range(DCI_SEEDS if score.startswith("DCI") else N_SEEDS)
    pairs = [[_score_on_bins(score, _classes(alpha, delta, seed=k)) for delta in (first, last)] for k in seeds]
    return MeasuredFigure.over_seeds([b - a for a, b in pairs])


def change_with_nuisance(score: str) -> MeasuredFigure:
    """Return by how much a score changes if the nuisance has a strength of .8; seeds are paired."""
    seeds = range(DCI_SEEDS if score.startswith("DCI") else N_SEEDS)
    return MeasuredFigure.over_seeds(
        [_score_on_bins(score, _nuisance(0.8, k)) - _score_on_bins(score, _nuisance(0.0, k)) for k in seeds]
    )


def change_with_rows(score: str) -> MeasuredFigure:
    """Return the difference of a score between 20,000 and 2,000 rows."""
    many, few = ([_score_on_bins(score, _classes(0.85, 0.7, n, k)) for k in range(N_SEEDS)] for n in (20_000, 2000))
    return MeasuredFigure.over_seeds(np.subtract(many, few).tolist())


def _with_nuisance(alpha: float, beta: float, seed: int) -> Evidence:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 5, size=(4000, 3)).astype(float)
    nuisance = rng.integers(0, 5, size=(4000, 1)).astype(float)
    codes = alpha * factors + (1 - alpha) * np.roll(factors, 1, axis=1) + beta * nuisance
    return Evidence(factors, codes, nuisances=nuisance, kinds="ordinal")


def the_two_theorems() -> Figures:
    """Claim 132: minimal codes are invariant to other factors and nuisances, and sufficient codes are explicit."""
    scores: dict[str, Callable[[Evidence], Score]] = {
        "minimality": minimality,
        "factors invariance": factors_invariance,
        "nuisances invariance": nuisances_invariance,
        "sufficiency": sufficiency,
        "representations invariance": representations_invariance,
        "explicitness ratio": explicitness_ratio,
    }
    figures = {}
    for kind, mixing in (("clean", (1.0, 0.0)), ("mixed with a nuisance", (0.6, 0.3))):
        samples = [_with_nuisance(*mixing, seed) for seed in range(5)]
        for name, score in scores.items():
            figures[f"{name}, {kind}"] = MeasuredFigure.over_seeds([score(one).raw for one in samples])
    return figures


def minimality_is_equivalent_to_both_invariances() -> Figures:
    """Claim 133: a code (y1, y2 XOR n) of the factor y1 is invariant to y2 and to the nuisance n, but not minimal.

    Neither y2 nor n alone says anything about y2 XOR n, so both invariances are 1; half of the code's information is
    not about y1.
    """
    found = []
    for seed in range(N_SEEDS):
        y1, y2, nuisance = np.random.default_rng(seed).integers(0, 2, size=(3, 8000)).astype(float)
        code = 2 * y1 + (y2 != nuisance)
        evidence = Evidence(np.column_stack([y1, y2]), code[:, None], nuisances=nuisance[:, None], kinds="categorical")
        scores = (factors_invariance, nuisances_invariance, minimality)
        found.append([score(evidence).raw for score in scores])
    names = ("factors invariance", "nuisances invariance", "minimality")
    return {
        name: MeasuredFigure.over_seeds(column) for name, column in zip(names, zip(*found, strict=True), strict=True)
    }


REPEATS = 6


def _exponent(sizes: Sequence[int], seconds: FloatArray) -> MeasuredFigure:
    """Exponent of the growth of times (size x repeat): 1 is linear and 2 is quadratic."""
    slopes = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return MeasuredFigure.over_seeds(slopes.tolist())


def computing_times() -> Figures:
    """Claim 134: growth of CPU times with the number of factors, with the settings of Figure 4.

    Every time is the shorter of two runs on new evidence, and all metrics take turns, so that other work of the machine
    affects them alike.
    """
    from unweave_papers.paper004.encoders import TIMED  # which imports this module

    few, many = (8, 16, 32), (8, 16, 32, 64)
    rows = {d: DependentClasses(0.7, 1.0, n_factors=d).sample(2000) for d in many}

    def seconds(d: int, name: str) -> float:
        spent = []
        for _ in range(2):
            evidence = Evidence(rows[d].factors, rows[d].codes, kinds="ordinal")
            start = time.process_time()
            for metric in TIMED[name]:
                metric(evidence)
            spent.append(time.process_time() - start)
        return min(spent)

    ours, trees, others = "minimality, sufficiency", "DCI with trees", ("MIG", "modularity")
    cells = [(d, name) for d in many for name in (ours, *others)] + [(d, trees) for d in few]
    repeats = [{cell: seconds(*cell) for cell in cells} for _ in range(REPEATS + 1)][1:]  # the first may import modules
    times = {cell: np.array([one[cell] for one in repeats]) for cell in cells}
    figures = {
        "exponent of the time of minimality and sufficiency": _exponent(many, np.array([times[d, ours] for d in many])),
        "exponent of the time of DCI with trees": _exponent(few, np.array([times[d, trees] for d in few])),
    }
    for name in others:
        ratio = MeasuredFigure.over_seeds((times[64, ours] / times[64, name]).tolist())
        figures[f"time of minimality and sufficiency over that of {name}, 64 factors"] = ratio
    return figures
