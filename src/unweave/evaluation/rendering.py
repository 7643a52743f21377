"""An Evaluation as a table: for the terminal, as plain text, as LaTeX."""

from __future__ import annotations

import math
from collections import Counter
from io import StringIO

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation.results import Evaluation


def rich_table(evaluation: Evaluation) -> Group:
    """What was evaluated, the scores, and the numbered notes."""
    notes = evaluation.notes
    several = len(evaluation.representations) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("measures")
    for name in evaluation.representations:
        table.add_column(name if several else "score", justify="right", no_wrap=True)
    table.add_column("chance", justify="right")
    table.add_column("notes")
    for label in evaluation.labels:
        rows = [row for row in evaluation.rows if row.label == label]
        marks = ", ".join(str(k) for k, labels in enumerate(notes.values(), 1) if label in labels)
        cells = [_cell(evaluation, label, name) for name in evaluation.representations]
        table.add_row(label, rows[0].measures, *cells, _chance_cell(evaluation, label), marks)
    parts: list[Text | Table] = [Text(_heading(evaluation)), table]
    parts += [Text(f"{k:>2} {sentence}", style="dim") for k, sentence in enumerate(notes, 1)]
    return Group(*parts)


def text_table(evaluation: Evaluation) -> str:
    """The same without colour, at a width that holds it."""
    buffer = StringIO()
    Console(file=buffer, width=140, no_color=True, highlight=False).print(rich_table(evaluation))
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
    return f"{data['n_rows']} rows, {len(data['factors'])} factors ({factors}), {codes}"


def _cell(evaluation: Evaluation, label: str, representation: str) -> str:
    mean, spread = evaluation.mean_and_spread(label, representation)
    if math.isnan(mean):
        return "undefined" if evaluation.values(label, representation) else "failed"
    return f"{mean:.3f} ± {spread:.3f}" if spread else f"{mean:.3f}"


def _chance_cell(evaluation: Evaluation, label: str) -> str:
    levels = {f"{row.chance:.3f}" for row in evaluation.rows if row.label == label and row.chance is not None}
    return f"{min(levels)} to {max(levels)}" if len(levels) > 1 else levels.pop() if levels else ""


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "_%&#$" else letter for letter in text)
