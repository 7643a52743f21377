"""Functions that all figures of results share: empty figures, colours and the style of the axes."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unweave.report.figures.geometry import FAINT

COLOURS = ("#3b6ea8", "#d97706", "#2a9d6f", "#9b5de5", "#c0392b", "#5f6b7a", "#0f9fb8", "#b5488f")
LEVEL_COLOURS = {"trust": "#2a9d6f", "caution": "#d97706", "do not use": "#c0392b"}


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
