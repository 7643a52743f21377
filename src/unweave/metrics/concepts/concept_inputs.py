"""Input of the concept measures: binary concepts, and codes stored by columns."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence import Evidence, EvidenceError
from unweave.evidence.reading.columns import quoted


def concepts_and_codes(concepts: object, codes: object = None) -> tuple[FloatArray, tuple[str, ...], SparseColumns]:
    """Concepts as 0 and 1 (n x d), their names, and the codes by columns; ``concepts`` may be an `Evidence` with both.

    >>> concepts_and_codes({"red": [0, 1, 1]}, [[0.0], [2.0], [0.0]])[0].tolist()
    [[0.0], [1.0], [1.0]]
    """
    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    columns = np.empty((evidence.n_rows, evidence.n_factors))
    for j, name in enumerate(evidence.factor_names):
        values = np.unique(evidence.factors[:, j])
        if values.size != 2:
            raise EvidenceError(
                f"Concept {quoted(name)} has {values.size} values: a concept has two, such as 0 for absent and 1 for "
                "present."
            )
        columns[:, j] = evidence.factors[:, j] == values[1]
    return columns, evidence.factor_names, sparse_or_dense_columns(evidence)


def sparse_or_dense_columns(evidence: Evidence) -> SparseColumns:
    """The codes stored by columns, whether they were given dense or sparse."""
    if evidence.sparse_codes is not None:
        return evidence.sparse_codes
    return columns_of_dense(evidence.codes)


def columns_of_dense(dense: FloatArray) -> SparseColumns:
    """The non-zero entries of a table (n x m), stored column by column."""
    if np.count_nonzero(dense) == dense.size:
        rows = np.tile(np.arange(len(dense)), dense.shape[1])
        return SparseColumns(len(dense), dense.T.ravel(), rows, np.arange(dense.shape[1] + 1) * len(dense))
    rows, places = np.nonzero(dense.T)[::-1]
    starts = np.r_[0, np.cumsum(np.bincount(places, minlength=dense.shape[1]))]
    return SparseColumns(len(dense), dense[rows, places], rows, starts)
