"""The loop over metrics, and its results."""

from unweave.evaluation.loop import compare, evaluate
from unweave.evaluation.results import Evaluation, Row

__all__ = ["Evaluation", "Row", "compare", "evaluate"]
