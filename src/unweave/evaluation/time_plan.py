"""The expected time of an evaluation, and how its budget is divided between representations and metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unweave.evaluation.questions import QUESTIONS
from unweave.evaluation.results import Row
from unweave.evidence import Evidence
from unweave.score import Score
from unweave.trust.budget.allowance import Allowance
from unweave.trust.budget.costs import DataSizes, Work, table, work_of
from unweave.trust.budget.draw_plan import Prices, draw_plan, rows_for_draws
from unweave.trust.effects import Steps
from unweave.trust.nulls.some_rows import may_use_some_rows
from unweave.trust.repeated_scoring import ScoredMetric

LEAST_SHARE = 0.5  # of the budget, for noise floors, intervals and verdicts, however long the scores take
MAIN = tuple(question.panel[0] for question in QUESTIONS if question.panel)  # the first metric of every question
UNKNOWN = 0.1  # seconds assumed by the progress bar for a metric that is not in the table of costs


@dataclass(frozen=True)
class Scored:
    """The metrics of one representation that have a score, by label, with their rows."""

    rows: Mapping[str, Row]
    metrics: Mapping[str, Any]

    @property
    def scores(self) -> dict[str, Score]:
        """Scores by label."""
        return {label: row.score for label, row in self.rows.items() if row.score is not None}

    @property
    def scored_metrics(self) -> dict[str, ScoredMetric]:
        """The metrics with their scores, so that they are not computed again."""
        return {label: ScoredMetric(self.metrics[label], score) for label, score in self.scores.items()}

    def works(self, sizes: DataSizes) -> dict[str, Work]:
        """The computation behind each metric, with its cost model."""
        return {label: work_of(metric, self.rows[label].seconds, sizes) for label, metric in self.metrics.items()}


@dataclass(frozen=True)
class TimeShare:
    """One representation's share of the budget: its seconds, and the number of rows that each metric's draws use."""

    works: Mapping[str, Work]
    sizes: DataSizes
    seconds: float
    stated: float
    rows: Mapping[str, int]

    @property
    def rows_of_parts(self) -> dict[str, int]:
        """Largest number of rows of a part, for metrics whose variance falls as one over the number of rows."""
        return {label: self.rows[label] for label, work in self.works.items() if not work.fixed_rows}

    def plan(self, steps: Steps | None, started: float) -> TimePlan:
        """The plan of draws for every metric; ``steps`` are the data sets on which verdicts compute metrics again."""
        tried = [DataSizes.of(evidence) for evidence in steps.evidences] if steps else []
        planned = draw_plan(self.works, self.sizes, self.seconds, rows=self.rows, tried=tried, main=MAIN)
        prices = {
            work.name: (Prices.of(work, self.sizes, self.rows[label], tried), planned[label])
            for label, work in self.works.items()
        }
        return TimePlan(
            allowance=Allowance(planned, self.seconds, self.stated, self.rows, self.rows_of_parts, started),
            seconds_of_draws=sum(plan.n_draws * price.draw for price, plan in prices.values()),
            seconds_of_parts=sum(plan.n_parts * price.part for price, plan in prices.values()),
            seconds_of_trials=sum(plan.tried * price.trial for price, plan in prices.values()),
        )


@dataclass(frozen=True)
class TimePlan:
    """Draws of one representation, the clock that stops them, and their expected seconds."""

    allowance: Allowance
    seconds_of_draws: float
    seconds_of_parts: float
    seconds_of_trials: float


def time_shares(scored: Mapping[str, Scored], evidences: Mapping[str, Evidence], budget: float) -> dict[str, TimeShare]:
    """The share of the budget for every representation.

    The budget is a total. The expected time of the scores is subtracted, but at least half of the budget remains for
    noise floors, intervals and verdicts. Representations are compared on the same parts of the samples, so all of them
    use the same number of rows.
    """
    sizes = {name: DataSizes.of(evidence) for name, evidence in evidences.items()}
    works = {name: scored[name].works(sizes[name]) for name in evidences}
    scores = sum(
        work.seconds(sizes[name])
        for name in evidences
        for work in {work.name: work for work in works[name].values()}.values()
    )
    each = max(budget - scores, LEAST_SHARE * budget) / len(evidences)
    rows: dict[str, int] = {}
    alike = all(map(may_use_some_rows, evidences.values()))
    for name in evidences:
        for label, n_rows in rows_for_draws(works[name], sizes[name], each if alike else math.inf).items():
            rows[label] = min(n_rows, rows.get(label, n_rows))
    return {name: TimeShare(works[name], sizes[name], each, budget, rows) for name in evidences}


def expected_seconds(labels: Iterable[str], evidence: Evidence) -> list[float]:
    """Expected seconds of the score of each label; a computation that several metrics share counts for the first."""
    sizes, seen = DataSizes.of(evidence), set()
    seconds = []
    for label in labels:
        work: Work | None = table().get(label)
        seconds.append(UNKNOWN if work is None else 1e-3 if work.name in seen else work.seconds(sizes))
        seen.add(work.name if work else label)
    return seconds
