"""Codes as probes read them: dense, or sparse where the probe takes such."""

from __future__ import annotations

from typing import Any

from unweave.card import MetricUndefined
from unweave.estimators.probes.linear_probes import Linear
from unweave.estimators.probes.probe_protocols import Probe
from unweave.estimators.sparse.sparse_table import SparseTable
from unweave.evidence import Evidence
from unweave.memo import memoised

LARGEST_SPARSE_FIT = 4096  # rows or codes, whichever are fewer: the side of the matrix that a linear probe inverts


def probed_codes(evidence: Evidence, probe: Probe) -> Any:
    """The codes as this probe reads them; sparse ones are read by `Linear` alone, as long as its matrix is small."""
    if evidence.sparse_codes is None:
        return evidence.codes
    if not isinstance(probe, Linear):
        raise MetricUndefined(
            f"{type(probe).__name__} needs dense codes, and the codes are sparse: use evaluate(..., screen=True) "
            "(--screen), or probe=Linear(), or pass codes.toarray() if it fits in memory."
        )
    if min(evidence.sparse_codes.shape) > LARGEST_SPARSE_FIT:
        n_rows, n_codes = evidence.sparse_codes.shape
        raise MetricUndefined(
            f"A linear probe of {n_codes} sparse codes and {n_rows} rows takes too long: use evaluate(..., "
            "screen=True) (--screen), which scores the codes that depend on a factor, or mcc, sap and mig, which take "
            "any number."
        )
    return _sparse_table(evidence)


@memoised(on="codes")
def _sparse_table(evidence: Evidence) -> SparseTable:
    assert evidence.sparse_codes is not None
    return SparseTable.of(evidence.sparse_codes)
