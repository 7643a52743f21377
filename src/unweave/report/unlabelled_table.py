"""The tables that `unweave unlabelled` prints: one row per run, and the agreement between runs."""

from __future__ import annotations

from io import StringIO
from statistics import fmean

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation.unlabelled import RunPair, Unlabelled
from unweave.words.phrases import counted, fixed

MOST_PAIRS = 15


def unlabelled_table(found: Unlabelled) -> Group:
    """Return a table of the runs, and a table of the pairs of runs with the highest and lowest agreement."""
    scores = list(dict.fromkeys(name for facts in found.runs.values() for name in facts.scores))
    runs = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    runs.add_column("run", no_wrap=True)
    for heading in ("codes", "active", "total correlation", *scores, *(["UDR"] if found.pairs else [])):
        runs.add_column(heading, justify="right")
    for name, facts in found.runs.items():
        ranking = [_number(facts.ranking)] if found.pairs else []
        numbers = [_number(facts.scores.get(score, float("nan"))) for score in scores]
        counts = [str(facts.n_codes), str(facts.n_active)]
        runs.add_row(name, *counts, _number(facts.total_correlation), *numbers, *ranking)
    heading = (
        f"{counted(found.n_rows, 'row')}, {counted(len(found.runs), 'run')}, no factors; total correlation in nats"
    )
    return Group(Text(heading), runs, *_agreement(found))


def text_of(found: Unlabelled) -> str:
    """Return the tables as plain text."""
    console = Console(file=StringIO(), width=120, color_system=None, force_jupyter=False)
    console.print(unlabelled_table(found))
    return str(console.file.getvalue()).rstrip()  # type: ignore[attr-defined]


def _agreement(found: Unlabelled) -> list[Table | Text]:
    if not found.pairs:
        return [
            Text("If you pass two or more runs, the agreement between their codes is measured as well.", style="dim")
        ]
    shown = sorted(found.pairs, key=lambda pair: -pair.matched)
    if len(shown) > MOST_PAIRS:
        shown = [*shown[: MOST_PAIRS // 2], *shown[-(MOST_PAIRS // 2) :]]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("runs", "matched one to one", "unrelated codes", "linear map (R2)", "UDR"):
        table.add_column(heading, justify="left" if heading == "runs" else "right")
    for pair in shown:
        numbers = (pair.matched, pair.chance, pair.linear, pair.ranking)
        table.add_row(f"{pair.first}, {pair.second}", *map(_number, numbers))
    left = len(found.pairs) - len(shown)
    rest = [Text(f"{counted(left, 'pair')} with intermediate agreement are not shown.")] if left else []
    return [table, *rest, Text(_meaning(found.pairs))]


def _meaning(pairs: tuple[RunPair, ...]) -> str:
    matched, linear = (fmean(getattr(pair, name) for pair in pairs) for name in ("matched", "linear"))
    chance = fmean(pair.chance for pair in pairs)
    if matched != matched:
        return "A run has no active code, so the agreement cannot be measured."
    if matched > 0.9:
        text = "The runs learned the same codes up to permutation and monotone maps."
    elif linear > 0.9:
        text = "The runs agree up to a linear map but not code by code: they mix the same subspace differently."
    elif matched < 1.5 * chance:
        text = "The codes of different runs have no more in common than unrelated codes."
    else:
        text = "The runs agree partly."
    return f"{text} Agreement does not show that the codes are the factors: this can only be tested with labelled rows."


def _number(value: float) -> str:
    return "inf" if value == float("inf") else fixed(None if value != value else value)
