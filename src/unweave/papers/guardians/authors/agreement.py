"""Agreement of the released code's protocol with the authors' numbers, for every cell and reproducible metric.

A cell agrees if the two 95 % t intervals over seeds overlap, up to the rounding of the files. If a file contains only
the mean, its interval is assumed to be as wide as ours. A cell also agrees if both means are undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unweave.papers.guardians.authors.results import Key, SeedMean
from unweave.papers.guardians.settings import COLUMNS

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
    def overlaps(self) -> bool:
        """Whether the intervals overlap, or both numbers are undefined."""
        undefined = [math.isnan(entry.mean) for entry in (self.theirs, self.ours)]
        if any(undefined):
            return all(undefined)
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
