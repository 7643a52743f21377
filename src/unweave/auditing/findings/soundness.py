"""Remarks on metrics for which the marks of the audit are meaningless.

A constant metric satisfies P1 and P3 and, if it is 0, also P4. The marks are meaningless as well if a metric depends
only on the numbers of rows, codes and factors, or on the order of the rows, or if noise scores as high as a perfect
encoder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unweave.auditing.findings.properties import Scores
from unweave.auditing.measurement.cases import Case, Outcome
from unweave.auditing.measurement.further_grid import NOISE, PERFECT
from unweave.auditing.measurement.grid import Point
from unweave.findings import Finding

EQUAL = 1e-9
LEAST_GAP = 0.05  # smallest difference of the scores of a perfect encoder and of noise
MOST_MOVED = 0.05  # largest mean change of the score when the rows are reordered


def remarks_of(outcomes: Mapping[Case, Sequence[Outcome]], points: Sequence[Point], scores: Scores) -> list[Finding]:
    """Remarks on a metric, from all its outcomes and its scores at the further points."""
    values = {case: [one.value for one in row if one.value is not None] for case, row in outcomes.items()}
    known = {case: row for case, row in values.items() if row}
    if len(known) < 2:
        return []
    if _same_within(known, lambda case: 0):
        return [Finding("metric_constant", value=next(iter(known.values()))[0])]
    remarks = []
    if _same_within(known, lambda case: case.n_rows):
        remarks.append(Finding("metric_of_rows_alone"))
    elif _same_within(known, _sizes):
        remarks.append(Finding("metric_of_sizes_alone"))
    moved = _moved_by_order(points, scores)
    if moved > MOST_MOVED:
        remarks.append(Finding("metric_depends_on_order", moved=moved))
    gap = _least_gap(points, scores)
    if gap is not None and gap[0] - gap[1] < LEAST_GAP:
        remarks.append(Finding("metric_blind", perfect=gap[0], noise=gap[1], n_rows=gap[2]))
    return remarks


def _sizes(case: Case) -> tuple[int, int, int]:
    d = case.world.n_factors
    return case.n_rows, case.encoder.n_codes(d), d


def _same_within(values: Mapping[Case, Sequence[float]], group: Callable[[Case], object]) -> bool:
    """Whether all scores within each group are equal; at least one group must have several cases."""
    groups: dict[object, list[float]] = defaultdict(list)
    sizes: dict[object, int] = defaultdict(int)
    for case, row in values.items():
        groups[group(case)] += row
        sizes[group(case)] += 1
    return max(sizes.values()) > 1 and all(float(np.ptp(row)) <= EQUAL for row in groups.values())


def _moved_by_order(points: Sequence[Point], scores: Scores) -> float:
    """Mean over seeds of the absolute change of the score when the rows are reordered."""
    first, second = (scores.get(point, {}) for point in points if point.name == "order")
    both = set(first) & set(second)
    return float(np.mean([abs(first[seed] - second[seed]) for seed in both])) if both else 0.0


def _least_gap(points: Sequence[Point], scores: Scores) -> tuple[float, float, int] | None:
    """Mean scores of the perfect encoder and of noise at the number of rows where they are closest; and that number."""
    found = {(point.series, int(point.x)): scores.get(point, {}) for point in points if point.name == "rows"}
    gaps = [
        (float(np.mean(list(row.values()))), float(np.mean(list(noise.values()))), n_rows)
        for (series, n_rows), row in found.items()
        if series == PERFECT and row and (noise := found[NOISE, n_rows])
    ]
    return min(gaps, key=lambda gap: gap[0] - gap[1], default=None)
