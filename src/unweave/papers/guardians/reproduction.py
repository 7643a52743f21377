"""Compute the data of a figure, of an experiment, or of the comparison with the authors' data."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.papers.experiment import Options
from unweave.papers.guardians.authors.agreement import COMPARED, CellAgreement, compared
from unweave.papers.guardians.authors.results import Key, SeedMean, authors_means, means_of
from unweave.papers.guardians.declared_sweeps import FIRST_SEED, SWEEPS, DeclaredSweep
from unweave.papers.guardians.figures import Figure, Part
from unweave.papers.guardians.run_protocols import ALL, ProtocolName
from unweave.papers.guardians.settings import COLUMNS, Setting
from unweave.sweeps import run
from unweave.whole_files import write_whole

NUMBERS = ("mean", "low", "high")


@dataclass(frozen=True)
class Shown:
    """Data of one part of a figure: our means, and the authors' means if they are known."""

    part: Part
    ours: Mapping[Key, SeedMean]
    theirs: Mapping[Key, SeedMean] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of the part that were computed."""
        computed = {key[-1] for key in self.ours}
        return tuple(label for label in self.part.metrics if label in computed)


@dataclass(frozen=True)
class Computed:
    """Means of the cells of a figure or experiment, the authors' means, and the data of the figures."""

    ours: Mapping[Key, SeedMean]
    theirs: Mapping[Key, SeedMean]
    figures: Mapping[str, list[Shown]]


def protocol_of(options: Options) -> ProtocolName:
    """Return the protocol of the options, which is ours by default."""
    return "authors" if options.protocol == "authors" else "ours"


def means(
    declared: DeclaredSweep, settings: Iterable[Setting], metrics: tuple[str, ...], options: Options
) -> dict[Key, SeedMean]:
    """Return means over seeds of these cells; results that are in the folder are not computed again."""
    wanted = options.metrics or metrics
    for label in wanted:
        if label not in ALL:
            raise EvidenceError(f"003 has no metric {label!r}: it has {', '.join(ALL)}.")
    kept = tuple(label for label in metrics if label in wanted)
    if not kept:
        raise EvidenceError(f"None of these metrics is shown here: choose from {', '.join(metrics)}.")
    first = FIRST_SEED if options.seed is None else options.seed
    seeds = range(first, first + (options.n_seeds or declared.n_seeds))
    sweep = declared.sweep(protocol_of(options), settings, kept, seeds)
    folder = options.folder / sweep.name
    n_jobs = 1 if options.n_jobs is None else options.n_jobs
    return means_of(run(sweep, folder, n_jobs=n_jobs, cluster=options.cluster, progress=options.progress))


def theirs(experiment: str, options: Options) -> dict[Key, SeedMean]:
    """Return the authors' means; empty if their data were not given."""
    return {} if options.authors_data is None else authors_means(options.authors_data, experiment)


def computed_figure(figure: Figure, options: Options) -> Computed:
    """Compute the cells of one figure."""
    parts = []
    for part in figure.parts:
        ours = means(SWEEPS[part.experiment], part.settings, part.metrics, options)
        known = {key: mean for key, mean in theirs(part.experiment, options).items() if key in ours}
        parts.append(Shown(part, ours, known))
    ours = {key: mean for part in parts for key, mean in part.ours.items()}
    known = {key: mean for part in parts for key, mean in part.theirs.items()}
    return Computed(ours, known, {figure.name: parts})


def computed_experiment(declared: DeclaredSweep, figures: Iterable[Figure], options: Options) -> Computed:
    """Compute all cells of an experiment, and the figures that show only this experiment."""
    ours = means(declared, declared.settings, declared.metrics, options)
    shown = {figure.name: computed_figure(figure, options).figures[figure.name] for figure in figures}
    return Computed(ours, theirs(declared.name, options), shown)


def comparisons(options: Options) -> list[CellAgreement]:
    """Compare all cells of the fifteen experiments with the authors' data, by the released code's protocol."""
    options = dataclasses.replace(options, protocol="authors")
    found: list[CellAgreement] = []
    for name, declared in SWEEPS.items():
        found += compared(name, theirs(name, options), means(declared, declared.settings, COMPARED, options))
    return found


def write_means(path: Path, found: Computed) -> Path:
    """Write means and intervals as CSV, beside the authors' if they are known."""
    rows = [[*key, *_numbers(mean), *_numbers(found.theirs.get(key))] for key, mean in found.ours.items()]
    return _written(path, [*COLUMNS, "metric", *NUMBERS, *(f"authors_{name}" for name in NUMBERS)], rows)


def write_comparisons(path: Path, found: Iterable[CellAgreement]) -> Path:
    """Write every comparison as CSV."""
    names = [f"{side}_{name}" for side in ("authors", "here") for name in NUMBERS]
    rows = [
        [entry.experiment, entry.cell, entry.metric, *numbers, entry.overlaps, entry.equal, entry.reason]
        for entry in found
        for numbers in [_numbers(entry.theirs) + _numbers(entry.ours)]
    ]
    return _written(path, ["experiment", "cell", "metric", *names, "overlap", "equal", "reason"], rows)


def _written(path: Path, headings: list[str], rows: Iterable[list[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    csv.writer(text).writerows([headings, *rows])
    write_whole(path, lambda file: file.write(text.getvalue().encode()))
    return path


def _numbers(mean: SeedMean | None) -> tuple[str, ...]:
    return ("", "", "") if mean is None else tuple(f"{getattr(mean, name):.6g}" for name in NUMBERS)
