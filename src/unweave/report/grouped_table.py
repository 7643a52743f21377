"""A table with one row per setting and one column per metric, with means and standard deviations over seeds."""

from __future__ import annotations

from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table

from unweave.evaluation.grouping import GroupedScore, GroupedScores
from unweave.words.phrases import fixed


def grouped_table(found: GroupedScores) -> Table:
    """Return the table, with the settings ranked by the first metric."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("setting", no_wrap=True)
    table.add_column("seeds", justify="right")
    for label in found.scores:
        table.add_column(label, justify="right")
    first = next(iter(found.scores))
    for group in found.ranked(first):
        seeds = str(len(found.score(first, group).values))
        table.add_row(group, seeds, *(_cell(found.score(label, group)) for label in found.scores))
    return table


def text_of(found: GroupedScores) -> str:
    """Return the table as plain text, with an explanation of the letters."""
    console = Console(file=StringIO(), width=120, color_system=None, force_jupyter=False)
    console.print(grouped_table(found))
    console.print("Mean ± standard deviation over seeds; settings that share a letter do not differ significantly.")
    return str(console.file.getvalue()).rstrip()  # type: ignore[attr-defined]


def _cell(score: GroupedScore) -> str:
    if score.std != score.std:
        return fixed(None if score.mean != score.mean else score.mean)
    return f"{fixed(score.mean)} ± {fixed(score.std)} {score.letters}".rstrip()
