"""`Card`, the description of a metric, and `metric`, the decorator that declares a function as a metric."""

from unweave.card.card import Card, CardFields, MetricUndefined
from unweave.card.card_checks import MetricError
from unweave.card.metric_decorator import Metric, metric, seed_from
from unweave.card.option_values import Count, Quantile, Seed, Several, Share
from unweave.card.vocabulary import ANY_KIND, Assumption, Chance, Equivalence, Need, Variant

__all__ = [
    "ANY_KIND",
    "Assumption",
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
