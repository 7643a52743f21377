"""The summary as Markdown, for example for issues, pull requests and notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from unweave.evaluation import Evaluation
from unweave.evaluation.loop import SMALLEST_DIFFERENCE
from unweave.report.answer import Answer, ComparedAnswer, TextTable, whole_answer
from unweave.report.summary import summarise
from unweave.sentences import NOTHING, between, counted, fixed, listed, p_value, say

MEANT = re.compile(r"[\\`*_\[\]|~]")


def markdown_page(evaluation: Evaluation) -> str:
    """Return the report as Markdown.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(markdown_page(unweave.evaluate(factors, factors, metrics=["mcc"], quick=True)).split("\\n")[0])
    # What the codes contain
    """
    summary, answer = summarise(evaluation), whole_answer(evaluation)
    several = len(summary["data"]["representations"]) > 1
    judged = any(cell["verdict"] for metric in summary["metrics"] for cell in metric["cells"])
    parts = [
        f"# {plain(summary['title'])}",
        summary["subtitle"],
        f"**{plain(answer.headline)}**",
        *(_comparison(answer) if isinstance(answer, ComparedAnswer) else _tables(answer)),
        f"**Report:** {plain(answer.report)}",
        "**Next:**\n\n" + _list(map(plain, answer.next_steps)),
        summary["trusted"],
        "## Verdicts" if judged else "## Scores",
        _side_by_side(summary) if several else _verdicts(summary),
    ]
    if summary["reasons"]:
        parts += ["### Why", _list(map(_reason, summary["reasons"]))]
    if summary["data"]["notes"]:
        parts += ["### Notes about the data", _list(map(plain, summary["data"]["notes"]))]
    if summary["notes"]:
        parts += ["### Notes", _numbered(summary["notes"], at_most=12)]
    if summary["matrices"]:
        parts += ["## Which code carries which factor", *(_matrix(matrix, several) for matrix in summary["matrices"])]
    for entry in summary["screening"]:
        parts += ["## Codes that depend on a factor", plain(entry["sentence"]), _codes(entry)]
    if summary["charts"]:
        parts += ["## Scores of each factor", _per_factor(summary, several)]
    parts += ["## The data"] if summary["diagnosis"] else []
    for diagnosis in summary["diagnosis"]:
        parts += [f"### {plain(diagnosis['representation'])}"] if several else []
        parts.append(_table(["", ""], [[figure["name"], figure["text"]] for figure in diagnosis["figures"]]))
        parts.append(_list(plain(sentence) for sentence in diagnosis["sentences"]))
    parts += ["## For your paper", plain(summary["writing"]["methods"])]
    parts += [_fenced("latex", summary["writing"]["latex"]), _fenced("bibtex", summary["writing"]["bibtex"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _codes(entry: Mapping[str, Any]) -> str:
    """Return the table of the codes that depend on a factor, and the number of codes that it does not show."""
    rows = [[row["code"], row["factor"], fixed(row["correlation"], 2), row["q"]] for row in entry["codes"]]
    table = _table(["code", "factor", "correlation", "q"], rows) if rows else ""
    return f"{table}\n\n{entry['n_hidden']:,} codes are not shown."


def _tables(answer: Answer) -> list[str]:
    if answer.spectrum is not None:
        return [*map(markdown_table, answer.spectrum.tables()), plain(answer.identified), answer.reading[0]]
    return [
        *([markdown_table(answer.factor_table()), plain(answer.below_factors)] if answer.factors else []),
        answer.reading[0],
        *([markdown_table(answer.question_table()), answer.reading[1]] if answer.questions else []),
        plain(answer.nuisances),
    ]


def _comparison(answer: ComparedAnswer) -> list[str]:
    parts = [] if answer.course is None else [plain(answer.course.on_the_way)]
    parts += [] if answer.settings is None else [answer.settings.to_markdown().rstrip(), say("single_runs")]
    parts += [markdown_table(answer.table()), say("reading_of_representations")] if answer.order else []
    if answer.differences is not None:
        parts += [markdown_table(answer.differences), say("reading_of_differences", margin=SMALLEST_DIFFERENCE)]
    if answer.layers is not None:
        parts += [markdown_table(answer.layers.table()), answer.layers.reading]
    parts.append(plain(answer.nuisances))
    for question in answer.questions:
        parts.append(f"{plain(question.text)} By {plain(question.metric)}.\n\n{markdown_table(question.table())}")
    return parts


def _verdicts(summary: Mapping[str, Any]) -> str:
    rows = []
    for metric in summary["metrics"]:
        cell = metric["cells"][0]
        floor, interval, verdict = (
            cell["floor"] or {},
            cell["interval"],
            cell["verdict"] or {"level": "", "reasons": ()},
        )
        rows.append(
            [
                metric["label"],
                _score(cell),
                fixed(floor.get("mean")),
                "" if floor else fixed(cell["chance"]),
                between(interval["low"], interval["high"], 3) if interval else "",
                fixed(cell["calibrated"]),
                p_value(floor.get("p_value"), floor.get("resolution")),
                verdict["level"],
                cell["problem"] or next((str(reason["sentence"]) for reason in verdict["reasons"]), ""),
            ]
        )
    return _table(["metric", "score", "noise", "chance", "interval", "calibrated", "p", "verdict", "why"], rows)


def _side_by_side(summary: Mapping[str, Any]) -> str:
    names = [entry["name"] for entry in summary["data"]["representations"]]
    rows = []
    for metric in summary["metrics"]:
        by_name = {cell["representation"]: cell for cell in metric["cells"]}
        texts = []
        for name in names:
            cell = by_name.get(name)
            verdict = f" {cell['verdict']['level']}" if cell and cell["verdict"] else ""
            texts.append(f"{_score(cell)}{verdict}" if cell else "")
        rows.append([metric["label"], *texts])
    return _table(["metric", *names], rows)


def _score(cell: Mapping[str, Any]) -> str:
    if cell["value"] is None:
        return "failed" if cell["problem"] else "undefined"
    return fixed(cell["value"]) + (f" ± {fixed(cell['spread'])}" if cell["spread"] is not None else "")


def _reason(reason: Mapping[str, Any]) -> str:
    several = len(reason["scores"]) > 1
    named = (
        counted(len(reason["scores"]), "score") if several and reason["names_scores"] else listed(reason["scores"], 12)
    )
    section = f"({reason['section']})" if reason["section"] else ""
    said = " ".join(filter(None, [reason["sentence" if several else "of_first"], reason["advice"], section]))
    return f"**{plain(named)}**, {reason['level']}: {plain(said)}"


def _matrix(matrix: Mapping[str, Any], several: bool) -> str:
    """Return a matrix as a table of numbers, or its strongest pairs if it is too large."""
    whose = f" of {matrix['representation']}" if several else ""
    title = f"**{plain(matrix['title'].capitalize() + whose)}** ({plain(listed(matrix['metrics']))})"
    if not matrix["as_table"]:
        pairs = [[pair["row"], pair["column"], fixed(pair["value"])] for pair in matrix["strongest"]]
        return f"{title}\n\n{matrix['sentence']}\n\n{_table(['code', 'factor', 'value'], pairs)}"
    rows = [
        [name, *(fixed(value, 2) for value in row)]
        for name, row in zip(matrix["row_names"], matrix["values"], strict=True)
    ]
    return f"{title}\n\n{_table(['code', *matrix['column_names']], rows)}"


def _per_factor(summary: Mapping[str, Any], several: bool) -> str:
    rows = []
    for chart in summary["charts"]:
        whose = f"{chart['label']} of {chart['representation']}" if several else chart["label"]
        bars = ", ".join(
            f"{bar['factor']} {fixed(bar['value'], 2)}{' (noise)' if bar['within_noise'] else ''}"
            for bar in chart["bars"]
        )
        rows.append([whose, ". ".join(filter(None, [bars, chart["sentence"]]))])
    return _table(["metric", "factors"], rows)


def markdown_table(table: TextTable) -> str:
    """The table in Markdown, without its empty columns."""
    return _table(table.heads, table.rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table without its empty columns."""
    kept = [k for k in range(len(heads)) if any(row[k] not in ("", NOTHING) for row in rows)]
    lines = [[heads[k] for k in kept], ["---"] * len(kept), *([row[k] for k in kept] for row in rows)]
    return "\n".join(f"| {' | '.join(plain(text) for text in line)} |" for line in lines)


def _list(items: Any) -> str:
    return "\n".join(f"- {item}" for item in items)


def _numbered(entries: Sequence[Mapping[str, Any]], at_most: int) -> str:
    """Return a numbered list of sentences, each with the metrics that it is about."""
    return "\n".join(
        f"{k}. {plain(entry['sentence'])}"
        + (f" ({plain(listed(entry['metrics'], at_most))})" if entry["metrics"] else "")
        for k, entry in enumerate(entries, 1)
    )


def _fenced(language: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def plain(text: str) -> str:
    """Return the text on one line, escaped so that Markdown does not interpret any character of it."""
    return MEANT.sub(r"\\\g<0>", " ".join(text.split())).replace("<", "&lt;")
