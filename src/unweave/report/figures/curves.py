"""Curves over sweeps, training and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from unweave.report.figures.geometry import (
    FAINT,
    GEOMETRY_COLOURS,
    INK,
    blank_figure,
    colour_of,
    constrained_figure,
    quiet,
    save,
)

if TYPE_CHECKING:
    from unweave.datasets import DataSet
    from unweave.models import TrainedModel


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
    figure = constrained_figure(PANEL[0] * len(terms), PANEL[1])
    settings = list(dict.fromkeys(setting for of_term in terms.values() for setting in of_term))
    for place, (term, of_term) in enumerate(terms.items()):
        axes = figure.add_subplot(1, len(terms), place + 1)
        for setting, curves in of_term.items():
            colour = GEOMETRY_COLOURS[settings.index(setting) % len(GEOMETRY_COLOURS)]
            for number, (steps, values) in enumerate(curves.values()):
                axes.plot(steps, values, color=colour, linewidth=1, alpha=0.8, label=None if number else setting)
        weighted = " (nats per image, times its weight in the loss)" if term == "reconstruction" else ""
        axes.set_title(f"{term}{weighted}", fontsize=9, color=INK)
        axes.set_xlabel("step", fontsize=8)
        if all(value > 0 for of_setting in of_term.values() for _, values in of_setting.values() for value in values):
            axes.set_yscale("log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color=FAINT, linewidth=0.6)
        axes.tick_params(labelsize=7)
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
    figure = constrained_figure(0.55 * n_columns + 2.2, 0.6 * len(rows) + 0.4)
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
