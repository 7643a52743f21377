"""Experiments of papers: what they compute, compare and draw, and the list of all of them."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.arrays import student_reach
from unweave.errors import FileError, OptionError
from unweave.names import suggestion
from unweave.store import write_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# the name of each file without the number of its paper, and the figure, or the text of a table
Pictures = Iterator[tuple[str, "Figure"]]
Tables = Iterator[tuple[str, str]]

# options that name folders which an experiment may need, and the content of these folders
FOLDERS = {
    "authors_data": "the authors' tables, exp01.csv to exp15.csv",
    "data": "the data set's files",
    "weights": "the trained weights, .npz files",
    "codes": "codes written by unweave encode, one file per encoder",
}

# what is used if a folder is not given
REPLACED = {
    "weights": "six small models, which it trains on 4,608 sprites of 16 x 16 pixels (about two minutes, once)",
    "data": "the 1,797 digits of 8 x 8 pixels of scikit-learn and the small flows of --quick",
}

PACKAGES = {"torch": ("torch", "zuko")}  # extras that an experiment may need, and their packages


@dataclass(frozen=True)
class Options:
    """Options of an experiment; None selects the experiment's own default.

    Results, tables and figures are written to ``folder``; results that are there already are not computed again.

    >>> Options(Path("reproduced"), n_seeds=2).stated
    {'n_seeds': 2}
    """

    folder: Path
    progress: bool = False
    seed: int | None = None
    n_seeds: int | None = None
    n_rows: int | None = None
    n_steps: int | None = None
    metrics: tuple[str, ...] | None = None
    protocol: str | None = None
    authors_data: Path | None = None
    data: Path | None = None
    weights: Path | None = None
    codes: Path | None = None
    quick: bool | None = None
    n_jobs: int | None = None
    cluster: str | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """Options that were given, without the folder and the progress bar."""
        fields = [field.name for field in dataclasses.fields(self) if field.name not in ("folder", "progress")]
        return {name: value for name in fields if (value := getattr(self, name)) is not None}


LEVEL = 0.95


@dataclass(frozen=True)
class MeasuredFigure:
    """A number with its 95 % interval over seeds.

    An exact number has no interval (its ends are nan). The interval of one or two seeds is unknown: its ends are
    infinite, and it decides nothing.

    >>> MeasuredFigure.over_seeds([0.80, 0.82, 0.84]).low < 0.8
    True
    >>> str(MeasuredFigure(0.8564)), str(MeasuredFigure(0.82, 0.77, 0.87)), str(MeasuredFigure.over_seeds([0.5]))
    ('0.856', '0.820 [0.770, 0.870]', '0.500 (too few seeds for an interval)')
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def over_seeds(cls, values: Sequence[float]) -> MeasuredFigure:
        """Return the mean over seeds with Student's interval."""
        array = np.asarray(values, dtype=np.float64)
        mean = float(array.mean())
        if array.size < 3:
            return cls(mean, -math.inf, math.inf)
        reach = float(student_reach(array.std(ddof=1), array.size - 1, LEVEL) / math.sqrt(array.size))
        return cls(mean, mean - reach, mean + reach)

    @property
    def is_exact(self) -> bool:
        """Whether the number has no interval, because nothing in it is random."""
        return math.isnan(self.low)

    @property
    def is_unknown(self) -> bool:
        """Whether there are too few seeds for an interval."""
        return math.isinf(self.low)

    @property
    def numbers(self) -> list[float]:
        """Value, and the ends of the interval unless the number is exact."""
        return [self.value] if self.is_exact else [self.value, self.low, self.high]

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def __str__(self) -> str:
        value, *interval = (f"{number:.3f}" if abs(number) < 1000 else f"{number:.4g}" for number in self.numbers)
        if self.is_unknown:
            return f"{value} (too few seeds for an interval)"
        return f"{value} [{interval[0]}, {interval[1]}]" if interval else value


