"""Which papers there are, and how any of their experiments is found, run and listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unweave.evidence import EvidenceError
from unweave.names import suggestion
from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper

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


def reproduced(number: str, name: str, options: Options) -> Iterator[Any]:
    """Compute an experiment, compare it with the paper and write its files; what a terminal shows, as it is ready."""
    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    data = experiment.compute(options)
    checks = list(experiment.compare(data, options))
    if checks:
        yield checks_table(checks)
    yield from (f"wrote {path}" for path in experiment.write(data, options))
    if find_spec("matplotlib") is None:
        yield "The pictures were not drawn, because matplotlib is not installed: install unweave[report]."
        return
    yield from (f"wrote {path}" for path in experiment.draw(data, options))


def checks_table(checks: Iterable[ClaimCheck]) -> Any:
    """The paper's numbers beside ours."""
    words = {True: "yes", False: "no", None: ""}
    rows = [(entry.claim, entry.paper, entry.here, words[entry.holds]) for entry in checks]
    return plain_table(("", "paper", "here", "holds"), rows)


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
