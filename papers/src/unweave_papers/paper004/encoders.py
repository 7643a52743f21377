"""Measured encoders, rank correlations and curves of toys."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.datasets.dependence import Confounder, CorrelatedPair, Dependence
from unweave.datasets.interface import GridDataSet
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import Lasso
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    factor_vae_score,
    irs,
    mig,
    minimality,
    modularity,
    sap,
    sufficiency,
)
from unweave.progress import progress_bar
from unweave.score import Score
from unweave.synthetic.toys import ClassesWithNuisance, DependentClasses
from unweave_papers.experiment import Options
from unweave_papers.paper004.evidence import with_lasso
from unweave_papers.stored import StoredNumbers
from unweave_papers.trained import annealed_vae, beta_vaes, codes_of, factor_vaes, total_correlation_vaes, trained

if TYPE_CHECKING:
    from unweave.models import TrainedModel

Measure = Callable[[Evidence], float]
N_ROWS = 2000
ROWS_OF_FOREST, TREES, DEPTH = 1000, 20, 5

# from independent factors to the strongest dependence, with the pairs and sigmas of 004's code for dSprites
LEVELS: dict[str, tuple[Dependence, ...]] = {
    "independent": (),
    "one pair": (CorrelatedPair("x", "y", 0.1),),
    "two pairs, .4": (CorrelatedPair("shape", "scale", 0.4), CorrelatedPair("x", "y", 0.4)),
    "two pairs, .1": (CorrelatedPair("shape", "scale", 0.1), CorrelatedPair("x", "y", 0.1)),
    "two pairs, .04": (CorrelatedPair("shape", "scale", 0.04), CorrelatedPair("x", "y", 0.04)),
    "confounded": (Confounder("shape", 0.2),),
}

LASSO = Lasso(0.002)
METRICS: dict[str, Measure] = {
    "FactorVAE": lambda evidence: factor_vae_score(evidence).raw,
    "MIG": lambda evidence: mig(evidence).raw,
    "SAP": lambda evidence: sap(evidence).raw,
    "modularity": lambda evidence: modularity(evidence).raw,
    "DCI D": lambda evidence: dci_disentanglement(evidence, probe=LASSO).raw,
    "DCI C": lambda evidence: dci_completeness(evidence, probe=LASSO).raw,
    "minimality": lambda evidence: minimality(evidence).raw,
    "sufficiency": lambda evidence: sufficiency(evidence).raw,
}

BINS = (5, 10, 15, 20, 30, 50)
SAMPLES = (250, 500, 1000, 2000)


def best_single_code_accuracy(evidence: Evidence) -> float:
    """Held-out accuracy of a random forest on the best single code of each factor, averaged over factors (Figure 5).

    It uses 1,000 rows, of which a fifth is held out, and trees of depth 5. 004 grows 100 trees; with one code, 20 trees
    give the same accuracy within .01 (.237 and .231 for the published VAE, .325 and .328 for beta-TCVAE).
    """
    from sklearn.ensemble import RandomForestClassifier

    rows = np.random.default_rng(0).permutation(evidence.n_rows)[:ROWS_OF_FOREST]
    train, test = np.split(rows, [int(0.8 * rows.size)])
    best = []
    for factor in evidence.factors.T:
        labels = np.unique(factor, return_inverse=True)[1]
        accuracies = []
        for code in evidence.codes.T:
            forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0)
            forest.fit(code[train, None], labels[train])
            accuracies.append(float((forest.predict(code[test, None]) == labels[test]).mean()))
        best.append(max(accuracies))
    return float(np.mean(best))


def robustness(evidence: Evidence) -> float:
    """IRS with the bins and distances of disentanglement_lib, as in 004 (the target of Figure 6)."""
    return irs(evidence, bins=10, binning="equal_width", quantile=1.0, overall="largest", values="alike").raw


Target = tuple[Measure, str]  # what metrics are compared with, and its name


def bins_of(name: str) -> dict[str, Measure]:
    """Return a metric with several numbers of bins."""

    def scored(bins: int, evidence: Evidence) -> float:
        if name == "minimality":
            return minimality(evidence, estimator=Histogram(bins, "equal_width")).raw
        return sufficiency(evidence, estimator=Histogram(bins)).raw

    return {f"{bins} bins": partial(scored, bins) for bins in BINS}


def samples_of(name: str) -> dict[str, Measure]:
    """Return a metric on several numbers of rows."""

    def scored(n_rows: int, evidence: Evidence) -> float:
        return METRICS[name](evidence.rows(np.arange(min(n_rows, evidence.n_rows))))

    return {f"{n_rows} samples": partial(scored, n_rows) for n_rows in SAMPLES}


# widths and depths of the MLPs; with six losses and two seeds these are 36 encoders
TRUNKS, N_OF_EACH = ((64, 64), (128, 128), (128, 128, 128)), 2
LOSS_STEPS = 4000
Named = Sequence[tuple[str, "TrainedModel"]]


def of_losses(data: Callable[[], GridDataSet], options: Options, trunks: Sequence[tuple[int, ...]] = TRUNKS) -> Named:
    """Train the six losses of 004 with MLPs of several widths and depths."""
    from unweave.models import HFSVAE, AdaGVAE

    images, steps = data(), options.n_steps or LOSS_STEPS
    options = replace(options, n_seeds=options.n_seeds or N_OF_EACH, n_steps=steps)
    losses = [
        *beta_vaes([16]), annealed_vae(options), *total_correlation_vaes([8]), *factor_vaes([20]), AdaGVAE(), HFSVAE()
    ]  # fmt: skip
    return [
        (f"{images.name} {'x'.join(map(str, hidden))} {model.name} {steps}", model)
        for hidden in trunks
        for model in trained(options, losses, 10, images, hidden)
    ]


def of_published(wanted: Mapping[str, Measure], target: Target, prefix: str, options: Options) -> Correlations:
    """Correlate metrics with a target over the published encoders, or over given codes, at all levels of dependence."""
    n_rows, source = options.n_rows or N_ROWS, options.codes.name if options.codes else "published"

    def encoders(level: str) -> Iterator[tuple[str, Evidence]]:
        codes = codes_of(options, n_rows, dependences=LEVELS[level], label=level.replace(", ", " sigma "))
        for name, encoded in codes.items():
            yield f"{source} {name} {level} {n_rows} {options.seed or 0}", encoded.evidence()

    return at_all_levels(encoders, wanted, target, options, prefix)


def at_all_levels(
    encoders: Callable[[str], Iterable[tuple[str, Evidence]]],
    wanted: Mapping[str, Measure],
    target: Target,
    options: Options,
    prefix: str = "",
) -> Correlations:
    """Correlate metrics with a target; ``encoders`` yields names of files and evidence at a level."""
    measure, label = target
    measures = {prefix + name: metric for name, metric in wanted.items()} | {label: measure}
    scores: dict[str, list[list[float]]] = {name: [[] for _ in LEVELS] for name in measures}
    with progress_bar(len(LEVELS), options.progress) as bar:
        for place, level in enumerate(LEVELS):
            bar.step(f"004: {level}")
            for file, evidence in encoders(level):
                stored = StoredNumbers(options.folder / "004" / f"{file}.json")
                for key, metric in measures.items():
                    scores[key][place].append(stored.number(key, partial(metric, evidence)))
    arrays = {key: np.array(rows) for key, rows in scores.items()}
    return correlations(tuple(LEVELS), {name: arrays[prefix + name] for name in wanted}, arrays[label])


N_DRAWS = 2000


@dataclass(frozen=True)
class Correlations:
    """Spearman correlations of metrics with a target (levels x metrics) and their 90 % intervals."""

    levels: tuple[str, ...]
    metrics: tuple[str, ...]
    n_encoders: int
    values: FloatArray
    lower: FloatArray
    upper: FloatArray
    draws: FloatArray  # levels x metrics x draws of the encoders, the same for all metrics

    def of(self, metric: str) -> FloatArray:
        """Correlations of one metric at all levels."""
        return self.values[:, self.metrics.index(metric)]


def correlations(levels: tuple[str, ...], metrics: Mapping[str, FloatArray], target: FloatArray) -> Correlations:
    """Compute rank correlations of metrics and a target (each levels x encoders) at every level of dependence."""
    pairs = [[(scores[i], target[i]) for scores in metrics.values()] for i in range(len(levels))]
    draws = np.array([[resampled(*pair) for pair in row] for row in pairs])
    values = np.array([[spearman(*pair) for pair in row] for row in pairs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of metrics that are undefined in all draws
        lower, upper = np.nanquantile(draws, (0.05, 0.95), axis=-1)
    return Correlations(levels, tuple(metrics), target.shape[1], values, lower, upper, draws)


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Rank correlation; nan if either side is constant or undefined.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 27.0]))
    1.0
    """
    if np.isnan(first).any() or np.isnan(second).any() or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1].round(12))


