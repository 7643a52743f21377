"""Which papers there are, and how any of their experiments is found, run and listed."""

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

# number of a paper to the module that declares PAPER
MODULES = {
    "000": "unweave.papers.manifold_entropic_metrics.experiments",
    "001": "unweave.papers.learning_disentangled_representations.experiments",
    "002": "unweave.papers.partial_information_decomposition.experiments",
    "003": "unweave.papers.guardians.experiments",
    "004": "unweave.papers.dependent_factors.experiments",
}


def paper_of(number: str) -> Paper:
    """The paper with this number.

    >>> paper_of("003").experiments[0].name
    'fig1'
    """
    if number not in MODULES:
        raise EvidenceError(f"There is no paper {number!r} here: there are {', '.join(MODULES)}.")
    return import_module(MODULES[number]).PAPER


def experiment_of(paper: Paper, name: str) -> Experiment:
    """The experiment of a paper that has this name."""
    names = [entry.name for entry in paper.experiments]
    if name not in names:
        raise EvidenceError(f"Paper {paper.number} has no experiment {name!r}: {suggestion(name, names)}")
    return paper.experiments[names.index(name)]


def claims_of(number: str, name: str, options: Options) -> list[ClaimCheck]:
    """What an experiment says of its paper's claims, computed or read from the folder: the verdicts as data."""
    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    return list(experiment.compare(experiment.compute(options), options))


def reproduced(number: str, name: str, options: Options) -> Iterator[Any]:
    """Compute an experiment, compare it with the paper and write its files; what a terminal shows, as it is ready."""
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
    """The paper's numbers beside ours, with the numbers that claims have in the list of all claims."""
    rows = [
        ("" if entry.ledger is None else str(entry.ledger), entry.claim, entry.paper, entry.here, entry.verdict)
        for entry in checks
    ]
    numbered = any(row[0] for row in rows)
    headings = ("claim", "", "paper", "here", "verdict")
    return plain_table(headings if numbered else headings[1:], rows if numbered else [row[1:] for row in rows])


def _written(checks: Iterable[ClaimCheck], path: Path) -> Path:
    """The verdicts as JSON, whole or not there."""
    found = [dataclasses.asdict(entry) | {"verdict": entry.verdict} for entry in checks]
    text = json.dumps(found, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda stream: stream.write(text.encode()))
    return path


def papers_table() -> Any:
    """All papers."""
    papers = [paper_of(number) for number in MODULES]
    rows = [(paper.number, paper.title, str(len(paper.experiments))) for paper in papers]
    return plain_table(("paper", "title", "experiments"), rows)


def experiments_table(paper: Paper) -> Any:
    """The experiments of a paper: what they show, need and cost."""
    rows = [(entry.name, entry.title, ", ".join(entry.needs_in_words), entry.cost) for entry in paper.experiments]
    return plain_table(("experiment", "what it shows", "needs", "about"), rows)


def plain_table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Any:
    """A table for the terminal, of plain text."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
