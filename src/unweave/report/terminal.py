"""The answer and its tables on a terminal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.containers import Lines
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unweave.evaluation import Evaluation, Row
from unweave.evaluation.choose import question_of
from unweave.evaluation.loop import SMALLEST_DIFFERENCE
from unweave.report.answer import (
    ComparedQuestion,
    SharedReason,
    TextTable,
    answer_of,
    by_question,
    compared_answer,
    compared_by,
    screening_sentences,
    shared_reasons,
    sizes_in_words,
)
from unweave.sentences import between, counted, fixed, listed, say
from unweave.trust.verdict_record import Level

MOST_RANKED = 12
NAME_WIDTH = 24
NARROW, WIDE = 80, 98  # width of the tables without intervals, and with intervals
RECOVERIES = ("one code", "own codes", "direction", "readable", "leakage")


def plain_table(close: bool = False) -> Table:
    """Return an empty table with a line below its header and no other lines; columns may be close to each other."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=close)


def number_table(
    heads: Collection[str], rows: Iterable[Iterable[str]], left: Collection[str], whole: Collection[str] = ()
) -> Table:
    """Return a table of numbers, aligned right, beside columns of text (``left``); ``whole`` columns do not wrap."""
    table = plain_table()
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right", no_wrap=head in whole)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def text_columns(found: TextTable, *, wrapped: Collection[str], left_out: Collection[str] = ()) -> Table:
    """Return a table of text; columns without any text and those to be left out are not shown."""
    table = plain_table(close=True)
    shown = [k for k, head in enumerate(found.heads) if head not in left_out and any(row[k] for row in found.rows)]
    for k in shown:
        name = found.heads[k] in ("factor", "representation")
        table.add_column(found.heads[k], no_wrap=found.heads[k] not in wrapped, max_width=NAME_WIDTH if name else None)
    for row in found.rows:
        # texts are passed as Text, because rich would interpret square brackets in a string as markup
        table.add_row(*(_styled(row[k]) for k in shown))
    return table


def _styled(text: str) -> Text:
    return Text(text, style=text.style if isinstance(text, Level) else "")


