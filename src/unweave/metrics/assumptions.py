"""Assumptions that several metrics share: each has a test on the evidence and a finding to report if it fails."""

from __future__ import annotations

import numpy as np

from unweave.card import Assumption
from unweave.estimators.dependence.correlation import Spearman
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import factor_correlation_matrix
from unweave.randomness import random_stream

CORRELATED = 0.3
ROWS_ENOUGH = 20_000
CODES_PER_ROW = 0.05


@memoised(on="factors")
def _factors_not_correlated(evidence: Evidence) -> bool:
    if evidence.n_rows > ROWS_ENOUGH:  # the standard error of a correlation is then below 0.01
        chosen = random_stream(0, "rows for correlations of factors").choice(
            evidence.n_rows, ROWS_ENOUGH, replace=False
        )
        evidence = evidence.factors_alone().rows(chosen)
    between = factor_correlation_matrix(evidence, Spearman())[np.triu_indices(evidence.n_factors, k=1)]
    return not (between > CORRELATED + 2 / np.sqrt(evidence.n_rows)).any()


def _few_codes_per_row(evidence: Evidence) -> bool:
    return evidence.n_codes <= CODES_PER_ROW * evidence.n_rows


FACTORS_NOT_CORRELATED = Assumption(
    Finding("factors_correlated"),
    _factors_not_correlated,
)
FACTORS_HELD_ALONE = Assumption(
    Finding("factors_not_held_alone"),
    lambda evidence: evidence.sampler is not None or _factors_not_correlated(evidence),
)
FEW_CODES_PER_ROW = Assumption(
    Finding("many_codes_per_row"),
    _few_codes_per_row,
)
