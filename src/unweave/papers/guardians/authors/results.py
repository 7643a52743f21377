"""`SeedMean`: a metric's mean over seeds with its interval, from a sweep's table or from the authors' files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from unweave.evidence import EvidenceError
from unweave.papers.guardians.settings import COLUMNS
from unweave.sweeps import summary

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
    def has_interval(self) -> bool:
        """Whether the interval is known."""
        return not math.isnan(self.low)


def means_of(table: Any) -> dict[Key, SeedMean]:
    """Return the means of a sweep's table by setting and metric."""
    found = {}
    for row in summary(table).iter_rows(named=True):
        row = row | {"dgp": row["world"], "n": row["n_rows"]}
        key = (*(row[name] for name in COLUMNS), row["metric"])
        found[key] = SeedMean(row["mean"], row["low"], row["high"], row["n_seeds"])
    return found


def authors_means(folder: str | Path, experiment: str) -> dict[Key, SeedMean]:
    """Read the means of the authors' runs from ``expNN.csv`` in this folder, without infeasible cells.

    A blank interval has width 0 if other cells of the same run have intervals, because the released code writes nan if
    seeds do not differ. For runs without intervals, only the means are known, or an interval is computed from the
    standard deviations.
    """
    path = Path(folder) / f"{experiment}.csv"
    if not path.is_file():
        raise EvidenceError(f"{path} does not exist: pass the folder with exp01.csv to exp15.csv as --authors-data.")
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if "infeasible" not in row["note"]]
    with_intervals = {_arm(row) for row in rows if row["ci_lo"] or row["std"]}
    return {(*_key(row), row["metric"]): _read(row, _arm(row) in with_intervals) for row in rows}


def _arm(row: dict[str, str]) -> tuple[str, str]:
    return row["run"], row["sweep"]


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
        half = float(student.ppf(0.975, n_seeds - 1)) * float(row["std"]) / math.sqrt(n_seeds)
    return SeedMean(mean, mean - half, mean + half, n_seeds)
