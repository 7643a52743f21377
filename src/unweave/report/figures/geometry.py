"""Figures of the effect of latents on data: spectra, mutual information, contour grids, tangents and traversals.

The functions take plain arrays and return matplotlib figures. They compute no scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import viridis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unweave.arrays import FloatArray
from unweave.store import write_result

GEOMETRY_COLOURS = ("#3b6ea8", "#d97706", "#2a9d6f", "#9b5de5", "#c0392b")
MOST_NAMES = 30
INK, FAINT = "#333333", "#dddddd"
COLOURS = ("#3b6ea8", "#d97706", "#2a9d6f", "#9b5de5", "#c0392b", "#5f6b7a", "#0f9fb8", "#b5488f")


class ShownFigure(Figure):
    """A figure that a notebook displays as the result of a cell without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=90, bbox_inches="tight", facecolor="white")
        return buffer.getvalue()


def blank_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure with one set of axes."""
    figure = ShownFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def colour_of(place: int) -> str:
    """Return the colour at an index. The colours repeat after eight."""
    return COLOURS[place % len(COLOURS)]


def quiet(axes: Axes) -> None:
    """Remove the frame on the top and right, and draw faint horizontal grid lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file. The extension of the file determines the format."""
    path = Path(path)
    write_result(path, lambda file: figure.savefig(file, format=path.suffix[1:] or None, dpi=150, bbox_inches="tight"))
    return path


def spectrum_figure(
    spectra: Mapping[str, FloatArray],
    truth: FloatArray | None = None,
    knee: int | None = None,
    names: Sequence[str] = (),
) -> Figure:
    """Return the manifold entropies in nats, sorted (strong lines) and in the order of the latents (faint lines).

    ``truth`` is drawn as crosses. ``knee`` is the number of latents before the largest drop, which a line marks. With
    the ``names`` of the latents of one spectrum there is no faint line, and up to 30 names are shown.
    """
    figure = constrained_figure(6.4, 3.8)
    axes = figure.add_subplot()
    for (name, entropies), colour in zip(spectra.items(), _distinct(len(spectra)), strict=True):
        positions = np.arange(1, len(entropies) + 1)
        if not names:
            axes.plot(positions, entropies, color=colour, alpha=0.25, linewidth=1.2)
        axes.plot(positions, np.sort(entropies)[::-1], color=colour, linewidth=2, label=name)
    if truth is not None:
        ranks = np.arange(1, len(truth) + 1)
        axes.plot(ranks, np.sort(truth)[::-1], "x", color=INK, markersize=6, label="truth", zorder=5)
    if knee is not None:
        axes.axvline(knee + 0.5, color=INK, linewidth=1, linestyle=":")
        axes.annotate(f"largest drop after {knee}", (knee + 0.5, 1), xycoords=("data", "axes fraction"), fontsize=8)
    axes.set_xlabel("latent, most important first")
    axes.set_ylabel("manifold entropy (nats)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if 0 < len(names) <= MOST_NAMES:
        first = np.argsort(-next(iter(spectra.values())), kind="stable")
        axes.set_xticks(np.arange(1, len(names) + 1), [names[i] for i in first], rotation=45, ha="right")
    axes.margins(x=0.02)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8)
    if len(spectra) + (truth is not None) > 1:
        if len(spectra) > len(GEOMETRY_COLOURS):  # a large legend inside the axes would hide some lines
            axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        else:
            axes.legend(frameon=False)
    return figure


def information_figure(
    matrices: Mapping[str, FloatArray],
    rows: str = "latent",
    columns: str = "latent",
    largest: float | None = None,
    label: str = "information (nats)",
) -> Figure:
    """Return a heat map of the information of each pair in nats. All matrices share a scale; nan is white."""
    figure = constrained_figure(0.8 + 3.6 * len(matrices), 3.6)
    finite = [matrix[np.isfinite(matrix)] for matrix in matrices.values()]
    top = max(max((float(entries.max(initial=0.0)) for entries in finite), default=0.0), 1e-12)
    top = top if largest is None else largest
    panels = figure.subplots(1, len(matrices), squeeze=False)[0]
    for axes, (name, matrix) in zip(panels, matrices.items(), strict=True):
        shown = np.where(np.isposinf(matrix), top, matrix)
        image = axes.imshow(np.ma.masked_invalid(shown), cmap="viridis", vmin=0, vmax=top, interpolation="nearest")
        axes.set_title(name, fontsize=10)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(columns)
        axes.set_ylabel(rows)
    bar = figure.colorbar(image, ax=list(panels), shrink=0.85)
    bar.set_label(label)
    return figure


def tangent_figure(tangents: FloatArray, shape: tuple[int, int], order: Sequence[int], names: Sequence[str]) -> Figure:
    """Return the mean tangent images of some latents (000, E.1.2). Red is an increase, and blue is a decrease."""
    per_row = min(5, len(order))
    padded = np.zeros((math.ceil(len(order) / per_row) * per_row, *shape))
    padded[: len(order)] = tangents.T[list(order)].reshape(len(order), *shape)
    figure = constrained_figure(1.3 * per_row, 1.45 * math.ceil(len(order) / per_row))
    panels = figure.subplots(len(padded) // per_row, per_row, squeeze=False).ravel()
    for k, axes in enumerate(panels):
        axes.set_axis_off()
        if k < len(order):
            size = float(np.abs(padded[k]).max()) or 1.0
            axes.imshow(padded[k], cmap="RdBu_r", vmin=-size, vmax=size)
            axes.set_title(names[order[k]], fontsize=8)
    return figure


def traversal_figure(images: FloatArray, row_names: Sequence[str], column_names: Sequence[str]) -> Figure:
    """Return rows of images with one or three channels (latent x value x height x width x channels).

    All images share one scale. The last column is the absolute difference between the first and the last image; it is
    scaled separately in each row, and black means no change.
    """
    n_rows, n_columns = images.shape[:2]
    figure = constrained_figure(1.2 + 0.95 * (n_columns + 1), 0.3 + 0.95 * n_rows)
    grid = figure.subplots(n_rows, n_columns + 1, squeeze=False)
    low, high = float(images.min()), float(images.max())
    scaled = (images - low) / max(high - low, 1e-12)
    for i, row in enumerate(scaled):
        change = np.abs(row[-1] - row[0]).mean(axis=-1, keepdims=True)
        for axes, image in zip(grid[i], [*row, change / max(float(change.max()), 1e-12)], strict=True):
            axes.imshow(image if image.shape[-1] == 3 else image[..., 0], cmap="gray", vmin=0, vmax=1)
            axes.set_xticks([])
            axes.set_yticks([])
        grid[i][0].set_ylabel(row_names[i], fontsize=8, rotation=0, ha="right", va="center")
    for axes, name in zip(grid[0], [*column_names, "|difference|"], strict=True):
        axes.set_title(name, fontsize=8)
    return figure


def constrained_figure(width: float, height: float) -> Figure:
    """Return an empty figure without axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _distinct(n: int) -> list[str]:
    """Return the colours of n lines. The colours of many lines go from dark to light, because they have an order."""
    return list(GEOMETRY_COLOURS[:n]) if n <= len(GEOMETRY_COLOURS) else [to_hex(viridis(k / n)) for k in range(n)]
