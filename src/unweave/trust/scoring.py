"""The same metric on many variants of the evidence, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import joblib

from unweave.card import MetricUndefined
from unweave.card.decorator import Choice, card_of
from unweave.evidence import Evidence, EvidenceError
from unweave.findings import Finding
from unweave.score import Score

Watch = Callable[[int, int], None]

Stop = Callable[[], bool]


def unwatched(_number: int, _of: int) -> None:
    """Report no progress."""


def never() -> bool:
    """Never stop the draws."""
    return False


@dataclass(frozen=True)
class Quota:
    """Planned number of variants for each metric, and a function that may stop them early.

    ``seconds`` is the time budget that the notes state. ``rows`` is the number of rows that the variants of a metric
    use; metrics that are not in it use all rows.
    """

    counts: Mapping[str, int]
    seconds: float
    stop: Stop = never
    rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredMetric:
    """A metric with its score on the evidence, or the reason why it has none: computed once and shared."""

    metric: Choice
    score: Score | Finding


def observed(metrics: Mapping[str, Choice | ScoredMetric], evidence: Evidence) -> dict[str, ScoredMetric]:
    """Every metric with its score; known scores are not computed again.

    >>> from unweave.metrics import mcc
    >>> known = observed({"mcc": mcc}, Evidence(list(range(20)), list(range(20))))
    >>> round(known["mcc"].score.value, 9), observed(known, Evidence([0.0, 1.0]))["mcc"] is known["mcc"]
    (1.0, True)
    """
    return {
        label: entry if isinstance(entry, ScoredMetric) else ScoredMetric(entry, _score_or_reason(entry, evidence))
        for label, entry in metrics.items()
    }


def _score_or_reason(metric: Choice, evidence: Evidence) -> Score | Finding:
    card_of(metric)  # raises an error that explains what a metric is
    try:
        return metric(evidence)
    except (MetricUndefined, EvidenceError) as error:
        return Finding("refused", text=str(error))


def scores_of_variants(
    metrics: Mapping[str, Choice],
    variant: Callable[[int], Evidence],
    n_variants: int,
    *,
    fewest: int,
    budget: float | None,
    quota: Quota | None = None,
    n_jobs: int = 1,
    watch: Watch = unwatched,
) -> dict[str, list[Score | None]]:
    """Scores of every metric on variants 0, 1, ..., one variant after another so that metrics share computations.

    With a budget in seconds, slow metrics stop early, but not before ``fewest`` variants. With a quota, every metric is
    scored on the stated number of variants unless the quota stops them. ``watch`` is called before each variant with
    its number and the largest possible number.
    """
    most = n_variants if quota is None else min(n_variants, max(map(quota.counts.__getitem__, metrics), default=0))
    scores: dict[str, list[Score | None]] = {label: [] for label in metrics}
    spent = dict.fromkeys(metrics, 0.0)

    def scored(index: int, labels: list[str]) -> list[tuple[str, Score | None, float]]:
        evidence, found = variant(index), []
        for label in labels:
            start = time.perf_counter()
            score = score_or_none(metrics[label], evidence)
            found.append((label, score, time.perf_counter() - start))
        return found

    at_once = joblib.effective_n_jobs(n_jobs)
    with joblib.Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        for start in range(0, most, at_once):
            active = (
                _within_budget(scores, spent, n_variants, fewest, budget)
                if quota is None
                else _within(quota, metrics, start)
            )
            if not active:
                break
            watch(start + 1, most)
            indices = range(start, min(start + at_once, most))
            active_at = [
                [label for label in active if quota is None or index < quota.counts[label]] for index in indices
            ]
            jobs = (joblib.delayed(scored)(index, labels) for index, labels in zip(indices, active_at, strict=True))
            for found in parallel(jobs):
                for label, score, seconds in found:
                    scores[label].append(score)
                    spent[label] += seconds / at_once
    return scores


def _within(quota: Quota, metrics: Iterable[str], n_done: int) -> list[str]:
    """Metrics whose quota is not used up; none if the draws are stopped."""
    return [] if quota.stop() else [label for label in metrics if n_done < quota.counts[label]]


def _within_budget(
    scores: Mapping[str, list[Score | None]],
    spent: Mapping[str, float],
    n_variants: int,
    fewest: int,
    budget: float | None,
) -> list[str]:
    """Metrics to score on the next variant: all up to ``fewest`` variants, then those within their budget."""
    n_done = max((len(found) for found in scores.values()), default=0)
    if budget is None or n_done < fewest:
        return list(scores)
    cost = {label: spent[label] / len(scores[label]) for label in scores}
    share = fair_share((n_variants * seconds for seconds in cost.values()), budget)
    return [label for label in scores if len(scores[label]) == n_done and spent[label] + cost[label] <= share]


def score_or_none(metric: Choice, evidence: Evidence) -> Score | None:
    """The score, or None if the metric fails on this variant of the evidence."""
    try:
        return metric(evidence)
    except Exception:  # the metric works on the evidence itself, so a failure on a variant must not stop other metrics
        return None


def raw_values(scores: Iterable[Score | None]) -> list[float]:
    """Raw values of the scores; nan if there is no score."""
    return [math.nan if score is None else score.raw for score in scores]


def fair_share(needs: Iterable[float], budget: float) -> float:
    """The max-min fair share of the budget: the largest amount that anyone receives.

    Smaller needs are met in full, and larger ones receive the share. It is infinite if all needs fit into the budget.

    >>> fair_share([1.0, 20.0, 30.0], 21.0)
    10.0
    >>> fair_share([1.0, 2.0], 21.0)
    inf
    """
    ascending, left = sorted(needs), budget
    for k, need in enumerate(ascending):
        share = left / (len(ascending) - k)
        if need > share:
            return share
        left -= need
    return math.inf
