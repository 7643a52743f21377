"""Figures of the scores of an evaluation: scores with intervals and noise floors, and a table of verdicts.

The functions take plain data and return matplotlib figures. They compute no scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.report.figures.drawing import LEVEL_COLOURS, blank_figure, colour_of, quiet
from unweave.report.figures.geometry import FAINT, INK

Ends = tuple[float, float]


@dataclass(frozen=True)
class Dot:
    """A score with its noise floor, interval, verdict and letters. Unknown values are nan or None.

    >>> Dot("mcc", 0.9, floor=0.1, level="trust").interval is None
    True
    """

    name: str
    value: float
    floor: float = np.nan
    interval: Ends | None = None
    level: str | None = None
    letters: str = ""


def scores_figure(dots: Sequence[Dot], label: str = "score") -> Figure:
    """Return one row per score, with its interval in the colour of the verdict, and its noise floor in grey.

    >>> scores_figure([Dot("mcc", 0.9, 0.1, (0.8, 1.0), "trust")]).axes[0].get_yticklabels()[0].get_text()
    'mcc'
    """
    figure, axes = blank_figure(6.4, 1.0 + 0.26 * max(len(dots), 2))
    for place, dot in enumerate(dots):
        colour = LEVEL_COLOURS.get(dot.level or "", colour_of(0))
        if not np.isnan(dot.floor):
            axes.barh(place, dot.floor, height=0.7, color=FAINT, zorder=1)
        if dot.interval is not None:
            axes.plot(dot.interval, [place, place], color=colour, linewidth=2, alpha=0.6, zorder=2)
        axes.plot([dot.value], [place], marker="o", markersize=5, color=colour, linestyle="", zorder=3)
        if dot.letters:
            axes.text(
                1.01, place, dot.letters, transform=axes.get_yaxis_transform(), va="center", fontsize=7, color=INK
            )
    axes.set_yticks(range(len(dots)), [dot.name for dot in dots])
    axes.invert_yaxis()
    axes.set_xlabel(label, fontsize=9)
    quiet(axes)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    _explain(axes, dots)
    return figure


def verdicts_figure(levels: Mapping[str, Mapping[str, str | None]]) -> Figure:
    """Return a table with metrics as columns and representations as rows; cells have the colour of the verdict.

    >>> figure = verdicts_figure({"codes": {"mcc": "trust", "mig": "caution"}})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['✓', '!']
    """
    signs = {"trust": "✓", "caution": "!", "do not use": "✗"}
    names = list(dict.fromkeys(name for row in levels.values() for name in row))
    figure, axes = blank_figure(1.6 + 0.42 * len(names), 1.1 + 0.3 * len(levels))
    for row, of_row in enumerate(levels.values()):
        for column, name in enumerate(names):
            level = of_row.get(name)
            axes.barh(row, 0.92, height=0.86, left=column - 0.46, color=LEVEL_COLOURS.get(level or "", FAINT))
            axes.text(column, row, signs.get(level or "", ""), ha="center", va="center", color="white", fontsize=9)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="left", fontsize=8)
    axes.set_yticks(range(len(levels)), list(levels), fontsize=8)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.xaxis.tick_top()
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def _explain(axes: Axes, dots: Sequence[Dot]) -> None:
    """Add a legend of the verdicts that occur and of the noise floor."""
    for level, colour in LEVEL_COLOURS.items():
        if any(dot.level == level for dot in dots):
            axes.plot([], [], marker="o", linestyle="", markersize=5, color=colour, label=level)
    if any(not np.isnan(dot.floor) for dot in dots):
        axes.plot([], [], color=FAINT, linewidth=6, label="noise")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=7, ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0))
