"""The experiments of 004 on toy data: Figures 2 to 4, 7 to 9 and 12 to 14."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from unweave.metrics import minimality, sufficiency
from unweave.papers.dependent_factors import toy_curves
from unweave.papers.dependent_factors.toy_curves import BINS, METRICS, MINIMALITY, SUFFICIENCY, ToyCurves, with_bins
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.ledger.claim_rows import claim_rows
from unweave.score import Score
from unweave.whole_files import write_whole

FALLS = 0.05


def compare(claims: tuple[int, ...], found: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Report every curve, and check the claims about it; the paper gives its curves as figures only."""
    for panel, curves in found.panels.items():
        for name, values in curves.items():
            where = f"{found.across} {found.ticks[0]:g} to {found.ticks[-1]:g}"
            shown = " ".join(f"{value:.3f}" for value in values)
            yield ClaimCheck(", ".join(filter(None, (panel, name, where))), "figure only", shown)
    yield from claim_rows("004", *claims, folder=options.folder)


def compare_nuisance(found: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: only minimality falls with the nuisance."""
    yield from compare((128, 129), found, options)
    falls = {name: values[0] - values[-1] for name, values in found.panels[""].items() if name != "minimality"}
    fallen = {name: fall for name, fall in falls.items() if fall > FALLS}
    here = ", ".join(f"{name} by {fall:.2f}" for name, fall in fallen.items()) or "no other"
    yield ClaimCheck("No other metric falls with the nuisance.", "minimality only", here, not fallen, in_part=True)


def compare_times(found: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 4: growth of computing times, which depend on the machine."""
    yield from compare((134,), found, options)
    times = found.panels[""]
    more = found.ticks[-1] / found.ticks[0]
    for name, values in times.items():
        yield ClaimCheck(f"{name}: ratio of times for {more:g} times the factors", "figure only", _growth(values))
    yield faster_than_rivals(found)


def faster_than_rivals(found: ToyCurves) -> ClaimCheck:
    """Check whether minimality and sufficiency together are faster than MIG and than modularity.

    The times are those for the largest number of factors.
    """
    times = found.panels[""]
    ours = times["minimality, sufficiency"][-1]
    slower = [name for name in ("MIG", "modularity") if times[name][-1] > ours]
    here = f"{1000 * ours:.1f} ms; " + ", ".join(f"{name} {1000 * times[name][-1]:.1f} ms" for name in times)
    claim = f"Minimality and sufficiency together are faster than MIG and modularity for {found.ticks[-1]:g} factors."
    return ClaimCheck(claim, "yes", here, len(slower) == 2, in_part=bool(slower))


def _growth(values: Sequence[float]) -> str:
    return f"{values[-1] / values[0]:.1f}"


def write(name: str, found: ToyCurves, options: Options) -> Iterator[Path]:
    """Write all numbers as a table."""
    lines = [f"panel,curve,{found.across},value"]
    for panel, curves in found.panels.items():
        for curve, values in curves.items():
            rows = zip(found.ticks, values, strict=True)
            lines += [f'"{panel}","{curve}",{tick:g},{value:.6f}' for tick, value in rows]
    path = options.folder / f"004-{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda stream: stream.write(text.encode()))
    yield path


def draw(name: str, title: str, found: ToyCurves, options: Options) -> Iterator[Path]:
    """Draw all panels; colours of curves go from blue (dependent factors) to red (independent), as in 004."""
    from unweave.report.figures.curves import panels_figure, save

    ordered = len(found.panels) > 1 or name in ("fig9", "fig14")
    figure = panels_figure(
        found.panels,
        found.ticks,
        found.label,
        across=found.across,
        in_order=ordered,
        limits=(-0.04, 1.06) if found.label == "score" else None,
        heading=title,
        logarithmic=found.label != "score",
    )
    yield save(figure, options.folder / f"004-{name}.png")


def _experiment(
    name: str,
    title: str,
    compute: Callable[[Options], ToyCurves],
    claims: tuple[int, ...] | Callable[[ToyCurves, Options], Iterator[ClaimCheck]],
    cost: str = "seconds",
) -> Experiment:
    return Experiment(
        name,
        title,
        compute=compute,
        compare=partial(compare, claims) if isinstance(claims, tuple) else claims,
        write=partial(write, name),
        draw=partial(draw, name, title),
        options=("seed",),
        cost=cost,
    )


def _bins(metric: Callable[..., Score]) -> dict[str, toy_curves.Scored]:
    return {f"{n} bins": with_bins(metric, n) for n in BINS}


TOYS = (
    _experiment(
        "fig2",
        "Eight metrics by mixing and dependence of the factors",
        partial(toy_curves.over_mixing, METRICS),
        (121, 122, 123, 124, 125, 126, 127),
        "10 seconds",
    ),
    _experiment("fig3", "Eight metrics by the nuisance", partial(toy_curves.over_nuisance, METRICS), compare_nuisance),
    _experiment("fig4", "Computing time by the number of factors", toy_curves.times, compare_times, "10 seconds"),
    _experiment(
        "fig7",
        "Minimality by its number of bins",
        partial(toy_curves.over_mixing, _bins(minimality)),
        (130, 136),
    ),
    _experiment(
        "fig8", "Sufficiency by its number of bins", partial(toy_curves.over_mixing, _bins(sufficiency)), (121, 130)
    ),
    _experiment(
        "fig9",
        "Minimality and sufficiency by the nuisance and the number of bins",
        toy_curves.over_nuisance_by_bins,
        (128, 129, 130),
    ),
    _experiment(
        "fig12", "Minimality by the number of rows", partial(toy_curves.over_mixing_by_rows, MINIMALITY), (131,)
    ),
    _experiment(
        "fig13", "Sufficiency by the number of rows", partial(toy_curves.over_mixing_by_rows, SUFFICIENCY), (131,)
    ),
    _experiment(
        "fig14",
        "Minimality and sufficiency by the nuisance and the number of rows",
        toy_curves.over_nuisance_by_rows,
        (131,),
    ),
)
