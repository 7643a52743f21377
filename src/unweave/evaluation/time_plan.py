"""What an evaluation will cost, and how its time budget is divided between representations and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unweave.evaluation.results import Row
from unweave.evidence import Evidence
from unweave.score import Score
from unweave.trust.budget.allowance import Allowance
from unweave.trust.budget.costs import DataSizes, Work, table, work_of
from unweave.trust.budget.draw_plan import Planned, Prices, draw_plan, seconds_of_diagnosis
from unweave.trust.repeated_scoring import ScoredMetric

LEAST_SHARE = 0.5  # of the budget, for what stands beside the scores, however long these take
UNKNOWN = 0.1  # seconds of a metric that is not in the table, for the progress bar


@dataclass(frozen=True)
class Scored:
    """The metrics of one representation that have a score, by label, with their rows."""

    rows: Mapping[str, Row]
    metrics: Mapping[str, Any]

    @property
    def scores(self) -> dict[str, Score]:
        """The scores."""
        return {label: row.score for label, row in self.rows.items() if row.score is not None}

    @property
    def scored_metrics(self) -> dict[str, ScoredMetric]:
        """The metrics with their scores, so that nobody computes them again."""
        return {label: ScoredMetric(self.metrics[label], score) for label, score in self.scores.items()}

    def works(self, sizes: DataSizes) -> dict[str, Work]:
        """What each metric computes."""
        return {label: work_of(metric, self.rows[label].seconds, sizes) for label, metric in self.metrics.items()}


@dataclass(frozen=True)
class TimePlan:
    """Draws of one representation, the seconds they have to fit in, and what they are expected to take."""

    planned: Mapping[str, Planned]
    seconds: float
    stated: float
    seconds_of_diagnosis: float
    seconds_of_draws: float
    seconds_of_parts: float
    seconds_of_trials: float

    def begin(self) -> Allowance:
        """The clock starts now."""
        return Allowance(self.planned, self.seconds, self.stated)

    @property
    def expected(self) -> float:
        """Seconds in all."""
        return self.seconds_of_diagnosis + self.seconds_of_draws + self.seconds_of_parts + self.seconds_of_trials


def time_plans(scored: Mapping[str, Scored], evidences: Mapping[str, Evidence], budget: float) -> dict[str, TimePlan]:
    """For every representation, the draws of every metric.

    The budget is a total. What the scores are expected to take comes off it, but half of it is always left for noise
    floors, intervals and verdicts.
    """
    sizes = {name: DataSizes.of(evidence) for name, evidence in evidences.items()}
    works = {name: scored[name].works(sizes[name]) for name in evidences}
    distinct = {name: {work.name: work for work in works[name].values()} for name in evidences}
    scores = sum(work.seconds(sizes[name]) for name in evidences for work in distinct[name].values())
    each = max(budget - scores, LEAST_SHARE * budget) / len(evidences)
    plans = {}
    for name in evidences:
        planned = draw_plan(works[name], sizes[name], each)
        prices = {work: Prices.of(entry, sizes[name]) for work, entry in distinct[name].items()}
        of_works = {works[name][label].name: plan for label, plan in planned.items()}
        plans[name] = TimePlan(
            planned=planned,
            seconds=each,
            stated=budget,
            seconds_of_diagnosis=seconds_of_diagnosis(sizes[name]),
            seconds_of_draws=sum(plan.n_draws * prices[work].draw for work, plan in of_works.items()),
            seconds_of_parts=sum(plan.n_parts * prices[work].part for work, plan in of_works.items()),
            seconds_of_trials=sum(plan.tried * prices[work].trial for work, plan in of_works.items()),
        )
    return plans


def expected_seconds(labels: Iterable[str], evidence: Evidence) -> list[float]:
    """Seconds that each score is expected to take, in this order: work that several share falls on the first."""
    sizes, seen = DataSizes.of(evidence), set()
    seconds = []
    for label in labels:
        work: Work | None = table().get(label)
        seconds.append(UNKNOWN if work is None else 1e-3 if work.name in seen else work.seconds(sizes))
        seen.add(work.name if work else label)
    return seconds