def resampled(first: FloatArray, second: FloatArray, seed: int = 0) -> FloatArray:
    """Rank correlations of resampled encoders; nan if either side is constant or undefined."""
    drawn = np.random.default_rng(seed).integers(len(first), size=(N_DRAWS, len(first)))
    if np.isnan(first).any() or np.isnan(second).any():
        return np.full(N_DRAWS, np.nan)
    ranks = [rankdata(side[drawn], axis=1) for side in (first, second)]
    one, other = (table - table.mean(axis=1, keepdims=True) for table in ranks)
    sizes = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    return np.divide((one * other).sum(axis=1), sizes, out=np.full(N_DRAWS, np.nan), where=sizes > 0).round(12)


TOY_ROWS, N_BINS = 5000, 20
ALPHAS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
DELTAS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
BETAS = (0.0, 0.2, 0.4, 0.6, 0.8)
TOY_BINS = (10, 20, 40, 80)
ROWS = (500, 1000, 5000, 20_000)
N_FACTORS = (2, 4, 8, 16, 32)
TIMED_ROWS = 2000
Scored = Callable[[Evidence], Score]


def with_bins(metric: Callable[..., Score], n_bins: int) -> Scored:
    """Return an information metric with bins of equal width, as in 004."""
    return partial(metric, estimator=Histogram(n_bins, "equal_width"))


