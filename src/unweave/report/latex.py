"""LaTeX of an evaluation: a complete booktabs table, and single rows for an existing table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unweave.evaluation import Evaluation
from unweave.sentences import MINUS, fixed
from unweave.trust.verdict_record import Level

ESCAPES = {letter: f"\\{letter}" for letter in "_%&#${}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    MINUS: "$-$",
}


def latex_table(evaluation: Evaluation) -> str:
    """Return a booktabs table with one row per metric and one column per representation."""
    several = len(evaluation.representations) > 1
    heads = evaluation.representations if several else ("score",)
    lines = [rf"\begin{{tabular}}{{l{'r' * len(heads)}}}", r"\toprule", _row(["metric", *heads]), r"\midrule"]
    for label in evaluation.labels:
        lines.append(_row([label], [_bare_cell(evaluation, label, name) for name in evaluation.representations]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def latex_rows(summary: Mapping[str, Any]) -> str:
    """Return one row for each representation, after comments that name the columns and explain the marks.

    The columns are the metrics that the answer is based on. `latex_table` has all metrics.
    """
    chosen = [line["metric"] for line in summary["answer"]["questions"] if line["metric"]]
    metrics = [metric for metric in summary["metrics"] if metric["label"] in chosen] or summary["metrics"]
    lines = ["% columns: representation, " + ", ".join(metric["label"] for metric in metrics)]
    cells = [cell for metric in metrics for cell in metric["cells"]]
    levels = sorted({cell["interval"]["level"] for cell in cells if cell["interval"]})
    if levels:
        stated = " or ".join(f"{100 * level:g} %" for level in levels)
        lines.append(f"% in brackets: {stated} intervals over samples")
    if any(map(_mark, cells)):
        lines.append("% dagger: use with caution on these data; double dagger: do not use on these data")
    for entry in summary["data"]["representations"]:
        lines.append(_row([entry["name"]], [_full_cell(metric, entry["name"]) for metric in metrics]))
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return the text on one line, escaped so that LaTeX prints it unchanged.

    >>> print(escaped("50 % of z_1"))
    50 \\% of z\\_1
    """
    return "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()))


def _row(texts: Sequence[str], cells: Sequence[str] = ()) -> str:
    """Return a row of a table. The texts are escaped; the cells are LaTeX already."""
    return " & ".join([*map(escaped, texts), *cells]) + r" \\"


def _bare_cell(evaluation: Evaluation, label: str, representation: str) -> str:
    """Return mean and standard deviation over seeds, or nothing if the metric was not computed for a representation."""
    if evaluation.row(label, representation) is None:
        return ""
    values = evaluation.values(label, representation)
    mean, spread = evaluation.mean_and_spread(label, representation)
    if mean != mean:  # nan
        return "undefined" if values else "failed"
    return _number(mean, spread if len(values) > 1 else None)


def _full_cell(metric: Mapping[str, Any], representation: str) -> str:
    """Return mean and standard deviation over seeds, the interval, and the mark of the verdict."""
    cell = next((cell for cell in metric["cells"] if cell["representation"] == representation), None)
    if cell is None or cell["value"] is None:
        return "--"
    text = _number(cell["value"], cell["spread"])
    if cell["interval"]:
        ends = ", ".join(_number(cell["interval"][end]) for end in ("low", "high"))
        text += rf" {{\scriptsize [{ends}]}}"
    return text + _mark(cell)


def _mark(cell: Mapping[str, Any]) -> str:
    return Level(cell["verdict"]["level"]).latex_mark if cell["verdict"] else ""


def _number(value: float, spread: float | None = None) -> str:
    plus_minus = "" if spread is None else rf" $\pm$ {fixed(spread)}"
    return fixed(value).replace(MINUS, "$-$") + plus_minus
