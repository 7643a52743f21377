"""Score representations with many metrics: `evaluate` and `compare`, and the `Evaluation` that they return."""

from unweave.evaluation.loop import compare, evaluate
from unweave.evaluation.results import Evaluation, Row

__all__ = ["Evaluation", "Row", "compare", "evaluate"]
