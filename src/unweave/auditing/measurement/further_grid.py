"""Further questions of the audit: few factors, levels, many-to-one functions, the number of rows and their order.

Each question has its own curves, so that the marks for the four properties of 003 do not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from unweave.auditing.measurement.cases import Case
from unweave.auditing.measurement.grid import Further, Grid, Point
from unweave.synthetic.encoders import Dropped, Encoder, Mixed, Noise, PartlyMixed, PermutedAndScaled
from unweave.synthetic.worlds import (
    Independent,
    Levelled,
    OneFactorConstraint,
    Reordered,
    TwoFactorConstraint,
    World,
)

FURTHER: tuple[Further, ...] = ("few factors", "levels", "many to one", "rows")
FEW = Grid(
    n_factors=(2, 3),
    rhos=(0.0, 0.9),
    dropped=(1,),
    ratios=(2.0,),
    splits=(2,),
    mixed_shares=(0.25,),
    times=(2,),
    null_ratios=(0.05, 0.2),
)
N_FACTORS, N_ROWS = 5, (300, 1000, 3000)
MANY_TO_ONE = ("square", "absolute", "rectified", "sine")
PERFECT, NOISE = "E1", "noise"
ENCODERS: dict[str, Encoder] = {
    PERFECT: PermutedAndScaled(),
    "E3": Mixed(),
    "0.25 mixed": PartlyMixed(0.25),
    NOISE: Noise(N_FACTORS),
}


def further_points() -> list[Point]:
    """All points, starting with the cheapest questions."""
    return [*_order(), *_many_to_one(), *_levels(), *_rows(), *_few_factors()]


def _order() -> Iterator[Point]:
    """The same data in two orders of the rows."""
    worlds: tuple[World, ...] = (Independent(N_FACTORS), Reordered(Independent(N_FACTORS)))
    for place, world in enumerate(worlds):
        yield Point("order", "0.25 mixed", N_FACTORS, place, Case(world, PartlyMixed(0.25)), 0)


def _many_to_one() -> Iterator[Point]:
    """A redundant factor that is a many-to-one function of others, kept (x = -1) and dropped (x = 0)."""
    worlds: list[World] = [OneFactorConstraint(N_FACTORS, (name,)) for name in MANY_TO_ONE]
    for world in (*worlds, TwoFactorConstraint(N_FACTORS, ("sum_of_squares",))):
        series = world.constraints[0].sentence
        dropped = Dropped(tuple(constraint.determined for constraint in world.constraints))
        yield Point("many to one", series, N_FACTORS, -1, Case(world, PermutedAndScaled()), 0)
        yield Point("many to one", series, N_FACTORS, 0, Case(world, dropped), 0)


def _levels() -> Iterator[Point]:
    """The same encoder for continuous factors (x = 0), discrete factors (x = 1), and both kinds (x = 2)."""
    for d in (N_FACTORS, 3):
        worlds: tuple[World, ...] = (Independent(d), Levelled(d), Levelled(d, n_continuous=d // 2))
        for series in (PERFECT, "E3", NOISE):
            for place, world in enumerate(worlds):
                yield Point("levels", series, d, place, Case(world, ENCODERS[series]), 0)


def _rows() -> Iterator[Point]:
    for series, encoder in ENCODERS.items():
        for n_rows in N_ROWS:
            yield Point("rows", series, N_FACTORS, n_rows, Case(Independent(N_FACTORS), encoder, n_rows), 0)


def _few_factors() -> Iterator[Point]:
    """The four properties with two and three factors; the name of the curve includes the property."""
    for point in FEW.points():
        if point.series != "E4":
            yield replace(point, name="few factors", series=f"{point.name} {point.series}")
