"""The HTML tables that a notebook shows for a Score, an Audit, a Diagnosis and a Comparison.

They have no style sheet and no script, so the light or dark colours of the notebook apply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from unweave.auditing.scorecard import Audit
from unweave.score import Score
from unweave.trust.diagnosis.record import Diagnosis
from unweave.trust.sampling.comparison import Comparison
from unweave.words.phrases import fixed

MOST_ROWS = 40


def score_view(score: Score) -> str:
    """Return the score, its value for each factor and each code, and the caveats.

    >>> score_view(Score(raw=0.5, metric="mcc", per_factor={"size": 0.5}))[:35]
    '<div><p><b>mcc = 0.500</b></p><tabl'
    """
    parts = [f"<p><b>{escape(score.metric or 'score')} = {_number(score.value)}</b></p>"]
    for heading, numbers in (("factor", score.per_factor), ("code", score.per_code)):
        if numbers:
            rows = [[name, _number(number)] for name, number in list(numbers.items())[:MOST_ROWS]]
            parts.append(_table([heading, "score"], rows))
    return _block([*parts, _listed([*map(str, score.findings), *map(str, score.caveats)])])


def audit_view(audit: Audit) -> str:
    """Return a table with one row for each of the four properties.

    >>> "not audited" in audit_view(Audit("mine", 1, refusal="It was not audited."))
    True
    """
    heading = f"<p><b>{escape(audit.metric)}: {' '.join(audit.ticks)}</b></p>"
    if audit.refusal:
        return _block([heading, f"<p>{escape(str(audit.refusal))}</p>"])
    rows = [
        [result.name, result.tick, result.verdict, _number(result.number), result.where] for result in audit.results
    ]
    return _block(
        [heading, _table(["property", "", "verdict", "worst number", "where"], rows), _listed(map(str, audit.problems))]
    )


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
    rows = [[name, _number(score), comparison.letters.get(name, "")] for name, score in comparison.scores.items()]
    said = [*([str(comparison.reason)] if comparison.reason else []), *map(str, comparison.notes)]
    shared = ["Scores that share a letter do not differ significantly."] if len(rows) > 1 else []
    table = _table(["representation", "score", "group"], rows[:MOST_ROWS])
    return _block([f"<p><b>{escape(comparison.metric)}</b></p>", table, _listed([*shared, *said])])


def _block(parts: Iterable[str]) -> str:
    return f"<div>{''.join(parts)}</div>"


def _listed(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in dict.fromkeys(sentences))
    return f"<ul>{items}</ul>" if items else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _number(value: float) -> str:
    return fixed(None if math.isnan(value) else value)
