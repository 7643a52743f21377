"""The tables of the answer, with one row per factor and one row per question."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from unweave.report.answer.answer import Answer
from unweave.report.answer.compared_answer import ComparedQuestion
from unweave.report.answer.factor_rows import FactorRow
from unweave.report.answer.levels import NOISE_LEVEL
from unweave.report.answer.question_lines import QuestionLine
from unweave.words.phrases import fixed, listed

MOST_FACTORS = 24  # rows; if there are more factors, the best and the worst recovered ones are shown
MOST_RANKED = 12
MOST_CODES = 3
MOST_IN_THE_WAY = 3  # largest number of factors whose obstacles a row names
NAME_WIDTH = 24
NARROW, WIDE = 80, 98  # width of the question table without intervals, and with intervals
FOUND_STYLES = {"yes": "green", "partly": "yellow", "no": "red"}
CANNOT_TELL = "cannot be determined from these data (see the notes)"
LEVEL_STYLES = {"trust": "green", "caution": "yellow", "do not use": "red"}


def plain_table() -> Table:
    """Return an empty table with a line below its header and no other lines."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def factor_table(rows: Sequence[FactorRow]) -> Table:
    """Return a table that says for each factor whether it was found, in which codes, how well, and if not, why."""
    table = plain_table()
    table.add_column("factor", no_wrap=True, max_width=NAME_WIDTH)
    table.add_column("found", no_wrap=True)
    table.add_column("best code", max_width=28)
    table.add_column("how well (0 to 1)", no_wrap=True)
    table.add_column("what is in the way")
    for row in shown_factors(rows):
        table.add_row(
            # names are passed as Text, because rich would interpret square brackets in a string as markup
            Text(row.factor),
            Text(row.found, style=FOUND_STYLES.get(row.found, "")),
            Text(listed(row.codes, MOST_CODES)),
            Text(how_well(row)),
            Text(row.obstacle),
        )
    return table


def shown_factors(rows: Sequence[FactorRow]) -> list[FactorRow]:
    """Return all factors in their order. If there are too many, return those that are recovered best and worst."""
    if len(rows) <= MOST_FACTORS:
        return list(rows)
    ordered = sorted(rows, key=lambda row: -(row.share if row.share is not None else -1.0))
    half = MOST_FACTORS // 2
    return [*ordered[:half], *ordered[-half:]]


def left_out(rows: Sequence[FactorRow]) -> str:
    """Return a sentence that says which factors are shown, or an empty string if all are."""
    if len(rows) <= MOST_FACTORS:
        return ""
    half = MOST_FACTORS // 2
    return f"Only the {half} best and the {half} worst recovered of {len(rows)} factors are shown."


def how_well(row: FactorRow) -> str:
    """Return how well a factor is recovered, with its interval."""
    if row.share is None:
        return ""
    ends = "" if row.low is None else f" ({fixed(row.low, 2)} to {fixed(row.high, 2)})"
    return fixed(row.share, 2) + ends


def question_table(lines: Sequence[QuestionLine], width: int) -> Table:
    """Return a table with the answer to each question and its metric. A narrow table has no intervals."""
    narrow = width < WIDE
    table = plain_table()
    table.add_column("question", no_wrap=width >= NARROW)
    table.add_column("answer", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    if width >= NARROW:
        table.add_column("noise", justify="right", no_wrap=True)
    if not narrow:
        table.add_column("interval", no_wrap=True)
    table.add_column("by metric")
    table.add_column("verdict", no_wrap=True)
    for line in lines:
        ends = "" if line.low is None else f"{fixed(line.low, 2)} to {fixed(line.high, 2)}"
        verdict = NOISE_LEVEL if line.at_noise_level and line.level == "trust" else line.level
        table.add_row(
            Text(line.short),
            Text(line.answer, style="bold"),
            Text(line.stated_value),
            *([Text("" if line.noise is None else fixed(line.noise, 2))] if width >= NARROW else []),
            *([Text(ends)] if not narrow else []),
            Text(line.source),
            Text(verdict if line.metric else "", style=LEVEL_STYLES.get(verdict, "")),
        )
    return table


def representation_table(answers: Sequence[Answer]) -> Table:
    """Return a table with one row per representation.

    It lists the factors that have codes of their own, and what prevents this for the other factors.
    """
    table = plain_table()
    table.add_column("representation", no_wrap=True, max_width=NAME_WIDTH)
    table.add_column("found", no_wrap=True)
    table.add_column("factors with codes of their own")
    table.add_column("what is in the way of the others")
    for answer in answers[:MOST_FACTORS]:
        yes, n = answer.factors_that_are("yes"), sum(row.counts for row in answer.factors)
        others = [f"{row.factor}: {row.obstacle}" for row in answer.factors if row.found in ("no", "partly")]
        table.add_row(
            Text(answer.representation),
            Text(f"{len(yes)} of {n}" if n else "not known"),
            Text(listed(yes, 4)),
            Text(_in_the_way(others) if n or not answer.factors else CANNOT_TELL),
        )
    return table


def _in_the_way(others: Sequence[str]) -> str:
    if len(others) <= MOST_IN_THE_WAY:
        return "; ".join(others)
    shown = MOST_IN_THE_WAY - 1
    return "; ".join(others[:shown]) + f"; and {len(others) - shown} more"


def ranked_table(question: ComparedQuestion) -> Table:
    """Return the representations ranked by one metric. The best representation and all tied with it are marked."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(no_wrap=True, max_width=NAME_WIDTH + 8)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    n, tail = len(question.ranked), 2
    for k, entry in enumerate(question.ranked):
        if n > MOST_RANKED and MOST_RANKED - tail <= k < n - tail:
            if k == MOST_RANKED - tail:
                table.add_row("", Text(f"... {n - MOST_RANKED} more between"))
            continue
        ends = "" if entry.low is None else f"{fixed(entry.low)} to {fixed(entry.high)}"
        table.add_row(
            "",
            Text(entry.representation),
            Text(fixed(entry.value) + ("" if entry.spread is None else f" ± {fixed(entry.spread)}")),
            Text(ends),
            Text(entry.verdict, style=LEVEL_STYLES.get(entry.verdict, "")),
            Text("best" if entry.best else "", style="bold"),
        )
    return table
