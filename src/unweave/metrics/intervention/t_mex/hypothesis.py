"""The hypothesised adjacency of codes and factors, with which T-MEX compares the test results."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.arrays import FloatArray
from unweave.estimators.matching import best_matching
from unweave.evidence import Evidence, EvidenceError


def one_code_each(found: FloatArray, p_values: FloatArray) -> FloatArray:
    """The one-to-one adjacency with the fewest mismatches; ties are decided by the smaller sum of p-values.

    >>> one_code_each(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    expected = np.zeros_like(found)
    expected[best_matching(found - p_values / (2 * len(found) * found.shape[1]))] = 1.0
    return expected


def as_given(adjacency: ArrayLike, evidence: Evidence) -> FloatArray:
    """Check the given adjacency and return it as an array of 0 and 1 (m x d)."""
    try:
        expected = np.asarray(adjacency, dtype=np.float64)
    except (TypeError, ValueError):
        expected = np.empty(0)
    if expected.shape != (evidence.n_codes, evidence.n_factors) or not np.isin(expected, (0.0, 1.0)).all():
        raise EvidenceError(
            f"adjacency has shape {expected.shape}: pass 0 or 1 for each of {evidence.n_codes} codes (rows) "
            f"and {evidence.n_factors} factors (columns)."
        )
    return expected
