"""Comparison of results with the figures of 004, and their tables and drawings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unweave.papers.dependent_factors.measured_encoders import best_single_code_accuracy, robustness
from unweave.papers.dependent_factors.rank_correlations import Correlations
from unweave.papers.experiment import ClaimCheck, Options
from unweave.whole_files import write_whole

STRONG, STABLE = 0.5, 0.3
ACCURACY, IRS = (best_single_code_accuracy, "accuracy"), (robustness, "IRS")


def compare_accuracy(found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: sufficiency has the highest and most stable correlation with accuracy."""
    yield from _numbers(found)
    mine, others = found.of("sufficiency"), found.others("sufficiency")
    best = float(np.nanmax(others[0]))
    yield ClaimCheck(
        "independent factors: sufficiency correlates most with accuracy",
        "yes",
        f"{mine[0]:.2f}, the best other {best:.2f}",
        bool(mine[0] >= best),
        135,
        value=float(mine[0]),
    )
    yield ClaimCheck(
        "the correlation of sufficiency with accuracy is stable as dependence grows",
        "stable",
        f"{mine.min():.2f} to {mine.max():.2f}",
        bool(mine.min() > STRONG and np.ptp(mine) < STABLE),
        135,
        value=float(mine.min()),
    )
    falls = others[0] - np.nanmin(others, axis=0)
    yield ClaimCheck(
        "the correlations of other metrics with accuracy fall sharply",
        "all of them",
        f"{int((falls > STABLE).sum())} of {falls.size} fall by more than {STABLE}",
        bool((falls > STABLE).all()),
        135,
        value=float((falls > STABLE).sum()),
    )


def compare_robustness(found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 6: minimality correlates most with IRS, and strongly, at every level of dependence."""
    yield from _numbers(found)
    mine, others = found.of("minimality"), found.others("minimality")
    lowest = found.lower[:, found.metrics.index("minimality")].min()
    yield ClaimCheck(
        "minimality correlates strongly with IRS at every level",
        "yes",
        f"{mine.min():.2f} to {mine.max():.2f}, intervals from {lowest:.2f}",
        bool(mine.min() > STRONG and lowest > 0),
        135,
        value=float(mine.min()),
    )
    weak = np.nanmean(others, axis=0) < STRONG
    yield ClaimCheck(
        "most other metrics correlate weakly or negatively",
        "most",
        f"{int(weak.sum())} of {weak.size} below {STRONG} on average",
        bool(weak.mean() > 0.5),
        135,
        value=float(weak.sum()),
    )
    yield ClaimCheck(
        "no other metric has a higher correlation than minimality",
        "yes",
        f"on {int((mine >= np.nanmax(others, axis=1)).sum())} of {mine.size} levels",
        bool((mine >= np.nanmax(others, axis=1)).all()),
        135,
        value=float((mine >= np.nanmax(others, axis=1)).sum()),
    )


def compare_settings(ledger: int, found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 10, 11, 15 and 16: the number of bins or samples hardly changes the correlations."""
    yield from _numbers(found)
    spread = float(np.nanmax(np.ptp(found.values, axis=1)))
    claim = "largest difference between settings at one level"
    yield ClaimCheck.number(claim, "small", spread, below=STABLE, ledger=ledger)
    yield ClaimCheck.number(
        "smallest correlation of any setting", "strong", float(np.nanmin(found.values)), above=STRONG, ledger=ledger
    )


def write(name: str, found: Correlations, options: Options) -> Iterator[Path]:
    """Write the correlations and their intervals as a table."""
    path = options.folder / f"004-{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["level,metric,correlation,lower,upper"]
    for i, level in enumerate(found.levels):
        for j, metric in enumerate(found.metrics):
            numbers = ",".join(f"{table[i, j]:.4f}" for table in (found.values, found.lower, found.upper))
            lines.append(f'"{level}","{metric}",{numbers}')
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))
    yield path


def draw(name: str, target: str, found: Correlations, options: Options) -> Iterator[Path]:
    """Draw a curve for every metric over the levels of dependence."""
    from unweave.report.figures.curves import curves_figure, save

    curves = {metric: found.of(metric) for metric in found.metrics}
    bands = {metric: (found.lower[:, j], found.upper[:, j]) for j, metric in enumerate(found.metrics)}
    figure = curves_figure(curves, found.levels, f"rank correlation with {target}", bands=bands, limits=(-1.05, 1.05))
    yield save(figure, options.folder / f"004-{name}.png")


def _numbers(found: Correlations) -> Iterator[ClaimCheck]:
    for j, metric in enumerate(found.metrics):
        rows = zip(found.values[:, j], found.lower[:, j], found.upper[:, j], strict=True)
        shown = "  ".join(f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in rows)
        yield ClaimCheck(f"{metric}, by level ({found.n_encoders} encoders, 90% intervals)", "figure only", shown)
