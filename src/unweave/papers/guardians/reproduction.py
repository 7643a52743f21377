"""Compute what a figure, an experiment or the comparison with the authors' data needs, as plain data."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unweave.evidence import EvidenceError
from unweave.papers.guardians.agreement import COMPARED, CellAgreement, compared
from unweave.papers.guardians.experiments import EXPERIMENTS, FIRST_SEED, Experiment
from unweave.papers.guardians.figures import Figure, Part
from unweave.papers.guardians.protocols import ALL, ProtocolName
from unweave.papers.guardians.results import Key, Mean, authors_means, means_of
from unweave.papers.guardians.settings import COLUMNS, Setting
from unweave.sweeps import run


@dataclass(frozen=True)
class Run:
    """How to compute: the protocol, where results are kept, which metrics and seeds (the paper's by default)."""

    folder: Path
    protocol: ProtocolName = "ours"
    authors_data: Path | None = None
    metrics: tuple[str, ...] = ()
    n_seeds: int | None = None
    first_seed: int = FIRST_SEED
    n_jobs: int = 1
    cluster: str | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        unknown = [label for label in self.metrics if label not in ALL]
        if unknown:
            raise EvidenceError(f"003 has no metric {unknown[0]!r}: it has {', '.join(ALL)}.")

    def means(self, experiment: Experiment, settings: Iterable[Setting], metrics: tuple[str, ...]) -> dict[Key, Mean]:
        """Means over seeds of these cells; what the folder has already is not computed again."""
        kept = tuple(label for label in metrics if not self.metrics or label in self.metrics)
        if not kept:
            raise EvidenceError(f"None of these metrics is shown here: choose from {', '.join(metrics)}.")
        seeds = range(self.first_seed, self.first_seed + (self.n_seeds or experiment.n_seeds))
        sweep = experiment.sweep(self.protocol, settings, kept, seeds)
        folder = self.folder / sweep.name
        return means_of(run(sweep, folder, n_jobs=self.n_jobs, cluster=self.cluster, progress=self.progress))

    def theirs(self, experiment: str) -> dict[Key, Mean]:
        """The authors' means, or nothing where their data were not given."""
        return {} if self.authors_data is None else authors_means(self.authors_data, experiment)


@dataclass(frozen=True)
class Shown:
    """What one part of a figure shows: our means, and the authors' where they are known."""

    part: Part
    ours: Mapping[Key, Mean]
    theirs: Mapping[Key, Mean] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the part's metrics that were computed."""
        computed = {key[-1] for key in self.ours}
        return tuple(label for label in self.part.metrics if label in computed)


def shown(figure: Figure, how: Run) -> list[Shown]:
    """Compute the parts of a figure."""
    parts = []
    for part in figure.parts:
        experiment = EXPERIMENTS[part.experiment]
        ours = how.means(experiment, part.settings, part.metrics)
        theirs = how.theirs(part.experiment)
        parts.append(Shown(part, ours, {key: mean for key, mean in theirs.items() if key in ours}))
    return parts


def comparisons(how: Run) -> list[CellAgreement]:
    """All cells of the fifteen experiments against the authors' data, by the released code's protocol."""
    if how.authors_data is None:
        raise EvidenceError("The comparison needs the authors' tables: pass their folder with --authors-data.")
    how = dataclasses.replace(how, protocol="authors")
    found: list[CellAgreement] = []
    for name, experiment in EXPERIMENTS.items():
        ours = how.means(experiment, experiment.settings, COMPARED)
        found += compared(name, how.theirs(name), ours)
    return found


def write_means(path: Path, ours: Mapping[Key, Mean], theirs: Mapping[Key, Mean]) -> Path:
    """Write means and intervals as CSV, with the authors' beside them where they are known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = ("mean", "low", "high")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "metric", *numbers, *(f"authors_{name}" for name in numbers)])
        for key, mean in ours.items():
            other = theirs.get(key)
            writer.writerow([*key, *_numbers(mean), *(_numbers(other) if other else ("", "", ""))])
    return path


def write_comparisons(path: Path, found: Iterable[CellAgreement]) -> Path:
    """Write every comparison as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = ("mean", "low", "high")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [f"{side}_{name}" for side in ("authors", "here") for name in numbers]
        writer.writerow(["experiment", "cell", "metric", *names, "overlap", "equal", "reason"])
        for entry in found:
            sides = [*_numbers(entry.theirs), *_numbers(entry.ours)]
            writer.writerow(
                [entry.experiment, entry.cell, entry.metric, *sides, entry.overlaps, entry.equal, entry.reason]
            )
    return path


def _numbers(mean: Mean) -> tuple[str, ...]:
    return tuple(f"{entry:.6g}" for entry in (mean.mean, mean.low, mean.high))
