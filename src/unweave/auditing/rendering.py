"""An audit as a table for the terminal and as plain text, and Table 3 of 003 for many audits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.auditing.findings.properties import LOSSY_SHARE, PARTLY, SATISFIED
from unweave.auditing.measurement.grid import PROPERTIES
from unweave.auditing.scorecard import Audit, PropertyNumber, Result
from unweave.findings import Finding
from unweave.words.audits import ASKS, MEASURED

STYLES = {"satisfied": "green", "partly": "yellow", "violated": "red", "undecided": "dim"}
WIDTH = 140
SHOWN = 3  # number of missing points that are named


def rich_audit(audit: Audit) -> Group:
    """Remarks, verdicts with the worst number of every kind, notes, and worst cases."""
    parts: list[Text | Table] = [Text(_heading(audit), style="bold")]
    if audit.refusal:
        return Group(*parts, Text(f"Not applicable: {audit.refusal}"))
    parts += [Text(str(remark), style="bold red") for remark in audit.remarks]
    parts += [_verdicts(audit), *(Text(str(note)) for note in _notes(audit))]
    parts.append(Text("\nWorst cases, after: from unweave.auditing.reproduce_case import *", style="bold"))
    for result in (*audit.results, *audit.further):
        if result.worst_case is not None:
            parts.append(Text(f"{result.name} {_short(result.worst_case.number, 3)} = {result.worst_case.expression}"))
    if audit.red_team is not None:
        parts.append(Text(f"adversary {_short(audit.red_team.product, 3)} = {audit.red_team.expression}"))
    return Group(*parts)


def text_of(audit: Audit) -> str:
    """The audit as plain text without colours."""
    return _text(rich_audit(audit))


def table_of(audits: Sequence[Audit]) -> Table:
    """Table 3 of 003 for these metrics: marks, each with its decisive number and interval."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("metric", *PROPERTIES, "adversary", "card"):
        table.add_column(heading, no_wrap=True)
    for audit in audits:
        if audit.refusal:
            table.add_row(Text(audit.metric), *["–"] * len(PROPERTIES), "", "not applicable")  # noqa: RUF001
            continue
        cells = [f"{result.tick} {number_of(result.number, result.interval)}" for result in audit.results]
        product = "" if audit.red_team is None else f"{audit.red_team.product:.2f}"
        table.add_row(Text(audit.metric), *cells, product, card_sentence(audit))
    return table


def text_table(audits: Sequence[Audit]) -> str:
    """Table 3 of 003 as plain text without colours."""
    return _text(table_of(audits))


def number_of(number: float, interval: tuple[float, float]) -> str:
    """A number and its interval as text, or "not measured" for nan.

    >>> number_of(0.25, (0.2, 0.3))
    '.25 [.20, .30]'
    """
    if math.isnan(number):
        return "not measured"
    low, high = interval
    return f"{_short(number)} [{_short(low)}, {_short(high)}]"


def card_sentence(audit: Audit) -> str:
    """Whether the scores agree with the card, in a few words."""
    if not audit.promises:
        return "no card" if not audit.equivalence else "not measured"
    broken = [f"{promise.encoder} scores {_short(promise.score)}" for promise in audit.promises if not promise.kept]
    return f"broken: {', '.join(broken)}" if broken else "kept"


def _heading(audit: Audit) -> str:
    version = f" version {audit.version}" if audit.version else ""
    if audit.refusal:
        return f"Audit of {audit.metric}{version}"
    return f"Audit of {audit.metric}{version}: {' '.join(audit.ticks)}   ({audit.n_seeds} seeds, {audit.seconds:.0f} s)"


def _verdicts(audit: Audit) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("where", no_wrap=True)
    table.add_column("measured")
    for heading in ("number", "95 % interval", "limits"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in (*audit.results, *audit.further):
        head = Text(f"{result.tick} {result.name} {_verdict_words(result)}", style=STYLES[result.verdict])
        table.add_row(head, Text(ASKS[result.name], style="italic"), "", "", "")
        for row in _most_telling(result):
            interval = f"[{_short(row.interval[0])}, {_short(row.interval[1])}]"
            says = MEASURED[row.kind] + ("" if row.counts else " (not part of the verdict)")
            table.add_row(Text(f"  {row.label}"), says, _short(row.number), interval, _limits(row))
        table.add_row("", "", "", "", "")
    return table


def _most_telling(result: Result) -> list[PropertyNumber]:
    """The worst number of every kind and, for most kinds, of every encoder or world."""
    best: dict[str, PropertyNumber] = {}
    for row in result.measured:
        group = (
            f"{row.kind} {row.label.split(',')[0]}"
            if row.kind in ("change", "lossless", "distance", "levels", "rows")
            else row.kind
        )
        sign = -1 if row.kind == "lossy" else 1
        if group not in best or sign * row.number > sign * best[group].number:
            best[group] = row
    return list(best.values())


def _verdict_words(result: Result) -> str:
    if result.verdict != "undecided":
        return result.verdict
    return f"undecided ({' or '.join(result.possible)})"


def _limits(row: PropertyNumber) -> str:
    return f">= {_short(LOSSY_SHARE)}" if row.kind == "lossy" else f"<= {_short(SATISFIED)}, partly {_short(PARTLY)}"


def _notes(audit: Audit) -> list[Finding]:
    notes = [audit.treatment] if audit.treatment else []
    for result in (*audit.results, *audit.further):
        if result.n_undefined:
            notes.append(Finding("points_undefined", name=result.name, n_points=result.n_undefined))
        if result.missing:
            shown, n_more = "; ".join(result.missing[:SHOWN]), max(len(result.missing) - SHOWN, 0)
            notes.append(Finding("points_not_measured", name=result.name, shown=shown, n_more=n_more))
    notes += audit.problems
    if audit.promises:
        found = ", ".join(
            f"{promise.encoder} {_short(promise.score)}{' promised' if promise.promised else ''}"
            f"{'' if promise.kept else ' BROKEN'}"
            for promise in audit.promises
        )
        notes.append(Finding("marks_of_card", equivalence=audit.equivalence, found=found))
    if audit.red_team is not None:
        worst = audit.red_team
        notes.append(
            Finding(
                "encoder_of_adversary",
                n_tried=worst.n_tried,
                score=worst.score,
                mixing_share=worst.mixing_share,
                product=worst.product,
            )
        )
    return notes


def _short(number: float, digits: int = 2) -> str:
    """The number rounded to a few digits, without the zero before the point."""
    if not math.isfinite(number):
        return "∞" if number > 0 else "-∞" if number < 0 else "nan"
    text = f"{number:.{digits}f}"
    text = "0" if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _text(item: Group | Table) -> str:
    buffer = StringIO()
    width = Console(width=10_000).measure(item).maximum if isinstance(item, Table) else WIDTH
    Console(file=buffer, width=width, no_color=True, highlight=False, force_jupyter=False).print(item)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())
