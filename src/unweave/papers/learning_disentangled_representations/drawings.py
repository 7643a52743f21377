"""Figures of 001's experiments on trained encoders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unweave.papers.experiment import Options
from unweave.papers.learning_disentangled_representations.comparisons import FACTORS, TABLE_8, TABLE_9
from unweave.papers.learning_disentangled_representations.measured_models import BINS, DRAWS, Numbers, models_in


def draw_rmig(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw RMIG of every factor as bars by model, with marks for the paper's numbers."""
    yield from _factor_bars(name, found, TABLE_8, "RMIG, normalised", options)


def draw_jemmig(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw JEMMIG of every factor as bars by model, with marks for the paper's numbers."""
    yield from _factor_bars(name, found, TABLE_9, "JEMMIG, normalised (lower is better)", options)


def draw_bars(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw scores as bars by model."""
    from unweave.report.figures.curves import bars_figure, save

    yield save(bars_figure(found, "score"), options.folder / f"001-{name}.png")


def draw_sorted(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw the informativeness of codes, the most informative code first."""
    from unweave.report.figures.curves import curves_figure, save

    shown = dict(models_in(found, "FactorVAE", "beta-VAE")) if name == "fig14" else found
    shown = shown or found
    longest = max(map(len, shown.values()))
    curves = {model: [*values, *[np.nan] * (longest - len(values))] for model, values in shown.items()}
    figure = curves_figure(curves, range(1, longest + 1), "informativeness, normalised", across="code")
    yield save(figure, options.folder / f"001-{name}.png")


def draw_bins(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw scores against the number of bins."""
    yield from _curves(name, found, BINS, "bins", options)


def draw_draws(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw scores against the number of draws."""
    yield from _curves(name, found, DRAWS, "draws", options)


def draw_matrices(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw matrices as heat maps, one figure per model."""
    from unweave.report.figures.geometry import information_figure, save

    for model, row in found.items():
        matrices = {what: np.abs(np.array(matrix)) for what, matrix in row.items()}
        yield save(information_figure(matrices, "code", "column"), options.folder / f"001-{name}-{model}.png")


def draw_shared(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw heat maps of three-way information of pairs of codes, one figure per model."""
    pairs = {model: {"I(x, z_i, z_j)": row["I(x, z_i, z_j)"]} for model, row in found.items()}
    yield from draw_matrices(name, pairs, options)


def draw_estimates(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw scores estimated by sampling against scores on the grid."""
    from unweave.report.figures.curves import pairs_figure, save

    for score in ("JEMMIG", "RMIG"):
        points = {model: ([row[score][0]], [row[score][1]]) for model, row in found.items()}
        figure = pairs_figure(points, f"{score}, by drawing", f"{score}, on the grid")
        yield save(figure, options.folder / f"001-{name}-{score}.png")


def draw_gaps(name: str, found: Numbers, options: Options) -> Iterator[Path]:
    """Draw RMIG against the two implementations of MIG."""
    from unweave.report.figures.curves import pairs_figure, save

    for other in ("MIG (Chen)", "MIG (Locatello)"):
        points = {model: ([row["RMIG"]], [row[other]]) for model, row in found.items()}
        yield save(pairs_figure(points, "RMIG", other), options.folder / f"001-{name}-{other.split('(')[1][:-1]}.png")


def _factor_bars(
    name: str, found: Numbers, table: dict[str, tuple[float, ...]], label: str, options: Options
) -> Iterator[Path]:
    from unweave.report.figures.curves import bars_figure, save

    marks = {model: dict(zip(FACTORS, row, strict=True)) for model, row in table.items()}
    yield save(bars_figure(found, label, marks=marks), options.folder / f"001-{name}.png")


def _curves(name: str, found: Numbers, ticks: tuple[int, ...], across: str, options: Options) -> Iterator[Path]:
    from unweave.report.figures.curves import curves_figure, save

    for score in next(iter(found.values())):
        curves = {model: row[score] for model, row in found.items()}
        figure = curves_figure(curves, ticks, score, across=across)
        yield save(figure, options.folder / f"001-{name}-{score.replace(' ', '-')}.png")
