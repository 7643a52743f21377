"""The four properties as numbers with intervals, and the verdicts that follow from their thresholds.

    P1  largest change of the mean score over rho, for fixed maps: satisfied up to .05, partly up to .15
    P2  dropping a redundant factor costs at most .05 in D_f and D_F (partly: in one of them), and dropping free factors
        costs at least half of (free factors lost / free factors)
    P3  largest distance from the matched encoder as codes are added: thresholds as for P1
    P4  largest mean score of random codes: thresholds as for P1

Every number is a mean over seeds of differences within a seed (P4: of scores), with a t-interval. The verdict is
undecided if the interval contains a threshold, or if points that were not measured could change the verdict. A score
that rises in one seed and falls in another is not stable either. Therefore P1 and P3 are also violated if the whole
confidence interval of the standard deviation of the differences over seeds is above .15. E7 is excepted, because its
mixing is a new draw.

The questions of `further_grid` have the same thresholds. There, points at which the metric is undefined are ignored.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import chdtri, stdtrit

from unweave.arrays import FloatArray
from unweave.auditing.measurement.grid import PROPERTIES, Point, Question

PropertyVerdict = Literal["satisfied", "partly", "violated", "undecided"]
DECIDED: tuple[PropertyVerdict, ...] = ("satisfied", "partly", "violated")
SATISFIED, PARTLY = 0.05, 0.15
LOSSY_SHARE = 0.5
LEVEL = 0.95
ROUNDING = 1e-9
OTHER_MAP = "E7"  # its mixing is not the draw of E3, so differences within a seed include the difference of the maps
APART = "E4"  # shown for P1 but not part of its verdict, because the paper does not test it

Scores = Mapping[Point, Mapping[int, float]]


@dataclass(frozen=True)
class PropertyRow:
    """One number of a property, with its interval over seeds and the points that it compares.

    ``kind`` is change, lossless, lossy, distance, level, levels or rows. The number is the score at ``higher`` minus
    that at ``lower``, times ``factor``. If ``kind`` is level, ``lower`` is None and the number is the score itself.
    ``counts`` is True if the number is part of the verdict. ``spread`` is the standard deviation over seeds.
    """

    name: Question
    series: str
    n_factors: int
    kind: str
    number: float
    interval: tuple[float, float]
    n_seeds: int
    higher: Point
    lower: Point | None
    factor: float = 1.0
    counts: bool = True
    spread: float = math.nan

    @property
    def label(self) -> str:
        """A description of the setting in which the number was measured."""
        match self.kind:
            case "change":
                place = f"{self.series}, rho {self.lower_x:g} to {self.higher.x:g}"
            case "lossless" if self.name == "many to one":
                place = f"{self.series} dropped"
            case "lossless":
                place = f"{self.series}, redundant factor dropped"
            case "lossy":
                place = f"{self.series}, {self.lower_x:g} free dropped"
            case "levels":
                kinds = {self.higher.x, self.lower_x} - {0}
                place = f"{self.series}, {'factors with levels' if kinds == {1} else 'factors of both kinds'}"
            case "rows":
                place = f"{self.series}, n {self.lower_x:g} to {self.higher.x:g}"
            case "distance":
                place = f"{self.series}, m/d {max(self.higher.x, self.lower_x):g}"
            case _:
                place = f"nulls, {self.series}, m/n {self.higher.x:g}"
        return f"{place}, d = {self.n_factors}"

    @property
    def lower_x(self) -> float:
        """The position of ``lower`` on its curve; nan if there is none."""
        return math.nan if self.lower is None else self.lower.x

    @property
    def levels(self) -> set[int]:
        """Verdicts that the interval allows: 0 satisfied, 1 partly, 2 violated (for lossy rows 0 or 2)."""
        low, high = self.interval
        if self.kind == "lossy":
            return ({0} if high >= LOSSY_SHARE - ROUNDING else set()) | ({2} if low < LOSSY_SHARE - ROUNDING else set())
        if self.kind in ("change", "distance") and OTHER_MAP not in self.series and self.least_spread > PARTLY:
            return {2}
        limits = ((-math.inf, SATISFIED), (SATISFIED, PARTLY), (PARTLY, math.inf))
        return {k for k, (above, upto) in enumerate(limits) if low <= upto + ROUNDING and high > above + ROUNDING}

    @property
    def least_spread(self) -> float:
        """Lower end of the 95 % interval of the standard deviation, assuming a normal distribution."""
        if self.n_seeds < 2 or not self.spread > 0:
            return 0.0
        return self.spread * math.sqrt((self.n_seeds - 1) / float(chdtri(self.n_seeds - 1, (1 - LEVEL) / 2)))


@dataclass(frozen=True)
class PropertyFinding:
    """Result for one property: the verdict, all numbers, and the points that were not measured."""

    name: Question
    verdict: PropertyVerdict
    possible: tuple[PropertyVerdict, ...]
    rows: tuple[PropertyRow, ...]
    missing: tuple[str, ...]
    n_undefined: int = 0

    @property
    def worst(self) -> PropertyRow | None:
        """The decisive row of the property.

        It is the lossy row with the smallest number if this number is below the threshold. Otherwise it is the row of
        another kind with the worst verdict, and among these the one with the largest number.
        """
        counting = [row for row in self.rows if row.counts]
        lossy = [row for row in counting if row.kind == "lossy"]
        others = [row for row in counting if row.kind != "lossy"]
        least = min(lossy, key=lambda row: row.number, default=None)
        if least is not None and least.number < LOSSY_SHARE:
            return least
        return max(others, key=lambda row: (min(row.levels, default=0), row.number), default=least)


def finding_of(name: Question, points: Sequence[Point], scores: Scores) -> PropertyFinding:
    """The verdict, numbers and missing points of one property, from scores by point and seed."""
    curves: dict[tuple[Question, str, int], list[Point]] = {}
    for point in points:
        if point.name == name:
            curves.setdefault(point.curve, []).append(point)
    rows: list[PropertyRow] = []
    missing: list[str] = []
    n_undefined = 0
    for curve in curves.values():
        ordered = sorted(curve, key=lambda point: point.x)
        measured = [point for point in ordered if len(scores.get(point, {})) > 1]
        if name != "P1" or ordered[0].series != APART:
            without = [point for point in ordered if point not in measured]
            undefined = [point for point in without if point in scores] if name not in PROPERTIES else []
            missing += [_named(point) for point in without if point not in undefined]
            n_undefined += len(undefined)
        rows += ROWS[name](measured, scores)
    possible = tuple(DECIDED[k] for k in sorted(_possible(name, rows, bool(missing))))
    verdict = possible[0] if len(possible) == 1 else "undecided"
    return PropertyFinding(name, verdict, possible, tuple(rows), tuple(missing), n_undefined)


def mean_interval(values: FloatArray) -> tuple[float, tuple[float, float]]:
    """Mean and 95 % t-interval of independent numbers.

    >>> mean_interval(np.array([0.4, 0.5, 0.6]))[0]
    0.5
    """
    mean = float(np.mean(values))
    if values.size < 2:
        return mean, (-math.inf, math.inf)
    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(values.size)
    return mean, (mean - half, mean + half)


def _change(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """P1: the largest difference of mean scores between two correlations."""
    if len(curve) < 2:
        return []
    by_mean = sorted(curve, key=lambda point: _mean(scores[point]))
    return [_row("change", by_mean[-1], by_mean[0], scores, counts=curve[0].series != APART)]


def _dropping(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """P2: the cost of dropping the redundant factor, and then the cost of dropping free factors.

    The latter is relative to (free factors lost / free factors).
    """
    at = {int(point.x): point for point in curve}
    rows = [_row("lossless", at[-1], at[0], scores)] if -1 in at and 0 in at else []
    for lost in sorted(set(at) - {-1, 0}) if 0 in at else []:
        free = at[0].case.world.effective_dimension
        rows.append(_row("lossy", at[0], at[lost], scores, factor=free / lost))
    return rows


def _adding(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """P3: the difference between the scores with more codes and with one code for each factor."""
    base = next((point for point in curve if point.x == 1), None)
    rows = []
    for point in curve if base is not None else []:
        if point is not base and base is not None:
            rises = _mean(scores[point]) >= _mean(scores[base])
            rows.append(_row("distance", *((point, base) if rises else (base, point)), scores))
    return rows


def _nulls(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """P4: the mean score of random codes at every size."""
    return [_row("level", point, None, scores) for point in curve]


def _levels(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """Differences from the score with continuous factors, for discrete factors and for factors of both kinds."""
    base = next((point for point in curve if point.x == 0), None)
    others = [point for point in curve if point is not base and base is not None]
    rows = []
    for point in others:
        assert base is not None
        rises = _mean(scores[point]) >= _mean(scores[base])
        rows.append(_row("levels", *((point, base) if rises else (base, point)), scores))
    return rows


def _few_factors(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """The numbers of the property that the name of the curve begins with, for few factors."""
    return ROWS[curve[0].series.split()[0]](curve, scores) if curve else []


ROWS: dict[str, Callable[[list[Point], Scores], list[PropertyRow]]] = {
    "P1": _change,
    "P2": _dropping,
    "P3": _adding,
    "P4": _nulls,
    "few factors": _few_factors,
    "levels": _levels,
    "many to one": _dropping,
    "rows": lambda curve, scores: [replace(row, kind="rows") for row in _change(curve, scores)],
}


def _row(
    kind: str, higher: Point, lower: Point | None, scores: Scores, factor: float = 1.0, counts: bool = True
) -> PropertyRow:
    seeds, differences = seed_numbers(higher, lower, scores, factor)
    number, (low, high) = mean_interval(differences) if seeds else (math.nan, (-math.inf, math.inf))
    if kind in ("change", "distance", "levels"):
        low = max(low, 0.0)  # these are absolute differences, because the sign was chosen to give a positive mean
    return PropertyRow(
        higher.name,
        higher.series,
        higher.n_factors,
        kind,
        number,
        (low, high),
        len(seeds),
        higher,
        lower,
        factor,
        counts,
        float(np.std(differences, ddof=1)) if len(seeds) > 1 else math.nan,
    )


def seed_numbers(
    higher: Point, lower: Point | None, scores: Scores, factor: float = 1.0
) -> tuple[list[int], FloatArray]:
    """The seeds with scores at both points, and the difference at each seed, times ``factor``."""
    above = scores[higher]
    below = dict.fromkeys(above, 0.0) if lower is None else scores[lower]
    seeds = sorted(set(above) & set(below))
    return seeds, factor * np.array([above[seed] - below[seed] for seed in seeds])


def _possible(name: Question, rows: Sequence[PropertyRow], incomplete: bool) -> set[int]:
    """Verdicts that intervals and missing points allow: 0 satisfied, 1 partly, 2 violated."""
    counting = [row for row in rows if row.counts]
    if name == "P2":
        return _possible_dropping(counting, incomplete)
    unknown = [{0, 1, 2}] if incomplete or not counting else []
    allowed = [row.levels for row in counting] + unknown
    least = max(min(levels) for levels in allowed)
    return {level for levels in allowed for level in levels if level >= least} | {least}


def _possible_dropping(rows: Sequence[PropertyRow], incomplete: bool) -> set[int]:
    """P2: dropping free factors must cost enough, and dropping the redundant factor little in D_f and D_F.

    The property is partly satisfied if the latter holds in one of the two worlds.
    """

    def holds(chosen: list[PropertyRow]) -> set[bool]:
        if any(0 not in row.levels for row in chosen):
            return {False}
        open_still = incomplete or not chosen or any(row.levels != {0} for row in chosen)
        return {True, False} if open_still else {True}

    lossy = holds([row for row in rows if row.kind == "lossy"])
    one, two = (
        holds([row for row in rows if row.kind == "lossless" and row.series == name]) for name in ("D_f", "D_F")
    )
    return {
        2 if not (seen and (first or second)) else 0 if first and second else 1
        for seen, first, second in itertools.product(lossy, one, two)
    }


def _mean(by_seed: Mapping[int, float]) -> float:
    return float(np.mean(list(by_seed.values())))


AXES: dict[str, str] = {"P1": "rho", "P2": "free factors dropped", "P3": "m/d", "P4": "m/n", "rows": "n"}


def _named(point: Point) -> str:
    axis = AXES.get(point.name, "x")
    at = "all kept" if point.name == "P2" and point.x < 0 else f"{axis} {point.x:g}"
    return f"{point.series}, {at}, d = {point.n_factors}"
