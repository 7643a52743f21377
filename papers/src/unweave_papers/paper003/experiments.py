"""The experiments of 003: figures, two tables, fifteen sweeps, and the comparison with the authors' data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from unweave_papers.experiment import ClaimCheck, Experiment, Options, Paper, Pictures, Tables
from unweave_papers.ledger import claims_of, holds_by_rules
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


def compare_cells(name: str, computed: Computed, options: Options) -> Iterator[ClaimCheck]:
    """Check the claims about these cells, and count the cells that agree with the authors' data if these are given."""
    yield from checked_claims(computed.ours)
    yield from counted(list(compared(name, computed.theirs, computed.ours)))


def checked_claims(means: Mapping[Key, SeedMean]) -> Iterator[ClaimCheck]:
    """Check the ledger's claims about these cells on their means, unless a claim compares two protocols."""
    for claim in claims_of("003"):
        cells = [arguments for function, arguments in claim.rows.values() if function == "figure"]
        keys = {(*setting.key, metric) for setting, metric, *_ in cells}
        if not cells or len(keys) < len(cells) or not keys <= means.keys():
            continue
        figures = {
            name: means[*arguments[0].key, arguments[1]].mean
            if function == "figure"
            else float(getattr(evidence, function)(*arguments))
            for name, (function, arguments) in claim.rows.items()
        }
        holds = holds_by_rules(claim, list(figures.values()))
        here = "; ".join(f"{name}: {value:.3f}" for name, value in figures.items())
        paper = claim.stated or "no figure"
        yield ClaimCheck(claim.statement, paper, here, holds is True, claim.number, in_part=holds is None)


def compare_all(agreements: list[CellAgreement], options: Options) -> Iterator[ClaimCheck]:
    """Count agreeing cells by experiment and metric, and list every cell that does not agree."""
    yield from counted(agreements)
    for entry in agreements:
        if not entry.overlaps:
            theirs, ours = (f"{mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]" for mean in (entry.theirs, entry.ours))
            yield ClaimCheck(f"{entry.cell}, {entry.metric}", theirs, f"{ours}; {entry.reason}", False)


def counted(agreements: list[CellAgreement]) -> Iterator[ClaimCheck]:
    """Count overlapping intervals and equal means for every experiment and metric."""
    groups = Counter((entry.experiment, entry.metric) for entry in agreements)
    for (experiment, metric), n_cells in groups.items():
        cells = [entry for entry in agreements if (entry.experiment, entry.metric) == (experiment, metric)]
        alone = sum(not entry.theirs.has_interval for entry in cells)
        overlap, equal = sum(entry.overlaps for entry in cells), sum(entry.equal for entry in cells)
        paper = f"{n_cells} cells" + (f", {alone} without an interval" if alone else "")
        here = f"intervals overlap in {overlap}, means are equal in {equal}"
        yield ClaimCheck(f"{experiment}, {metric}: authors' data", paper, here, overlap == n_cells)


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
    return Experiment(name, title, compute, compare, draw_figures, write, OPTIONS, cost=cost)


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
            needs=("authors_data",),
            cost="1115 cells, some minutes",
        ),
    ),
)
