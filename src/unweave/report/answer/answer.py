"""The short answer on one representation: which factors were found, how well, and which numbers to report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from unweave.evaluation import Evaluation
from unweave.metrics.identification.factor_findings import IDENTIFIED
from unweave.metrics.identification.factor_findings import PARTLY as PARTLY_IDENTIFIED
from unweave.report.answer.factor_rows import SOURCE, FactorRow, factor_rows
from unweave.report.answer.question_lines import OTHER_CONTENT, PARTLY, YES, QuestionLine, question_lines
from unweave.report.answer.steps import next_steps
from unweave.words import answers as words

MUCH_HIGHER = 0.1  # smallest difference of mcc and identification that mcc_note explains


@dataclass(frozen=True)
class Answer:
    """The results of one representation, in sentences and two small tables.

    ``headline`` states how many factors have codes of their own, and ``report`` is a sentence for a paper.
    ``next_steps`` are recommendations, the most important first. ``remark`` is a caveat about the table of factors, and
    ``reading`` explains the two tables. ``mcc_note`` explains why `mcc` is much higher than `identification`.
    """

    representation: str
    headline: str
    factors: tuple[FactorRow, ...]
    questions: tuple[QuestionLine, ...]
    report: str
    next_steps: tuple[str, ...]
    remark: str = ""
    reading: tuple[str, ...] = ()
    mcc_note: str = ""

    @property
    def trusted(self) -> tuple[QuestionLine, ...]:
        """Questions that are answered by a trusted metric."""
        return tuple(line for line in self.questions if line.level == "trust")

    def factors_that_are(self, found: str) -> list[str]:
        """Names of the factors with this value of ``found``."""
        return [row.factor for row in self.factors if row.found == found]


def answer_of(evaluation: Evaluation, representation: str | None = None) -> Answer:
    """The answer for one representation, the first unless another is named.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(300, 2))
    >>> found = answer_of(unweave.evaluate(factors, factors[:, ::-1], quick=True))
    >>> found.headline
    'Both factors have codes of their own.'
    >>> [(row.factor, row.found, row.codes) for row in found.factors]
    [('factor 0', 'yes', ('code 1',)), ('factor 1', 'yes', ('code 0',))]
    """
    name = evaluation.representations[0] if representation is None else representation
    rows, lines = factor_rows(evaluation, name), question_lines(evaluation, name)
    headline = _headline(evaluation, name, rows)
    return Answer(
        representation=name,
        headline=headline,
        factors=rows,
        questions=lines,
        report=_report(evaluation, name, rows, lines),
        next_steps=tuple(next_steps(evaluation, name, rows, lines)),
        remark=_remark(evaluation, name) if rows else "",
        reading=_reading(evaluation, name, rows, lines),
        mcc_note=words.mcc_beside_identification() if _mcc_is_higher(evaluation, name) else "",
    )


def _headline(evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...]) -> str:
    if not evaluation.data["factors"]:
        return "There are no factors, so the answer cannot say which were found."
    if not rows:
        row = evaluation.row(SOURCE, representation)
        problem = str(row.problem) if row is not None and row.problem else ""
        return f"Which factors were found is not known. {problem}" if problem else words.no_factor_table()
    named = {found: [row.factor for row in rows if row.found == found] for found in ("yes", "partly", "no", "implied")}
    if not any(row.counts for row in rows):
        row = evaluation.row(SOURCE, representation)
        caveats = list(map(str, row.score.caveats)) if row is not None and row.score else []
        return words.undefined_table(caveats)
    first = words.found_factors(named["yes"], named["partly"], named["no"])
    return f"{first} {words.implied_factors(named['implied'])}" if named["implied"] else first


def _remark(evaluation: Evaluation, representation: str) -> str:
    row = evaluation.row(SOURCE, representation)
    level = row.verdict.level if row is not None and row.verdict else ""
    return words.doubtful_table(SOURCE, level) if level in ("caution", "do not use") else ""


def _reading(
    evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...], lines: tuple[QuestionLine, ...]
) -> tuple[str, ...]:
    confidence = next((line.confidence for line in lines if line.confidence), None)
    of_questions = words.reading_of_questions(YES, PARTLY, confidence)
    return _reading_of_factors(evaluation, representation, rows), of_questions if lines else ""


def _reading_of_factors(evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...]) -> str:
    if not any(row.counts for row in rows):
        return ""
    score = evaluation.score(SOURCE, representation)
    free = score.parts.get("free_factors", np.ones(len(rows)))
    shown = [(row, bool(is_free)) for row, is_free in zip(rows, free, strict=True) if row.share is not None]
    redundant = [row.factor for row, is_free in shown if not is_free]
    mean = fmean([row.share or 0.0 for row, is_free in shown if is_free] or [0.0])
    said = words.reading_of_factors(SOURCE, score.value, mean, redundant)
    return f"{said} {words.reading_of_found(IDENTIFIED, PARTLY_IDENTIFIED)}"


def _mcc_is_higher(evaluation: Evaluation, representation: str) -> bool:
    rows = evaluation.row("mcc", representation), evaluation.row(SOURCE, representation)
    mcc, own = (row.score.value if row is not None and row.score is not None else math.nan for row in rows)
    return mcc - own >= MUCH_HIGHER


def _report(
    evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...], lines: tuple[QuestionLine, ...]
) -> str:
    """The trusted numbers in one sentence, and how many factors have codes of their own."""
    checked = any(line.level not in ("not checked", "") for line in lines)
    if not checked:
        return "These scores are not checked: do not report them before noise floors and verdicts are computed."
    scores = [
        words.reported_score(line.metric, line.value, line.low, line.high, line.confidence, line.noise)
        for line in lines
        if line.level == "trust" and line.question != OTHER_CONTENT and line.value is not None
    ]
    yes, n = sum(row.found == "yes" for row in rows), sum(row.counts for row in rows)
    found = f"{yes} of {n} factors {'has a code of its' if yes == 1 else 'have codes of their'} own." if n else ""
    data = evaluation.data
    return words.report_sentence(
        data["n_rows"],
        data["representations"][representation]["n_codes"],
        scores,
        found if scores else "",
        data.get("screening", {}).get(representation, {}).get("n_codes"),
    )
