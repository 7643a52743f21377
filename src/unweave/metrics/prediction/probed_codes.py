"""Codes in the form that a probe accepts: dense, or sparse if the probe supports it."""

from __future__ import annotations

from typing import Any

from unweave.card import MetricUndefined
from unweave.estimators.probes.probe_protocols import Probe
from unweave.estimators.protocol_defaults import own_or_default
from unweave.estimators.sparse.sparse_table import SparseTable
from unweave.evidence import Evidence
from unweave.memo import memoised


def probed_codes(evidence: Evidence, probe: Probe) -> Any:
    """The codes for this probe; MetricUndefined if it does not support sparse codes, or not so many of them."""
    if evidence.sparse_codes is None:
        return evidence.codes
    largest = own_or_default(Probe.largest_sparse_fit, probe)()
    if not largest:
        raise MetricUndefined(
            f"{type(probe).__name__} needs dense codes, and the codes are sparse: use evaluate(..., screen=True) "
            "(--screen), or probe=Linear(), or pass codes.toarray() if it fits in memory."
        )
    if min(evidence.sparse_codes.shape) > largest:
        n_rows, n_codes = evidence.sparse_codes.shape
        raise MetricUndefined(
            f"{type(probe).__name__} with {n_codes} sparse codes and {n_rows} rows takes too long: use evaluate(..., "
            "screen=True) (--screen), which scores the codes that depend on a factor, or mcc, sap and mig, which have "
            "no such limit."
        )
    return _sparse_table(evidence)


@memoised(on="codes")
def _sparse_table(evidence: Evidence) -> SparseTable:
    assert evidence.sparse_codes is not None
    return SparseTable.of(evidence.sparse_codes)
