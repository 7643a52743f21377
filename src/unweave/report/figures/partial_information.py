"""Figures of partial information: bands of one representation, intervals of several (002, Figures 2 and 3b).

The functions take plain data and return matplotlib figures. They compute no scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unweave.report.summary.decomposition_summary import FactorBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN, OTHERS, REDUNDANT, SYNERGISTIC = "#2a9d6f", "#3b6ea8", "#c0392b", "#9b5de5"
INTERVAL, INK, FAINT = "#d97706", "#333333", "#dddddd"
HEIGHT, GAP = 0.26, 0.06
SMALLEST_SHOWN = 1e-3


def band_figure(bands: Sequence[FactorBand]) -> Figure:
    """Return one row per factor, with the information of its best code and that of all other codes.

    The two boxes start at opposite ends of I(y; z). If they overlap, the overlap is a lower bound of the redundancy. If
    there is a gap between them, the gap is a lower bound of the synergy.
    """
    figure = _figure(7.2, 0.9 + 0.8 * len(bands))
    axes = figure.add_subplot()
    from matplotlib.patches import Patch

    for row, band in enumerate(bands):
        _draw_band(axes, row, band)
    axes.set_yticks(range(len(bands)), [f"{band.factor}\n({band.code})" for band in bands])
    axes.set_ylim(len(bands) - 0.45, -0.55)
    axes.set_xlim(left=0)
    axes.set_xlabel("information about the factor (nats)")
    handles = [
        Patch(color=OWN, label="best code"),
        Patch(color=OTHERS, label="all other codes"),
        Patch(color=REDUNDANT, label="redundant (lower bound)"),
        Patch(color=SYNERGISTIC, label="synergistic (lower bound)"),
    ]
    axes.legend(handles=handles, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.45, 1.0), fontsize=8)
    _quiet(axes)
    return figure


def interval_figure(
    intervals: Mapping[str, Mapping[str, tuple[float, float]]], unit: str = "share of entropy"
) -> Figure:
    """Return the intervals between the lower and upper bounds of each term for each model."""
    terms = list(next(iter(intervals.values())))
    figure = _figure(1.2 + 0.55 * len(intervals) * len(terms), 3.4)
    axes = figure.add_subplot()
    positions, labels = [], []
    for column, term in enumerate(terms):
        for place, (model, of_model) in enumerate(intervals.items()):
            x = column * (len(intervals) + 1) + place
            low, high = of_model[term]
            axes.bar(
                x,
                max(high - low, 0.004),
                bottom=low,
                width=0.7,
                color=INTERVAL,
                alpha=0.85,
                edgecolor=INK,
                linewidth=0.6,
            )
            positions.append(x)
            labels.append(model)
        middle = column * (len(intervals) + 1) + (len(intervals) - 1) / 2
        axes.text(middle, 1.02, term, ha="center", va="bottom", transform=axes.get_xaxis_transform(), color=INK)
    axes.set_xticks(
        positions, labels, rotation=30 if len(intervals) > 1 else 0, ha="right" if len(intervals) > 1 else "center"
    )
    axes.set_ylim(bottom=0)
    axes.set_ylabel(unit)
    _quiet(axes)
    return figure


def _draw_band(axes: Axes, row: int, band: FactorBand) -> None:
    upper, lower = row - HEIGHT / 2 - GAP / 2, row + HEIGHT / 2 + GAP / 2
    axes.barh(row, band.whole, height=2 * HEIGHT + 3 * GAP, color="white", edgecolor=INK, linewidth=0.8)
    axes.barh(upper, band.single, height=HEIGHT, color=OWN, alpha=0.75)
    axes.barh(lower, band.rest, left=band.whole - band.rest, height=HEIGHT, color=OTHERS, alpha=0.75)
    if abs(band.interaction) > SMALLEST_SHOWN:
        redundant = band.interaction > 0
        left = band.whole - band.rest if redundant else band.single
        colour = REDUNDANT if redundant else SYNERGISTIC
        axes.barh(
            row,
            abs(band.interaction),
            left=left,
            height=2 * HEIGHT + GAP,
            facecolor="none",
            edgecolor=colour,
            hatch="///",
            linewidth=0,
        )
    if band.entropy == band.entropy:
        axes.plot([band.entropy] * 2, [row - 0.42, row + 0.42], color=INK, linewidth=1.2, linestyle=":")
        axes.annotate("H(y)", (band.entropy, row - 0.42), fontsize=7, ha="center", va="bottom", color=INK)


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("Figures need matplotlib: install it with pip install 'unweave[report]'.") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _quiet(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if axes.get_xlabel() else "y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
