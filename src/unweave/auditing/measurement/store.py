"""Finished cells of an audit, one line of JSON each, so that a run that was stopped can continue.

Most cells take milliseconds, so they share one file, while a sweep has one file for each cell.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from unweave.auditing.measurement.cases import Case, Outcome
from unweave.auditing.measurement.subjects import Subject
from unweave.evaluation.results import LIBRARIES

Key = tuple[str, str, int]


class CellStore:
    """Outcomes by metric, case and seed; without a path they are kept in memory only.

    A line is used only for the same version of the metric and of the libraries. An incomplete line is ignored.

    >>> CellStore().get(("mcc 1", "case", 0)) is None
    True
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.made_with = " ".join(f"{name} {version(name)}" for name in LIBRARIES)
        self._cells: dict[Key, Outcome] = {}
        if self.path is not None and self.path.exists():
            text = self.path.read_text(encoding="utf-8")
            for line in text.splitlines():
                self._read(line)
            if text and not text.endswith("\n"):  # the run was killed while writing; the next entry needs a new line
                with self.path.open("a", encoding="utf-8") as file:
                    file.write("\n")

    def get(self, key: Key) -> Outcome | None:
        """The outcome of this cell, if it is finished."""
        return self._cells.get(key)

    def add(self, key: Key, outcome: Outcome) -> None:
        """Add an outcome, and write it to the file immediately."""
        self._cells[key] = outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            entry = [*key, outcome.value, outcome.problem, round(outcome.seconds, 4), self.made_with]
            with self.path.open("ab", buffering=0) as file:  # one write, so that lines of two processes do not mix
                file.write((json.dumps(entry) + "\n").encode())

    def _read(self, line: str) -> None:
        try:
            metric, case, seed, value, problem, seconds, made_with = json.loads(line)
        except ValueError:
            return
        if made_with == self.made_with:
            self._cells[metric, case, seed] = Outcome(value, problem, seconds)


def key_of(subject: Subject, case: Case, seed: int) -> Key:
    """The key of a cell in the store."""
    return f"{subject.label} {subject.version} {subject.worst:g} {subject.best:g}", repr(case), seed
