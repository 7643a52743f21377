"""The text of an Evaluation, for the terminal and as plain text.

It has the answer, all metrics, the reasons why some scores are not trusted, and the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.text import Text

from unweave.evaluation import Evaluation
from unweave.evaluation.questions import question_of
from unweave.report.answer.answer import answer_of
from unweave.report.answer.compared_answer import compared_answer, compared_by
from unweave.report.answer.grouping import by_question
from unweave.report.answer.reasons import SharedReason, shared_reasons
from unweave.report.answer.screening import screening_sentences
from unweave.report.terminal.answer_tables import (
    factor_table,
    left_out,
    question_table,
    ranked_table,
    representation_table,
)
from unweave.report.terminal.metric_tables import metric_table
from unweave.report.terminal.prose import Prose
from unweave.words.phrases import counted, listed

WIDTH = 100  # columns of plain text, and the maximum for a terminal
NAMED_FACTORS = 8


def rich_table(evaluation: Evaluation, width: int) -> Constrain:
    """Return the complete text: the data, the answer, the metrics by question, the reasons and the notes."""
    width = min(width, WIDTH)
    several = len(evaluation.representations) > 1
    parts: list[RenderableType] = [Text(_heading(evaluation))]
    parts += [Prose(sentence) for sentence in screening_sentences(evaluation)]
    parts += [Text()]
    parts += _compared(evaluation) if several else _single(evaluation, width)
    reasons = shared_reasons(evaluation)
    if reasons:
        parts += [Text(), Text("Why some scores are not trusted", style="bold")]
        parts += [_item("-", _reason(reason)) for reason in reasons]
    if evaluation.notes:
        parts += [Text(), Text("Notes", style="bold")]
        parts += [
            _item("-", f"{sentence} ({_whose(labels, evaluation)})", style="dim")
            for sentence, labels in evaluation.notes.items()
        ]
    return Constrain(Group(*parts), width)


def text_table(evaluation: Evaluation) -> str:
    """Return the text of `rich_table` without colours, 100 columns wide."""
    buffer = StringIO()
    Console(file=buffer, width=WIDTH, no_color=True, highlight=False, force_jupyter=False).print(
        rich_table(evaluation, WIDTH)
    )
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _single(evaluation: Evaluation, width: int) -> Iterator[RenderableType]:
    answer = answer_of(evaluation)
    yield Prose(answer.headline, style="bold")
    if answer.factors:
        yield factor_table(answer.factors)
        for sentence in filter(None, (left_out(answer.factors), answer.remark)):
            yield Prose(sentence)
        yield Prose(answer.reading[0], style="dim")
    if answer.questions:
        yield question_table(answer.questions, width)
        yield Prose(answer.reading[1], style="dim")
        yield Text()
    yield from _advice(answer.report, answer.next_steps)
    yield Text()
    yield Text("All metrics that were computed", style="bold")
    yield metric_table(evaluation, width)
    if answer.mcc_note:
        yield Prose(answer.mcc_note, style="dim")


def _compared(evaluation: Evaluation) -> Iterator[RenderableType]:
    answer = compared_answer(evaluation)
    yield Prose(answer.headline, style="bold")
    if any(one.factors for one in answer.representations):
        yield representation_table(answer.representations)
    shown = {question.metric for question in answer.questions}
    for question in answer.questions:
        noise = "" if question.noise is None else f"; random codes score {_range(*question.noise)}"
        yield Text.assemble((question.text, "bold"), f" By {question.metric}{noise}.")
        yield ranked_table(question)
        yield Text()
    yield from _advice(answer.report, answer.next_steps)
    rest = [label for labels in by_question(evaluation).values() for label in labels if label not in shown]
    if rest:
        yield Text()
        yield Text("Other metrics", style="bold")
    for label in rest:
        of = question_of(next(row.card.measures for row in evaluation.rows if row.label == label))
        yield Text.assemble((label, "bold"), f" ({of.short})" if of.measures else "")
        yield ranked_table(compared_by(label, of, evaluation))
    if answer.mcc_note:
        yield Text()
        yield Prose(answer.mcc_note, style="dim")


def _advice(report: str, steps: tuple[str, ...]) -> Iterator[RenderableType]:
    yield _item("Report:", report)
    for k, step in enumerate(steps):
        yield _item("Next:" if k == 0 else "", step, indent=len("Report:"))


def _item(mark: str, text: str, indent: int = 0, style: str = "") -> RenderableType:
    """Return a paragraph with a hanging indent after a mark."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(min_width=indent, no_wrap=True)
    grid.add_column()
    grid.add_row(Text(mark, style="bold"), Prose(text, style=style))
    return Padding(grid, 0)


def _reason(reason: SharedReason) -> str:
    named = counted(len(reason.scores), "score") if reason.names_scores else listed(reason.scores, 12)
    return f"{named} ({reason.level}): {reason.sentence}"


def _whose(labels: tuple[str, ...], evaluation: Evaluation) -> str:
    return "all metrics" if len(labels) == len(evaluation.labels) > 1 else listed(labels, 6)


def _range(low: float, high: float) -> str:
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def _heading(evaluation: Evaluation) -> str:
    data = evaluation.data
    if not data["n_rows"]:
        return "A decoder alone, without factors and codes"
    kinds = Counter(factor["kind"] for factor in data["factors"])
    if len(data["factors"]) <= NAMED_FACTORS:
        factors = ", ".join(f"{factor['name']} {factor['kind']}" for factor in data["factors"])
    else:
        factors = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    sizes = {entry["n_codes"] for entry in data["representations"].values()}
    codes = counted(min(sizes), "code") if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)} codes"
    given = {name: entry["n_codes"] for name, entry in data.get("screening", {}).items()}
    if len(given) == len(data["representations"]) == 1:
        codes = f"{min(sizes):,} of {counted(max(given.values()), 'code')}"
    stated = f"{counted(len(data['factors']), 'factor')} ({factors})" if factors else "no factors"
    return f"{counted(data['n_rows'], 'row')}, {stated}, {codes}"
