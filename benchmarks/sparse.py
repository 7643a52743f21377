"""Sparse codes: CPU seconds and memory of mcc, mig, sap and single codes, relative to a loop over dense columns.

Run ``python -m benchmarks.sparse [ROWS CODES DENSITY CONCEPTS]``. The loop uses numpy and scikit-learn in the usual
way. It is timed on a few columns and scaled to the number of codes.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from unweave import Evidence
from unweave.metrics import mcc, mig, sap
from unweave.metrics.concepts import single_codes

STAND_IN_COLUMNS = 3


def codes_and_concepts(
    n_rows: int, n_codes: int, density: float, n_concepts: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return random sparse codes, the first of which contain the concepts, and the concepts."""
    rng = np.random.default_rng(0)
    concepts = (rng.random((n_rows, n_concepts)) < 0.05).astype(np.float64)
    n_entries = int(n_rows * n_codes * density)
    places = rng.integers(n_rows, size=n_entries), rng.integers(n_codes, size=n_entries)
    noise = sparse.coo_array((rng.random(n_entries), places), shape=(n_rows, n_codes))
    follow = sparse.coo_array(concepts)
    own = sparse.coo_array((follow.data, follow.coords), shape=(n_rows, n_codes))
    return (noise.tocsr() + own.tocsr()), concepts


def stand_in(codes: sparse.csr_array, concepts: np.ndarray) -> float:
    """Return scaled CPU seconds of correlations and areas under the curve, one dense column after another."""
    from sklearn.metrics import roc_auc_score

    columns = codes[:, :STAND_IN_COLUMNS].toarray()
    start = time.process_time()
    for column in columns.T:
        np.corrcoef(column, concepts.T)
        for concept in concepts.T:
            roc_auc_score(concept, column)
    return (time.process_time() - start) / STAND_IN_COLUMNS * codes.shape[1]


def main() -> None:
    """Print value and time of each metric, the total time and memory, and the time of the loop."""
    n_rows, n_codes, density, n_concepts = 100_000, 16_384, 0.01, 50
    if len(sys.argv) > 4:
        n_rows, n_codes, density, n_concepts = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    codes, concepts = codes_and_concepts(n_rows, n_codes, density, n_concepts)
    print(f"{n_rows} rows, {n_codes} codes, {codes.nnz} entries, {n_concepts} concepts")
    total = time.process_time()
    evidence = Evidence(concepts, codes)
    print(f"read: {time.process_time() - total:.1f} s")
    for name, compute in {
        "mcc": lambda: mcc(evidence).raw,
        "mig": lambda: mig(evidence).raw,
        "sap": lambda: sap(evidence).raw,
        "single codes": lambda: single_codes(concepts, codes).auroc.mean(),
    }.items():
        start = time.process_time()
        value = compute()
        print(f"{name}: {value:.4f} in {time.process_time() - start:.1f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"in total {time.process_time() - total:.1f} CPU s, peak memory {peak:.2f} GB")
    print(f"scikit-learn and numpy, column by column, without mig: {stand_in(codes, concepts):.0f} CPU s")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
