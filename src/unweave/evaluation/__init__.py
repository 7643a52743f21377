"""The only metric loop, and what comes out of it."""

from unweave.evaluation.loop import compare, evaluate
from unweave.evaluation.results import Evaluation, Row

__all__ = ["Evaluation", "Row", "compare", "evaluate"]
