"""Build an `Audit` from outcomes: curves, results, worst cases and problems."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

from unweave.auditing.findings.adversary import RedTeam
from unweave.auditing.findings.card_check import Promise, card_cases, promise_of
from unweave.auditing.findings.properties import PropertyFinding, Scores, finding_of, mean_interval, seed_numbers
from unweave.auditing.findings.soundness import remarks_of
from unweave.auditing.measurement.cases import Case, Outcome, written
from unweave.auditing.measurement.further_grid import FURTHER, further_points
from unweave.auditing.measurement.grid import PROPERTIES, Grid, Point
from unweave.auditing.measurement.subjects import Subject
from unweave.auditing.scorecard import Audit, CurvePoint, PropertyNumber, Result, WorstCase
from unweave.evaluation.results import LIBRARIES
from unweave.findings import Finding

Outcomes = Mapping[Case, Sequence[Outcome]]


def assembled(
    subject: Subject,
    grid: Grid,
    outcomes: Outcomes,
    seeds: Sequence[int],
    deceived: RedTeam | None,
    further: bool = True,
) -> Audit:
    """The audit of one subject from its outcomes by case, in the order of the seeds."""
    points = grid.points()
    scores = scores_of(points, outcomes)
    findings = [finding_of(name, points, scores) for name in PROPERTIES]
    beyond = further_points()
    beyond_scores = scores_of(beyond, outcomes)
    asked = [finding_of(name, beyond, beyond_scores) for name in FURTHER] if further else []
    return Audit(
        metric=subject.label,
        version=subject.version,
        results=tuple(_result(finding, subject, scores) for finding in findings),
        curves=_curves(points, scores),
        promises=_promises(subject, outcomes),
        red_team=deceived,
        problems=_problems(outcomes),
        equivalence="" if subject.card is None else subject.card.equivalence,
        treatment=subject.treatment,
        n_seeds=len(seeds),
        further=tuple(_result(finding, subject, beyond_scores) for finding in asked),
        remarks=tuple(remarks_of(outcomes, beyond, beyond_scores)),
        grid={name: list(item) if isinstance(item, tuple) else item for name, item in vars(grid).items()},
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        seconds=sum(one.seconds for row in outcomes.values() for one in row),
    )


def scores_of(points: Sequence[Point], outcomes: Outcomes) -> Scores:
    """Scores by point and seed, without points that were not measured and without seeds that have no score."""
    return {
        point: {seed: one.value for seed, one in enumerate(outcomes[point.case]) if one.value is not None}
        for point in points
        if point.case in outcomes
    }


def _result(finding: PropertyFinding, subject: Subject, scores: Scores) -> Result:
    worst = finding.worst
    measured = tuple(
        PropertyNumber(row.label, row.kind, row.number, row.interval, row.n_seeds, row.counts, row.spread)
        for row in finding.rows
    )
    return Result(
        name=finding.name,
        verdict=finding.verdict,
        possible=finding.possible,
        number=math.nan if worst is None else worst.number,
        interval=(math.nan, math.nan) if worst is None else worst.interval,
        where="" if worst is None else worst.label,
        measured=measured,
        missing=finding.missing,
        worst_case=_worst_case(finding, subject, scores),
        n_undefined=finding.n_undefined,
    )


def _worst_case(finding: PropertyFinding, subject: Subject, scores: Scores) -> WorstCase | None:
    """The decisive row at its worst seed, and an expression that computes the number.

    The worst seed has the smallest cost if the row is the cost of dropping free factors (lossy), and the largest number
    otherwise. The cost is the difference of two scores, not multiplied by the row's ``factor``.
    """
    worst = finding.worst
    if worst is None:
        return None
    seeds, numbers = seed_numbers(worst.higher, worst.lower, scores)
    place = int(np.argmin(numbers) if worst.kind == "lossy" else np.argmax(numbers))
    expression = worst.higher.case.expression(subject, seeds[place])
    if worst.lower is not None:
        expression += f" - {worst.lower.case.expression(subject, seeds[place])}"
    return WorstCase(float(numbers[place]), expression)


def _curves(points: Sequence[Point], scores: Scores) -> tuple[CurvePoint, ...]:
    starts: dict[tuple[str, str, int], Point] = {}
    curves = []
    for point in sorted(points, key=lambda point: (*point.curve, point.x)):
        values = np.array(list(scores.get(point, {}).values()))
        if values.size:
            start = starts.setdefault(point.curve, point)
            mean, interval = mean_interval(values)
            seeds, changes = seed_numbers(point, start, scores)
            change, around = mean_interval(changes) if seeds else (math.nan, (math.nan, math.nan))
            curves.append(CurvePoint(*point.curve, point.x, mean, interval, change, around, values.size))
    return tuple(curves)


def _promises(subject: Subject, outcomes: Outcomes) -> tuple[Promise, ...]:
    if subject.card is None:
        return ()
    values = {
        name: [one.value for one in outcomes.get(case, ()) if one.value is not None]
        for name, case in card_cases().items()
    }
    return tuple(promise_of(subject.card, name, float(np.mean(row))) for name, row in values.items() if row)


def _problems(outcomes: Outcomes) -> tuple[Finding, ...]:
    """Every problem once, with the number of cells in which it occurred and the first of these cells."""
    counts: Counter[str] = Counter()
    first: dict[str, Case] = {}
    for case, row in outcomes.items():
        for one in row:
            if one.problem:
                counts[one.problem] += 1
                first.setdefault(one.problem, case)
    return tuple(
        Finding("cells_without_score", n_cells=count, problem=problem, first=written(first[problem]))
        for problem, count in counts.most_common()
    )
