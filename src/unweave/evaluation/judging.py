"""Compute noise floors, intervals and verdicts of scores, and a diagnosis of the data."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from unweave.card.choices import metric_of
from unweave.codec import plain_data
from unweave.evaluation.results import Row
from unweave.evaluation.time_plan import Scored, time_shares
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.progress import Progress
from unweave.trust.budget.draw_plan import seconds_of_diagnosis
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.nulls.noise_floor import noise_floors
from unweave.trust.sampling.comparison import comparison_of_parts
from unweave.trust.sampling.intervals import check_level, interval_of_parts
from unweave.trust.sampling.subsampling import PartScores, part_scores
from unweave.trust.verdict import check_steps, verdicts


def assured(
    rows: Sequence[Row],
    evidences: Mapping[str, Evidence],
    chosen: Mapping[str, Any],
    *,
    budget: float,
    level: float,
    n_jobs: int,
    progress: Progress,
) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows with noise floors, intervals and verdicts, and a record of the diagnosis and the comparison.

    Only the row of every metric's first seed is completed.
    """
    check_level(level)
    known: dict[str, Any] = {"diagnosis": {}}
    beside: dict[tuple[str, str], dict[str, Any]] = {}
    of_parts: dict[str, dict[str, PartScores | Finding]] = {}
    scored = {name: _scored(rows, name, chosen) for name in evidences}
    shares = time_shares(scored, evidences, budget)
    for name, evidence in evidences.items():
        known_scores = scored[name].scored_metrics
        scores, metrics = scored[name].scores, scored[name].metrics
        about = f" of {name}" if len(evidences) > 1 else ""
        started = time.process_time()
        progress.step(f"diagnosis{about}", seconds_of_diagnosis(shares[name].sizes))
        dense = evidence.sparse_codes is None
        diagnosis = diagnose(evidence if dense else evidence.factors_alone())
        known["diagnosis"][name] = diagnosis.to_dict()
        steps = check_steps(evidence, diagnosis) if dense and budget else None
        plan = shares[name].plan(steps, started)
        watch = progress.counted_step(f"intervals{about}", plan.seconds_of_parts)
        quota = plan.allowance.parts
        of_parts[name] = part_scores(known_scores, evidence, quota=quota, n_jobs=n_jobs, watch=watch)
        watch = progress.counted_step(f"noise floors{about}", plan.seconds_of_draws)
        quota = plan.allowance.draws
        floors = noise_floors(known_scores, evidence, quota=quota, n_jobs=n_jobs, watch=watch)
        progress.step(f"verdicts{about}", plan.seconds_of_trials)
        untried = plan.allowance.untried if dense else tuple(metrics)
        judged = verdicts(metrics, scores, evidence, diagnosis, floors, untried=untried, steps=steps)
        for label, found in of_parts[name].items():
            beside[name, label] = {
                "noise_floor": floors[label],
                "interval": interval_of_parts(scores[label].metric, found, level),
                "verdict": judged[label],
            }
    if len(evidences) > 1:
        progress.step("comparisons")
        known["comparison"] = _compared(of_parts, chosen, level)
    firsts = {id(row) for name in evidences for row in _first_rows(rows, name).values()}
    completed = [
        dataclasses.replace(row, **beside.get((row.representation, row.label), {})) if id(row) in firsts else row
        for row in rows
    ]
    return completed, known


def _scored(rows: Sequence[Row], representation: str, chosen: Mapping[str, Any]) -> Scored:
    """The metrics of a representation that have a score, each with its first seed."""
    first = {
        label: row
        for label, row in _first_rows(rows, representation).items()
        if row.score is not None and not row.problem
    }
    return Scored(first, {label: _seeded(chosen[label], row.seed) for label, row in first.items()})


def _first_rows(rows: Sequence[Row], representation: str) -> dict[str, Row]:
    """Rows of a representation by label; where there are several seeds, the row of the first."""
    return {row.label: row for row in reversed(rows) if row.representation == representation}


def _seeded(entry: Any, seed: int | None) -> Any:
    return entry if seed is None else functools.partial(entry, rng=seed)


def _compared(
    of_parts: Mapping[str, Mapping[str, PartScores | Finding]], chosen: Mapping[str, Any], level: float
) -> dict[str, Any]:
    """Which representations differ significantly, for every metric with factors that has a score for all of them.

    The comparison uses the same parts of the samples as the intervals.
    """
    comparisons = {}
    for label, entry in chosen.items():
        card, found = metric_of(entry).card, {name: parts[label] for name, parts in of_parts.items() if label in parts}
        if len(found) == len(of_parts) and "factors" in card.needs:
            comparisons[label] = plain_data(comparison_of_parts(card.name, found, level))
    return comparisons