@dataclass(frozen=True)
class ClaimCheck:
    """A quantity or claim: the paper's result, our result, and whether the claim holds here.

    ``holds`` is None for a mere quantity, or (with ``undecided``) if our data cannot decide the claim. ``in_part`` says
    that a claim which does not hold in general holds in some cases. ``ledger`` is the claim's number in the ledger of
    all claims, if it has one. ``value`` is the number on which the verdict is based.

    >>> ClaimCheck("UniBound of FactorVAE", "about 0", "0.012 [0, 0.03]", True, ledger=118).verdict
    'holds'
    """

    claim: str
    paper: str
    here: str
    holds: bool | None = None
    ledger: int | None = None
    undecided: bool = False
    in_part: bool = False
    value: float | MeasuredFigure | None = None

    @property
    def verdict(self) -> str:
        """'holds', 'holds in part', 'does not hold' or 'undecided'; empty for a mere quantity."""
        if self.holds is None:
            return "undecided" if self.undecided else ""
        return "holds" if self.holds else "holds in part" if self.in_part else "does not hold"

    @property
    def is_claim(self) -> bool:
        """Whether this is a claim with a verdict, and not a mere quantity."""
        return bool(self.verdict)

    @classmethod
    def found(cls, claim: str, paper: str, here: str, found: str, ledger: int | None = None) -> ClaimCheck:
        """Return a row with this verdict."""
        holds = None if found == "undecided" else found == "holds"
        part = found == "holds in part"
        return cls(claim, paper, here, holds, ledger, undecided=holds is None, in_part=part)

    @classmethod
    def quantity(cls, claim: str, paper: str, value: float | MeasuredFigure, ledger: int | None = None) -> ClaimCheck:
        """Return a row without a verdict; the rules of the ledger decide claims about its value."""
        return cls(claim, paper, str(value if isinstance(value, MeasuredFigure) else MeasuredFigure(value)), None,
                   ledger, value=value)  # fmt: skip

    @classmethod
    def number(
        cls,
        claim: str,
        paper: str,
        value: float | MeasuredFigure,
        *,
        above: float = -math.inf,
        below: float = math.inf,
        ledger: int | None = None,
    ) -> ClaimCheck:
        """Return the check of a claim that holds if a number lies between ``above`` and ``below``.

        It is undecided if the number has an interval that is only partly between them.

        >>> ClaimCheck.number("total correlation", "about 0", 0.053, below=0.1).verdict
        'holds'
        >>> ClaimCheck.number("total correlation", "about 0", MeasuredFigure(0.053, 0.01, 0.12), below=0.1).verdict
        'undecided'
        """
        figure = value if isinstance(value, MeasuredFigure) else MeasuredFigure(value)
        ends = [figure.value] if figure.is_exact else [figure.low, figure.high]
        inside = [above < end < below for end in ends]
        outside = max(ends) <= above or min(ends) >= below
        holds = True if all(inside) else False if outside else None
        return cls(claim, paper, str(figure), holds, ledger, undecided=holds is None, value=value)


def none(data: Any, options: Options) -> Iterator[Any]:
    """Return nothing, for experiments without comparisons, tables or figures."""
    return iter(())


@dataclass(frozen=True)
class Experiment:
    """A figure, table or comparison of a paper that can be computed again.

    ``compute`` returns plain data (arrays, numbers, frozen records). It continues from results in the folder, and shows
    progress if ``options.progress`` is set. From these data, ``compare`` yields comparisons with the paper's numbers,
    ``draw`` figures and ``write`` tables as text, each with the name of its file.
    """

    name: str  # the paper's number of the figure or table: fig2, tab8
    title: str
    compute: Callable[[Options], Any]
    compare: Callable[[Any, Options], Iterable[ClaimCheck]] = none
    draw: Callable[[Any, Options], Pictures] = none
    write: Callable[[Any, Options], Tables] = none
    options: tuple[str, ...] = ("seed",)  # fields of `Options` that it accepts
    needs: tuple[str, ...] = ()  # 'torch', or options whose folders are required
    cost: str = "seconds"
    seeds: str = ""  # what was repeated, and what bars and bands are

    @property
    def replaced(self) -> dict[str, str]:
        """Folders that need not be given, and what is used instead of their content."""
        return {
            need: REPLACED[need]
            for need in self.needs
            if need == "data" or (need == "weights" and "codes" in self.options)
        }

    @property
    def requirements(self) -> list[str]:
        """Requirements: names of packages, and command line options of folders; those in brackets are optional."""
        shown = {need: need if need in PACKAGES else flag(need) for need in self.needs}
        return [f"({text})" if need in self.replaced else text for need, text in shown.items()]

    def ready(self, options: Options) -> tuple[Options, list[str]]:
        """Return options with something small in place of folders that were not given, and sentences that say so."""
        told = []
        if "weights" in self.replaced and options.weights is None and options.codes is None:
            from unweave_papers.trained import with_small_codes  # which imports this module

            told.append(f"Without --weights, {self.name} uses {REPLACED['weights']}.")
            options = with_small_codes(options)
        if "data" in self.replaced and options.data is None and options.weights is None:
            told.append(f"Without --data, {self.name} uses {REPLACED['data']}.")
            options = dataclasses.replace(options, quick=True)
        return options, told

    def check(self, options: Options) -> None:
        """Raise an error for options that are not accepted, and for missing packages or folders."""
        for name in options.stated:
            if name not in self.options:
                taken = ", ".join(map(flag, self.options)) or "none"
                raise OptionError(f"{flag(name)} is not an option of {self.name}: it takes {taken}.")
        for need in self.needs:
            if need in PACKAGES:
                if not all(map(find_spec, PACKAGES[need])):
                    raise OptionError(f"{self.name} needs {need}: install unweave[{need}].")
                continue
            if need == "weights" and options.codes is not None:
                need = "codes"  # given codes replace the weights
            folder = getattr(options, need)
            if folder is None and need in self.replaced:
                continue
            if folder is None:
                raise OptionError(f"{self.name} needs {FOLDERS[need]}: pass their folder with {flag(need)}.")
            if not folder.is_dir():
                raise FileError(f"{flag(need)} {folder} is not a folder: pass the one with {FOLDERS[need]}.")


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments, in the order in which they are listed."""

    number: str
    title: str
    experiments: tuple[Experiment, ...]


def flag(option: str) -> str:
    """Return the command line name of an option.

    >>> flag("n_seeds"), flag("authors_data")
    ('--seeds', '--authors-data')
    """
    return "--" + option.removeprefix("n_").replace("_", "-")


# numbers of papers to the modules that declare PAPER
MODULES = {
    "000": "unweave_papers.paper000.experiments",
    "001": "unweave_papers.paper001.experiments",
    "002": "unweave_papers.paper002.experiments",
    "003": "unweave_papers.paper003.experiments",
    "004": "unweave_papers.paper004.experiments",
}


def paper_of(number: str) -> Paper:
    """Return the paper with this number.

    >>> paper_of("003").experiments[0].name
    'fig1'
    """
    if number not in MODULES:
        raise OptionError(f"There is no paper {number!r} here: there are {', '.join(MODULES)}.")
    return import_module(MODULES[number]).PAPER


def experiment_of(paper: Paper, name: str) -> Experiment:
    """Return the experiment of a paper that has this name."""
    names = [entry.name for entry in paper.experiments]
    if name not in names:
        raise OptionError(f"Paper {paper.number} has no experiment {name!r}: {suggestion(name, names)}")
    return paper.experiments[names.index(name)]


def experiment_claims(number: str, name: str, options: Options) -> list[ClaimCheck]:
    """Return the checks of an experiment's claims; results in ``options.folder`` are not computed again."""
    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    options = experiment.ready(options)[0]
    return list(experiment.compare(_compute_quietly(experiment, options), options))


