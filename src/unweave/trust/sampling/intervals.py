"""Confidence intervals: how much the score would vary between samples of the same size.

The interval is the score plus and minus its standard error from subsampling (`subsampling`) times a quantile of
Student's t. It covers the expected score of data sets of the same size. It does not cover the score of infinitely many
samples, because metrics with bins or probes are biased at any n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unweave.card.choices import Choice, card_of
from unweave.evidence import Evidence, EvidenceError
from unweave.findings import Finding
from unweave.trust.repeated_scoring import ScoredMetric
from unweave.trust.sampling.subsampling import N_PARTS, PartScores, part_scores


@dataclass(frozen=True)
class Interval:
    """Confidence interval of the expected score of data sets of the same size.

    Attributes
    ----------
    metric : str
        Name of the metric.
    level : float
        Confidence level: the share of such intervals that cover the expected score.
    raw, lower, upper : float
        The score before clipping and the ends of its interval; nan where there is none.
    bounds : tuple of two floats
        The bounds of the metric, to which `clipped` clips the interval.
    standard_error : float
        Standard error of the score over data sets of the same size.
    n_parts : int
        Number of parts of the samples from which the standard error was estimated.
    per_factor : dict of name to (lower, upper)
        Interval of the score of every factor, if the metric has a score for each factor.
    notes : tuple of Finding
        Caveats.
    reason : Finding, optional
        Why there is no interval; None where there is one.
    """

    metric: str
    level: float
    raw: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    bounds: tuple[float, float] = (-math.inf, math.inf)
    standard_error: float = math.nan
    n_parts: int = 0
    per_factor: dict[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    reason: Finding | None = None

    @property
    def defined(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.lower)

    @property
    def clipped(self) -> tuple[float, float]:
        """Both ends of the interval, clipped to the bounds of the metric."""
        return (float(np.clip(self.lower, *self.bounds)), float(np.clip(self.upper, *self.bounds)))


def interval(
    metric: Choice,
    evidence: Evidence,
    *,
    level: float = 0.95,
    n_parts: int = N_PARTS,
    budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Interval:
    """Interval of one metric; see `intervals` for the options.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(400, 2))
    >>> found = interval(mcc, Evidence(factors, factors + rng.normal(size=(400, 2))))
    >>> found.lower < 0.5**0.5 < found.upper < found.lower + 0.1
    True
    """
    label = card_of(metric).name
    found = intervals({label: metric}, evidence, level=level, n_parts=n_parts, budget=budget, seed=seed, n_jobs=n_jobs)
    return found[label]


def intervals(
    metrics: Mapping[str, Choice | ScoredMetric],
    evidence: Evidence,
    *,
    level: float = 0.95,
    n_parts: int = N_PARTS,
    budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> dict[str, Interval]:
    """Intervals of several metrics, which share their common computations.

    Parameters
    ----------
    metrics : mapping of label to metric, ``functools.partial`` of one, or `ScoredMetric`
        A partial also fixes the seed of metrics that have one. The score of a `ScoredMetric` is not computed again.
    level : float
        Confidence level: the share of such intervals that cover the expected score of data sets of the same size.
    n_parts : int
        Number of random parts of the samples on which each metric is computed. Row groups stay whole.
    budget : float, optional
        Seconds for all metrics together. Metrics that do not fit into it have fewer parts (at least 8) and a note.
    seed : int
        Random seed. For given data, part k depends on the seed only, not on the budget, metrics or number of workers.
    n_jobs : int
        Number of threads.
    """
    check_level(level)
    found = part_scores(metrics, evidence, n_parts=n_parts, budget=budget, seed=seed, n_jobs=n_jobs)
    names = {
        label: card_of(entry.metric if isinstance(entry, ScoredMetric) else entry).name
        for label, entry in metrics.items()
    }
    return {label: interval_of_parts(names[label], found[label], level) for label in metrics}


def check_level(level: float) -> None:
    """Raise an error unless the level is between 0 and 1."""
    if not 0 < level < 1:
        raise EvidenceError(f"level={level} is not a level: use a number between 0 and 1, such as 0.95.")


def interval_of_parts(name: str, found: PartScores | Finding, level: float) -> Interval:
    """Interval of the metric of this name from its scores of parts, or the reason why it has none."""
    if isinstance(found, Finding):
        return Interval(name, level, reason=found)
    score, values, plan = found.score, found.raw, found.plan
    if math.isnan(score.raw) or np.isnan(values).any():
        reason = (
            Finding("score_undefined", metric=name)
            if math.isnan(score.raw)
            else Finding("parts_undefined", metric=name, n_parts=np.isnan(values).sum(), of=len(values))
        )
        return Interval(name, level, score.raw, bounds=score.bounds, notes=found.notes, reason=reason)
    reach = plan.quantile(level, len(values))
    error = plan.standard_error(values)
    per_factor = {}
    for factor, here in score.per_factor.items():
        half = reach * plan.standard_error([part.get(factor, math.nan) for part in found.per_factor])
        if not math.isnan(here + half):
            per_factor[factor] = (here - half, here + half)
    return Interval(
        metric=name,
        level=level,
        raw=score.raw,
        lower=score.raw - reach * error,
        upper=score.raw + reach * error,
        bounds=score.bounds,
        standard_error=error,
        n_parts=len(values),
        per_factor=per_factor,
        notes=found.notes,
    )