MINIMALITY, SUFFICIENCY = with_bins(minimality, N_BINS), with_bins(sufficiency, N_BINS)
TOY_METRICS: dict[str, Scored] = {
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


def over_mixing(metrics: Mapping[str, Scored], options: Options, n_rows: int = TOY_ROWS) -> ToyCurves:
    """Scores by alpha, with a panel for every metric and a curve for every delta (Figures 2, 7 and 8)."""
    panels: dict[str, dict[str, list[float]]] = {name: {} for name in metrics}
    with progress_bar(len(DELTAS) * len(ALPHAS), options.progress, what="cells") as bar:
        for delta in DELTAS:
            for alpha in ALPHAS:
                factors, codes, _ = DependentClasses(alpha, delta).sample(n_rows, rng=options.seed or 0)
                evidence = Evidence(factors, codes, kinds="ordinal")
                for name, metric in metrics.items():
                    panels[name].setdefault(f"delta = {delta:g}", []).append(metric(evidence).value)
                bar.advance()
    return ToyCurves("alpha", ALPHAS, panels)


def over_mixing_by_rows(metric: Scored, options: Options) -> ToyCurves:
    """Scores of one metric by alpha and delta, with a panel for every number of rows (Figures 12 and 13)."""
    curves = {n: over_mixing({f"{n:,} rows": metric}, options, n) for n in ROWS}
    return ToyCurves("alpha", ALPHAS, {name: panel for part in curves.values() for name, panel in part.panels.items()})


def over_nuisance(metrics: Mapping[str, Scored], options: Options) -> ToyCurves:
    """Scores by beta, with a curve for every metric (Figures 3 and 9)."""
    evidences = [_with_nuisance(beta, TOY_ROWS, options) for beta in BETAS]
    curves = {name: [metric(evidence).value for evidence in evidences] for name, metric in metrics.items()}
    return ToyCurves("beta", BETAS, {"": curves})


def over_nuisance_by_bins(options: Options) -> ToyCurves:
    """Minimality and sufficiency by beta, with a curve for every number of bins (Figure 9)."""
    both = {"minimality": minimality, "sufficiency": sufficiency}
    panels = {
        name: over_nuisance({f"{n} bins": with_bins(metric, n) for n in TOY_BINS}, options).panels[""]
        for name, metric in both.items()
    }
    return ToyCurves("beta", BETAS, panels)


def over_nuisance_by_rows(options: Options) -> ToyCurves:
    """Minimality and sufficiency by beta, with a curve for every number of rows (Figure 14)."""
    panels: dict[str, dict[str, list[float]]] = {"minimality": {}, "sufficiency": {}}
    for n_rows in ROWS:
        for beta in BETAS:
            evidence = _with_nuisance(beta, n_rows, options)
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


def _with_nuisance(beta: float, n_rows: int, options: Options) -> Evidence:
    factors, codes, _ = ClassesWithNuisance(beta).sample(n_rows, rng=options.seed or 0)
    return Evidence(factors, codes, kinds="ordinal")
