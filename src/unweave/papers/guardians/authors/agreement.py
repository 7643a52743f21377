"""Does the released code's protocol give the authors' numbers? Cell by cell, for the metrics that can be had again.

A cell agrees where the two 95 % t intervals over seeds overlap, up to the rounding of the files. Where a file has the
mean alone, its interval is taken to be as wide as ours. A cell that is undefined in both agrees, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unweave.papers.guardians.authors.results import Key, SeedMean
from unweave.papers.guardians.settings import COLUMNS

COMPARED = ("MCC-P", "MCC-S", "R2", "MIG")
ROUNDING = 1.5e-5  # five digits on either side


@dataclass(frozen=True)
class CellAgreement:
    """One cell and metric: their mean, ours, and whether the intervals overlap."""

    experiment: str
    key: Key
    theirs: SeedMean
    ours: SeedMean

    @property
    def metric(self) -> str:
        """The metric's label."""
        return str(self.key[-1])

    @property
    def overlaps(self) -> bool:
        """Whether the cell agrees."""
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
        """Why the means differ; empty where they do not, or where it is not known."""
        dgp, encoder, d, m = (self.key[COLUMNS.index(name)] for name in ("dgp", "encoder", "d", "m"))
        if self.equal:
            return ""
        if self.metric == "MIG" and m == 1:
            return "one code: the code says 0, where no second code knows anything the gap is that of the first"
        if encoder == "E7":
            return "other draws of the mixing: the order in which the code drew its two matrices is not known"
        if dgp == "D2" and d > 2:
            return "other draws of the factors: principal axes of equal variance depend on the linear algebra library"
        return ""

    @property
    def cell(self) -> str:
        """The cell in words."""
        stated = zip(COLUMNS, self.key, strict=False)
        return ", ".join(f"{name}={entry}" for name, entry in stated if entry not in (None, ""))


def compared(experiment: str, theirs: Mapping[Key, SeedMean], ours: Mapping[Key, SeedMean]) -> Iterator[CellAgreement]:
    """Every cell that both have, for the metrics that can be had again."""
    for key, mean in theirs.items():
        if key[-1] in COMPARED and key in ours:
            yield CellAgreement(experiment, key, mean, ours[key])
