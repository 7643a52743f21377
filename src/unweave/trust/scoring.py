"""Scores of metrics that may fail, and of the same metric on many variants of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import joblib

from unweave.card.decorator import Choice, card_of, metric_of, stated_options
from unweave.errors import UnweaveError
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.score import Score

Watch = Callable[[int, int], None]

Decided = Callable[["list[Score | None]"], bool]

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


def no_progress(_number: int, _of: int) -> None:
    """Report no progress."""


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
    most: Mapping[str, int],
    *,
    decided: Mapping[str, Decided] = MappingProxyType({}),
    n_jobs: int = 1,
    watch: Watch = no_progress,
) -> dict[str, list[Score | None]]:
    """Scores of every metric on variants 0, 1, ..., one variant after another so that metrics share computations.

    A metric is scored on at most ``most[label]`` variants, and on no more once ``decided[label](scores)`` is true of
    the scores so far; the number of workers does not change where it stops. ``watch`` is called before each variant
    with its number and the largest possible number.
    """
    scores: dict[str, list[Score | None]] = {label: [] for label in metrics}
    active = [label for label in metrics if most[label]]

    def scored(index: int, labels: list[str]) -> list[Score | Finding]:
        evidence = variant(index)
        return [score_or_reason(metrics[label], evidence) for label in labels]

    start, at_once = 0, joblib.effective_n_jobs(n_jobs)
    with joblib.Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        while active:
            last = max(most[label] for label in active)
            watch(start + 1, last)
            stop = min(start + at_once, last)
            found = parallel(joblib.delayed(scored)(index, active) for index in range(start, stop))
            left = set(active)
            for index, results in enumerate(found, start):
                for label, score in zip(active, results, strict=True):
                    if label in left:
                        scores[label].append(score if isinstance(score, Score) else None)
                        if index + 1 >= most[label] or (label in decided and decided[label](scores[label])):
                            left.remove(label)
            active, start = [label for label in active if label in left], stop
    return scores


def raw_values(scores: Iterable[Score | Finding | None]) -> list[float]:
    """Raw values of the scores; nan if there is no score."""
    return [score.raw if isinstance(score, Score) else math.nan for score in scores]
