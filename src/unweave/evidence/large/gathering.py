"""One pass over all rows, which computes totals and a random sample for metrics that need rows.

Bin edges have to be known before rows are counted. They are order statistics of the planning rows: all rows if there
are few enough, and otherwise contiguous stretches that are spread over all rows. If the shares of the bins among all
rows differ from those among the planning rows, the planning rows are not representative, because the rows are not in
random order. A second pass then uses order statistics of the random sample as edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.totals.from_totals import largest_drift
from unweave.estimators.totals.pass_plan import COUNTED, PassPlan, Role, planned_pass
from unweave.estimators.totals.row_totals import RowTotals, totals_of
from unweave.evidence.kinds import DeclaredKind, FactorKind, KindsGiven, resolved_kinds
from unweave.evidence.large.block_columns import BlockReader
from unweave.evidence.large.row_blocks import BlockPart, RowBlocks
from unweave.evidence.reading.columns import EvidenceError, Levels, quoted
from unweave.randomness import random_stream

STRETCHES = 16
STRETCHED_ROWS = 250_000  # the standard error of the share of a bin that contains 1/20 of all rows is then .0004
LARGEST_DRIFT = 0.01  # of a bin's share among all rows from that among planning rows, for a single pass
ROLES: dict[FactorKind, Role] = {
    FactorKind.CONTINUOUS: "number",
    FactorKind.ORDINAL: "levels",
    FactorKind.CATEGORICAL: "categories",
    FactorKind.CIRCULAR: "circle",
}


@dataclass(frozen=True, eq=False)
class Gathered:
    """Totals of all rows, the factors and codes of the random sample, and how the totals were computed."""

    plan: PassPlan
    totals: RowTotals
    kinds: tuple[DeclaredKind, ...]
    factors: FloatArray
    codes: FloatArray
    levels: tuple[Levels | None, ...]
    n_passes: int
    n_planning: int


@dataclass(frozen=True, eq=False)
class Task:
    """The pass over one part of the source, which one worker computes."""

    part: BlockPart
    plan: PassPlan
    reader: BlockReader
    first_row: int
    wanted: Rows

    def __call__(self) -> tuple[RowTotals, FloatArray, FloatArray, dict[int, Levels]]:
        """Totals of the part, factors and codes of its sampled rows, and its levels of text."""
        totals: RowTotals | None = None
        kept: list[tuple[FloatArray, FloatArray]] = []
        row = self.first_row
        for columns, given_codes in self.part.blocks():
            n_given = len(given_codes)
            factors, codes, complete = self.reader.read(columns, given_codes, row)
            here = self.wanted[(self.wanted >= row) & (self.wanted < row + n_given)] - row
            if complete is not None:
                here = (np.cumsum(complete) - 1)[here[complete[here]]]
            kept.append((factors[here], codes[here]))
            if len(codes):
                with np.errstate(over="ignore", invalid="ignore"):
                    found = totals_of(self.plan, factors, codes, n_given - len(codes))
                self.reader.check_reach(found.lowest, found.highest, row)
                totals = found if totals is None else totals + found
            row += n_given
        if totals is None:
            raise EvidenceError(f"No row from {self.first_row} on is complete: fill values in or leave the part out.")
        sampled = [np.concatenate([pair[side] for pair in kept]) for side in (0, 1)]
        return totals, sampled[0], sampled[1], self.reader.levels


def gathered(source: RowBlocks, kinds: KindsGiven, missing: Literal["refuse", "drop"]) -> Gathered:
    """Totals of all rows of a source, and a random sample of them, from one pass over the rows.

    A second pass is needed if the planning rows are not representative.
    """
    if not source.n_rows:
        raise EvidenceError("There are no rows: pass at least a few samples.")
    reader = BlockReader(source.factor_names, source.code_names, missing)
    factors, codes = _planning_rows(source, reader)
    is_text = tuple(j in reader.levels for j in range(len(source.factor_names)))
    declared = resolved_kinds(factors, source.factor_names, is_text, kinds)
    n_planning = len(codes)
    plan = _plan(factors, codes, declared)
    totals, factors, codes = _pass(source, plan, reader)
    n_passes = 1
    if n_planning + totals.n_dropped < source.n_rows and largest_drift(plan, totals) > LARGEST_DRIFT:
        plan, n_planning, n_passes = _plan(factors, codes, declared), len(codes), 2
        totals, factors, codes = _pass(source, plan, reader)
    levels = tuple(reader.levels.get(j) for j in range(len(source.factor_names)))
    return Gathered(plan, totals, declared, factors, codes, levels, n_passes, n_planning)


def _plan(factors: FloatArray, codes: FloatArray, kinds: Iterable[DeclaredKind]) -> PassPlan:
    listed = list(kinds)
    roles, periods = [ROLES[declared.kind] for declared in listed], [declared.period for declared in listed]
    return planned_pass(factors, codes, roles, periods, COUNTED)


def _planning_rows(source: RowBlocks, reader: BlockReader) -> tuple[FloatArray, FloatArray]:
    """Factors and codes of all rows if there are few enough, otherwise of stretches spread over all rows."""
    n_columns = len(source.factor_names) + len(source.code_names)
    n_rows = min(source.planning_rows, max(16 * source.planning_rows // n_columns, 1000))
    read = [reader.read(columns, codes, row)[:2] for row, (columns, codes) in _stretches(source, n_rows)]
    factors, codes = (np.concatenate([pair[side] for pair in read]) for side in (0, 1))
    if not len(codes):
        raise EvidenceError("Every row that was examined has a missing value: fill values in or leave columns out.")
    lowest, highest = (np.concatenate([of(factors, axis=0), of(codes, axis=0)]) for of in (np.min, np.max))
    reader.check_reach(lowest, highest, 0)
    return np.asfortranarray(factors), np.asfortranarray(codes)


def _stretches(source: RowBlocks, n_rows: int) -> Iterator[tuple[int, Any]]:
    """Yield blocks of all rows if there are at most ``n_rows``, otherwise stretches; each with its first row number."""
    starts = np.cumsum([0, *(part.n_rows for part in source.parts)])
    if source.n_rows <= n_rows:
        for first, part in zip(starts.tolist(), source.parts, strict=False):
            row = first
            for block in part.blocks():
                yield row, block
                row += len(block[1])
        return
    length = max(min(n_rows, STRETCHED_ROWS) // STRETCHES, 1)
    for place in np.linspace(0, source.n_rows - length, STRETCHES).astype(int).tolist():
        k = int(np.searchsorted(starts, place, side="right")) - 1
        start = place - int(starts[k])
        yield place, source.parts[k].some(start, min(start + length, source.parts[k].n_rows))


def _pass(source: RowBlocks, plan: PassPlan, reader: BlockReader) -> tuple[RowTotals, FloatArray, FloatArray]:
    n_rows = source.n_rows
    rng = random_stream(source.seed, "rows of a large table")
    wanted = np.sort(rng.choice(n_rows, min(source.sample_rows, n_rows), replace=False, shuffle=False))
    tasks, row = [], 0
    for part in source.parts:
        mine: NDArray[np.intp] = wanted[(wanted >= row) & (wanted < row + part.n_rows)]
        tasks.append(Task(part, plan, reader, row, mine))
        row += part.n_rows
    totals: RowTotals | None = None
    factors, codes = [], []
    for found, of_factors, of_codes, levels in _computed(tasks, source.cluster):
        for j, places in reader.merged(levels).items():
            found = _renumbered(found, plan, j, places, source.factor_names[j])
            of_factors[:, j] = places[of_factors[:, j].astype(np.intp)]
        totals = found if totals is None else totals + found
        factors.append(of_factors)
        codes.append(of_codes)
    assert totals is not None
    return totals, np.asfortranarray(np.concatenate(factors)), np.asfortranarray(np.concatenate(codes))


def _renumbered(totals: RowTotals, plan: PassPlan, j: int, places: FloatArray, name: str) -> RowTotals:
    """Totals of a part with the levels of factor j renumbered, because its worker numbered them differently."""
    if plan.factors[j].role != "categories":
        raise EvidenceError(
            f"Factor {quoted(name)} is text with an order, and rows on the cluster have levels that do not occur in "
            "the rows that were examined first: number its levels before the rows are sent to a cluster."
        )
    return totals.with_factor(j, totals.factors[j].renumbered(places))


def _computed(tasks: list[Task], cluster: str | None) -> Iterator[Any]:
    """Results in the order of the tasks, computed in this process or on a cluster."""
    if cluster is None:
        return (task() for task in tasks)
    from unweave.evidence.large.on_cluster import computed_on

    return computed_on(cluster, tasks)
