"""The notes below a table: every finding once, with the metrics it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from unweave.findings import Finding
from unweave.words import sentence_of_several

if TYPE_CHECKING:
    from unweave.evaluation.results import Row

NOT_IN_BUDGET = ("no_nulls_in_budget", "no_parts_in_budget")
Said = tuple[str, "Row"]


def notes_of(rows: Sequence[Row], n_representations: int) -> dict[str, tuple[str, ...]]:
    """Sentences with the metrics they belong to: caveats and failures, numbers of draws, and which seed was checked."""
    caveats = [(str(finding), row) for row in rows for finding in _caveats(row)]
    labels: dict[str, dict[str, None]] = {}
    about: dict[str, dict[str, None]] = {}
    for sentence, row in [*caveats, *_of_draws(rows), *_of_first_seeds(rows)]:
        labels.setdefault(sentence, {})[row.label] = None
        about.setdefault(sentence, {})[row.representation] = None
    return {
        sentence if len(about[sentence]) == n_representations else f"{', '.join(about[sentence])}: {sentence}": (
            *marks,
        )
        for sentence, marks in labels.items()
    }


def _caveats(row: Row) -> Sequence[Finding]:
    return row.score.caveats if row.score else (row.problem,) if row.problem else ()


def _of_draws(rows: Iterable[Row]) -> list[Said]:
    """Notes of noise floors and intervals; notes that differ only in their numbers become one note with ranges.

    The number of draws depends on the metric, so otherwise there would be a note for each metric.
    """
    noted = [
        (note, row)
        for row in rows
        for beside in (row.noise_floor, row.interval)
        if beside
        for note in (*beside.notes, *_left_out(beside.reason))
    ]
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for note, _ in noted:
        alike.setdefault(_but_for_numbers(note), []).append(note)
    return [(sentence_of_several(alike[_but_for_numbers(note)]), row) for note, row in noted]


def _left_out(reason: Finding | None) -> tuple[Finding, ...]:
    """Why there is no noise floor or interval, if the budget is too small; other reasons are shown beside their row."""
    return (reason,) if reason is not None and reason.kind in NOT_IN_BUDGET else ()


def _but_for_numbers(finding: Finding) -> tuple[object, ...]:
    texts = tuple((name, item) for name, item in finding.quantities.items() if isinstance(item, str))
    return finding.kind, texts, finding.factors, finding.codes


def _of_first_seeds(rows: Sequence[Row]) -> list[Said]:
    """Notes for metrics with several seeds: scores are averaged, and only the first seed has checks."""
    seeds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        seeds.setdefault((row.representation, row.label), []).append(row)
    return [
        (str(Finding("checks_of_first_seed", n_seeds=len(same), seed=same[0].seed or 0)), same[0])
        for same in seeds.values()
        if len(same) > 1 and same[0].verdict is not None
    ]
