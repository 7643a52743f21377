"""A figure that compares two tables of marks.

Our marks are large, and those of the paper are small beside them. Cells in which they differ are coloured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from unweave.report.figures.geometry import FAINT, INK

DIFFERS = "#f6d9b8"


def mark_table_figure(
    rows: Mapping[str, Sequence[tuple[str, str]]], columns: Sequence[str], *, title: str = ""
) -> Figure:
    """Return a table with one row per name. Each cell has a pair of marks: ours and that of the paper."""
    figure = Figure(figsize=(2.2 + 1.15 * len(columns), 0.9 + 0.36 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for i, (name, pairs) in enumerate(rows.items()):
        axes.text(-0.1, i + 0.5, name, ha="right", va="center", fontsize=9, color=INK)
        for j, (ours, theirs) in enumerate(pairs):
            colour = "white" if ours == theirs else DIFFERS
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=colour, edgecolor=FAINT))
            axes.text(j + 0.38, i + 0.5, ours, ha="center", va="center", fontsize=12, color=INK)
            axes.text(j + 0.74, i + 0.5, f"({theirs})", ha="center", va="center", fontsize=8, color="#777777")
    for j, column in enumerate(columns):
        axes.text(j + 0.5, -0.15, column, ha="center", va="bottom", fontsize=8, color=INK)
    axes.set_xlim(-1.9, len(columns))
    axes.set_ylim(len(rows), -0.9)
    axes.set_title(title, fontsize=10)
    axes.axis("off")
    return figure
