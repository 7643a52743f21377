"""Curves over sweeps, training and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from unweave.report.figures.geometry import FAINT, GEOMETRY_COLOURS, INK, blank_figure, colour_of, quiet, save

if TYPE_CHECKING:
    from unweave.datasets import DataSet
    from unweave.models import TrainedModel

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
    ranges_are: str = "95 % interval",
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
    turned: dict[str, Any] = {"rotation": 15, "ha": "right", "rotation_mode": "anchor"} if len(groups) > 3 else {}
    axes.set_xticks(np.arange(len(groups)), list(groups), **turned)
    if marks:
        axes.plot([], [], "_", markersize=11, color="#222222", label="in the paper")
    if ranges:
        axes.plot([], [], color="#222222", linewidth=1.5, label=ranges_are)
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


def pairs_figure(
    points: Mapping[str, tuple[ArrayLike, ArrayLike]], across: str, label: str, *, alike: bool = True
) -> Figure:
    """Return a scatter plot of pairs of numbers with one colour per name; ``alike`` draws where both are equal."""
    figure = _blank(4.6, 4.2)
    axes = figure.add_subplot()
    for (name, (first, second)), colour in zip(points.items(), _colours(len(points)), strict=True):
        axes.scatter(np.asarray(first), np.asarray(second), s=22, color=colour, label=name)
    if alike:
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


Ends = tuple[float, float]


def history_figure(
    steps: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    floors: Mapping[str, float] | None = None,
    intervals: Mapping[str, Ends] | None = None,
) -> Figure:
    """Return one line per metric, a dotted line for its noise floor, and a bar for the interval at the last step.

    >>> figure = history_figure([1, 2, 3], {"mcc": [0.2, 0.6, 0.9]}, {"mcc": 0.1}, {"mcc": (0.85, 0.95)})
    >>> len(figure.axes[0].lines)
    3
    """
    figure, axes = blank_figure(6.4, 3.6)
    for place, (label, values) in enumerate(curves.items()):
        colour = colour_of(place)
        axes.plot(steps, values, color=colour, marker="o", markersize=3.5, linewidth=1.6, label=label)
        if floors and label in floors:
            axes.axhline(floors[label], color=colour, linestyle=":", linewidth=1)
        if intervals and label in intervals:
            axes.plot([steps[-1]] * 2, intervals[label], color=colour, linewidth=4, alpha=0.35, solid_capstyle="butt")
    quiet(axes)
    axes.set_xlabel("step")
    axes.set_ylabel("score")
    if curves:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


Pixels = NDArray[np.floating[Any]]

Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]  # maps the name of a model to its steps and values

PANEL = (3.4, 2.5)

MOST_IN_A_LEGEND = 12

GAP = 1  # width of the frame around an image, in pixels


def loss_figure(terms: Mapping[str, Mapping[str, Curves]]) -> Figure:
    """Return one panel per term of the loss, with one colour per setting and one curve per seed."""
    figure = _figure(PANEL[0] * len(terms), PANEL[1])
    settings = list(dict.fromkeys(setting for of_term in terms.values() for setting in of_term))
    for place, (term, of_term) in enumerate(terms.items()):
        axes = figure.add_subplot(1, len(terms), place + 1)
        for setting, curves in of_term.items():
            colour = GEOMETRY_COLOURS[settings.index(setting) % len(GEOMETRY_COLOURS)]
            for number, (steps, values) in enumerate(curves.values()):
                axes.plot(steps, values, color=colour, linewidth=1, alpha=0.8, label=None if number else setting)
        axes.set_title(term, fontsize=9, color=INK)
        axes.set_xlabel("step", fontsize=8)
        if all(value > 0 for of_setting in of_term.values() for _, values in of_setting.values() for value in values):
            axes.set_yscale("log")
        _quiet(axes)
        if place == 0 and len(settings) <= MOST_IN_A_LEGEND:
            axes.legend(frameon=False, fontsize=7)
    return figure


def reconstruction_figure(originals: Pixels, reconstructions: Mapping[str, Pixels]) -> Figure:
    """Return the originals in the first row and one row per model. Images are n x channels x height x width."""
    return _rows_figure({"image": originals, **reconstructions}, "")


def traversal_figure(images: Mapping[str, Pixels], title: str) -> Figure:
    """Return one row per code, in which the code goes from low to high and all other codes are constant."""
    return _rows_figure(images, title)


def _rows_figure(rows: Mapping[str, Pixels], title: str) -> Figure:
    """Draw rows of images with their names, as a single image because the layout of many axes is slow."""
    n_columns = max(len(row) for row in rows.values())
    channels, height, width = next(iter(rows.values())).shape[1:]
    sheet = np.ones((channels, len(rows) * (height + 2 * GAP), n_columns * (width + 2 * GAP)))
    for at, row in enumerate(rows.values()):
        for column, image in enumerate(row):
            framed = np.pad(image, ((0, 0), (GAP, GAP), (GAP, GAP)), constant_values=0.5)
            top, left = at * framed.shape[1], column * framed.shape[2]
            sheet[:, top : top + framed.shape[1], left : left + framed.shape[2]] = framed
    figure = _figure(0.55 * n_columns + 2.2, 0.6 * len(rows) + 0.4)
    axes = figure.add_subplot()
    shown = sheet[0] if channels == 1 else np.moveaxis(sheet[:3], 0, -1)
    axes.imshow(np.clip(shown, 0, 1), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axes.set_yticks((np.arange(len(rows)) + 0.5) * (height + 2 * GAP), list(rows), fontsize=7, color=INK)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_title(title, fontsize=9, color=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _quiet(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.tick_params(labelsize=7)


N_IMAGES = 12

MOST_MODELS = 16  # largest number of models in the figure of reconstructions


def draw_runs(folder: Path, models: Sequence[TrainedModel], dataset: DataSet) -> Iterator[Path]:
    """Write figures of loss curves, reconstructions and the traversals of each model, and yield their paths."""
    from unweave.models.model import loss_curves, reconstructions, traversals

    trained = [model for model in models if model.network is not None]
    curves = loss_curves(models)
    if curves:
        yield save(loss_figure(curves), folder / "losses.png")
    images = dataset.sample(500, 0).images
    made = reconstructions(trained[:MOST_MODELS], images[:N_IMAGES])
    if made:
        yield save(reconstruction_figure(images[:N_IMAGES], made), folder / "reconstructions.png")
    for model in trained:
        rows = traversals(model, images)
        yield save(traversal_figure(rows, model.name), folder / model.name / "traversals.png")
