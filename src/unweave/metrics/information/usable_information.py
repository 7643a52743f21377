"""Usable information of all codes about every factor, on held-out rows."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.binning import Binning, bin_edges, edges_passed, levels
from unweave.estimators.information.mutual_information import NearestNeighbour
from unweave.estimators.information.usable_information import UsableInformation
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import varying

Joint = UsableInformation | NearestNeighbour
DISCRETE = (FactorKind.ORDINAL, FactorKind.CATEGORICAL)


def split(evidence: Evidence, estimator: Joint, seed: int) -> tuple[Rows, Rows, tuple[Finding, ...]]:
    """Training and test rows for the estimator, and a caveat where it does not take them all."""
    if isinstance(estimator, NearestNeighbour):
        return np.arange(evidence.n_rows), np.arange(0), ()
    train, test = evidence.folds(max(2, round(1 / estimator.test_share)), seed)[0]
    most = estimator.most_rows
    if evidence.n_rows <= most:
        return train, test, ()
    drawn = np.random.default_rng(seed).permutation
    n_test = round(most * estimator.test_share)
    caveat = Finding("classifiers_sampled_rows", n_rows=most, of=evidence.n_rows)
    return np.sort(drawn(train)[: most - n_test]), np.sort(drawn(test)[:n_test]), (caveat,)


@memoised(on="both")
def held_out_shares(
    evidence: Evidence, estimator: UsableInformation, bins: int, binning: Binning, seed: int
) -> tuple[FloatArray, tuple[Finding, ...]]:
    """Share of every factor's cross-entropy that all codes together save; nan for factors that do not vary."""
    train, test, caveats = split(evidence, estimator, seed)
    shares = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        labels = labels_from_training(evidence, j, bins, binning, train)
        shares[j] = estimator.share(evidence.codes, labels, train, test)
    return shares, caveats


def labels_from_training(evidence: Evidence, j: int, bins: int, binning: Binning, train: Rows) -> Labels:
    """Levels of a discrete factor; bins of any other, with edges from the training rows."""
    column = evidence.factors[:, j]
    if evidence.kinds[j] in DISCRETE:
        return levels(column)
    return edges_passed(column, bin_edges(column[train], bins, binning))