def ranked_table(question: ComparedQuestion) -> Table:
    """Return the representations ranked by one metric. The best representation and all tied with it are marked."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(no_wrap=True, max_width=NAME_WIDTH + 8)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    kept = _kept_rows(question)
    for k, before in zip(kept, (-1, *kept), strict=False):
        if k - before > 1:
            table.add_row("", Text(f"... {k - before - 1} more between"))
        entry = question.ranked[k]
        ends = "" if entry.low is None else between(entry.low, entry.high, 3)
        table.add_row(
            "",
            Text(entry.representation),
            Text(fixed(entry.value) + ("" if entry.spread is None else f" ± {fixed(entry.spread)}")),
            Text(ends),
            _styled(entry.level if entry.value is not None else entry.verdict),
            Text("best" if entry.best else "", style="bold"),
        )
    return table


def _kept_rows(question: ComparedQuestion) -> list[int]:
    """Places of the rows of a long ranking that are shown: the first and the last; of steps, some and the best."""
    n, tail = len(question.ranked), 2
    if n <= MOST_RANKED:
        return [*range(n)]
    if not question.in_order:
        return [*range(MOST_RANKED - tail), *range(n - tail, n)]
    values = [-math.inf if entry.value is None else entry.value for entry in question.ranked]
    best = max(range(n), key=lambda k: (question.ranked[k].best, values[k]))
    return sorted({best, *(round(k * (n - 1) / (MOST_RANKED - tail)) for k in range(MOST_RANKED - tail + 1))})


def metric_table(evaluation: Evaluation, width: int) -> Table:
    """Return the table of the metrics of one representation. A narrow table has no intervals.

    Names are wrapped where they do not fit, and numbers are never cut.
    """
    representation = evaluation.representations[0]
    alone = not evaluation.data.n_rows  # a decoder, which has nothing to be checked with
    checked = not alone and any(row.verdict is not None for row in evaluation.rows)
    with_interval = checked and width >= NARROW
    table = plain_table(close=True)
    table.add_column("metric")
    table.add_column("score", justify="right", no_wrap=True)
    if not alone:
        table.add_column("noise", justify="right", no_wrap=True)
    if with_interval:
        level = next((row.interval.level for row in evaluation.rows if row.interval is not None), 0.95)
        table.add_column(f"{100 * level:g} % interval", no_wrap=True)
    if checked:
        table.add_column("verdict", no_wrap=True)
    for question, labels in by_question(evaluation).items():
        table.add_section()
        table.add_row(Text(question.text if width >= WIDE else question.short, style="italic"))
        for label in labels:
            row = evaluation.row(label, representation)
            if row is None:
                continue
            table.add_row(
                Text(f"  {label}{' (lower is better)' if row.card.lower_is_better else ''}"),
                Text(score_cell(evaluation, label, representation)),
                *([] if alone else [Text("" if row.noise is None else fixed(row.noise))]),
                *([Text(_ends(row))] if with_interval else []),
                *([_styled(row.level)] if checked else []),
            )
    return table


def _ends(row: Row) -> str:
    ends = "" if row.ends is None else between(*row.ends, 3)
    return f"{ends}, too narrow" if ends and row.heavy_tails else ends


def score_cell(evaluation: Evaluation, label: str, representation: str) -> str:
    """Return the score, with its standard deviation if there are several seeds."""
    if evaluation.row(label, representation) is None:
        return ""  # the metric was not requested, and this representation lacks an input that it needs
    values = evaluation.values(label, representation)
    mean, spread = evaluation.mean_and_spread(label, representation)
    if math.isnan(mean):
        return "undefined" if values else "failed"
    return f"{fixed(mean)} ± {fixed(spread)}" if len(values) > 1 else fixed(mean)


UNIT = re.compile(r"(?<=\d) (?=(?:%|s\b))")
JOINT = "\ue000"  # rich wraps at every kind of white space, also at no-break spaces, so another character is needed


class Prose(Text):
    """Text in which '95 %' and '30 s' stay on one line.

    Pass it to a console in a group or in a table, because `Console.print` converts a single text to a plain `Text`.

    >>> print(Prose("An interval of 95 %").wrap(Console(), 18)[0].plain.strip())
    An interval of
    """

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Return the lines of the text for this width."""
        joined = self.copy()
        joined.plain = UNIT.sub(JOINT, joined.plain)
        lines = joined.wrap(console, width, **options)
        for line in lines:
            line.plain = line.plain.replace(JOINT, " ")
        return lines


WIDTH = 100  # columns of plain text, and the maximum for a terminal
NAMED_FACTORS = 8


def rich_table(evaluation: Evaluation, width: int) -> Constrain:
    """Return the complete text: the data, the answer, the metrics by question, the reasons and the notes."""
    width = min(width, WIDTH)
    several = len(evaluation.representations) > 1
    parts: list[RenderableType] = [Text(_heading(evaluation))]
    parts += [Prose(sentence) for sentence in screening_sentences(evaluation)]
    parts += [Text()]
    parts += _comparison(evaluation) if several else _one_representation(evaluation, width)
    for name, found in evaluation.data.environments.items():
        from unweave.report.tables import environments_table  # late: tables use this module

        parts += [Text(), Text(f"Interventions on {name}" if several else "Interventions", style="bold")]
        parts += environments_table(found)
    reasons = shared_reasons(evaluation)
    if reasons:
        parts += [Text(), Text("Why some scores are not trusted", style="bold")]
        parts += [_item("-", _reason(reason)) for reason in reasons]
    asked = any(note.kind == "asked" for note in evaluation.data.notes)  # the first questions are next steps already
    steps = (compared_answer if several else answer_of)(evaluation).next_steps if asked else ()
    notes = [str(note) for note in evaluation.data.notes if str(note) not in steps]
    if notes:
        parts += [Text(), Text("Notes about the data", style="bold")]
        parts += [_item("-", note) for note in notes]
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


