"""An Evaluation as a table: for the terminal, and as plain text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation import Evaluation

# what goes first where width is short; the checks stand in the table of one representation alone
BESIDE_SCORES = ("measures", "reason", "chance")
BESIDE_CHECKED = ("measures", "reason", "calibrated", "interval", "floor")
MARKS = {"trust": "✓", "no verdict": "?", "caution": "!", "do not use": "✗"}
STYLES = {"trust": "green", "no verdict": "dim", "caution": "yellow", "do not use": "red"}
MEANING = (
    "✓ trust  ? no verdict  ! caution  ✗ do not use; scores in a row that share a letter do not differ significantly"
)
REASON_WIDTH = 50


def rich_table(evaluation: Evaluation, width: int) -> Group:
    """What was evaluated, the scores, and the numbered notes.

    Where width is short the columns beside the scores go first, and reasons without a column stand below; scores and
    verdicts are never cut.
    """
    columns = _columns_beside(evaluation)
    layouts = [columns[k:] for k in range(len(columns) + 1)]
    beside = next((kept for kept in layouts if _natural_width(_score_table(evaluation, kept)) <= width), layouts[-1])
    table = _score_table(evaluation, beside)
    table.width = _natural_width(table)
    parts: list[Text | Table] = [Text(_heading(evaluation)), table]
    parts += [Text(f"{k:>2} {sentence}", style="dim") for k, sentence in enumerate(evaluation.notes, 1)]
    if _is_checked(evaluation) and len(evaluation.representations) > 1:
        parts += [Text(line) for line in (MEANING, *_reasons_in_words(evaluation))]
    elif _is_checked(evaluation) and "reason" not in beside:
        parts += [Text(line) for line in _reasons_in_words(evaluation)]
    return Group(*parts)


def _columns_beside(evaluation: Evaluation) -> tuple[str, ...]:
    one_checked = _is_checked(evaluation) and len(evaluation.representations) == 1
    return BESIDE_CHECKED if one_checked else BESIDE_SCORES


def _is_checked(evaluation: Evaluation) -> bool:
    """Whether noise floors, intervals and verdicts stand beside the scores."""
    return any(row.verdict is not None for row in evaluation.rows)


def _score_table(evaluation: Evaluation, beside: Sequence[str]) -> Table:
    several, checked = len(evaluation.representations) > 1, _is_checked(evaluation)
    with_floor = checked and (several or "floor" in beside)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    _add_columns(table, evaluation, beside, with_floor)
    for label in evaluation.labels:
        measures = next(row.measures for row in evaluation.rows if row.label == label)
        marks = [str(k) for k, labels in enumerate(evaluation.notes.values(), 1) if label in labels]
        table.add_row(
            # as Text, because names may hold what rich takes for markup
            Text(label),
            *([Text(measures)] if "measures" in beside else []),
            *(_marked_cell(evaluation, label, name) for name in evaluation.representations),
            *([_floor_cell(evaluation, label)] if with_floor else []),
            *([_chance_cell(evaluation, label)] if "chance" in beside and not checked else []),
            *(_checks(evaluation, label, beside) if checked and not several else []),
            ", ".join(marks),
        )
    return table


def _add_columns(table: Table, evaluation: Evaluation, beside: Sequence[str], with_floor: bool) -> None:
    several, checked = len(evaluation.representations) > 1, _is_checked(evaluation)
    table.add_column("metric", no_wrap=True)
    if "measures" in beside:
        table.add_column("measures")
    for name in evaluation.representations:
        table.add_column(Text(name if several else "score"), justify="right", no_wrap=True)
    if with_floor or "chance" in beside:
        table.add_column("floor" if checked else "chance", justify="right", no_wrap=True)
    if checked and not several:
        if "interval" in beside:
            table.add_column(_interval_heading(evaluation), no_wrap=True)
        if "calibrated" in beside:
            table.add_column("calibrated", justify="right", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        if "reason" in beside:
            table.add_column("reason", max_width=REASON_WIDTH)
    table.add_column("notes")


def _interval_heading(evaluation: Evaluation) -> str:
    level = next((row.interval.level for row in evaluation.rows if row.interval is not None), 0.95)
    return f"{100 * level:g} % interval"


def _checks(evaluation: Evaluation, label: str, beside: Sequence[str]) -> list[Text]:
    """Interval, calibrated score, verdict and reason of the only representation, as far as they have columns."""
    row = evaluation.row(label, evaluation.representations[0])
    cells = dict.fromkeys(("interval", "calibrated", "verdict", "reason"), Text(""))
    if row is not None and row.verdict is not None:
        lower, upper = row.interval.clipped if row.interval and row.interval.defined else (math.nan, math.nan)
        calibrated = row.noise_floor.calibrated if row.noise_floor else math.nan
        reasons = row.verdict.reasons
        cells = {
            "interval": Text("" if math.isnan(lower) else f"{lower:.3f} to {upper:.3f}"),
            "calibrated": Text("" if math.isnan(calibrated) else f"{calibrated:.3f}"),
            "verdict": Text(f"{MARKS[row.verdict.level]} {row.verdict.level}", style=STYLES[row.verdict.level]),
            "reason": Text(reasons[0].sentence if reasons else ""),
        }
    return [cell for name, cell in cells.items() if name == "verdict" or name in beside]


def _marked_cell(evaluation: Evaluation, label: str, representation: str) -> Text:
    """The score; of several representations with the verdict's mark and the letters of those it is tied with."""
    row = evaluation.row(label, representation)
    score = _cell(evaluation, label, representation)
    if len(evaluation.representations) == 1 or row is None or row.verdict is None:
        return Text(score)
    letters = evaluation.data.get("comparison", {}).get(label, {}).get("letters", {}).get(representation, "")
    mark = (MARKS[row.verdict.level], STYLES[row.verdict.level])
    return Text.assemble(score, " ", mark, f" {letters}" if letters else "")


def _floor_cell(evaluation: Evaluation, label: str) -> str:
    """What noise scores, or the range over representations."""
    floors = [
        row.noise_floor.floor
        for row in evaluation.rows
        if row.label == label and row.noise_floor is not None and row.noise_floor.defined
    ]
    if not floors:
        return ""
    lowest, highest = f"{min(floors):.3f}", f"{max(floors):.3f}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def _reasons_in_words(evaluation: Evaluation) -> list[str]:
    """Why scores are not trusted; a reason that several of them share stands once."""
    several = len(evaluation.representations) > 1
    whose: dict[tuple[str, str], list[str]] = {}
    for row in evaluation.rows:
        if row.verdict is not None and row.verdict.level != "trust" and row.verdict.reasons:
            name = f"{row.label} of {row.representation}" if several else row.label
            whose.setdefault((MARKS[row.verdict.level], row.verdict.reasons[0].sentence), []).append(name)
    return [f" {mark} {', '.join(names)}: {reason}" for (mark, reason), names in whose.items()]


def _natural_width(table: Table) -> int:
    return Console(width=10_000).measure(table).maximum


def text_table(evaluation: Evaluation) -> str:
    """The same without colour, at a width that holds it."""
    buffer = StringIO()
    width = max(140, _natural_width(_score_table(evaluation, _columns_beside(evaluation))))
    Console(file=buffer, width=width, no_color=True, highlight=False).print(rich_table(evaluation, width))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


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
