"""The short answer on several representations: each question by one metric, the best representation first."""

from __future__ import annotations

from dataclasses import dataclass

from unweave.evaluation import Evaluation, Row
from unweave.evaluation.questions import QUESTIONS, Question
from unweave.report.answer.answer import Answer, answer_of
from unweave.report.answer.levels import NOT_CHECKED, rank_of, verdict_in_words
from unweave.report.answer.question_lines import OTHER_CONTENT, QuestionLine, has_number, line_of, rows_of
from unweave.report.answer.steps import MOST_STEPS, of_factors
from unweave.words import answers as words

NOT_COMPARED = 0.5  # penalty on the rank of a metric without intervals


@dataclass(frozen=True)
class Ranked:
    """One representation by one metric; ``best`` if it does not differ significantly from the best representation."""

    representation: str
    value: float | None
    low: float | None
    high: float | None
    level: str
    verdict: str
    best: bool
    letters: str = ""
    spread: float | None = None


@dataclass(frozen=True)
class ComparedQuestion:
    """A question, the metric that answers it for most representations, and the representations ranked by it."""

    question: str
    text: str
    short: str
    metric: str
    noise: tuple[float, float] | None
    ranked: tuple[Ranked, ...]


@dataclass(frozen=True)
class ComparedAnswer:
    """The answer for several representations."""

    headline: str
    representations: tuple[Answer, ...]
    questions: tuple[ComparedQuestion, ...]
    report: str
    next_steps: tuple[str, ...]
    mcc_note: str = ""


def compared_answer(evaluation: Evaluation) -> ComparedAnswer:
    """The answer for all representations of an evaluation.

    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(300, 2))
    >>> both = unweave.compare(factors, {"kept": factors, "noise": rng.normal(size=(300, 2))}, quick=True)
    >>> compared_answer(both).headline
    'kept has every factor in a code of its own.'
    """
    found = tuple(answer_of(evaluation, name) for name in evaluation.representations)
    questions = tuple(
        compared
        for question in QUESTIONS
        if question.name != OTHER_CONTENT and (compared := _compared(question, evaluation))
    )
    counts = {
        answer.representation: (len(answer.factors_that_are("yes")), sum(row.counts for row in answer.factors))
        for answer in found
        if any(row.counts for row in answer.factors)
    }
    steps = dict.fromkeys(
        f"{answer.representation}: {step}" for answer in found for step in list(of_factors(answer.factors))[:1]
    )
    return ComparedAnswer(
        headline=words.most_found(counts),
        representations=found,
        questions=questions,
        report=_report(questions),
        next_steps=tuple(steps)[:MOST_STEPS] or (words.nothing_in_the_way(),),
        mcc_note=next((answer.mcc_note for answer in found if answer.mcc_note), ""),
    )


def _compared(question: Question, evaluation: Evaluation) -> ComparedQuestion | None:
    """The question, answered by the metric with scores for most representations; among several, by the most trusted.

    A metric without intervals does not show which representations differ, so metrics with intervals and the same
    verdicts are preferred.
    """
    comparisons = evaluation.data.get("comparison", {})
    by_metric: dict[str, dict[str, str]] = {}
    for name in evaluation.representations:
        for row in rows_of(question, evaluation, name):
            by_metric.setdefault(row.label, {})[name] = row.verdict.level if row.verdict else NOT_CHECKED
    if not by_metric:
        return None

    def order(label: str) -> tuple[int, float]:
        told_apart = bool(comparisons.get(label, {}).get("letters"))
        return -len(by_metric[label]), _doubt(by_metric[label]) + (0.0 if told_apart else NOT_COMPARED)

    metric = min(by_metric, key=order)
    return compared_by(metric, question, evaluation)


def compared_by(metric: str, question: Question, evaluation: Evaluation) -> ComparedQuestion:
    """The representations by one metric, best first; those without a score last."""
    rows = [row for name in evaluation.representations if (row := evaluation.row(metric, name))]
    lines = {row.representation: line_of(question, row, evaluation) for row in rows if has_number(row)}
    comparison = evaluation.data.get("comparison", {}).get(metric, {})
    letters: dict[str, str] = comparison.get("letters", {})
    best = set(next(iter(comparison.get("ties", ())), ()))
    floors = [line.noise for line in lines.values() if line.noise is not None]
    return ComparedQuestion(
        question=question.name,
        text=question.text,
        short=question.short,
        metric=metric,
        noise=(min(floors), max(floors)) if floors else None,
        ranked=tuple(
            _ranked(row, lines.get(row.representation), row.representation in best, letters)
            for row in sorted(rows, key=_best_first)
        ),
    )


def _ranked(row: Row, line: QuestionLine | None, best: bool, letters: dict[str, str]) -> Ranked:
    verdict = verdict_in_words(row)
    if line is None:
        return Ranked(row.representation, None, None, None, verdict, "failed" if row.problem else "undefined", False)
    name, best = row.representation, best and line.level != "do not use"
    return Ranked(name, line.value, line.low, line.high, line.level, verdict, best, letters.get(name, ""), line.spread)


def _best_first(row: Row) -> tuple[bool, float]:
    if not has_number(row) or row.score is None:
        return True, 0.0
    return False, row.score.raw if row.card.lower_is_better else -row.score.raw


def _doubt(levels: dict[str, str]) -> float:
    """Mean rank of the verdicts; lower ranks are better."""
    return sum(map(rank_of, levels.values())) / len(levels)


def _report(questions: tuple[ComparedQuestion, ...]) -> str:
    sentences = []
    for question in questions:
        best = [entry.representation for entry in question.ranked if entry.best and entry.level == "trust"]
        if best and len(best) < len(question.ranked):
            sentences.append(words.best_by(question.metric, best))
        elif best:
            sentences.append(words.all_tied_by(question.metric))
    return " ".join(sentences) or words.nothing_told_apart()
