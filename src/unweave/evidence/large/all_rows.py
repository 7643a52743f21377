"""Summary of rows that do not fit in memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.estimators.totals.pass_plan import PassPlan
from unweave.estimators.totals.row_totals import RowTotals, never_vary
from unweave.evidence.large.dask_frames import frame_blocks, is_dask_frame
from unweave.evidence.large.gathering import Gathered, gathered
from unweave.evidence.large.row_blocks import RowBlocks, array_blocks, is_large
from unweave.evidence.options import EvidenceOptions
from unweave.evidence.reading.columns import EvidenceError


class NeedsRows(Exception):
    """Raised on access to the rows of a summary; the metric is then computed on the random sample."""


@dataclass(frozen=True, eq=False)
class RowSummary:
    """Totals of all rows, with the plan, the number of planning rows, and the number of passes they come from."""

    plan: PassPlan
    totals: RowTotals
    n_planning: int
    n_passes: int

    @property
    def n_rows(self) -> int:
        """Number of rows without a missing value."""
        return self.totals.n_rows

    @property
    def constant(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Masks of the constant factors and of the constant codes."""
        same = never_vary(self.totals).tolist()
        d = len(self.plan.factors)
        return tuple(same[:d]), tuple(same[d:])

    def digest(self) -> bytes:
        """Digest of the totals."""
        digest = hashlib.blake2b(repr((self.n_rows, self.totals.n_dropped)).encode(), digest_size=16)
        moments = self.totals.moments
        for array in (moments.cross, moments.squares, *(factor.tables for factor in self.totals.factors)):
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()


def large_source(factors: object, codes: object, options: EvidenceOptions) -> RowBlocks | None:
    """The source of rows, if factors and codes have to be read in blocks; None if they are read at once."""
    if isinstance(factors, RowBlocks):
        if codes is not None:
            raise EvidenceError("RowBlocks contain the codes already: pass them without codes.")
        source = factors
    elif is_large(factors, codes):
        names: dict[str, Any] = {name: options.get(name) for name in ("factor_names", "code_names")}
        source = array_blocks(factors, codes, **names)
    elif is_dask_frame(factors) and is_dask_frame(codes):
        found = frame_blocks(factors, codes)
        if found is None:
            return None
        source = found
    else:
        return None
    for name in ("nuisances", "row_groups"):
        if options.get(name) is not None:
            raise EvidenceError(f"{name} are not read in blocks: leave them out, or score a sample of rows in memory.")
    return source


def read_large(source: RowBlocks, options: EvidenceOptions) -> tuple[RowSummary, Gathered, dict[str, Any]]:
    """The summary of all rows, the collected sample, and the factors of the sample by name, with text restored."""
    found = gathered(source, options.get("kinds"), options.get("missing", "refuse"))
    columns: dict[str, Any] = {}
    for j, (name, levels) in enumerate(zip(source.factor_names, found.levels, strict=True)):
        column = found.factors[:, j]
        columns[name] = column if levels is None else np.array(levels)[column.astype(np.intp)]
    return RowSummary(found.plan, found.totals, found.n_planning, found.n_passes), found, columns
