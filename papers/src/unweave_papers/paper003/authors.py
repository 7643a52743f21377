"""Results of the authors' released code, and how far ours agree."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from unweave.arrays import student_reach
from unweave.errors import FileError
from unweave.sweeps import summary
from unweave_papers.experiment import MeasuredFigure
from unweave_papers.paper003.settings import COLUMNS

TEXT = ("run", "sweep", "dgp", "encoder", "fn")
WHOLE = ("n", "d", "m", "r")
Key = tuple[Any, ...]  # the key of a setting, followed by the label of a metric


@dataclass(frozen=True)
class SeedMean:
    """Mean over seeds and its 95 % t interval; the ends are nan if they are unknown."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    n_seeds: int = 5

    @property
    def figure(self) -> MeasuredFigure:
        """The mean as a figure; the interval of one or two seeds is unknown."""
        known = self.has_interval and self.n_seeds > 2
        return MeasuredFigure(self.mean, *((self.low, self.high) if known else (-math.inf, math.inf)))

    @property
    def has_interval(self) -> bool:
        """Whether the interval is known."""
        return not math.isnan(self.low)


def means_of(table: Any) -> dict[Key, SeedMean]:
    """Return the means of a sweep's table by setting and metric."""
    means = {}
    for row in summary(table).iter_rows(named=True):
        row = row | {"dgp": row["world"], "n": row["n_rows"]}
        key = (*(row[name] for name in COLUMNS), row["metric"])
        means[key] = SeedMean(row["mean"], row["low"], row["high"], row["n_seeds"])
    return means


RELEASED = Path(__file__).with_name("released.csv.gz")  # exp01.csv to exp15.csv without infeasible cells


@cache
def released_rows() -> dict[str, list[dict[str, str]]]:
    """Return the means of the authors' released runs, which are part of this package, by experiment.

    >>> len(released_rows())
    15
    """
    rows: dict[str, list[dict[str, str]]] = {}
    with gzip.open(RELEASED, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["experiment"], []).append(row)
    return rows


def authors_means(folder: str | Path | None, experiment: str) -> dict[Key, SeedMean]:
    """Return the means of the authors' runs without infeasible cells, from ``expNN.csv`` in a folder if one is given.

    A blank interval has width 0 if other cells of the same run have intervals, because the released code writes nan if
    seeds do not differ. For runs without intervals, only the means are known, or an interval is computed from the
    standard deviations.
    """
    if folder is None:
        rows = released_rows()[experiment]
    else:
        path = Path(folder) / f"{experiment}.csv"
        if not path.is_file():
            raise FileError(f"{path} does not exist: pass the folder with exp01.csv to exp15.csv as --authors-data.")
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if "infeasible" not in row["note"]]
    with_intervals = {(row["run"], row["sweep"]) for row in rows if row["ci_lo"] or row["std"]}
    return {(*_key(row), row["metric"]): _read(row, (row["run"], row["sweep"]) in with_intervals) for row in rows}


def _key(row: dict[str, str]) -> Iterable[Any]:
    for name in COLUMNS:
        if name in TEXT:
            yield row[name]
        elif not row[name]:
            yield None
        else:
            yield int(row[name]) if name in WHOLE else float(row[name])


def _read(row: dict[str, str], intervals: bool) -> SeedMean:
    mean, n_seeds = float(row["mean"] or "nan"), int(row["n_seeds"]) - int(float(row["nan_seeds"] or 0))
    if row["ci_lo"]:
        return SeedMean(mean, float(row["ci_lo"]), float(row["ci_hi"]), n_seeds)
    if not intervals or math.isnan(mean):
        return SeedMean(mean, n_seeds=n_seeds)
    half = 0.0
    if row["std"] and n_seeds > 1:
        half = student_reach(float(row["std"]), n_seeds - 1) / math.sqrt(n_seeds)
    return SeedMean(mean, mean - half, mean + half, n_seeds)


COMPARED = ("MCC-P", "MCC-S", "R2", "MIG")
ROUNDING = 1.5e-5  # both numbers are rounded to five digits


@dataclass(frozen=True)
class CellAgreement:
    """One cell and metric: the authors' mean and ours, and whether their intervals overlap."""

    experiment: str
    key: Key
    theirs: SeedMean
    ours: SeedMean

    @property
    def metric(self) -> str:
        """Label of the metric."""
        return str(self.key[-1])

    @property
    def overlaps(self) -> bool | None:
        """Whether the intervals overlap, or both numbers are undefined; None if ours has too few seeds for one."""
        undefined = [math.isnan(entry.mean) for entry in (self.theirs, self.ours)]
        if any(undefined):
            return all(undefined)
        if self.equal:
            return True
        if self.ours.figure.is_unknown:
            return None
        low, high = self.ours.low, self.ours.high
        theirs = self.theirs
        if not theirs.has_interval:
            half = (high - low) / 2
            theirs = SeedMean(theirs.mean, theirs.mean - half, theirs.mean + half)
        return max(low, theirs.low) <= min(high, theirs.high) + ROUNDING

    @property
    def equal(self) -> bool:
        """Whether the means are the same to the printed digits."""
        both_undefined = math.isnan(self.theirs.mean) and math.isnan(self.ours.mean)
        return both_undefined or abs(self.theirs.mean - self.ours.mean) <= ROUNDING

    @property
    def reason(self) -> str:
        """Why the means differ; empty if they do not differ or the reason is unknown."""
        dgp, encoder, d, m = (self.key[COLUMNS.index(name)] for name in ("dgp", "encoder", "d", "m"))
        if self.equal:
            return ""
        if self.metric == "MIG" and m == 1:
            return "one code: the released code returns 0, but without a second code the gap is the first's information"
        if encoder == "E7":
            return "other draws of the mixing: the order in which the released code draws its two matrices is unknown"
        if dgp == "D2" and d > 2:
            return "other draws of the factors: principal axes of equal variance depend on the linear algebra library"
        return ""

    @property
    def cell(self) -> str:
        """Description of the cell: the values of all columns that are set."""
        stated = zip(COLUMNS, self.key, strict=False)
        return ", ".join(f"{name}={entry}" for name, entry in stated if entry not in (None, ""))


def compared(experiment: str, theirs: Mapping[Key, SeedMean], ours: Mapping[Key, SeedMean]) -> Iterator[CellAgreement]:
    """Yield the comparison of every cell that the authors and we computed, for the reproducible metrics."""
    for key, mean in theirs.items():
        if key[-1] in COMPARED and key in ours:
            yield CellAgreement(experiment, key, mean, ours[key])
