"""The experiments of 004 on trained encoders: figures 5, 6, 10, 11, 15 and 16."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from unweave.papers.dependent_factors.measured_encoders import (
    best_single_code_accuracy,
    bins_against,
    metrics_against,
    robustness,
    samples_against,
)
from unweave.papers.dependent_factors.rank_correlations import Correlations, correlations
from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper

STRONG, STABLE = 0.5, 0.3
ACCURACY, IRS = (best_single_code_accuracy, "accuracy"), (robustness, "IRS")


def compute_metrics(target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Correlations of all metrics with a target."""
    return correlations(metrics_against(*target, options))


def compute_bins(name: str, target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Correlations of one metric with a target, by its number of bins."""
    return correlations(bins_against(name, *target, options))


def compute_samples(name: str, target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Correlations of one metric with a target, by its number of samples."""
    return correlations(samples_against(name, *target, options))


def compare_accuracy(found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Figure 5: sufficiency goes with accuracy, best and most stably."""
    yield from _numbers(found)
    mine, others = found.of("sufficiency"), found.others("sufficiency")
    best = float(np.nanmax(others[0]))
    yield ClaimCheck(
        "independent: sufficiency correlates most with accuracy",
        "yes",
        f"{mine[0]:.2f}, the best other {best:.2f}",
        bool(mine[0] >= best),
    )
    yield ClaimCheck(
        "sufficiency stays with accuracy as dependence grows",
        "stable",
        f"{mine.min():.2f} to {mine.max():.2f}",
        bool(mine.min() > STRONG and np.ptp(mine) < STABLE),
    )
    falls = others[0] - np.nanmin(others, axis=0)
    yield ClaimCheck(
        "the other metrics fall sharply",
        "all of them",
        f"{int((falls > STABLE).sum())} of {falls.size} fall by more than {STABLE}",
        bool((falls > STABLE).all()),
    )


def compare_robustness(found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Figure 6: minimality goes with IRS at every level, the others do not."""
    yield from _numbers(found)
    mine, others = found.of("minimality"), found.others("minimality")
    lowest = found.lower[:, found.metrics.index("minimality")].min()
    yield ClaimCheck(
        "minimality correlates strongly with IRS at every level",
        "yes",
        f"{mine.min():.2f} to {mine.max():.2f}, intervals from {lowest:.2f}",
        bool(mine.min() > STRONG and lowest > 0),
    )
    weak = np.nanmean(others, axis=0) < STRONG
    yield ClaimCheck(
        "most other metrics correlate weakly or negatively",
        "most",
        f"{int(weak.sum())} of {weak.size} below {STRONG} on average",
        bool(weak.mean() > 0.5),
    )
    yield ClaimCheck(
        "no other metric is above minimality",
        "yes",
        f"on {int((mine >= np.nanmax(others, axis=1)).sum())} of {mine.size} levels",
        bool((mine >= np.nanmax(others, axis=1)).all()),
    )


def compare_settings(found: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Figures 10, 11, 15 and 16: the setting matters little."""
    yield from _numbers(found)
    spread = float(np.nanmax(np.ptp(found.values, axis=1)))
    yield ClaimCheck.number("largest difference between settings at one level", "small", spread, below=STABLE)
    yield ClaimCheck.number(
        "smallest correlation of any setting", "strong", float(np.nanmin(found.values)), above=STRONG
    )


def write(name: str, found: Correlations, options: Options) -> Iterator[Path]:
    """The correlations and their intervals as a table."""
    path = options.folder / f"004-{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["level,metric,correlation,lower,upper"]
    for i, level in enumerate(found.levels):
        for j, metric in enumerate(found.metrics):
            numbers = ",".join(f"{table[i, j]:.4f}" for table in (found.values, found.lower, found.upper))
            lines.append(f'"{level}","{metric}",{numbers}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    yield path


def draw(name: str, target: str, found: Correlations, options: Options) -> Iterator[Path]:
    """A line for every metric over the levels of dependence."""
    from unweave.report.figures.curves import curves_figure, save

    curves = {metric: found.of(metric) for metric in found.metrics}
    bands = {metric: (found.lower[:, j], found.upper[:, j]) for j, metric in enumerate(found.metrics)}
    figure = curves_figure(curves, found.levels, f"rank correlation with {target}", bands=bands, limits=(-1.05, 1.05))
    yield save(figure, options.folder / f"004-{name}.png")


def _numbers(found: Correlations) -> Iterator[ClaimCheck]:
    for j, metric in enumerate(found.metrics):
        shown = "  ".join(f"{value:5.2f}" for value in found.values[:, j])
        yield ClaimCheck(f"{metric} ({found.n_encoders} encoders)", "figure only", shown)


def _experiment(
    name: str,
    title: str,
    compute: Callable[[Options], Correlations],
    compare: Callable[[Correlations, Options], Iterator[ClaimCheck]],
    target: str,
) -> Experiment:
    return Experiment(
        name,
        title,
        compute=compute,
        compare=compare,
        write=partial(write, name),
        draw=partial(draw, name, target),
        options=("seed", "n_rows", "weights", "codes"),
        needs=("torch", "weights"),
        cost="10 minutes on one core for all of 004",
    )


PAPER = Paper(
    "004",
    "Rethinking Disentanglement under Dependent Factors of Variation",
    (
        _experiment(
            "fig5",
            "Metrics against the accuracy of a forest on one code",
            partial(compute_metrics, ACCURACY),
            compare_accuracy,
            "accuracy",
        ),
        _experiment(
            "fig6",
            "Metrics against interventional robustness",
            partial(compute_metrics, IRS),
            compare_robustness,
            "IRS",
        ),
        _experiment(
            "fig10",
            "Sufficiency by its number of bins, against accuracy",
            partial(compute_bins, "sufficiency", ACCURACY),
            compare_settings,
            "accuracy",
        ),
        _experiment(
            "fig11",
            "Minimality by its number of bins, against IRS",
            partial(compute_bins, "minimality", IRS),
            compare_settings,
            "IRS",
        ),
        _experiment(
            "fig15",
            "Sufficiency by its number of samples, against accuracy",
            partial(compute_samples, "sufficiency", ACCURACY),
            compare_settings,
            "accuracy",
        ),
        _experiment(
            "fig16",
            "Minimality by its number of samples, against IRS",
            partial(compute_samples, "minimality", IRS),
            compare_settings,
            "IRS",
        ),
    ),
)
