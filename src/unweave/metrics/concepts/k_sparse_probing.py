"""k-sparse probing: how well the k codes that separate a concept best detect it together.

The codes are chosen by their standardised mean difference on the training rows: |mean of present - mean of absent|
divided by the standard deviation. A logistic probe on them is scored by its AUROC on the held-out rows (Gurnee et al.
2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence import EvidenceError
from unweave.evidence.splits import train_and_test_rows
from unweave.metrics.concepts.concept_inputs import concepts_and_codes
from unweave.metrics.concepts.single_codes import auroc_matrix


@dataclass(frozen=True)
class SparseProbes:
    """Held-out AUROC for every number k of codes and every concept (len(k) x d), and the codes used (d x max k).

    The codes of a concept are sorted from the most to the least different between present and absent samples.
    """

    concepts: tuple[str, ...]
    k: tuple[int, ...]
    auroc: FloatArray
    codes: NDArray[np.intp]


def k_sparse_probing(
    concepts: object, codes: object = None, *, k: Sequence[int] = (1, 2, 5, 16), test_share: float = 0.3, seed: int = 0
) -> SparseProbes:
    """Held-out AUROC of logistic probes on the best 1, 2, 5 and 16 codes of every concept; random codes score 1/2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(400) < 0.3
    >>> codes = np.column_stack([2.0 * red, rng.normal(size=(400, 3))])
    >>> k_sparse_probing({"red": red.astype(int)}, codes, k=(1, 2)).auroc.round(2).tolist()
    [[1.0], [1.0]]
    """
    from sklearn.linear_model import LogisticRegression

    present, names, columns = concepts_and_codes(concepts, codes)
    if not k or min(k) < 1:
        raise EvidenceError(f"k={tuple(k)} are not numbers of codes: use whole numbers from 1.")
    train, test = train_and_test_rows(len(present), None, test_share, seed, list(present.T))
    train, test = np.sort(train), np.sort(test)
    most = min(max(k), columns.shape[1])
    chosen = _most_different(present[train], columns.some_rows(train), most)
    areas = np.full((len(k), len(names)), np.nan)
    for j in range(len(names)):
        dense = columns.chosen(chosen[j]).dense(slice(0, most))
        labels = present[:, j]
        if np.ptp(labels[train]) == 0 or np.ptp(labels[test]) == 0:
            continue  # a rare concept may be absent from the training or the test rows
        scale = dense[train].std(axis=0)
        scaled = dense / np.where(scale > 0, scale, 1.0)
        for i, size in enumerate(k):
            probe = LogisticRegression(max_iter=300).fit(scaled[train, :size], labels[train])
            areas[i, j] = _auroc(labels[test], probe.decision_function(scaled[test, :size]))
    return SparseProbes(names, tuple(k), areas, chosen)


def _most_different(present: FloatArray, columns: SparseColumns, most: int) -> NDArray[np.intp]:
    """Codes with the largest standardised mean difference between present and absent samples, sorted (d x most)."""
    n, n_present = len(present), np.maximum(present.sum(axis=0), 1)
    totals, squares = columns.sums(columns.values), columns.sums(np.square(columns.values))
    with_concept = columns.products(present)
    difference = with_concept / n_present - (totals[:, None] - with_concept) / np.maximum(n - n_present, 1)
    spread = np.sqrt(np.maximum(squares / n - np.square(totals / n), 0.0))
    size = np.divide(np.abs(difference), spread[:, None], out=np.zeros_like(difference), where=spread[:, None] > 0)
    return np.argsort(-size, axis=0, kind="stable")[:most].T


def _auroc(labels: FloatArray, scores: FloatArray) -> float:
    rows: Rows = np.arange(labels.size)
    column = SparseColumns(labels.size, scores, rows, np.array([0, labels.size]))
    return float(auroc_matrix(labels[:, None], column)[0, 0])
