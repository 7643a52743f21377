"""Two ways to compute a cell: ours, and that of the released code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.card import metric, seed_from
from unweave.card.decorator import metric_of
from unweave.estimators.correlation import best_matching
from unweave.estimators.information import Histogram
from unweave.estimators.probes import GradientBoosting
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    dci_informativeness,
    infomec_compactness,
    infomec_explicitness,
    infomec_modularity,
    mcc,
    mig,
    r2,
    t_mex,
)
from unweave.metrics.matching import BY_NAME
from unweave.metrics.matrices import correlation_matrix
from unweave.score import Score
from unweave.sweeps import AllRows, Measurement, Protocol, measured
from unweave.sweeps.sweep import scored

REFERENCE = "The released code of 'Who Guards the Guardians?' (003)"


def released_split(n_rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows into four fifths and one fifth as the released code does, with numpy's legacy generator.

    >>> [rows.size for rows in released_split(11, seed=42)]
    [8, 3]
    """
    order = np.random.RandomState(seed).permutation(n_rows)  # the random stream of the released code
    n_train = int(0.8 * n_rows)
    return order[:n_train], order[n_train:]


@metric(
    measures="one-to-one recovery",
    equivalence="permutation and scale",
    min_rows=2,
    chance="by permutation",
    cost="one n x m x d matrix product and an exact assignment",
    fails_when="there are few rows: with two rows it is 1",
    reference=REFERENCE,
)
def released_mcc(evidence: Evidence, *, correlation: Literal["pearson", "spearman"] = "pearson") -> Score:
    """Mean correlation of the best matching, for two or more rows; constant columns count as 0.

    Examples
    --------
    >>> round(float(released_mcc([[0.0, 1.0], [1.0, 0.0]], [[3.0], [5.0]])), 3)
    1.0
    """
    matrix = np.nan_to_num(correlation_matrix(evidence, BY_NAME[correlation]))
    return Score(raw=float(matrix[best_matching(matrix)].mean()))


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=5,  # the authors' tables have no R2 for fewer rows
    bounds=(-np.inf, 1.0),
    chance=0.0,
    cost="one least squares fit",
    fails_when="columns have a nonzero mean, or codes differ by many orders of magnitude (small codes are ignored)",
    reference=REFERENCE,
)
def released_r2(
    evidence: Evidence, *, in_sample: bool = False, clip: bool = True, rng: int | np.random.Generator | None = 0
) -> Score:
    """Variance of a held-out fifth of the rows explained by least squares without intercept on the other four fifths.

    Parameters
    ----------
    in_sample : bool
        Fit and evaluate on all rows, as the fifth experiment does.
    clip : bool
        Clip every factor's value to [0, 1] before averaging; the oldest runs did not.
    rng : int or Generator
        Seed of the split.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(float(released_r2(factors, factors @ [[1.0, 2.0], [0.0, 1.0]])), 3)
    1.0
    """
    everything = np.arange(evidence.n_rows)
    train, test = (everything, everything) if in_sample else released_split(evidence.n_rows, seed_from(rng))
    weights = np.linalg.lstsq(evidence.codes[train], evidence.factors[train], rcond=None)[0]
    truth = evidence.factors[test]
    errors = np.square(truth - evidence.codes[test] @ weights).mean(axis=0)
    spread = truth.var(axis=0)
    explained = np.where(spread > 0, 1 - errors / np.where(spread > 0, spread, 1.0), 0.0)
    explained = np.clip(explained, 0.0, 1.0) if clip else explained
    return Score(
        raw=float(explained.mean()), per_factor=dict(zip(evidence.factor_names, explained.tolist(), strict=True))
    )


ProtocolName = Literal["ours", "authors"]
MAIN = ("DCI-D", "MCC-P", "MCC-S", "R2")
SUITE = (*MAIN, "MCC-RDC", "MIG", "InfoM", "T-MEX")
ALL = (*SUITE, "DCI-C", "DCI-I", "InfoC", "InfoE")
ENCODER_SEEDS_FROM = 1_000_000


@dataclass(frozen=True)
class ReleasedCode:
    """Protocol of the released code: its seeds for world, encoder and split, and a fifth of the rows for most metrics.

    Without ``split`` all rows are used and world and encoder share the seed, as in the fifth experiment.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Independent
    >>> [found] = ReleasedCode().scores(Independent(3), PermutedAndScaled(), 100, 42, {"R2": released_r2})
    >>> round(found.value, 3)
    1.0
    """

    split: bool = True

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """Sample factors and codes, and compute these metrics."""
        factors = np.asarray(world.sample(n_rows, np.random.default_rng(seed)), dtype=np.float64)
        codes = encoder.encode(factors, np.random.default_rng(seed + (ENCODER_SEEDS_FROM if self.split else 0)))
        test = released_split(n_rows, seed)[1] if self.split else np.arange(n_rows)

        # two separate Evidence objects: an overflow in the training rows must not invalidate the held-out rows
        @cache
        def evidence(of_all: bool) -> Evidence:
            rows = slice(None) if of_all else test
            return Evidence(factors[rows], codes[rows], kinds="continuous")

        def score(entry: Any) -> Score:
            return scored(entry, evidence(metric_of(entry) is released_r2), seed)

        return [measured(label, partial(score, entry)) for label, entry in metrics.items()]


OURS: dict[str, Any] = {
    "DCI-D": dci_disentanglement,
    "MCC-P": mcc,
    "MCC-S": partial(mcc, correlation="spearman"),
    "R2": r2,
    "MCC-RDC": partial(mcc, correlation="rdc"),
    "MIG": mig,
    "InfoM": infomec_modularity,
    "T-MEX": partial(t_mex, score="alignment"),
    "DCI-C": dci_completeness,
    "DCI-I": dci_informativeness,
    "InfoC": infomec_compactness,
    "InfoE": infomec_explicitness,
}

AUTHORS: dict[str, Any] = OURS | {
    "DCI-D": partial(dci_disentanglement, probe=GradientBoosting()),
    "MCC-P": released_mcc,
    "MCC-S": partial(released_mcc, correlation="spearman"),
    "R2": released_r2,
    "MIG": partial(mig, estimator=Histogram(20, "equal_width")),
    "T-MEX": partial(t_mex, score="alignment", test="linear", correction="none"),
    "DCI-C": partial(dci_completeness, probe=GradientBoosting()),
    "DCI-I": partial(dci_informativeness, probe=GradientBoosting()),
}


def metrics_and_protocol(name: ProtocolName, run: str, labels: tuple[str, ...]) -> tuple[dict[str, Any], Protocol]:
    """Return the metrics with these labels, and the protocol with which a run of this name computes them."""
    if name == "ours":
        return {label: OURS[label] for label in labels}, AllRows()
    chosen = {label: AUTHORS[label] for label in labels}
    if "R2" in chosen and run.startswith("exp05"):
        chosen["R2"] = partial(released_r2, in_sample=True)
    if "R2" in chosen and run == "exp15":  # the oldest run did not clip values to [0, 1]
        chosen["R2"] = partial(released_r2, clip=False)
    return chosen, ReleasedCode(split=not run.startswith("exp05"))
