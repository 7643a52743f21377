"""Figures for the reproductions of papers: curves with bands, bars with marks, and scatter plots.

The functions take plain arrays and return matplotlib figures. They compute no scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from unweave.report.figures.geometry import save

__all__ = ["bars_figure", "curves_figure", "pairs_figure", "panels_figure", "save"]

PANELS_ACROSS = 4
Bands = Mapping[str, tuple[ArrayLike, ArrayLike]]


def curves_figure(
    curves: Mapping[str, ArrayLike],
    ticks: Sequence[object],
    label: str,
    *,
    across: str = "",
    bands: Bands | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Return one line per name over the same ticks, with a band around each line if ``bands`` is given."""
    figure = _blank(max(6.0, 1.1 * len(ticks)), 4.0)
    axes = figure.add_subplot()
    positions = np.arange(len(ticks))
    for (name, values), colour in zip(curves.items(), _colours(len(curves)), strict=True):
        axes.plot(positions, np.asarray(values, dtype=float), marker="o", markersize=4, color=colour, label=name)
        if bands and name in bands:
            lower, upper = (np.asarray(edge, dtype=float) for edge in bands[name])
            axes.fill_between(positions, lower, upper, color=colour, alpha=0.07)
    axes.set_xticks(positions, [str(tick) for tick in ticks], rotation=20 if len(ticks) > 4 else 0)
    axes.set_xlabel(across)
    axes.set_ylabel(label)
    if limits:
        axes.set_ylim(*limits)
    axes.axhline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def bars_figure(
    groups: Mapping[str, Mapping[str, float]],
    label: str,
    *,
    marks: Mapping[str, Mapping[str, float]] | None = None,
    ranges: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Figure:
    """Return one group of bars per name, with one bar for each entry.

    ``marks`` are horizontal marks for the numbers of the paper, and ``ranges`` are drawn as vertical lines.
    """
    entries = list(dict.fromkeys(entry for group in groups.values() for entry in group))
    figure = _blank(max(6.0, 0.28 * len(entries) * len(groups) + 2), 3.8)
    axes = figure.add_subplot()
    width = 0.8 / max(len(entries), 1)
    for j, (entry, colour) in enumerate(zip(entries, _colours(len(entries)), strict=True)):
        places = np.arange(len(groups)) + (j - (len(entries) - 1) / 2) * width
        axes.bar(places, [group.get(entry, np.nan) for group in groups.values()], width, color=colour, label=entry)
        for place, name in zip(places, groups, strict=True):
            if marks and entry in marks.get(name, {}):
                axes.plot([place], [marks[name][entry]], marker="_", markersize=11, color="#222222", zorder=5)
            if ranges and entry in ranges.get(name, {}):
                axes.plot([place, place], ranges[name][entry], color="#222222", linewidth=1.5, zorder=5)
    axes.set_xticks(np.arange(len(groups)), list(groups), rotation=15 if len(groups) > 3 else 0)
    axes.set_ylabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def panels_figure(
    panels: Mapping[str, Mapping[str, ArrayLike]],
    ticks: Sequence[float],
    label: str,
    *,
    across: str = "",
    in_order: bool = False,
    limits: tuple[float, float] | None = None,
    tick_labels: Sequence[object] = (),
    n_across: int = PANELS_ACROSS,
    marks: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    heading: str = "",
    logarithmic: bool = False,
) -> Figure:
    """Return one set of axes per panel, with one line per name.

    If ``in_order`` is set, the colours of the names go from blue to red. ``marks`` are drawn as crosses, for the
    numbers of the paper. ``logarithmic`` sets a logarithmic vertical axis.
    """
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    shades = [colormaps["coolwarm"](place) for place in np.linspace(0, 1, len(names))]
    colours = dict(zip(names, shades if in_order else _colours(len(names)), strict=True))
    n_across = min(len(panels), n_across)
    n_down = -(-len(panels) // n_across)
    figure = _blank(max(2.5 * n_across + 1.6, 6.0), 2.4 * n_down + 1.2)
    grid = figure.subplots(n_down, n_across, squeeze=False, sharey=True).ravel()
    for axes, (title, curves) in zip(grid, panels.items(), strict=False):
        for name, values in curves.items():
            axes.plot(ticks, np.asarray(values, dtype=float), marker="o", markersize=3, color=colours[name], label=name)
        for (name, values), shape in zip((marks or {}).get(title, {}).items(), "x+1234", strict=False):
            axes.plot(ticks, np.asarray(values, dtype=float), shape, markersize=7, color="#222222", label=name)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(across, fontsize=9)
        if tick_labels:
            axes.set_xticks(ticks, [str(tick) for tick in tick_labels])
        if limits:
            axes.set_ylim(*limits)
        if logarithmic:
            axes.set_yscale("log")
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[::n_across]:
        axes.set_ylabel(label, fontsize=9)
    figure.set_layout_engine("constrained")
    figure.suptitle(heading, fontsize=10)
    handles, shown = grid[0].get_legend_handles_labels()
    figure.legend(handles, shown, loc="outside right center", frameon=False, fontsize=8)
    return figure


def pairs_figure(points: Mapping[str, tuple[ArrayLike, ArrayLike]], across: str, label: str) -> Figure:
    """Return a scatter plot of pairs of numbers with one colour per name, and the line on which both are equal."""
    figure = _blank(4.6, 4.2)
    axes = figure.add_subplot()
    for (name, (first, second)), colour in zip(points.items(), _colours(len(points)), strict=True):
        axes.scatter(np.asarray(first), np.asarray(second), s=22, color=colour, label=name)
    low, high = (f(f(axes.get_xlim()), f(axes.get_ylim())) for f in (min, max))
    axes.plot([low, high], [low, high], color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.set_xlabel(across)
    axes.set_ylabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _blank(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _colours(n: int) -> list[tuple[float, ...]]:
    return [colormaps["tab10" if n <= 10 else "tab20"](place) for place in range(n)]
