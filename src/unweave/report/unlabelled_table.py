"""What `unweave unlabelled` prints: a line for every run, and how far the runs agree."""

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
    """Facts of every run, and the pairs that agree most and least."""
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
    """The table as plain text."""
    console = Console(file=StringIO(), width=120, color_system=None, force_jupyter=False)
    console.print(unlabelled_table(found))
    return str(console.file.getvalue()).rstrip()  # type: ignore[attr-defined]


def _agreement(found: Unlabelled) -> list[Table | Text]:
    if not found.pairs:
        return [Text("With two runs or more, the agreement of their codes is measured as well.", style="dim")]
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
    rest = [Text(f"and {counted(left, 'pair')} between these")] if left else []
    return [table, *rest, Text(_meaning(found.pairs))]


def _meaning(pairs: tuple[RunPair, ...]) -> str:
    matched, linear = (fmean(getattr(pair, name) for pair in pairs) for name in ("matched", "linear"))
    chance = fmean(pair.chance for pair in pairs)
    if matched != matched:
        return "A run has no active code, so the agreement cannot be measured."
    if matched > 0.9:
        text = "The runs found the same codes up to order and monotone maps."
    elif linear > 0.9:
        text = "The runs agree up to a linear map but not code by code: each mixes the same space in its own way."
    elif matched < 1.5 * chance:
        text = "The codes of different runs have no more in common than unrelated codes."
    else:
        text = "The runs agree in part."
    return f"{text} Agreement does not say that the codes are the factors: that takes labelled rows."


def _number(value: float) -> str:
    return "inf" if value == float("inf") else fixed(None if value != value else value)
