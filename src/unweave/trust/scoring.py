"""Scores of metrics that may fail, and of the same metric on many variants of the evidence, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import joblib

from unweave.card.decorator import Choice, card_of, metric_of, stated_options
from unweave.errors import UnweaveError
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.score import Score

Watch = Callable[[int, int], None]

Stop = Callable[[], bool]

T = TypeVar("T")


def result_or_reason(compute: Callable[[], T], metric: str) -> T | Finding:
    """The result of a call, or the reason why there is none, so that a metric that fails does not stop others.

    The finding is 'refused' if the metric is undefined on the data, and 'failed' after any other error.

    >>> result_or_reason(lambda: 1 / 0, "ratio")
    Finding('failed', metric='ratio', error='ZeroDivisionError', text='division by zero')
    """
    try:
        return compute()
    except UnweaveError as error:
        return Finding("refused", text=str(error))
    except Exception as error:
        return Finding("failed", metric=metric, error=type(error).__name__, text=" ".join(str(error).split()))


def score_or_reason(metric: Choice, evidence: Evidence, seed: int | None = None) -> Score | Finding:
    """The score of a metric, or why it has none; a seed is passed on as ``rng``.

    >>> from unweave.metrics import mcc
    >>> score_or_reason(mcc, Evidence([0.0, 1.0])).kind
    'refused'
    """
    given: dict[str, Any] = {} if seed is None else {"rng": seed}
    return result_or_reason(lambda: metric(evidence, **given), card_of(metric).name)


def takes_seed(metric: Any) -> bool:
    """Whether the metric has a random part whose seed was not fixed with its options."""
    return "rng" in metric_of(metric).options and "rng" not in stated_options(metric)


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
        label: entry if isinstance(entry, ScoredMetric) else ScoredMetric(entry, score_or_reason(entry, evidence))
        for label, entry in metrics.items()
    }


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
        evidence, results = variant(index), []
        for label in labels:
            start = time.perf_counter()
            score = score_or_reason(metrics[label], evidence)
            results.append((label, score if isinstance(score, Score) else None, time.perf_counter() - start))
        return results

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
            for results in parallel(jobs):
                for label, score, seconds in results:
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
    n_done = max((len(listed) for listed in scores.values()), default=0)
    if budget is None or n_done < fewest:
        return list(scores)
    cost = {label: spent[label] / len(scores[label]) for label in scores}
    share = fair_share((n_variants * seconds for seconds in cost.values()), budget)
    return [label for label in scores if len(scores[label]) == n_done and spent[label] + cost[label] <= share]


def raw_values(scores: Iterable[Score | Finding | None]) -> list[float]:
    """Raw values of the scores; nan if there is no score."""
    return [score.raw if isinstance(score, Score) else math.nan for score in scores]


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
