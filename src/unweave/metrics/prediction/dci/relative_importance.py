"""The importance matrix R of DCI disentanglement (D) and completeness (C), its normalisation, and their weighting.

Normalisation decides the weight of a factor that no code predicts. Boosting libraries scale each factor's importances
to sum to 1 ('factor'): a probe that only fits noise then has the same weight as a good one, and dropping factors lowers
D. Unscaled importances ('none') depend on the factors' units. 'skill' scales each factor's importances to the skill of
its probe on held-out rows, so that well predicted factors have more weight.
"""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
from scipy.special import entr

from unweave.arrays import FloatArray
from unweave.card import metric
from unweave.estimators.probes.probe_protocols import Probe
from unweave.estimators.probes.probes import BoostedTrees
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import importance, varying

Normalise = Literal["factor", "skill", "none"]
Weights = Literal["importance", "uniform"]
DEFAULT_PROBE = BoostedTrees()
NOTHING_USED = Finding("probe_used_no_code")

# fields of the card that the three metrics of DCI have in common
dci_metric = functools.partial(
    metric,
    equivalence="elementwise",
    min_rows=50,
    chance="by permutation",
    reference=(
        "Eastwood and Williams (2018), 'A framework for the quantitative evaluation of disentangled representations'"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.02,
    takes_sparse_codes=True,
    version=2,
)


def relative_importance(
    evidence: Evidence, probe: Probe, normalise: Normalise, test_share: float, seed: int
) -> FloatArray:
    """The normalised importance matrix R (codes x factors that vary)."""
    found = importance(evidence, probe, test_share, seed)
    matrix, skill = found.matrix[:, varying(evidence)], found.skill[varying(evidence)]
    if normalise == "none":
        return matrix
    totals = matrix.sum(axis=0)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    return shares if normalise == "factor" else shares * np.clip(np.nan_to_num(skill), 0.0, 1.0)


def concentration(rows: FloatArray) -> FloatArray:
    """1 - H(row / sum) / log(length) of every row: 1 for a single non-zero entry, 0 for equal entries, nan for zeros.

    >>> concentration(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [1.0, 0.0]
    """
    totals = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, totals, out=np.full_like(rows, np.nan), where=totals > 0)
    return np.asarray(1 - entr(shares).sum(axis=1) / np.log(rows.shape[1]))


def weighted_mean(scores: FloatArray, totals: FloatArray, weights: Weights) -> float:
    """Mean of the scores with positive total importance, weighted by it or uniformly; nan if there are none."""
    used = totals > 0
    if not used.any():
        return float("nan")
    return float(np.average(scores[used], weights=totals[used] if weights == "importance" else None))
