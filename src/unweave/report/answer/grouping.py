"""Metrics grouped by the question they answer, trusted metrics first."""

from __future__ import annotations

from unweave.evaluation import Evaluation
from unweave.evaluation.questions import OTHER, QUESTIONS, Question, question_of
from unweave.report.answer.levels import NOT_CHECKED, rank_of


def by_question(evaluation: Evaluation) -> dict[Question, list[str]]:
    """Labels of the metrics by question, sorted by their mean verdict over representations.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> evaluation = evaluate(z, z, metrics=["r2", "mcc"], quick=True)
    >>> {question.name: labels for question, labels in by_question(evaluation).items()}
    {'recovery': ['mcc'], 'explicitness': ['r2']}
    """
    groups: dict[Question, list[str]] = {}
    measures = {row.label: row.card.measures for row in reversed(evaluation.rows)}
    for question in (*QUESTIONS, OTHER):
        labels = [label for label in evaluation.labels if question_of(measures[label]) is question]
        if labels:
            groups[question] = sorted(labels, key=lambda label: _doubt(evaluation, label))
    return groups


def _doubt(evaluation: Evaluation, label: str) -> float:
    """Mean rank of the verdicts of a metric, lower ranks being better; metrics that failed come last."""
    rows = [row for name in evaluation.representations if (row := evaluation.row(label, name))]
    ranks = [rank_of(row.verdict.level if row.verdict else NOT_CHECKED) + (row.score is None) * 10 for row in rows]
    return sum(ranks) / len(ranks)
