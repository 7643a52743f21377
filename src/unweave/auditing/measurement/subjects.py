"""`Subject`: a metric, or any function of two arrays, on a scale where 1 is the best score."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from unweave.card import Card
from unweave.card.choices import metric_of, stated_options
from unweave.evaluation.metric_choice import MetricChoice, chosen_by_text, chosen_metrics
from unweave.evidence import Evidence, EvidenceError
from unweave.findings import Finding
from unweave.metrics import CATALOGUE

Auditable = MetricChoice | Callable[..., Any]
Scale = tuple[float, float]


@dataclass(frozen=True)
class Subject:
    """A metric with its name, the text that names it in an expression, and the scores that are rescaled to 0 and 1.

    ``worst`` and ``best`` come from the card; they are 0 and 1 for a function without a card.
    """

    label: str
    text: str
    entry: Callable[..., Any]
    worst: float
    best: float
    card: Card | None
    rescaled: bool = False

    def score(self, evidence: Evidence, seed: int) -> float:
        """The score, rescaled linearly so that ``worst`` becomes 0 and ``best`` becomes 1; nan if it is undefined."""
        if self.card is None:
            found = float(self.entry(evidence.factors, evidence.codes))
        else:
            given = {"rng": seed} if self._takes_seed else {}
            found = float(self.entry(evidence, **given))
        return found if (self.worst, self.best) == (0.0, 1.0) else (found - self.worst) / (self.best - self.worst)

    @property
    def version(self) -> int:
        """The version of the metric; 0 without a card."""
        return 0 if self.card is None else self.card.version

    @property
    def treatment(self) -> Finding | None:
        """How its scores are rescaled; None if they are not."""
        if self.refusal or (self.worst, self.best) == (0.0, 1.0):
            return None
        return Finding("scores_rescaled", worst=self.worst, best=self.best)

    @property
    def refusal(self) -> Finding | None:
        """Why the metric cannot be audited; None if it can."""
        needs = () if self.card is None else tuple(n for n in self.card.needs if n not in ("factors", "codes"))
        if needs:
            return Finding("needs_more_than_tables", metric=self.label, need=needs[0])
        if not math.isfinite(self.worst) or not math.isfinite(self.best):
            return Finding("no_scale_to_audit", metric=self.label)
        return None

    @property
    def _takes_seed(self) -> bool:
        return "rng" in metric_of(self.entry).options and "rng" not in stated_options(self.entry)


def subject_of(metric: Auditable, scale: Scale | None = None) -> Subject:
    """The subject for a name with options, a metric, a partial of one, or a function (factors, codes) -> float.

    >>> subject_of("mcc:correlation=spearman").label
    'mcc (correlation=spearman)'
    >>> subject_of(lambda factors, codes: 0.5).label
    '<lambda>'
    """
    if scale is not None and (len(scale) != 2 or scale[0] == scale[1]):
        raise EvidenceError(f"scale={scale!r} is not a worst and a best score: pass two different numbers.")
    entry = chosen_by_text(metric) if isinstance(metric, str) else metric
    if not callable(entry):
        raise EvidenceError(
            f"An object of type {type(entry).__name__} cannot be audited: pass a metric's name, a metric, "
            "or a function (factors, codes) -> float."
        )
    inner = entry.func if isinstance(entry, functools.partial) else entry
    if not hasattr(inner, "card"):
        worst, best = scale or (0.0, 1.0)
        return Subject(
            getattr(inner, "__name__", type(inner).__name__), "metric", entry, worst, best, None, bool(scale)
        )
    card: Card = inner.card.under(stated_options(entry))
    low, high = card.bounds
    worst, best = scale or ((high, low) if card.lower_is_better else (low, card.best))
    label = next(iter(chosen_metrics([cast(MetricChoice, entry)])))
    return Subject(label, _text(entry, card), entry, float(worst), float(best), card, bool(scale))


def subjects_of(metrics: Iterable[Auditable | Subject]) -> list[Subject]:
    """Subjects for several metrics, which must have different names."""
    subjects = [entry if isinstance(entry, Subject) else subject_of(entry) for entry in metrics]
    if not subjects or len({subject.label for subject in subjects}) < len(subjects):
        raise EvidenceError("An audit needs at least one metric, and metrics with different names: add or rename one.")
    return subjects


def _text(entry: Any, card: Card) -> str:
    """Text for the metric in an expression: its catalogue name with options, otherwise `metric`."""
    options = stated_options(entry)
    simple = all(isinstance(value, (bool, int, float, str)) for value in options.values())
    if CATALOGUE.get(card.name) is not metric_of(entry) or not simple:
        return "metric"
    return repr(":".join([card.name, *(f"{name}={value}" for name, value in options.items())]))
