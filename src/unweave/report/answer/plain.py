"""The answer as plain data, which JSON, pages and notebooks share."""

from __future__ import annotations

from typing import Any

from unweave.codec import plain_data
from unweave.evaluation import Evaluation
from unweave.report.answer.answer import answer_of
from unweave.report.answer.compared_answer import compared_answer

SCHEMA = "unweave.answer/1"


def plain_answer(evaluation: Evaluation) -> dict[str, Any]:
    """The answer for one representation; for several, the comparison and the answer for each.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> sorted(plain_answer(evaluate(z, z, metrics="mcc", quick=True)))[:6]
    ['factors', 'headline', 'mcc_note', 'next_steps', 'questions', 'reading']
    """
    several = len(evaluation.representations) > 1
    return {"schema": SCHEMA, **plain_data(compared_answer(evaluation) if several else answer_of(evaluation))}
