"""The experiments of 003: figures, two tables, fifteen sweeps, and the comparison with the authors' data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from unweave_papers.experiment import ClaimCheck, Experiment, MeasuredFigure, Options, Paper, Pictures, Tables
from unweave_papers.ledger import ClaimEvidence, claim_row, claims_of, decided
from unweave_papers.paper003 import evidence
from unweave_papers.paper003.authors import CellAgreement, Key, SeedMean, compared
from unweave_papers.paper003.figures import (
    FIGURES,
    Computed,
    comparisons,
    computed_experiment,
    computed_figure,
    figures_of,
    guardians_figure,
    protocol_of,
    table_of_comparisons,
    table_of_means,
)
from unweave_papers.paper003.settings import SWEEPS
from unweave_papers.paper003.tables import TABLES

OPTIONS = ("seed", "n_seeds", "metrics", "protocol", "authors_data", "n_jobs", "cluster")


SEEDS = "Lines on bars and bands are 95 % intervals over seeds; unfilled markers are the means of the released runs."


def compare_cells(name: str, computed: Computed, options: Options) -> Iterator[ClaimCheck]:
    """Tell the range of every metric, the claims about these cells, and how many agree with the authors' data."""
    for metric in dict.fromkeys(key[-1] for key in computed.ours):
        cells = {key: mean for key, mean in computed.ours.items() if key[-1] == metric}
        here = f"{_range(cells.values())} ({max(mean.n_seeds for mean in cells.values())} seeds)"
        released = [computed.theirs[key] for key in cells if key in computed.theirs]
        yield ClaimCheck(f"{metric}, means of {len(cells)} cells", _range(released) if released else "", here)
    found = list(checked_claims(computed.ours))
    yield from found
    for claim in claims_of("003"):
        if claim.figures and claim.see.split()[3:4] == [name] and claim.number not in {row.ledger for row in found}:
            row = claim_row(claim, ClaimEvidence(claim.parts, claim.figures))
            yield replace(row, here=f"{row.here} (recorded in the ledger)")
    if protocol_of(options) == "authors":
        yield from counted(list(compared(name, computed.theirs, computed.ours)))


def _range(cells: Iterable[SeedMean]) -> str:
    """The smallest and the largest mean, and how many are undefined."""
    given = [mean.mean for mean in cells]
    means = [value for value in given if not math.isnan(value)]
    undefined = f", {len(given) - len(means)} undefined" if len(means) < len(given) else ""
    return f"{min(means):.3f} to {max(means):.3f}{undefined}" if means else "undefined"


def checked_claims(means: Mapping[Key, SeedMean]) -> Iterator[ClaimCheck]:
    """Decide the ledger's claims about these cells by their means and intervals.

    Claims that compare two protocols need both, and are left to the ledger.
    """
    for claim in claims_of("003"):
        cells = [cell for function, arguments in claim.rows.values() for cell in _cells(function, arguments)]
        keys = {(*setting.key, metric) for setting, metric, _ in cells}
        if not cells or len({protocol for *_, protocol in cells}) > 1 or not keys <= means.keys():
            continue
        figures = {
            name: _shown_figure([means[*setting.key, metric].figure for setting, metric, _ in _cells(function, given)])
            if function in CELLS
            else getattr(evidence, function)(*given)
            for name, (function, given) in claim.rows.items()
        }
        yield claim_row(claim, decided(claim.expect, figures))


CELLS = ("figure", "difference")


def _cells(function: str, arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The cells of a claim's figure: one for a mean, two for a difference."""
    return [arguments[:3]] if function == "figure" else list(arguments[:2]) if function == "difference" else []


def _shown_figure(means: list[MeasuredFigure]) -> MeasuredFigure:
    """A mean, or the difference of two; its interval is wider than that of paired seeds, which are not known here."""
    if len(means) == 1:
        return means[0]
    value = means[0].value - means[1].value
    reach = math.hypot(*((mean.high - mean.low) / 2 for mean in means))
    return MeasuredFigure(value, value - reach, value + reach)


def compare_all(agreements: list[CellAgreement], options: Options) -> Iterator[ClaimCheck]:
    """Count agreeing cells by experiment and metric, and list every cell that does not agree."""
    yield from counted(agreements)
    for entry in agreements:
        if entry.overlaps is False:
            theirs, ours = (f"{mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]" for mean in (entry.theirs, entry.ours))
            yield ClaimCheck(f"{entry.cell}, {entry.metric}", theirs, f"{ours}; {entry.reason}", False)


def counted(agreements: list[CellAgreement]) -> Iterator[ClaimCheck]:
    """Count overlapping intervals and equal means for every experiment and metric."""
    groups = Counter((entry.experiment, entry.metric) for entry in agreements)
    for (experiment, metric), n_cells in groups.items():
        cells = [entry for entry in agreements if (entry.experiment, entry.metric) == (experiment, metric)]
        alone = sum(not entry.theirs.has_interval for entry in cells)
        overlap, equal = sum(entry.overlaps is True for entry in cells), sum(entry.equal for entry in cells)
        unknown = sum(entry.overlaps is None for entry in cells)
        paper = f"{n_cells} cells" + (f", {alone} without an interval" if alone else "")
        here = f"intervals overlap in {overlap}, means are equal in {equal}"
        here += f"; too few seeds for an interval in {unknown}" if unknown else ""
        apart = n_cells - overlap - unknown
        found = "does not hold" if apart else "undecided" if unknown else "holds"
        yield ClaimCheck.found(f"{experiment}, {metric}: authors' data", paper, here, found)


def write_cells(name: str, computed: Computed, options: Options) -> Tables:
    """Write the means as CSV."""
    yield f"{name}-{protocol_of(options)}", table_of_means(computed)


def draw_figures(computed: Computed, options: Options) -> Pictures:
    """Draw every figure that was computed."""
    for name, parts in computed.figures.items():
        yield f"{name}-{protocol_of(options)}", guardians_figure(FIGURES[name], parts)


def _experiment(
    name: str, title: str, compute: Callable[[Options], Computed], n_cells: int, metrics: Iterable[str]
) -> Experiment:
    compare, write = partial(compare_cells, name), partial(write_cells, name)
    cost = f"{n_cells} cells" + ("; DCI takes most of the time" if "DCI-D" in metrics else "")
    return Experiment(name, title, compute, compare, draw_figures, write, OPTIONS, cost=cost, seeds=SEEDS)


PAPER = Paper(
    "003",
    "Joshi et al.: Who Guards the Guardians?",
    (
        *(
            _experiment(
                name,
                figure.title,
                partial(computed_figure, figure),
                sum(len(part.settings) for part in figure.parts),
                {metric for part in figure.parts for metric in part.metrics},
            )
            for name, figure in FIGURES.items()
        ),
        *TABLES,
        *(
            _experiment(
                name,
                f"All cells: {declared.title}",
                partial(computed_experiment, declared, figures_of(name)),
                len(declared.settings),
                declared.metrics,
            )
            for name, declared in SWEEPS.items()
        ),
        Experiment(
            "agreement",
            "All cells by the released code's protocol, compared with the authors' data",
            compute=comparisons,
            compare=compare_all,
            write=lambda found, options: iter([("agreement", table_of_comparisons(found))]),
            options=tuple(name for name in OPTIONS if name not in ("metrics", "protocol")),
            cost="1115 cells, some minutes",
            seeds="Five seeds, as in the released runs: intervals are 95 % intervals over seeds.",
        ),
    ),
)