WRAPPED_OF_DECODERS = ("latent", "shares most with", "statement", "outputs as they are", "outputs of unit variance")


def _one_representation(evaluation: Evaluation, width: int) -> Iterator[RenderableType]:
    answer = answer_of(evaluation)
    yield Prose(answer.headline, style="bold")
    if answer.spectrum is not None:
        for table in answer.spectrum.tables():
            yield text_columns(table, wrapped=WRAPPED_OF_DECODERS)
        yield Prose(answer.identified)
        yield Prose(answer.reading[0], style="dim")
        yield Text()
    if answer.factors:
        narrow = () if width >= WIDE else ("one code", "own codes", "leakage") if width >= NARROW else RECOVERIES
        yield text_columns(answer.factor_table(), wrapped=("where", "leakage"), left_out=("note", *narrow))
        yield from (Prose(f"{row.factor}: {row.note}.") for row in answer.shown_factors if row.note)
        yield Prose(answer.below_factors)
        yield Text()
        yield Prose(answer.reading[0], style="dim")
    if answer.questions:
        without = () if width >= NARROW else ("noise",)
        yield text_columns(answer.question_table(short=True), wrapped=("question", "metric"), left_out=without)
        yield Prose(answer.reading[1], style="dim")
        yield Text()
    if answer.nuisances:
        yield from (Prose(answer.nuisances, style="bold"), Text())
    yield from _advice(answer.report, answer.next_steps)
    yield Text()
    yield Text("All metrics that were computed", style="bold")
    yield metric_table(evaluation, width)


def _comparison(evaluation: Evaluation) -> Iterator[RenderableType]:
    answer = compared_answer(evaluation)
    yield Prose(answer.headline, style="bold")
    if answer.course is not None and answer.course.dips:
        yield Prose(answer.course.on_the_way)
    if answer.settings is not None:
        from unweave.report.tables import grouped_parts  # late: tables use this module

        yield from (*grouped_parts(answer.settings), Text(), Prose(say("single_runs"), style="bold"))
    if any(one.factors for one in answer.representations):
        yield text_columns(answer.table(), wrapped=("factors",))
        yield Prose(say("reading_of_representations"), style="dim")
        yield Text()
    if answer.differences is not None:
        yield Text("Differences of the ladder", style="bold")
        yield text_columns(answer.differences, wrapped=())
        yield Prose(say("reading_of_differences", margin=SMALLEST_DIFFERENCE), style="dim")
        yield Text()
    if answer.layers is not None:
        yield Text("Recovery of each factor", style="bold")
        yield text_columns(answer.layers.table(), wrapped=())
        yield Prose(answer.layers.reading, style="dim")
        yield Text()
    if answer.nuisances:
        yield from (Prose(answer.nuisances, style="bold"), Text())
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


def _advice(report: str, steps: tuple[str, ...]) -> Iterator[RenderableType]:
    yield _item("Report:", report)
    for k, step in enumerate(steps):
        yield _item("Next:" if k == 0 else "", step, indent=len("Report:"))


def _item(mark: str, text: str, indent: int = 0, style: str = "") -> RenderableType:
    """Return a paragraph with a hanging indent after a mark."""
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
    if not data.n_rows:
        return "A decoder alone, without factors and codes"
    kinds = Counter(factor.kind_in_words for factor in data.factors)
    if len(data.factors) <= NAMED_FACTORS:
        factors = ", ".join(f"{factor.name} {factor.kind_in_words}" for factor in data.factors)
    else:
        factors = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    codes, rows = sizes_in_words(data)
    stated = f"{counted(len(data.factors), 'factor')} ({factors})" if factors else "no factors"
    return f"{rows}, {stated}, {codes}"
