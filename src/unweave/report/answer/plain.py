"""The answer as plain data, the same in JSON, on pages and in Python."""

from __future__ import annotations

from typing import Any

from unweave.codec import plain_data
from unweave.evaluation import Evaluation
from unweave.report.answer.answer import answer_of
from unweave.report.answer.compared_answer import compared_answer

SCHEMA = "unweave.answer/1"


def plain_answer(evaluation: Evaluation) -> dict[str, Any]:
    """The answer of one representation; of several, how they differ and the answer of each.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> sorted(plain_answer(evaluate(z, z, metrics="mcc", quick=True)))
    ['factors', 'headline', 'next_steps', 'questions', 'reading', 'remark', 'report', 'representation', 'schema']
    """
    several = len(evaluation.representations) > 1
    return {"schema": SCHEMA, **plain_data(compared_answer(evaluation) if several else answer_of(evaluation))}
