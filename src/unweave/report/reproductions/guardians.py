"""What `unweave reproduce 003` does: compute, draw, and say what was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from unweave.evidence import EvidenceError
from unweave.papers.guardians.agreement import CellAgreement
from unweave.papers.guardians.experiments import EXPERIMENTS
from unweave.papers.guardians.figures import FIGURES, figures_of
from unweave.papers.guardians.reproduction import Run, comparisons, shown, write_comparisons, write_means


def reproduced(name: str, how: Run) -> Iterator[Any]:
    """Compute and draw what has this name; sentences and tables for the terminal, as they are ready."""
    if name == "agreement":
        found = comparisons(how)
        yield agreement_table(found)
        yield f"wrote {write_comparisons(how.folder / '003-agreement.csv', found)}"
        yield from (disagreement(entry) for entry in found if not entry.overlaps)
        return
    if name in EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        ours = how.means(experiment, experiment.settings, experiment.metrics)
        yield f"wrote {write_means(how.folder / f'003-{name}-{how.protocol}.csv', ours, how.theirs(name))}"
    elif name not in FIGURES:
        raise EvidenceError(
            f"Paper 003 has no {name!r} here: there are {', '.join(FIGURES)}, {', '.join(EXPERIMENTS)} and agreement."
        )
    from unweave.report.figures.geometry import save
    from unweave.report.figures.guardians import guardians_figure

    for figure in figures_of(name) if name in EXPERIMENTS else [FIGURES[name]]:
        parts = shown(figure, how)
        stem = f"003-{figure.name}-{how.protocol}"
        if name in FIGURES:
            ours, theirs = (
                {k: m for part in parts for k, m in getattr(part, side).items()} for side in ("ours", "theirs")
            )
            yield f"wrote {write_means(how.folder / f'{stem}.csv', ours, theirs)}"
        yield f"wrote {save(guardians_figure(figure, parts), how.folder / f'{stem}.png')}"


def agreement_table(found: list[CellAgreement]) -> Any:
    """How many cells of every experiment agree, by metric."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("experiment", "metric", "cells", "intervals overlap", "equal means", "means alone in the file"):
        table.add_column(heading, justify="left" if heading in ("experiment", "metric") else "right")
    groups = Counter((entry.experiment, entry.metric) for entry in found)
    for group in [*groups, ("all", "")]:
        kept = [entry for entry in found if group[0] == "all" or (entry.experiment, entry.metric) == group]
        alone = sum(not entry.theirs.has_interval for entry in kept)
        counts = (len(kept), sum(entry.overlaps for entry in kept), sum(entry.equal for entry in kept), alone)
        table.add_row(*group, *map(str, counts))
    return table


def disagreement(entry: CellAgreement) -> str:
    """A cell whose intervals do not overlap, in a line."""
    theirs, ours = (f"{mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]" for mean in (entry.theirs, entry.ours))
    return f"no overlap: {entry.cell}, {entry.metric}: authors {theirs}, here {ours}; {entry.reason}"
