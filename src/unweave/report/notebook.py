"""Results as they are shown in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from unweave.auditing.properties import Audit
from unweave.evaluation import Evaluation
from unweave.evaluation.loop import SMALLEST_DIFFERENCE
from unweave.report.answer import Answer, ComparedAnswer, TextTable, whole_answer
from unweave.score import Score
from unweave.sentences import fixed, say
from unweave.trust.comparison import Comparison
from unweave.trust.diagnosis import Diagnosis

ROWS_SHOWN = 40


def notebook_view(evaluation: Evaluation) -> str:
    """Return the answer, followed by the complete text in a collapsed block.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> notebook_view(evaluate(z, z, metrics="mcc", quick=True))[:5]
    '<div>'
    """
    answer = whole_answer(evaluation)
    tables = _of_several(answer) if isinstance(answer, ComparedAnswer) else _of_one(answer)
    steps = "".join(f"<li>{escape(step)}</li>" for step in answer.next_steps)
    return (
        f"<div><p><b>{escape(answer.headline)}</b></p>{''.join(tables)}"
        f"{f'<p>{escape(answer.nuisances)}</p>' if answer.nuisances else ''}"
        f"<p><b>Report:</b> {escape(answer.report)}</p><p><b>Next:</b></p><ol>{steps}</ol>"
        f"<details><summary>All metrics</summary><pre>{escape(str(evaluation))}</pre></details></div>"
    )


def _of_one(answer: Answer) -> Iterable[str]:
    if answer.spectrum is not None:
        yield from map(html_table, answer.spectrum.tables())
    if answer.factors:
        yield html_table(answer.factor_table())
    yield f"<p>{escape(answer.below_factors)}</p>"
    if answer.questions:
        yield html_table(answer.question_table())
    yield from (f"<p>{escape(sentence)}</p>" for sentence in answer.reading if sentence)


def _of_several(answer: ComparedAnswer) -> Iterable[str]:
    if answer.settings is not None:
        yield f"{answer.settings.to_html()}<p>{escape(say('single_runs'))}</p>"
    if answer.course is not None:
        yield f"<p>{escape(answer.course.on_the_way)}</p>"
    yield html_table(answer.table())
    if answer.differences is not None:
        reading = say("reading_of_differences", margin=SMALLEST_DIFFERENCE)
        yield html_table(answer.differences) + f"<p>{escape(reading)}</p>"
    if answer.layers is not None:
        yield html_table(answer.layers.table()) + f"<p>{escape(answer.layers.reading)}</p>"
    for question in answer.questions:
        yield f"<p>{escape(question.text)} By {escape(question.metric)}.</p>"
        table = question.table()
        yield html_table(TextTable((*table.heads[:-1], ""), table.rows))


def html_table(table: TextTable) -> str:
    """The first rows of the table in HTML."""
    head = "".join(f"<th>{escape(text)}</th>" for text in table.heads)
    shown = table.rows[:ROWS_SHOWN]
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in shown)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def score_view(score: Score) -> str:
    """Return the score, its value for each factor and each code, and the caveats.

    >>> score_view(Score(raw=0.5, metric="mcc", per_factor={"size": 0.5}))[:35]
    '<div><p><b>mcc = 0.500</b></p><tabl'
    """
    parts = [f"<p><b>{escape(score.metric or 'score')} = {_cell_number(score.value)}</b></p>"]
    for heading, numbers in (("factor", score.per_factor), ("code", score.per_code)):
        if numbers:
            rows = tuple((name, _cell_number(number)) for name, number in numbers.items())
            parts.append(html_table(TextTable((heading, "score"), rows)))
    return _block([*parts, _listed([*map(str, score.findings), *map(str, score.caveats)])])


def audit_view(audit: Audit) -> str:
    """Return a table with one row for each of the four properties.

    >>> "not audited" in audit_view(Audit("mine", 1, refusal="It was not audited."))
    True
    """
    heading = f"<p><b>{escape(audit.metric)}: {' '.join(audit.ticks)}</b></p>"
    if audit.refusal:
        return _block([heading, f"<p>{escape(str(audit.refusal))}</p>"])
    rows = tuple(
        (result.name, result.tick, result.verdict, _cell_number(result.number), result.where)
        for result in audit.results
    )
    table = TextTable(("property", "", "verdict", "worst number", "where"), rows)
    return _block([heading, html_table(table), _listed(map(str, audit.problems))])


def diagnosis_view(diagnosis: Diagnosis) -> str:
    """Return the sentences of the diagnosis as a list.

    >>> diagnosis_view(Diagnosis(n_rows=5, n_factors=1, n_codes=1, rows_looked_at=5))[:9]
    '<div><ul>'
    """
    return _block([_listed([*diagnosis.sentences(), *map(str, diagnosis.notes)])])


def comparison_view(comparison: Comparison) -> str:
    """Return the representations from best to worst; those that share a letter do not differ significantly.

    >>> comparison_view(Comparison("mcc", 0.95, scores={"a": 0.9}, letters={"a": "a"}))[:32]
    '<div><p><b>mcc</b></p><table><th'
    """
    rows = tuple(
        (name, _cell_number(score), comparison.letters.get(name, "")) for name, score in comparison.scores.items()
    )
    said = [*([str(comparison.reason)] if comparison.reason else []), *map(str, comparison.notes)]
    shared = ["Scores that share a letter do not differ significantly."] if len(rows) > 1 else []
    table = html_table(TextTable(("representation", "score", "group"), rows))
    return _block([f"<p><b>{escape(comparison.metric)}</b></p>", table, _listed([*shared, *said])])


def _block(parts: Iterable[str]) -> str:
    return f"<div>{''.join(parts)}</div>"


def _listed(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in dict.fromkeys(sentences))
    return f"<ul>{items}</ul>" if items else ""


def _cell_number(value: float) -> str:
    return fixed(None if math.isnan(value) else value)
