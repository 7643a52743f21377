"""Options that the commands score, compare and report share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

SCORE_OPTIONS = [
    click.option(
        "--metrics",
        metavar="NAMES",
        help=(
            "Metrics to compute, separated by commas: names, families such as information, or 'all' for the whole "
            "catalogue. The default is the panel; 'concepts' gives what is usually reported of sparse autoencoders. "
            "Options follow after colons: mcc:correlation=spearman. Name a metric of your own as module:name, which "
            "runs the code of the module."
        ),
    ),
    click.option(
        "--kinds",
        metavar="KINDS",
        help=(
            "Kinds of the factors (continuous, ordinal, categorical, circular:PERIOD): one for all factors, or one for "
            "each or NAME=KIND pairs, separated by commas."
        ),
    ),
    click.option(
        "--factors", metavar="NAMES", help="Columns of a table, or arrays of an .npz file, to use as factors."
    ),
    click.option("--codes", metavar="NAMES", help="Columns or arrays to use as codes."),
    click.option(
        "--codes-std",
        metavar="NAME",
        help="Array of an .npz file with the standard deviations of the codes' posterior. [default: codes_std]",
    ),
    click.option("--factor-names", metavar="NAMES", help="Names of the factors, separated by commas, in their order."),
    click.option("--code-names", metavar="NAMES", help="Names of the codes, separated by commas, in their order."),
    click.option(
        "--row-groups",
        metavar="NAME",
        help="Column or array with the group of each row, such as its subject or video. Splits keep groups whole.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="Whether rows with missing values are an error or are left out.",
    ),
    click.option(
        "--seeds",
        metavar="N",
        type=click.IntRange(1, 10_000),
        default=1,
        help="Number of seeds for metrics with a random part. [default: 1]",
    ),
    click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(1),
        default=1,
        help="Number of threads. The scores do not depend on it.",
    ),
    click.option(
        "--screen/--no-screen",
        default=None,
        help=(
            "Find the codes that depend on a factor on half of the rows, and score these alone on the other half. "
            "[default: for the panel, with more than 1,000 codes or 64 sparse ones]"
        ),
    ),
    click.option("--quick", is_flag=True, help="Compute scores only, without noise floors, intervals and verdicts."),
    click.option(
        "--budget",
        metavar="SECONDS",
        type=click.FloatRange(0),
        default=30.0,
        show_default=True,
        help=(
            "Approximate CPU seconds for scores, noise floors, intervals and verdicts together. A note names what was "
            "left out."
        ),
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table."),
]
PAGE_OPTIONS = [
    click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the report as one HTML page."),
    click.option("--markdown", metavar="FILE", type=click.Path(path_type=Path), help="Write the report as Markdown."),
    click.option("--summary", metavar="FILE", type=click.Path(path_type=Path), help="Write the report's data as JSON."),
]


def with_score_options(command: Any) -> Any:
    """Add the options of scores and pages to a command."""
    for option in reversed([*SCORE_OPTIONS, *PAGE_OPTIONS]):
        command = option(command)
    return command


def with_page_options(command: Any) -> Any:
    """Add the options of pages to a command."""
    for option in reversed(PAGE_OPTIONS):
        command = option(command)
    return command
