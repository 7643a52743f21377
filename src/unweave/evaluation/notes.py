"""The notes under a table: every sentence once, with the metrics it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unweave.evaluation.results import Row

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
Said = tuple[str, "Row"]


def notes_of(rows: Sequence[Row], n_representations: int) -> dict[str, tuple[str, ...]]:
    """Sentences with the labels they belong to: caveats and failures, what draws were made, whose the checks are."""
    caveats = [(str(said), row) for row in rows for said in (row.score.caveats if row.score else (row.problem or "",))]
    labels: dict[str, dict[str, None]] = {}
    about: dict[str, dict[str, None]] = {}
    for sentence, row in [*caveats, *_with_ranges(_of_draws(rows)), *_of_first_seeds(rows)]:
        labels.setdefault(sentence, {})[row.label] = None
        about.setdefault(sentence, {})[row.representation] = None
    return {
        sentence if len(about[sentence]) == n_representations else f"{', '.join(about[sentence])}: {sentence}": (
            *marks,
        )
        for sentence, marks in labels.items()
    }


def _of_draws(rows: Iterable[Row]) -> list[Said]:
    return [
        (sentence, row)
        for row in rows
        for beside in (row.noise_floor, row.interval)
        if beside is not None
        for sentence in beside.notes
    ]


def _with_ranges(said: Sequence[Said]) -> list[Said]:
    """Sentences that differ in their numbers alone become one that states their ranges.

    Every metric gets as many draws as fit, so that there would be a note for each.
    """
    alike: dict[str, list[list[str]]] = {}
    for sentence, _ in said:
        alike.setdefault(NUMBER.sub("#", sentence), []).append(NUMBER.findall(sentence))
    ranges = {wording: [_range(column) for column in zip(*numbers, strict=True)] for wording, numbers in alike.items()}
    stated = []
    for sentence, row in said:
        parts = iter(ranges[NUMBER.sub("#", sentence)])
        stated.append((NUMBER.sub(lambda _, parts=parts: next(parts), sentence), row))  # type: ignore[misc]
    return stated


def _range(numbers: Sequence[str]) -> str:
    lowest, highest = min(numbers, key=float), max(numbers, key=float)
    return lowest if lowest == highest else f"{lowest} to {highest}"


def _of_first_seeds(rows: Sequence[Row]) -> list[Said]:
    """That several seeds are averaged and only the first is checked."""
    seeds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        seeds.setdefault((row.representation, row.label), []).append(row)
    return [
        (
            f"Scores are means over {len(same)} seeds; floor, interval, calibrated score and verdict are those of "
            f"seed {same[0].seed} alone.",
            same[0],
        )
        for same in seeds.values()
        if len(same) > 1 and same[0].verdict is not None
    ]
