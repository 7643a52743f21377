"""All experiments in one command, and two pages about them: every figure, and what holds of the papers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from unweave.errors import FileError, OptionError
from unweave.store import write_result
from unweave_papers.experiment import MODULES, Experiment, Options, paper_of, plain_table, reproduced


@dataclasses.dataclass(frozen=True)
class Planned:
    """An experiment, the options that it takes, and why it is not run (empty if it is)."""

    paper: str
    experiment: Experiment
    options: Options
    reason: str

    @property
    def stem(self) -> str:
        """Start of the names of its files."""
        return f"{self.paper}-{self.experiment.name}"

    @property
    def record(self) -> Path:
        """File with the names of what it wrote, which says that it is done."""
        return self.options.folder / f"{self.stem}-done.json"

    @property
    def given(self) -> dict[str, str]:
        """The options as text."""
        return {name: str(value) for name, value in self.options.stated.items()}

    @property
    def is_done(self) -> bool:
        """Whether it was computed with these options."""
        return self.record.exists() and json.loads(self.record.read_bytes())["options"] == self.given


def planned(options: Options) -> list[Planned]:
    """Return all experiments of all papers with the options that each takes."""
    found = []
    for number in MODULES:
        for experiment in paper_of(number).experiments:
            taken = {name: value for name, value in options.stated.items() if name in experiment.options}
            given = Options(options.folder, options.progress, **taken)
            found.append(Planned(number, experiment, given, _reason(experiment, given)))
    return found


def _reason(experiment: Experiment, options: Options) -> str:
    try:
        experiment.check(options)
    except (OptionError, FileError) as error:
        return str(error)
    return ""


def plan_table(plan: Sequence[Planned]) -> Any:
    """Format what will be computed, at which cost, what is done already, and what is skipped and why."""
    rows = [
        (entry.stem, entry.experiment.cost, f"skipped: {entry.reason}" if entry.reason else STATES[entry.is_done])
        for entry in plan
    ]
    return plain_table(("experiment", "cost", "plan"), rows)


STATES = {True: "done", False: "to do"}


def reproduced_all(plan: Sequence[Planned]) -> Iterator[Any]:
    """Compute every experiment that is not done, and write the page after each; yield output for the terminal.

    An interrupted command goes on with the first experiment that is not done, which itself goes on where it was.
    """
    for entry in plan:
        if entry.reason or entry.is_done:
            continue
        yield f"{entry.stem}: {entry.experiment.title} ({entry.experiment.cost})"
        wrote = []
        for line in reproduced(entry.paper, entry.experiment.name, entry.options):
            if isinstance(line, str) and line.startswith("wrote "):
                wrote.append(Path(line.removeprefix("wrote ")).name)
            yield line
        _write(entry.record, json.dumps({"options": entry.given, "wrote": wrote}))
        write_page(plan)
    yield f"wrote {write_page(plan)}"


def write_page(plan: Sequence[Planned]) -> Path:
    """Write one page with every figure and comparison that is there."""
    parts = ["<!doctype html><meta charset='utf-8'><title>Experiments of five papers</title>"]
    parts.append(
        "<style>body{font:14px sans-serif;max-width:75em;margin:auto}img{max-width:100%}td{padding:2px 8px}</style>"
    )
    parts.append("<h1>Experiments of five papers, computed again</h1>")
    for entry in plan:
        parts.append(f"<h2 id='{entry.stem}'>{entry.stem}: {escape(entry.experiment.title)}</h2>")
        if not entry.is_done:
            parts.append(f"<p>{escape(entry.reason or 'Not computed yet.')} Cost: {escape(entry.experiment.cost)}.</p>")
            continue
        parts += _files_as_lines(entry.options.folder, json.loads(entry.record.read_bytes())["wrote"])
    path = plan[0].options.folder / "index.html"
    _write(path, "\n".join(parts))
    return path


def _write(path: Path, text: str) -> None:
    write_result(path, lambda stream: stream.write(text.encode()))


def _files_as_lines(folder: Path, files: Sequence[str]) -> Iterator[str]:
    for name in files:
        if name.endswith("-claims.json"):
            rows = json.loads((folder / name).read_bytes())
            cells = ("ledger", "claim", "paper", "here", "verdict")
            lines = ["".join(f"<td>{escape(str(row[cell] or ''))}</td>" for cell in cells) for row in rows]
            yield f"<table><tr><th>{'</th><th>'.join(cells)}</th></tr><tr>{'</tr><tr>'.join(lines)}</tr></table>"
        elif name.endswith(".png"):
            yield f"<img src='{escape(name)}' alt='{escape(name)}'>"
        else:
            yield f"<p><a href='{escape(name)}'>{escape(name)}</a></p>"
