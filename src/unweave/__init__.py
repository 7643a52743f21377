"""unweave: how well a representation separates the factors behind the data, and how far to trust the number.

Names are imported when first used, so that `unweave --help` starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave import datasets, metrics, models, synthetic
    from unweave.auditing import Audit, audit
    from unweave.auditing.conformance import check_metric
    from unweave.card import Card, Metric, MetricUndefined, metric
    from unweave.encoding import encode
    from unweave.evaluation import Evaluation, compare, evaluate
    from unweave.evidence import Evidence, EvidenceError, FactorKind, Jacobians, Posterior
    from unweave.score import Score

__version__ = "0.1.0"

_HOME = {
    "Audit": "unweave.auditing",
    "Card": "unweave.card",
    "Evaluation": "unweave.evaluation",
    "Evidence": "unweave.evidence",
    "EvidenceError": "unweave.evidence",
    "FactorKind": "unweave.evidence",
    "Jacobians": "unweave.evidence",
    "Metric": "unweave.card",
    "MetricUndefined": "unweave.card",
    "Posterior": "unweave.evidence",
    "Score": "unweave.score",
    "audit": "unweave.auditing",
    "check_metric": "unweave.auditing.conformance",
    "compare": "unweave.evaluation",
    "encode": "unweave.encoding",
    "evaluate": "unweave.evaluation",
    "metric": "unweave.card",
}
_ROOMS = ("datasets", "metrics", "models", "synthetic")

__all__ = [  # noqa: RUF022 - the order a newcomer meets them
    "evaluate",
    "compare",
    "encode",
    "Evaluation",
    "audit",
    "Audit",
    "Evidence",
    "EvidenceError",
    "FactorKind",
    "Jacobians",
    "Posterior",
    "Score",
    "Card",
    "Metric",
    "MetricUndefined",
    "metric",
    "check_metric",
    "datasets",
    "metrics",
    "synthetic",
    "models",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"unweave.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'unweave' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
