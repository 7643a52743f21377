"""Scores of random parts of the samples, from which the spread of the score over fresh samples is read.

    var(score of n) = (n - k) / k  var(scores of parts that leave k of n out)

which is exact for means. Parts are drawn without replacement, so that no row comes twice: rows drawn twice are each
other's nearest neighbours, fill histograms, and sit on both sides of a split. All rows that stay keep their side of
every split. Half of the rows leave: a score with trees or bins jumps a little when any row leaves, and the factor
(n - k) / k, which is 1 for halves and large when few leave, would blow these jumps up (a jackknife of 20 groups gives
mig of 300 rows a standard error 2.7 times too large, halves one within a few per cent).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from unweave.card import Card
from unweave.evidence import Evidence
from unweave.evidence.splits import Rows
from unweave.score import Score
from unweave.trust.scoring import Choice, scores_of_variants

N_PARTS = 24
FEWEST_PARTS = 8
SHARE_LEFT_OUT = 0.5
SMALLEST_SHARE = 0.1
FEWEST_UNITS = 5


@dataclass(frozen=True)
class Parts:
    """How parts of the samples are drawn: how many units (rows or whole row groups) there are, and leave each time."""

    evidence: Evidence
    n_units: int
    n_out: int
    seed: int

    @property
    def factor(self) -> float:
        """What the variance over parts is multiplied by."""
        return (self.n_units - self.n_out) / self.n_out

    def part(self, index: int) -> Evidence:
        """The evidence without the units that leave in this part; the same seed and index give the same one."""
        return self.evidence.leaving_out(self.left_out(index))

    def left_out(self, index: int) -> Rows:
        """Rows that leave."""
        leaving = np.random.default_rng([self.seed, index]).permutation(self.n_units)[: self.n_out]
        groups = self.evidence.row_groups
        return leaving if groups is None else np.flatnonzero(np.isin(groups, leaving))

    def standard_error(self, values: list[float]) -> float:
        """Standard error of the score of all samples, from the scores of parts.

        >>> parts = Parts(Evidence([1, 2, 3, 4], [1, 2, 3, 4]), n_units=4, n_out=2, seed=0)
        >>> round(parts.standard_error([1.0, 3.0, 2.0]), 3)
        1.0
        """
        return math.sqrt(self.factor * float(np.var(values, ddof=1)))

    def quantile(self, level: float, n_parts: int) -> float:
        """How many standard errors an interval of this level reaches on either side."""
        return float(student.ppf((1 + level) / 2, min(n_parts, self.n_units) - 1))


def parts_of(evidence: Evidence, card: Card, seed: int) -> Parts | str:
    """How to draw parts for this metric, or one sentence that says why not."""
    if "decoder" in card.needs:
        return (
            f"{card.name} looks at a decoder, not at samples: the standard error of its own draws is among its parts."
        )
    groups = evidence.row_groups
    n_units = evidence.n_rows if groups is None else int(groups.max(initial=-1)) + 1
    units = "rows" if groups is None else "row groups"
    if n_units < FEWEST_UNITS:
        return f"An interval needs at least {FEWEST_UNITS} {units} and there are {n_units}: pass more samples."
    share = min(SHARE_LEFT_OUT, 1 - card.min_rows / evidence.n_rows)
    if share < SMALLEST_SHARE:
        return (
            f"{card.name} needs {card.min_rows} rows in every part of the samples, and there are {evidence.n_rows} in "
            f"all: pass at least {math.ceil(card.min_rows / (1 - SMALLEST_SHARE))}."
        )
    return Parts(evidence, n_units, max(1, math.floor(share * n_units)), seed)


def scores_of_parts(
    metrics: Mapping[str, Choice], parts: Parts, n_parts: int, budget: float | None, n_jobs: int
) -> dict[str, list[Score | None]]:
    """Scores of the first parts, as many as the budget allows and `FEWEST_PARTS` at least."""
    return scores_of_variants(metrics, parts.part, n_parts, fewest=FEWEST_PARTS, budget=budget, n_jobs=n_jobs)
