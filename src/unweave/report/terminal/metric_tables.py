"""The table of all metrics, with score, noise floor, interval and verdict.

Metrics are grouped by the question that they answer, and trusted metrics come first.
"""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from unweave.evaluation import Evaluation, Row
from unweave.report.answer.grouping import by_question
from unweave.report.answer.levels import verdict_in_words
from unweave.report.terminal.answer_tables import LEVEL_STYLES, NARROW, WIDE, plain_table
from unweave.words.phrases import fixed


def metric_table(evaluation: Evaluation, width: int) -> Table:
    """Return the table of the metrics of one representation. A narrow table has no intervals.

    Names are wrapped where they do not fit, and numbers are never cut.
    """
    representation = evaluation.representations[0]
    checked = any(row.verdict is not None for row in evaluation.rows)
    with_interval = checked and width >= NARROW
    table = plain_table()
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
                *([Text(verdict, style=LEVEL_STYLES.get(verdict, ""))] if checked else []),
            )
    return table


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
