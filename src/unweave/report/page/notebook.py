"""The HTML that a notebook shows for an Evaluation. It needs no style sheet and no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from unweave.evaluation import Evaluation
from unweave.report.answer.plain import plain_answer
from unweave.words.phrases import fixed, listed

MOST_ROWS = 40


def notebook_view(evaluation: Evaluation) -> str:
    """Return the answer, followed by the complete text in a collapsed block.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> notebook_view(evaluate(z, z, metrics="mcc", quick=True))[:5]
    '<div>'
    """
    answer = plain_answer(evaluation)
    tables = _of_several(answer) if "representations" in answer else _of_one(answer)
    steps = "".join(f"<li>{escape(step)}</li>" for step in answer["next_steps"])
    return (
        f"<div><p><b>{escape(answer['headline'])}</b></p>{''.join(tables)}"
        f"<p><b>Report:</b> {escape(answer['report'])}</p><p><b>Next:</b></p><ol>{steps}</ol>"
        f"<details><summary>All metrics</summary><pre>{escape(str(evaluation))}</pre></details></div>"
    )


def _of_one(answer: dict[str, Any]) -> Iterable[str]:
    factors = [
        [row["factor"], row["found"], listed(row["codes"], 3), _with_ends(row, "share"), row["obstacle"]]
        for row in answer["factors"][:MOST_ROWS]
    ]
    if factors:
        yield _table(["factor", "found", "best code", "how well (0 to 1)", "what is in the way"], factors)
    questions = [
        [
            *(line["text"], line["answer"], _with_ends(line, "value"), _number(line["noise"])),
            *(line["metric"] or line["sentence"], _level(line)),
        ]
        for line in answer["questions"]
    ]
    yield _table(["question", "answer", "score", "noise", "metric", "verdict"], questions)
    yield from (f"<p>{escape(sentence)}</p>" for sentence in answer["reading"] if sentence)


def _of_several(answer: dict[str, Any]) -> Iterable[str]:
    for question in answer["questions"]:
        ranked = [
            [entry["representation"], _with_ends(entry, "value"), entry["verdict"], "best" if entry["best"] else ""]
            for entry in question["ranked"][:MOST_ROWS]
        ]
        yield f"<p>{escape(question['text'])} By {escape(question['metric'])}.</p>"
        yield _table(["representation", "score", "verdict", ""], ranked)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _with_ends(entry: dict[str, Any], key: str) -> str:
    ends = "" if entry["low"] is None else f" ({fixed(entry['low'], 2)} to {fixed(entry['high'], 2)})"
    return _number(entry[key]) + ends


def _number(value: float | None) -> str:
    return "" if value is None else fixed(value, 2)


def _level(line: dict[str, Any]) -> str:
    return ("noise level" if line["at_noise_level"] and line["level"] == "trust" else line["level"]) * bool(
        line["metric"]
    )
