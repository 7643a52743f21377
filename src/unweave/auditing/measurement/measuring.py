"""Measure cases in order within a time budget; all metrics use the same data, and no result is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import joblib

from unweave.auditing.measurement.cases import Case, Outcome, outcomes
from unweave.auditing.measurement.store import CellStore, key_of
from unweave.auditing.measurement.subjects import Subject
from unweave.own_modules import OwnModules, own_modules


@dataclass
class Bench:
    """Measures several metrics together; ``budget`` is the number of CPU seconds for all of them.

    Results that are already in the store do not count against the budget, so that every further run adds results.
    """

    subjects: Sequence[Subject]
    store: CellStore = field(default_factory=CellStore)
    n_jobs: int = 1
    budget: float | None = None
    after_each: Callable[[], None] = lambda: None
    spent: float = 0.0
    _seconds_by_size: dict[int, float] = field(default_factory=dict)

    def measure(self, cases: Iterable[Case], seeds: Sequence[int]) -> dict[Case, list[list[Outcome]]]:
        """Outcomes by case, then by seed, then by subject; cases that do not fit in the budget are left out."""
        found: dict[Case, list[list[Outcome]]] = {}
        batch: list[Case] = []
        for case in dict.fromkeys(cases):
            if self._fits([*batch, case], seeds):
                batch.append(case)
                if len(batch) * len(seeds) >= 4 * self.n_jobs or self.n_jobs == 1:
                    found |= self._run(batch, seeds)
                    batch = []
            self.after_each()
        return found | self._run(batch, seeds)

    def _run(self, cases: Sequence[Case], seeds: Sequence[int]) -> dict[Case, list[list[Outcome]]]:
        cells = [(case, seed) for case in cases for seed in seeds]
        open_cells = [cell for cell in cells if not self._known(*cell)]
        work = (joblib.delayed(_in_process)(own_modules(), case, seed, self.subjects) for case, seed in open_cells)
        # a single job runs in this process, so that functions that cannot be pickled work
        computed = joblib.Parallel(n_jobs=min(self.n_jobs, max(len(open_cells), 1)))(work) if open_cells else []
        for (case, seed), row in zip(open_cells, computed, strict=True):
            for subject, outcome in zip(self.subjects, row, strict=True):
                self.store.add(key_of(subject, case, seed), outcome)
        found: dict[Case, list[list[Outcome]]] = {case: [] for case in cases}
        for case, seed in cells:
            row = [self._kept(subject, case, seed) for subject in self.subjects]
            seconds = sum(outcome.seconds for outcome in row)
            self.spent += seconds if (case, seed) in open_cells else 0.0
            self._seconds_by_size[case.size] = max(seconds, self._seconds_by_size.get(case.size, 0.0))
            found[case].append(row)
        return found

    def _kept(self, subject: Subject, case: Case, seed: int) -> Outcome:
        outcome = self.store.get(key_of(subject, case, seed))
        assert outcome is not None
        return outcome

    def _fits(self, cases: Sequence[Case], seeds: Sequence[int]) -> bool:
        """Whether the new cells are expected to fit into the budget, given the times of smaller cases."""
        new = [(case, seed) for case in cases for seed in seeds if not self._known(case, seed)]
        if self.budget is None or not new:
            return True
        expected = sum(self._expected_seconds(case.size) for case, _ in new)
        return self.spent < self.budget and self.spent + expected <= self.budget

    def _known(self, case: Case, seed: int) -> bool:
        return all(self.store.get(key_of(subject, case, seed)) is not None for subject in self.subjects)

    def _expected_seconds(self, size: int) -> float:
        smaller = [known for known in self._seconds_by_size if known <= size]
        nearest = max(smaller, default=0)
        return self._seconds_by_size[nearest] * size / nearest if nearest else 0.0


def _in_process(_modules: OwnModules | None, case: Case, seed: int, subjects: Sequence[Subject]) -> list[Outcome]:
    """Outcomes of a cell; the modules come first, so that they are imported before the subjects are unpickled."""
    return outcomes(case, seed, subjects)
