"""The command line. It starts quickly, because each command imports heavy modules only when it needs them."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

import click

from unweave import __version__
from unweave.cli.mcp import mcp
from unweave.cli.score import (
    compare,
    demo,
    dictionaries,
    explain,
    geometry,
    leaderboard,
    metrics,
    probe,
    report,
    score,
    unlabelled,
)
from unweave.cli.study import audit, sweep
from unweave.cli.terminal import WANTS_JSON, code_of_current_folder, print_error, warnings_as_notes
from unweave.cli.train import encode, train
from unweave.plugins import load_plugin, plugins

COMMANDS = (
    *(encode, score, compare, probe, report, leaderboard, metrics, explain, audit, sweep, train),
    *(geometry, dictionaries, unlabelled, demo, mcp),
)


class Commands(click.Group):
    """The commands of this package, then those of other installed packages (entry points ``unweave.commands``)."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, in the order in which a newcomer needs them."""
        return [*self.commands, *plugins("unweave.commands", self.commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; a command of another package is imported when it is called."""
        entry = None if cmd_name in self.commands else plugins("unweave.commands", self.commands).get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        return load_plugin(entry, lambda it: isinstance(it, click.Command), "declare it with @click.command()")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with --json, an error is printed as JSON as well."""
        ctx.meta[WANTS_JSON] = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            print_error("OptionError", error.format_message())
            raise


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="unweave")
@click.pass_context
def main(context: click.Context) -> None:
    """Measure how well a learned representation separates the factors behind the data."""
    context.with_resource(code_of_current_folder())
    context.with_resource(warnings_as_notes())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # terminals that cannot show ± or ─ must not raise an error


for command in COMMANDS:
    main.add_command(command)
