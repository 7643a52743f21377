"""A chosen metric: the metric itself, or a ``functools.partial`` that fixes some of its options."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

from unweave.card.card import Card
from unweave.card.metric_decorator import Metric
from unweave.evidence import EvidenceError

Choice = Metric | functools.partial[Any]


def metric_of(choice: object) -> Metric:
    """The metric of a choice; raises EvidenceError if the object is not a metric.

    >>> from unweave.metrics import mcc
    >>> metric_of(functools.partial(mcc, correlation="spearman")) is mcc
    True
    """
    entry = choice.func if isinstance(choice, functools.partial) else choice
    if not hasattr(entry, "card"):
        raise EvidenceError(
            f"An object of type {type(entry).__name__} is not a metric: declare it with @unweave.metric, "
            "or choose one from the catalogue."
        )
    return cast(Metric, entry)


def card_of(choice: object) -> Card:
    """Card of the metric of a choice, as declared."""
    return metric_of(choice).card


def stated_options(choice: object) -> Mapping[str, Any]:
    """Options that the choice fixes.

    >>> from unweave.metrics import r2
    >>> dict(stated_options(functools.partial(r2, rng=3))), stated_options(r2)
    ({'rng': 3}, {})
    """
    return choice.keywords if isinstance(choice, functools.partial) else {}
