"""The command `mcp`: a server by which an assistant scores files and explains metrics (Model Context Protocol)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

import click

from unweave import __version__
from unweave.cli.score import compare, explain, metrics, probe, score
from unweave.cli.terminal import one_sentence_errors
from unweave.errors import FileError, InputError, OptionError, UnweaveError

INSTRUCTIONS = (
    "unweave measures how well a learned representation (codes) separates the factors behind the data, and whether "
    "each score can be trusted. Begin with score or compare on files that the user names, and report the answer "
    "with its verdicts: a score with the verdict 'do not use' or 'noise level' must not be reported as a result."
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True), default=".")
def mcp(folder: Path) -> None:
    """Let an assistant score files below FOLDER, by the Model Context Protocol over stdin and stdout.

    The tools are score, compare, probe, explain and list_metrics. They read files below FOLDER, which is the current
    folder by default, write nothing, and run no code of other modules. Needs unweave[mcp].
    """
    with one_sentence_errors():
        server_of(folder).run("stdio")


def server_of(folder: Path) -> Any:
    """The server whose tools read the files below a folder."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    root = folder.resolve()
    server = MCPServer("unweave", instructions=INSTRUCTIONS, version=__version__)

    def read_only(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """A tool that writes nothing; the sentence of an error is told to the client."""

        @wraps(function)
        def answered(*given: Any, **named: Any) -> dict[str, Any]:
            try:
                return function(*given, **named)
            except UnweaveError as error:
                raise ToolError(str(error)) from None

        return server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))(answered)

    @read_only
    def list_metrics() -> dict[str, Any]:
        """List all metrics: the question each one answers, what it measures and needs, its range and its reference."""
        return _json_of_command(metrics)

    @read_only
    def explain_metric(name: str) -> dict[str, Any]:
        """Explain a metric: meaning, when to use it and when not, formula, options, reference."""
        return _json_of_command(explain, words=[_checked_metric_names(name) or name])

    @read_only
    def score_codes(
        file: str,
        codes_file: str | None = None,
        factors: str | None = None,
        codes: str | None = None,
        metrics: str | None = None,
        kinds: str | None = None,
        row_groups: str | None = None,
        missing: str = "refuse",
        budget: float = 10.0,
    ) -> dict[str, Any]:
        """Score how well the codes in a file represent its factors, with noise floors, intervals and verdicts.

        Files are .npz, .npy, .csv, .parquet and others. ``factors`` and ``codes`` name columns or arrays, separated by
        commas; ``kinds`` are such as 'shape=categorical,angle=circular:360'; ``metrics`` are names separated by
        commas, by default the panel; ``missing='drop'`` leaves rows with missing values out; ``budget`` is in seconds.
        """
        options = {
            "factors": factors,
            "codes": codes,
            "metrics": _checked_metric_names(metrics),
            "kinds": kinds,
            "missing": missing,
        }
        options |= {"row-groups": row_groups, "budget": str(budget)}
        return _short(_json_of_command(score, options, _inside(root, file, codes_file)))

    @read_only
    def compare_codes(
        files: list[str],
        factors_from: str | None = None,
        factors: str | None = None,
        codes: str | None = None,
        metrics: str | None = None,
        kinds: str | None = None,
        budget: float = 10.0,
    ) -> dict[str, Any]:
        """Compare representations of the same samples, one file each: which are best, and which do not differ.

        ``factors_from`` names the file with the factors if the files have codes only.
        """
        options = {
            "factors": factors,
            "codes": codes,
            "metrics": _checked_metric_names(metrics),
            "kinds": kinds,
            "budget": str(budget),
        }
        options["factors-from"] = next(iter(_inside(root, factors_from)), None)
        return _short(_json_of_command(compare, options, _inside(root, *files)))

    @read_only
    def probe_layers(
        files: list[str],
        layers: str | None = None,
        factors_from: str | None = None,
        factors: str | None = None,
        probes: str = "linear,kernel",
        kinds: str | None = None,
    ) -> dict[str, Any]:
        """Predict every factor from the codes of every layer, by probes tested on held-out rows.

        Pass one file for each layer, or one .npz file and the names of its arrays as ``layers``.
        """
        options = {"layers": layers, "factors": factors, "probes": probes, "kinds": kinds}
        options["factors-from"] = next(iter(_inside(root, factors_from)), None)
        return _json_of_command(probe, options, _inside(root, *files))

    return server


ONE_AT_A_TIME = Lock()  # a command prints to the process's output, which is redirected while it runs


def _json_of_command(
    command: click.Command, options: Mapping[str, str | None] | None = None, words: list[str] | None = None
) -> Any:
    """What a command prints with --json; an error becomes an exception with its sentence, which the client is told."""
    given = [f"--{name}={value}" for name, value in (options or {}).items() if value is not None]
    printed, errors = io.StringIO(), io.StringIO()
    with ONE_AT_A_TIME, redirect_stdout(printed), redirect_stderr(errors):
        try:
            command.main([*given, "--json", "--", *(words or [])], prog_name=command.name, standalone_mode=False)
        except click.ClickException as error:
            raise OptionError(error.format_message()) from None
        except SystemExit:
            raise InputError(errors.getvalue().rpartition("Error: ")[2].strip()) from None
    notes = [line.removeprefix("Note: ") for line in errors.getvalue().splitlines() if line.startswith("Note: ")]
    return {**json.loads(printed.getvalue()), **({"notes": notes} if notes else {})}


def _inside(root: Path, *names: str | None) -> list[str]:
    """Full paths of files below the folder; others are refused, also behind links."""
    paths = [(root / name).resolve() for name in names if name is not None]
    for path in paths:
        if not path.is_relative_to(root):
            raise FileError(f"{path} is not below {root}, and this server reads only files there.")
    return list(map(str, paths))


def _checked_metric_names(names: str | None) -> str | None:
    """The names of metrics, none of which is code of another module."""
    from unweave.metrics import CATALOGUE

    for name in (names or "").split(","):
        first, colon, _ = name.strip().partition(":")
        if colon and first.lower() not in CATALOGUE:
            raise OptionError(
                f"{first!r} is no metric of the catalogue, and this server runs no code of other modules."
            )
    return names


def _short(stored: dict[str, Any]) -> dict[str, Any]:
    """The answer and a line for each score; the whole evaluation is too long for an assistant."""
    from unweave.evaluation import Evaluation
    from unweave.evaluation.results import frame_columns

    columns = frame_columns(Evaluation.from_json(json.dumps(stored)).rows)
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    scores = [{name: entry for name, entry in line.items() if entry == entry and name != "seconds"} for line in lines]
    notes = {"notes": stored["notes"]} if "notes" in stored else {}
    return {"answer": stored["answer"], "scores": scores, **notes}


if __name__ == "__main__":
    mcp()
