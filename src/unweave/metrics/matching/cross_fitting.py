"""Cross-fitting of a matching: the matching and its signs are chosen on training rows and scored on test rows."""

from __future__ import annotations

import numpy as np

from unweave.estimators.dependence.correlation import Correlation, features, held_out_correlation
from unweave.estimators.matching import best_matching
from unweave.evidence import Evidence
from unweave.metrics.matrices import correlation_matrix, factor_features, varying

N_FOLDS = 5


def held_out_matches(evidence: Evidence, correlation: Correlation, seed: int) -> dict[int, float]:
    """For every factor, the signed correlation with its matched code on held-out rows, averaged over folds."""
    free = np.flatnonzero(varying(evidence)).tolist()
    totals = dict.fromkeys(free, 0.0)
    for train, test in evidence.folds(N_FOLDS, seed):
        # a factor may be constant in the training rows; its correlations are then set to 0
        matrix = np.nan_to_num(correlation_matrix(evidence.rows(train), correlation)[:, free])
        for i, column in zip(*best_matching(matrix), strict=True):
            factor = factor_features(evidence, free[column], correlation)
            code = features(correlation, evidence.codes[:, i])
            on_test = held_out_correlation((factor[train], factor[test]), (code[train], code[test]))
            totals[free[column]] += on_test / N_FOLDS
    return totals
