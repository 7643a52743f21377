"""An Evaluation as a table: for the terminal, as plain text, as LaTeX."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation.results import Evaluation

BESIDE_SCORES = ("measures", "chance")
LATEX = {letter: f"\\{letter}" for letter in "_%&#${}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def rich_table(evaluation: Evaluation, width: int) -> Group:
    """What was evaluated, the scores, and the numbered notes.

    Where width is short the columns beside the scores go first; the scores are never cut.
    """
    layouts = [_score_table(evaluation, beside) for beside in (BESIDE_SCORES, BESIDE_SCORES[1:], BESIDE_SCORES[2:])]
    table = next((layout for layout in layouts if _natural_width(layout) <= width), layouts[-1])
    table.width = _natural_width(table)
    parts: list[Text | Table] = [Text(_heading(evaluation)), table]
    parts += [Text(f"{k:>2} {sentence}", style="dim") for k, sentence in enumerate(evaluation.notes, 1)]
    return Group(*parts)


def _score_table(evaluation: Evaluation, beside: Sequence[str]) -> Table:
    several = len(evaluation.representations) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    if "measures" in beside:
        table.add_column("measures")
    for name in evaluation.representations:
        table.add_column(Text(name if several else "score"), justify="right", no_wrap=True)
    if "chance" in beside:
        table.add_column("chance", justify="right")
    table.add_column("notes")
    for label in evaluation.labels:
        measures = next(row.measures for row in evaluation.rows if row.label == label)
        marks = [str(k) for k, labels in enumerate(evaluation.notes.values(), 1) if label in labels]
        table.add_row(
            # as Text, because names may hold what rich takes for markup
            Text(label),
            *([Text(measures)] if "measures" in beside else []),
            *(_cell(evaluation, label, name) for name in evaluation.representations),
            *([_chance_cell(evaluation, label)] if "chance" in beside else []),
            ", ".join(marks),
        )
    return table


def _natural_width(table: Table) -> int:
    return Console(width=10_000).measure(table).maximum


def text_table(evaluation: Evaluation) -> str:
    """The same without colour, at a width that holds it."""
    buffer = StringIO()
    width = max(140, _natural_width(_score_table(evaluation, BESIDE_SCORES)))
    Console(file=buffer, width=width, no_color=True, highlight=False).print(rich_table(evaluation, width))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def latex_table(evaluation: Evaluation) -> str:
    """A booktabs table, one line per metric and one column per representation."""
    several = len(evaluation.representations) > 1
    heads = evaluation.representations if several else ("score",)
    lines = [rf"\begin{{tabular}}{{l{'r' * len(heads)}}}", r"\toprule"]
    lines += [" & ".join(["metric", *map(_escaped, heads)]) + r" \\", r"\midrule"]
    for label in evaluation.labels:
        cells = [_cell(evaluation, label, name) for name in evaluation.representations]
        lines.append(" & ".join([_escaped(label), *(cell.replace("±", r"$\pm$") for cell in cells)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _heading(evaluation: Evaluation) -> str:
    data = evaluation.data
    kinds = Counter(factor["kind"] for factor in data["factors"])
    if len(data["factors"]) <= 8:
        factors = ", ".join(f"{factor['name']} {factor['kind']}" for factor in data["factors"])
    else:
        factors = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    sizes = {entry["n_codes"] for entry in data["representations"].values()}
    if not data["n_rows"]:
        return "A decoder alone, without factors and codes"
    codes = f"{sizes.pop()} codes" if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)} codes"
    stated = f"{len(data['factors'])} factors ({factors})" if factors else "no factors"
    return f"{data['n_rows']} rows, {stated}, {codes}"


def _cell(evaluation: Evaluation, label: str, representation: str) -> str:
    if not any(row.label == label and row.representation == representation for row in evaluation.rows):
        return ""  # not asked for, and this representation lacks what it needs
    values = evaluation.values(label, representation)
    mean, spread = evaluation.mean_and_spread(label, representation)
    if math.isnan(mean):
        return "undefined" if values else "failed"
    return f"{mean:.3f} ± {spread:.3f}" if len(values) > 1 else f"{mean:.3f}"


def _chance_cell(evaluation: Evaluation, label: str) -> str:
    levels = {f"{row.chance:.3f}" for row in evaluation.rows if row.label == label and row.chance is not None}
    return f"{min(levels)} to {max(levels)}" if len(levels) > 1 else levels.pop() if levels else ""


def _escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))
