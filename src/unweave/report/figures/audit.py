"""The figure of an audit: one panel for each of the four properties, with the curves and their limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from unweave.auditing import Audit
from unweave.auditing.findings.properties import LOSSY_SHARE, PARTLY, SATISFIED
from unweave.auditing.measurement.grid import PROPERTIES, Property
from unweave.auditing.scorecard import CurvePoint
from unweave.evidence import EvidenceError
from unweave.report.figures.geometry import INK
from unweave.words.audits import ASKS

GOOD, FAIR = "#2a9d6f", "#d97706"
VERDICT_COLOURS = {"satisfied": GOOD, "partly": FAIR, "violated": "#c0392b", "undecided": "#777777"}
LineStyle = Literal["-", "--", ":"]
DASHES: tuple[LineStyle, ...] = ("-", "--", ":")
PALETTE = ("#3b6ea8", "#9b5de5", "#c0392b", "#333333", "#1796a6", "#d6569a", "#8a5a44", "#9aa0a6")
RELATIVE = ("P1", "P3")
EVEN_STEPS = ("P3", "P4")  # properties whose horizontal axis shows ratios at equal distances
AXES: dict[Property, str] = {
    "P1": "correlation of the factors, rho",
    "P2": "independent factors dropped (all: no factor is dropped)",
    "P3": "codes per factor, m/d",
    "P4": "codes per row, m/n",
}
SERIES = {
    "E1": "E1 scaled",
    "E2": "E2 nonlinear",
    "E3": "E3 mixed",
    "E4": "E4 dropped (no verdict)",
    "E5": "E5 copies",
    "E6": "E6 extras",
    "E7": "E7 mixed",
    "E8": "E8 split",
    "D_f": "z2 = z1³",
    "D_F": "z3 = z1 z2",
}


def audit_figure(audit: Audit) -> Figure:
    """Return the figure of an audit.

    Lines are means over seeds with 95 % intervals. They are solid for the smallest number of factors, and dashed or
    dotted for larger numbers. The panels of P1 and P3 show the change of the score relative to the first point of the
    curve within each seed; the legend has the score at the first point. The panels of P2 and P4 show the score itself.
    Green bands are changes that count as satisfied, and orange bands those that count as partly satisfied. To satisfy
    P2, a metric has to fall below the grey lines, which are half of the expected loss 1/d for each dropped independent
    factor.
    """
    if audit.refusal:
        raise EvidenceError(f"This audit cannot be drawn: {audit.refusal}")
    figure = Figure(figsize=(11.0, 8.8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{audit.metric}   {'  '.join(audit.ticks)}", fontsize=13)
    for axes, name in zip(figure.subplots(2, 2).ravel(), PROPERTIES, strict=True):
        result = audit[name]
        _panel(axes, name, [point for point in audit.curves if point.name == name])
        axes.set_title(f"{name} {result.verdict}", loc="left", fontsize=10.5, color=VERDICT_COLOURS[result.verdict])
        axes.set_title(ASKS[name], loc="right", fontsize=8, color=INK)
    return figure


def _panel(axes: Axes, name: Property, points: Sequence[CurvePoint]) -> None:
    sizes = sorted({point.n_factors for point in points})
    places = {x: float(place) for place, x in enumerate(sorted({point.x for point in points}))}
    handles, names, reach = _curves(axes, name, points, sizes, places)
    if len(sizes) > 1:
        handles += [Line2D([], [], color=INK, linestyle=style) for _, style in zip(sizes, DASHES, strict=False)]
        names += [f"d = {size}" for size in sizes]
    _limits(axes, name, points, sizes)
    _finish_axes(axes, name, places, reach)
    axes.legend(
        handles,
        names,
        fontsize=7,
        frameon=False,
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        handlelength=1.8,
    )


def _curves(
    axes: Axes, name: Property, points: Sequence[CurvePoint], sizes: Sequence[int], places: Mapping[float, float]
) -> tuple[list[Line2D], list[str], list[float]]:
    """Draw all series; return the handles and names for the legend, and the values that the axis has to contain."""
    series = sorted({point.series for point in points}, key=lambda label: (label[0].isdigit(), label))
    handles, names, reach = [], [], [-0.2, 0.2]
    for label, colour in zip(series, PALETTE * len(series), strict=False):
        starts = []
        for size, style in zip(sizes, DASHES * len(sizes), strict=False):
            curve = [point for point in points if point.series == label and point.n_factors == size]
            xs = [places[point.x] if name in EVEN_STEPS else point.x for point in curve]
            reach += _curve(axes, curve, xs, name in RELATIVE, colour, style)
            starts += [f"{curve[0].mean:.2f}".lstrip("0")] if curve else []
        handles.append(Line2D([], [], color=colour, marker="o", markersize=4))
        names.append(SERIES.get(label, label) + (f" ({', '.join(starts)})" if name in RELATIVE else ""))
    return handles, names, reach


def _finish_axes(axes: Axes, name: Property, places: Mapping[float, float], reach: Sequence[float]) -> None:
    """Set ticks, labels and the range of the score."""
    if name == "P2":
        axes.set_xticks(list(places), ["all" if x < 0 else f"{x:g}" for x in places])
    elif name in EVEN_STEPS:
        axes.set_xticks(list(places.values()), [f"{x:g}" for x in places])
    axes.set_xlabel(AXES[name], fontsize=9)
    axes.set_ylabel("change of the score" if name in RELATIVE else "score", fontsize=9)
    axes.set_ylim(*((1.1 * min(reach), 1.1 * max(reach)) if name in RELATIVE else (-0.04, 1.06)))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8)


def _curve(
    axes: Axes, curve: Sequence[CurvePoint], xs: Sequence[float], relative: bool, colour: str, style: LineStyle
) -> list[float]:
    """Draw a curve with its intervals, and return the values that the axis has to contain."""
    means = [point.change if relative else point.mean for point in curve]
    around = [point.change_interval if relative else point.interval for point in curve]
    low, high = [bounds[0] for bounds in around], [bounds[1] for bounds in around]
    axes.plot(xs, means, color=colour, linestyle=style, marker="o", markersize=3.5, linewidth=1.5)
    axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    return [bound for bound in (*means, *low, *high) if math.isfinite(bound)]


def _limits(axes: Axes, name: Property, points: Sequence[CurvePoint], sizes: Sequence[int]) -> None:
    """Draw the limits for satisfied and partly satisfied; for P2, half of the expected loss per dropped factor."""
    if name == "P2":
        for size, style in zip(sizes, DASHES * len(sizes), strict=False):
            curve = {
                point.x: point.mean for point in points if (point.series, point.n_factors) == ("independent", size)
            }
            if 0 in curve:
                line = [(x, curve[0] - LOSSY_SHARE * x / size) for x in sorted(curve)]
                axes.plot(*zip(*line, strict=True), color="#999999", linestyle=style, linewidth=1.0, zorder=1)
                axes.annotate(
                    "at most", line[-1], fontsize=7, color="#777777", xytext=(3, -2), textcoords="offset points"
                )
        return
    sides = (1, -1) if name in RELATIVE else (1,)
    for side in sides:
        axes.axhspan(0, side * SATISFIED, color=GOOD, alpha=0.15, linewidth=0, zorder=0)
        axes.axhspan(side * SATISFIED, side * PARTLY, color=FAIR, alpha=0.12, linewidth=0, zorder=0)
