"""The catalogue of papers; functions that find, run and list their experiments."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.names import suggestion
from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper
from unweave.whole_files import write_whole

# numbers of papers to the modules that declare PAPER
MODULES = {
    "000": "unweave.papers.manifold_entropic_metrics.experiments",
    "001": "unweave.papers.learning_disentangled_representations.experiments",
    "002": "unweave.papers.partial_information_decomposition.experiments",
    "003": "unweave.papers.guardians.experiments",
    "004": "unweave.papers.dependent_factors.experiments",
}


def paper_of(number: str) -> Paper:
    """Return the paper with this number.

    >>> paper_of("003").experiments[0].name
    'fig1'
    """
    if number not in MODULES:
        raise EvidenceError(f"There is no paper {number!r} here: there are {', '.join(MODULES)}.")
    return import_module(MODULES[number]).PAPER


def experiment_of(paper: Paper, name: str) -> Experiment:
    """Return the experiment of a paper that has this name."""
    names = [entry.name for entry in paper.experiments]
    if name not in names:
        raise EvidenceError(f"Paper {paper.number} has no experiment {name!r}: {suggestion(name, names)}")
    return paper.experiments[names.index(name)]


def claims_of(number: str, name: str, options: Options) -> list[ClaimCheck]:
    """Return the checks of an experiment's claims; results in ``options.folder`` are not computed again."""
    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    return list(experiment.compare(experiment.compute(options), options))


def reproduced(number: str, name: str, options: Options) -> Iterator[Any]:
    """Compute an experiment, compare it with the paper and write its files; yield output for the terminal."""
    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    data = experiment.compute(options)
    checks = list(experiment.compare(data, options))
    if checks:
        yield checks_table(checks)
        yield f"wrote {_written(checks, options.folder / f'{number}-{name}-claims.json')}"
    yield from (f"wrote {path}" for path in experiment.write(data, options))
    if find_spec("matplotlib") is None:
        yield "The pictures were not drawn, because matplotlib is not installed: install unweave[report]."
        return
    yield from (f"wrote {path}" for path in experiment.draw(data, options))


def checks_table(checks: Iterable[ClaimCheck]) -> Any:
    """Format the paper's numbers beside ours, with the numbers of claims in the ledger."""
    rows = [
        ("" if entry.ledger is None else str(entry.ledger), entry.claim, entry.paper, entry.here, entry.verdict)
        for entry in checks
    ]
    numbered = any(row[0] for row in rows)
    headings = ("claim", "", "paper", "here", "verdict")
    return plain_table(headings if numbered else headings[1:], rows if numbered else [row[1:] for row in rows])


def _written(checks: Iterable[ClaimCheck], path: Path) -> Path:
    """Write the checks as JSON, atomically."""
    found = [dataclasses.asdict(entry) | {"verdict": entry.verdict} for entry in checks]
    text = json.dumps(found, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda stream: stream.write(text.encode()))
    return path


def papers_table() -> Any:
    """Format the list of papers as a table."""
    papers = [paper_of(number) for number in MODULES]
    rows = [(paper.number, paper.title, str(len(paper.experiments))) for paper in papers]
    return plain_table(("paper", "title", "experiments"), rows)


def experiments_table(paper: Paper) -> Any:
    """Format a paper's experiments as a table: what they show, need and cost."""
    rows = [(entry.name, entry.title, ", ".join(entry.needs_in_words), entry.cost) for entry in paper.experiments]
    return plain_table(("experiment", "what it shows", "needs", "cost"), rows)


def plain_table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Any:
    """Return a table of plain text for the terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
