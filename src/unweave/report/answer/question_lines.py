"""The table of questions: the most trusted metric for each question on these data, and its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unweave.evaluation import Evaluation, Row
from unweave.evaluation.questions import QUESTIONS, Question, question_of
from unweave.report.answer.levels import NOT_CHECKED, is_at_noise_level, rank_of
from unweave.words.answers import unexplained
from unweave.words.phrases import fixed

YES, PARTLY = 0.8, 0.1  # limits of the answers, as shares of the distance from noise floor to best score
OTHER_CONTENT = "other content"
UNEXPLAINED = "unexplained variance"


@dataclass(frozen=True)
class QuestionLine:
    """A question and its answer: 'yes', 'partly', 'no' or 'not known', by a metric with its score and verdict.

    ``spread`` is the standard deviation over seeds, ``noise`` the score of random codes, ``level`` the verdict (or 'not
    checked'), and ``at_noise_level`` whether the score is no better than noise. ``others`` are the other metrics of
    the question that were computed.
    """

    question: str
    text: str
    short: str
    answer: str
    metric: str = ""
    value: float | None = None
    spread: float | None = None
    noise: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    level: str = NOT_CHECKED
    at_noise_level: bool = False
    sentence: str = ""
    others: tuple[str, ...] = ()

    @property
    def stated_value(self) -> str:
        """The score with two decimals, or a share of variance in per cent."""
        if self.value is None:
            return ""
        return fixed(self.value, 2) if self.metric else f"{100 * self.value:.0f} %"

    @property
    def source(self) -> str:
        """The source of the answer: a metric, or the unexplained variance from the diagnosis."""
        return self.metric or UNEXPLAINED


def question_lines(evaluation: Evaluation, representation: str) -> tuple[QuestionLine, ...]:
    """A line for every question that a computed metric or the diagnosis answers, in the order of `QUESTIONS`."""
    lines = []
    for question in QUESTIONS:
        rows = rows_of(question, evaluation, representation)
        if question.name == OTHER_CONTENT:
            content = _other_content(question, evaluation, representation)
            lines += [content] if content else []
        elif rows:
            labels = tuple(row.label for row in rows)
            lines.append(line_of(question, chosen_row(rows), evaluation, labels))
    return tuple(lines)


def rows_of(question: Question, evaluation: Evaluation, representation: str) -> list[Row]:
    """Rows of a question's metrics that have a score and a best value; metrics of its panel come first."""
    labels = [label for label in evaluation.labels if question_of(_card(evaluation, label)) is question]
    order = {name: k for k, name in enumerate(question.panel)}
    labels.sort(key=lambda label: order.get(label, len(order)))
    found = [evaluation.row(label, representation) for label in labels]
    return [row for row in found if row is not None and has_number(row)]


def chosen_row(rows: Sequence[Row]) -> Row:
    """The row with the best verdict; among equal verdicts, prefer a noise floor and an interval, then the first row."""

    def order(row: Row) -> tuple[int, int]:
        floor = row.noise_floor
        known = (floor is not None and floor.defined) or row.chance is not None
        measured = row.interval is not None and row.interval.defined
        return rank_of(row.verdict.level if row.verdict else NOT_CHECKED), 2 - known - measured

    return min(rows, key=order)


def line_of(question: Question, row: Row, evaluation: Evaluation, labels: tuple[str, ...] = ()) -> QuestionLine:
    """The line of a metric: the mean score over seeds; noise floor, interval and verdict are those of ``row``."""
    interval, floor = row.interval, row.noise_floor
    mean, spread = evaluation.mean_and_spread(row.label, row.representation)
    n_seeds = len(evaluation.values(row.label, row.representation))
    low, high = interval.clipped if interval is not None and interval.defined else (None, None)
    level = row.verdict.level if row.verdict else NOT_CHECKED
    noise = floor.floor if floor is not None and floor.defined else row.chance
    return QuestionLine(
        question=question.name,
        text=question.text,
        short=question.short,
        answer=_in_a_word(row, noise, level),
        metric=row.label,
        value=mean,
        spread=spread if n_seeds > 1 else None,
        noise=noise,
        low=low,
        high=high,
        confidence=interval.level if interval is not None and low is not None else None,
        level=level,
        at_noise_level=is_at_noise_level(row),
        others=tuple(label for label in labels if label != row.label),
    )


def _in_a_word(row: Row, noise: float | None, level: str) -> str:
    """The answer in a word, from the position of the score between noise and the best score."""
    if row.score is None or not math.isfinite(row.card.best) or level in ("do not use", "no verdict"):
        return "not known"
    start = row.card.bounds[0] if not row.card.lower_is_better else row.card.bounds[1]
    start = noise if noise is not None else start
    if not math.isfinite(start) or start == row.card.best:
        return "not known"
    share = (row.score.value - start) / (row.card.best - start)
    return "yes" if share >= YES else "partly" if share > PARTLY else "no"


def _other_content(question: Question, evaluation: Evaluation, representation: str) -> QuestionLine | None:
    """The share of the codes' variance that no factor explains, from the diagnosis."""
    diagnosis = evaluation.data.get("diagnosis", {}).get(representation, {})
    share = diagnosis.get("nuisance_share")
    if share is None:
        return None
    answer = "yes" if share >= 1 - YES else "partly" if share > PARTLY else "no"
    return QuestionLine(
        question=question.name,
        text=question.text,
        short=question.short,
        answer="a little" if answer == "partly" else answer,
        value=float(share),
        sentence=unexplained(float(share)),
    )


def _card(evaluation: Evaluation, label: str) -> str:
    return next(row.card.measures for row in evaluation.rows if row.label == label)


def has_number(row: Row) -> bool:
    """Whether there is a defined score of a metric that has a best value."""
    return row.score is not None and not math.isnan(row.score.raw) and not math.isnan(row.card.best)
