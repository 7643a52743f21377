"""Digest of evidence; equal digests mean equal data."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from unweave.evidence.jacobians import digest_of

if TYPE_CHECKING:
    from unweave.evidence.gate import Evidence


def fingerprint_of(evidence: Evidence) -> str:
    """Hexadecimal digest of all data that a score can depend on."""
    digest = hashlib.blake2b(digest_size=16)
    spreads = () if evidence.posterior is None else evidence.posterior.spreads
    sparse = evidence.sparse_codes
    codes = (evidence.codes,) if sparse is None else (sparse.values, np.asarray(sparse.rows, np.int64), sparse.starts)
    tables = (evidence.factors, *codes, evidence.nuisances, *spreads, *evidence.factor_tables.values())
    for array in tables:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array.T).data)
    if evidence.row_groups is not None:
        digest.update(b"row groups")
        digest.update(evidence.row_groups.data)
    if evidence.all_rows is not None:
        digest.update(evidence.all_rows.digest())
    digest.update(digest_of(evidence.decoder) + digest_of(evidence.reference))
    names = (
        evidence.factor_names,
        evidence.factor_levels,
        evidence.code_names,
        evidence.nuisance_names,
        evidence.code_groups,
    )
    digest.update(repr((evidence.declared_kinds, names)).encode())
    for part in evidence.labelled_parts:
        digest.update(part.fingerprint.encode())
    return digest.hexdigest()
