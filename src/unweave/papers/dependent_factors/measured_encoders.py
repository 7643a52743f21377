"""Metrics and targets of trained encoders, on images with increasingly dependent factors (004, section 6).

The encoders are not retrained: dependent factors are used only for the images on which they are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from unweave.arrays import FloatArray
from unweave.datasets.dependence import Confounder, CorrelatedPair, Dependence
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.probes.linear_probes import Lasso
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
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import codes_of
from unweave.progress import progress_bar

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


@dataclass(frozen=True)
class Measured:
    """Metrics and a target (each levels x encoders) of encoders at all levels of dependence."""

    levels: tuple[str, ...]
    encoders: tuple[str, ...]
    metrics: dict[str, FloatArray]
    target: FloatArray


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
        found = []
        for code in evidence.codes.T:
            forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0)
            forest.fit(code[train, None], labels[train])
            found.append(float((forest.predict(code[test, None]) == labels[test]).mean()))
        best.append(max(found))
    return float(np.mean(best))


def robustness(evidence: Evidence) -> float:
    """IRS with the bins and distances of disentanglement_lib, as in 004 (the target of Figure 6)."""
    return irs(evidence, bins=10, binning="equal_width", quantile=1.0, overall="largest", values="alike").raw


def metrics_against(target: Measure, label: str, options: Options) -> Measured:
    """Compute all metrics and a target at all levels of dependence."""
    return _measured(METRICS, target, label, options)


def bins_against(name: str, target: Measure, label: str, options: Options) -> Measured:
    """Compute one metric with several numbers of bins, and a target."""
    wanted = {f"{bins} bins": partial(_with_bins, name, bins) for bins in BINS}
    return _measured(wanted, target, label, options, prefix=f"{name}, ")


def samples_against(name: str, target: Measure, label: str, options: Options) -> Measured:
    """Compute one metric on several numbers of rows, and a target on all rows."""
    wanted = {f"{n_rows} samples": partial(_on_rows, name, n_rows) for n_rows in SAMPLES}
    return _measured(wanted, target, label, options, prefix=f"{name}, ")


def _with_bins(name: str, bins: int, evidence: Evidence) -> float:
    if name == "minimality":
        return minimality(evidence, estimator=Histogram(bins, "equal_width")).raw
    return sufficiency(evidence, estimator=Histogram(bins)).raw


def _on_rows(name: str, n_rows: int, evidence: Evidence) -> float:
    return METRICS[name](evidence.rows(np.arange(min(n_rows, evidence.n_rows))))


def _measured(
    wanted: Mapping[str, Measure], target: Measure, label: str, options: Options, prefix: str = ""
) -> Measured:
    n_rows = options.n_rows or N_ROWS
    levels: Sequence[str] = tuple(LEVELS)
    found: dict[str, list[list[float]]] = {name: [] for name in (*wanted, label)}
    encoders: tuple[str, ...] = ()
    with progress_bar(len(levels), options.progress) as bar:
        for level in levels:
            bar.step(f"004: {level}")
            codes = codes_of(options, n_rows, dependences=LEVELS[level], label=level.replace(", ", " sigma "))
            encoders = tuple(codes)
            for measures in found.values():
                measures.append([])
            for encoder, encoded in codes.items():
                source = "given" if options.codes else "published"
                path = options.folder / "004" / f"{source} {encoder} {level} {n_rows} {options.seed or 0}.json"
                kept, evidence = KeptNumbers(path), encoded.evidence()
                for name, measure in wanted.items():
                    found[name][-1].append(kept.number(prefix + name, partial(measure, evidence)))
                found[label][-1].append(kept.number(label, partial(target, evidence)))
    arrays = {name: np.array(rows) for name, rows in found.items()}
    return Measured(tuple(levels), encoders, {name: arrays[name] for name in wanted}, arrays[label])
