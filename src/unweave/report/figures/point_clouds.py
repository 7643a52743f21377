"""Scatter plots: a matrix of all pairs of coordinates, and point clouds side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unweave.arrays import FloatArray
from unweave.report.figures.geometry import COLOURS, save

__all__ = ["clouds_figure", "projections_figure", "save"]


def projections_figure(rows: FloatArray, names: Sequence[str]) -> Figure:
    """Return a scatter plot matrix of the columns, with histograms on the diagonal."""
    n = rows.shape[1]
    figure = _blank(1.5 * n, 1.5 * n)
    grid = figure.subplots(n, n, squeeze=False)
    for i, j in ((i, j) for i in range(n) for j in range(n)):
        axes = grid[i][j]
        if i == j:
            axes.hist(rows[:, i], bins=30, color=COLOURS[0])
        else:
            axes.plot(rows[:, j], rows[:, i], ".", markersize=1, color=COLOURS[0], rasterized=True)
        axes.set_xticks([])
        axes.set_yticks([])
        if i == n - 1:
            axes.set_xlabel(names[j], fontsize=8)
        if j == 0:
            axes.set_ylabel(names[i], fontsize=8)
    return figure


def clouds_figure(clouds: Mapping[str, Sequence[FloatArray]], names: Sequence[str]) -> Figure:
    """Return scatter plots of point clouds (n x 2), with one row per key of ``clouds`` and one column per name."""
    figure = _blank(1.7 * len(names), 1.8 * len(clouds))
    grid = figure.subplots(len(clouds), len(names), squeeze=False, sharex=True, sharey=True)
    for row, (label, points) in zip(grid, clouds.items(), strict=True):
        for axes, name, cloud in zip(row, names, points, strict=True):
            axes.plot(cloud[:, 0], cloud[:, 1], ".", markersize=1, color=COLOURS[0], rasterized=True)
            axes.set_aspect("equal")
            axes.set_title(name, fontsize=8)
            axes.set_xticks([])
            axes.set_yticks([])
        row[0].set_ylabel(label, fontsize=8)
    return figure


def _blank(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
