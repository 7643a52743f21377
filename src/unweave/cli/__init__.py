"""The command line. It starts quickly, because each command imports heavy modules only when it needs them."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import click

from unweave import __version__
from unweave.cli.claims_command import checklist, claims
from unweave.cli.concept_commands import dictionaries
from unweave.cli.encode_command import encode
from unweave.cli.score_commands import compare, demo, explain, geometry, metrics, report, score
from unweave.cli.study_commands import audit, reproduce, sweep
from unweave.cli.terminal import code_of_current_folder
from unweave.cli.train_command import train
from unweave.cli.unlabelled_command import unlabelled


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="unweave")
@click.pass_context
def main(context: click.Context) -> None:
    """Measure how well a learned representation separates the factors behind the data."""
    context.with_resource(code_of_current_folder())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # terminals that cannot show ± or ─ must not raise an error


for command in (
    encode,
    score,
    compare,
    report,
    metrics,
    explain,
    audit,
    sweep,
    train,
    reproduce,
    claims,
    checklist,
    geometry,
    dictionaries,
    unlabelled,
    demo,
):
    main.add_command(command)
