"""Figures of codes and factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from unweave.report.figures.geometry import INK, blank_figure, colour_of, quiet
from unweave.report.html import LIGHT, hexadecimal

Ends = tuple[float, float]
RAMP = LinearSegmentedColormap.from_list("unweave", [hexadecimal(colour) for colour in LIGHT])
MOST_NUMBERS = 150  # largest number of cells in which numbers are readable
MOST_POINTS = 2000
MOST_CLASSES = 12


def matrix_figure(matrix: NDArray[Any], codes: Sequence[str], factors: Sequence[str], meaning: str = "") -> Figure:
    """Return a heat map of codes by factors. The largest entry of each factor has a frame.

    >>> import numpy as np
    >>> figure = matrix_figure(np.eye(2), ["c0", "c1"], ["size", "angle"])
    >>> len(figure.axes[0].patches)
    2
    """
    size = np.abs(np.asarray(matrix, dtype=float))
    figure, axes = blank_figure(1.8 + 0.62 * min(len(factors), 20), 1.2 + min(0.34 * len(codes), 9.0))
    top = max(1.0, float(np.nanmax(size, initial=0.0)))
    shown = axes.imshow(size, cmap=RAMP, vmin=0, vmax=top, aspect="auto")
    figure.colorbar(shown, ax=axes, shrink=0.8)
    if size.size <= MOST_NUMBERS:
        for (row, column), value in np.ndenumerate(np.asarray(matrix, dtype=float)):
            if np.isfinite(value):
                ink = "white" if size[row, column] > 0.55 * top else INK
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
    for column in range(len(factors)):
        if np.isfinite(size[:, column]).any():
            axes.add_patch(_frame(column, int(np.nanargmax(size[:, column]))))
    axes.set_xticks(range(len(factors)), list(factors), rotation=30, ha="right", fontsize=8)
    few = len(codes) <= 40
    axes.set_yticks(range(len(codes)) if few else [], list(codes) if few else [], fontsize=8)
    axes.set_title(meaning, fontsize=9, color=INK, wrap=True)
    return figure


def factor_bars_figure(
    values: Mapping[str, float],
    noise: Mapping[str, Ends] | None = None,
    intervals: Mapping[str, Ends] | None = None,
    label: str = "",
) -> Figure:
    """Return a bar chart with the score of each factor, its interval, and the scores of random codes in grey.

    >>> figure = factor_bars_figure({"size": 0.9, "angle": 0.4}, {"size": (0.0, 0.2), "angle": (0.0, 0.2)})
    >>> len(figure.axes[0].patches)
    4
    """
    figure, axes = blank_figure(1.6 + 0.7 * max(len(values), 3), 3.2)
    for place, (name, value) in enumerate(values.items()):
        axes.bar(place, value, width=0.5, color=colour_of(0), zorder=2)
        if noise and name in noise:
            low, high = noise[name]
            axes.bar(place, high - low, width=0.84, bottom=low, color=INK, alpha=0.18, zorder=3)
        if intervals and name in intervals:
            axes.plot([place, place], intervals[name], color=INK, linewidth=1.4, zorder=4)
    axes.set_xticks(range(len(values)), list(values), rotation=30 if len(values) > 4 else 0)
    axes.set_ylabel(label)
    quiet(axes)
    return figure


@dataclass(frozen=True, eq=False)
class Pair:
    """A factor and the code that it is matched to. ``classes`` has the names of its values if it is discrete."""

    factor: str
    code: str
    factor_values: NDArray[Any]
    code_values: NDArray[Any]
    classes: tuple[str, ...] = ()


def matched_pairs_figure(pairs: Sequence[Pair]) -> Figure:
    """Return one panel per pair: the code against the factor, or a histogram of the code for each class.

    >>> import numpy as np
    >>> z = np.linspace(0, 1, 50)
    >>> len(matched_pairs_figure([Pair("size", "code 0", z, z**2)]).axes)
    1
    """
    columns = min(len(pairs), 4)
    rows = -(-len(pairs) // max(columns, 1))
    figure, first = blank_figure(2.5 * max(columns, 1), 2.3 * max(rows, 1))
    first.remove()
    for place, pair in enumerate(pairs):
        axes = figure.add_subplot(rows, columns, place + 1)
        (_ridges if pair.classes else _scatter)(axes, pair)
        axes.set_xlabel(pair.code if pair.classes else pair.factor, fontsize=8)
        axes.set_title(f"{pair.factor} in {pair.code}", fontsize=8, color=INK)
        quiet(axes)
        axes.tick_params(labelsize=7)
    return figure


def _scatter(axes: Axes, pair: Pair) -> None:
    step = max(1, len(pair.code_values) // MOST_POINTS)
    factor, code = pair.factor_values[::step], pair.code_values[::step]
    axes.scatter(factor, code, s=4, alpha=0.35, color=colour_of(0), linewidths=0)
    axes.set_ylabel(pair.code, fontsize=8)


def _ridges(axes: Axes, pair: Pair) -> None:
    """Draw a histogram of the code for each class, one above the other."""
    edges = np.linspace(pair.code_values.min(), pair.code_values.max() + 1e-12, 41)
    middles = (edges[1:] + edges[:-1]) / 2
    levels = np.unique(pair.factor_values)[:MOST_CLASSES]
    for place, level in enumerate(levels):
        counts, _ = np.histogram(pair.code_values[pair.factor_values == level], edges)
        height = 0.95 * counts / counts.max()
        axes.fill_between(middles, place, place + height, step="mid", color=colour_of(0), alpha=0.55, linewidth=0)
    axes.set_yticks(range(len(levels)), list(pair.classes[: len(levels)]))


def _frame(column: int, row: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=1.4)