def _compute_quietly(experiment: Experiment, options: Options) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Objective did not converge")  # of a lasso on codes that are nearly constant
        return experiment.compute(options)


def reproduced(number: str, name: str, options: Options) -> Iterator[Any]:
    """Compute an experiment, compare it with the paper and write its files; yield output for the terminal."""
    from unweave.report.figures.geometry import save
    from unweave_papers.ledger import decided_here, numbered  # which imports this module

    experiment = experiment_of(paper_of(number), name)
    experiment.check(options)
    options, told = experiment.ready(options)
    yield from told
    data = _compute_quietly(experiment, options)
    checks = list(numbered(number, name, experiment.compare(data, options)))
    checks += decided_here(number, name, checks)
    if checks:
        yield checks_table(number, checks)
        if experiment.seeds:
            yield experiment.seeds
        entries = [dataclasses.asdict(check) | {"verdict": check.verdict} | _numbers(check.value) for check in checks]
        yield _wrote(options.folder / f"{number}-{name}-claims.json", json.dumps(entries, indent=1))
    for stem, text in experiment.write(data, options):
        yield _wrote(options.folder / f"{number}-{stem}.csv", text)
    for stem, figure in experiment.draw(data, options):
        yield f"wrote {save(figure, options.folder / f'{number}-{stem}.png')}"


def _numbers(value: float | MeasuredFigure | None) -> dict[str, Any]:
    known = isinstance(value, MeasuredFigure) and not value.is_exact and not value.is_unknown
    interval = [value.low, value.high] if known else None  # type: ignore[union-attr]
    return {"value": None if value is None else float(value), "interval": interval}


def checks_table(paper: str, checks: Sequence[ClaimCheck]) -> Any:
    """Format the paper's numbers beside ours, with claims of the ledger and their verdicts there."""
    from unweave_papers.ledger import claims_of  # which imports this module

    verdicts = {claim.number: claim.verdict for claim in claims_of(paper)}
    known = [
        ("", "") if entry.ledger is None else (f"{paper}:{entry.ledger}", verdicts.get(entry.ledger, ""))
        for entry in checks
    ]
    rows = [
        (name, entry.claim, entry.paper, entry.here, entry.verdict, verdict)
        for entry, (name, verdict) in zip(checks, known, strict=True)
    ]
    headings = ("claim", "", "paper", "here", "verdict here", "in the ledger")
    in_ledger = any(row[0] for row in rows)
    return plain_table(headings if in_ledger else headings[1:-1], rows if in_ledger else [row[1:-1] for row in rows])


def _wrote(path: Path, text: str) -> str:
    write_result(path, lambda stream: stream.write(text.encode()))
    return f"wrote {path}"


def papers_table() -> Any:
    """Format the list of papers as a table."""
    papers = [paper_of(number) for number in MODULES]
    rows = [(paper.number, paper.title, str(len(paper.experiments))) for paper in papers]
    return plain_table(("paper", "title", "experiments"), rows)


def experiments_table(paper: Paper) -> Any:
    """Format a paper's experiments as a table: what they show, need and cost."""
    rows = [(entry.name, entry.title, ", ".join(entry.requirements), entry.cost) for entry in paper.experiments]
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
