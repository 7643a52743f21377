"""`Card`, the description of a metric, and `metric`, the decorator that declares a function as a metric."""

from unweave.card.card import (
    ANY_KIND,
    Assumption,
    Card,
    CardFields,
    Chance,
    Equivalence,
    MetricError,
    MetricUndefined,
    Need,
    Variant,
)
from unweave.card.decorator import Metric, metric, seed_from
from unweave.options import Batches, Count, Quantile, Seed, Several, Share

__all__ = [
    "ANY_KIND",
    "Assumption",
    "Batches",
    "Card",
    "CardFields",
    "Chance",
    "Count",
    "Equivalence",
    "Metric",
    "MetricError",
    "MetricUndefined",
    "Need",
    "Quantile",
    "Seed",
    "Several",
    "Share",
    "Variant",
    "metric",
    "seed_from",
]
