"""The grid of the four properties: which encoders in which worlds, and in which order.

A `Point` is a place on a curve: score against correlation (P1), against factors dropped (P2), against codes per
factor (P3) and against codes per row (P4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unweave.auditing.measurement.cases import Case
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Dropped,
    Elementwise,
    Encoder,
    Mixed,
    Noise,
    PartlyMixed,
    PermutedAndScaled,
    WithCopies,
    WithMixedExtras,
    WithNoiseCodes,
)
from unweave.synthetic.encoders.encoder import size_of
from unweave.synthetic.worlds import Correlated, Independent, OneFactorConstraint, TwoFactorConstraint, World

Property = Literal["P1", "P2", "P3", "P4"]
Further = Literal["few factors", "levels", "many to one", "rows", "order"]
Question = Literal["P1", "P2", "P3", "P4", "few factors", "levels", "many to one", "rows", "order"]
PROPERTIES: tuple[Property, ...] = ("P1", "P2", "P3", "P4")
P1_TURNS = {"E3": 0, "E1": 1, "E2": 2, "E4": 4}
P3_TURNS = {"E5": 0, "E8": 1}  # all other encoders later
MOST_BOUND = 3  # number of factors in the constraint of D_F
LAST = 1000  # turn of the largest sizes, which take longer than all others together


@dataclass(frozen=True)
class Point:
    """One case on the curve ``series`` of a property at ``x``; a lower ``turn`` is measured earlier."""

    name: Question
    series: str
    n_factors: int
    x: float
    case: Case
    turn: int

    @property
    def curve(self) -> tuple[Question, str, int]:
        """The curve that contains the point."""
        return self.name, self.series, self.n_factors


@dataclass(frozen=True)
class Grid:
    """Sizes and steps of the audit; the thresholds were chosen for the default values.

    >>> len(Grid().points()) > len(Grid(n_factors=(5,)).points())
    True
    """

    n_factors: tuple[int, ...] = (5, 10)
    n_rows: int = 1000
    few_rows: int = 100
    rhos: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9, 0.97)
    dropped: tuple[int, ...] = (1, 2, 3)
    ratios: tuple[float, ...] = (1.5, 2.0, 3.0, 5.0, 10.0)
    splits: tuple[int, ...] = (2, 3, 5, 10)
    mixed_shares: tuple[float, ...] = (0.15, 0.25)
    times: tuple[int, ...] = (2, 5)
    null_ratios: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0)

    def points(self) -> list[Point]:
        """All points, the most informative first: ends of the curves before their middles, small sizes before large."""
        found = [point for d in self.n_factors for point in self._points_of(d)]
        return sorted(found, key=lambda point: (point.turn, point.name))

    def _points_of(self, d: int) -> Iterator[Point]:
        later = 10 * self.n_factors.index(d)
        yield from self._correlation(d, later)
        yield from self._dropping(d, later)
        yield from self._adding(d, later)
        yield from self._nulls(d, later)

    def _correlation(self, d: int, later: int) -> Iterator[Point]:
        encoders: dict[str, Encoder] = {
            "E3": Mixed(),
            "E1": PermutedAndScaled(),
            "E2": Elementwise(),
            "E4": Dropped((d - 1,)),
        }
        for series, encoder in encoders.items():
            for rho in self.rhos:
                world: World = Correlated(d, rho) if rho else Independent(d)
                turn = P1_TURNS[series] + (0 if rho in (self.rhos[0], self.rhos[-1]) else 4)
                yield Point("P1", series, d, rho, Case(world, encoder, self.n_rows), later + turn)

    def _dropping(self, d: int, later: int) -> Iterator[Point]:
        """Drop nothing, then the redundant factor if there is one, and then free factors from the last to the first.

        ``x`` is the number of free factors that are lost; -1 means that the redundant factor is still in the codes.
        """
        worlds: dict[str, World] = {
            "D_f": OneFactorConstraint(d),
            "D_F": TwoFactorConstraint(max(d, MOST_BOUND)),
            "independent": Independent(d),
        }
        if d < MOST_BOUND:
            del worlds["D_F"]
        for series, world in worlds.items():
            redundant = tuple(constraint.determined for constraint in world.constraints)
            free = tuple(j for j in range(d) if j not in redundant)
            first = later + bool(redundant)
            if redundant:
                yield Point("P2", series, d, -1, Case(world, PermutedAndScaled(), self.n_rows), first)
            # the redundant factor counts among the dropped ones, so that at least two of five factors remain
            for lost in (0, *(k for k in self.dropped if k + len(redundant) <= max(self.dropped))):
                dropped = (*redundant, *free[len(free) - lost :])
                encoder: Encoder = Dropped(dropped) if dropped else PermutedAndScaled()
                yield Point("P2", series, d, lost, Case(world, encoder, self.n_rows), first + lost)

    def _adding(self, d: int, later: int) -> Iterator[Point]:
        plain, within = Independent(d), Independent(d, marginal="truncated")
        families: dict[str, tuple[World, Encoder, list[tuple[float, Encoder]]]] = {
            "E5": (plain, PermutedAndScaled(), [(ratio, Copied(ratio)) for ratio in self.ratios]),
            "E6": (plain, Elementwise(), [(ratio, WithMixedExtras(ratio)) for ratio in self.ratios]),
            "E7": (plain, Mixed(), [(ratio, Mixed(ratio=ratio)) for ratio in self.ratios]),
            "E8": (within, PermutedAndScaled(), [(k, Distributed(k)) for k in self.splits]),
        }
        for share in self.mixed_shares:
            partly = PartlyMixed(share)
            copies: list[tuple[float, Encoder]] = [(k, WithCopies(partly, k)) for k in self.times]
            noise: list[tuple[float, Encoder]] = [(k, WithNoiseCodes(partly, (k - 1) * d)) for k in self.times]
            families[f"{share:g} mixed + copies"] = (plain, partly, copies)
            families[f"{share:g} mixed + noise"] = (plain, partly, noise)
        for series, (world, matched, larger) in families.items():
            first = later + P3_TURNS.get(series, 2)
            yield Point("P3", series, d, 1, Case(world, matched, self.n_rows), first)
            # twice as many codes are cheap and most informative; then the largest number of codes, then the rest
            ordered = sorted(larger, key=lambda entry: (entry[0] != 2, -entry[0]))
            for place, (ratio, encoder) in enumerate(ordered):
                yield Point("P3", series, d, ratio, Case(world, encoder, self.n_rows), first + place)

    def _nulls(self, d: int, later: int) -> Iterator[Point]:
        for n_rows in (self.few_rows, self.n_rows):
            for place, ratio in enumerate(self.null_ratios):
                n_codes = size_of(ratio, n_rows)
                # few rows are cheap, so the largest number of codes comes first; with many rows it comes last
                turn = len(self.null_ratios) - 1 - place if n_rows == self.few_rows else place
                heavy = LAST * (n_codes > 200)
                yield Point(
                    "P4", f"n = {n_rows}", d, ratio, Case(Independent(d), Noise(n_codes), n_rows), later + turn + heavy
                )
