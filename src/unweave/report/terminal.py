"""The answer and its tables on a terminal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
from unweave.report.answer import (
    NOISE_LEVEL,
    Answer,
    ComparedQuestion,
    FactorRow,
    QuestionLine,
    SharedReason,
    answer_of,
    by_question,
    compared_answer,
    compared_by,
    screening_sentences,
    shared_reasons,
    verdict_in_words,
)
from unweave.sentences import counted, fixed, listed
from unweave.trust.verdict_record import Level

MOST_FACTORS = 24  # rows; if there are more factors, the best and the worst recovered ones are shown

MOST_RANKED = 12

MOST_CODES = 3

MOST_IN_THE_WAY = 3  # largest number of factors whose obstacles a row names

NAME_WIDTH = 24

NARROW, WIDE = 80, 98  # width of the question table without intervals, and with intervals

FOUND_STYLES = {"yes": "green", "partly": "yellow", "no": "red"}

CANNOT_TELL = "cannot be determined from these data (see the notes)"


def plain_table(close: bool = False) -> Table:
    """Return an empty table with a line below its header and no other lines; columns may be close to each other."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=close)


def factor_table(rows: Sequence[FactorRow]) -> Table:
    """Return a table that says for each factor whether it was found, in which codes, how well, and if not, why."""
    table = plain_table(close=True)
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
    table = plain_table(close=True)
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
        verdict = NOISE_LEVEL if line.at_noise_level and line.level == Level.TRUST else line.level
        table.add_row(
            Text(line.short),
            Text(line.answer, style="bold"),
            Text(line.stated_value),
            *([Text("" if line.noise is None else fixed(line.noise, 2))] if width >= NARROW else []),
            *([Text(ends)] if not narrow else []),
            Text(line.source),
            _verdict(verdict) if line.metric else Text(),
        )
    return table


def representation_table(answers: Sequence[Answer]) -> Table:
    """Return a table with one row per representation.

    It lists the factors that have codes of their own, and what prevents this for the other factors.
    """
    table = plain_table(close=True)
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
            _verdict(entry.verdict),
            Text("best" if entry.best else "", style="bold"),
        )
    return table


def metric_table(evaluation: Evaluation, width: int) -> Table:
    """Return the table of the metrics of one representation. A narrow table has no intervals.

    Names are wrapped where they do not fit, and numbers are never cut.
    """
    representation = evaluation.representations[0]
    checked = any(row.verdict is not None for row in evaluation.rows)
    with_interval = checked and width >= NARROW
    table = plain_table(close=True)
    table.add_column("metric")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("noise", justify="right", no_wrap=True)
    if with_interval:
        table.add_column(_interval_head(evaluation), no_wrap=True)
    if checked:
        table.add_column("verdict", no_wrap=True)
    for question, labels in by_question(evaluation).items():
        table.add_section()
        table.add_row(Text(question.text if width >= WIDE else question.short, style="italic"))
        for label in labels:
            row = evaluation.row(label, representation)
            if row is None:
                continue
            verdict = verdict_in_words(row)
            table.add_row(
                Text(f"  {label}{' (lower is better)' if row.card.lower_is_better else ''}"),
                Text(score_cell(evaluation, label, representation)),
                Text(noise_cell(row)),
                *([Text(interval_cell(row))] if with_interval else []),
                *([_verdict(verdict)] if checked else []),
            )
    return table


def _verdict(words: str) -> Text:
    return Text(words, style=words.style if isinstance(words, Level) else "")


def score_cell(evaluation: Evaluation, label: str, representation: str) -> str:
    """Return the score, with its standard deviation if there are several seeds."""
    if evaluation.row(label, representation) is None:
        return ""  # the metric was not requested, and this representation lacks an input that it needs
    values = evaluation.values(label, representation)
    mean, spread = evaluation.mean_and_spread(label, representation)
    if math.isnan(mean):
        return "undefined" if values else "failed"
    return f"{fixed(mean)} ± {fixed(spread)}" if len(values) > 1 else fixed(mean)


def noise_cell(row: Row) -> str:
    """Return the score of random codes: the measured noise floor, or else the chance level on the metric's card."""
    floor = row.noise_floor
    if floor is not None and floor.defined:
        return fixed(floor.floor)
    return "" if row.chance is None else fixed(row.chance)


def interval_cell(row: Row) -> str:
    """Return the two ends of the interval."""
    if row.interval is None or not row.interval.defined:
        return ""
    low, high = row.interval.clipped
    return f"{fixed(low)} to {fixed(high)}"


def _interval_head(evaluation: Evaluation) -> str:
    level = next((row.interval.level for row in evaluation.rows if row.interval is not None), 0.95)
    return f"{100 * level:g} % interval"


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
    if not data.n_rows:
        return "A decoder alone, without factors and codes"
    kinds = Counter(factor.kind for factor in data.factors)
    if len(data.factors) <= NAMED_FACTORS:
        factors = ", ".join(f"{factor.name} {factor.kind}" for factor in data.factors)
    else:
        factors = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    sizes = {entry.n_codes for entry in data.representations.values()}
    codes = counted(min(sizes), "code") if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)} codes"
    given = [entry.n_codes for entry in data.screening.values()]
    if len(given) == len(data.representations) == 1:
        codes = f"{min(sizes):,} of {counted(max(given), 'code')}"
    stated = f"{counted(len(data.factors), 'factor')} ({factors})" if factors else "no factors"
    return f"{counted(data.n_rows, 'row')}, {stated}, {codes}"
