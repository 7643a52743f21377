"""Diagrams of information and of its decomposition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle

from unweave.report.summary import FactorBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


PARTS = {"unique": OWN, "redundant": REDUNDANT, "unique to the rest": OTHERS, "synergistic": SYNERGISTIC}

SHORT = 0.15  # share of the axis; the text of shorter bars is placed beside them

SMALLEST, NARROW = 0.005, 0.1  # shares of the total below which a part is not drawn, and below which its name is not


def circles_figure(systems: Mapping[str, Mapping[str, float]]) -> Figure:
    """Return one panel per system, with a circle for each of the two sources inside a circle for both.

    The area of a circle is the information of the source about y. The overlap of the inner circles is the redundant
    information, and the area outside them is the synergistic information.
    """
    figure = Figure(figsize=(3.3 * len(systems), 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (title, parts) in zip(figure.subplots(1, len(systems), squeeze=False)[0], systems.items(), strict=True):
        _draw_circles(axes, parts)
        axes.set_title(title, fontsize=10)
    sources = {"I(y; code)": OWN, "I(y; rest)": OTHERS, "only jointly": SYNERGISTIC}
    handles = [Patch(color=colour, alpha=0.45, label=name) for name, colour in sources.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    return figure


def _draw_circles(axes: Axes, parts: Mapping[str, float]) -> None:
    unique, shared, rest, synergy = (parts[name] for name in PARTS)
    radii = math.sqrt((unique + shared) / math.pi), math.sqrt((rest + shared) / math.pi)
    apart = _distance(*radii, shared)
    centres = 0.0, apart
    left, right = min(-radii[0], apart - radii[1]), max(radii[0], apart + radii[1])
    needed = (right - left) / 2
    # the area of the outer circle is the total information, unless the inner circles need a larger one
    whole = max(math.sqrt((unique + shared + rest + synergy) / math.pi), needed)
    middle = (left + right) / 2
    surround = {"facecolor": SYNERGISTIC if synergy else "none", "edgecolor": INK, "alpha": 0.25}
    axes.add_patch(Circle((middle, 0), whole, linestyle=":", **surround))
    for centre, radius, colour in zip(centres, radii, (OWN, OTHERS), strict=True):
        axes.add_patch(Circle((centre, 0), radius, facecolor=colour, edgecolor=INK, alpha=0.45))
    lines = "\n".join(f"{name} {parts[name]:.2f}" for name in PARTS)
    axes.text(0.5, -0.02, lines, transform=axes.transAxes, ha="center", va="top", fontsize=8, color=INK)
    axes.set_xlim(middle - 1.08 * whole, middle + 1.08 * whole)
    axes.set_ylim(-1.08 * whole, 1.08 * whole)
    axes.set_aspect("equal")
    axes.axis("off")


def _distance(first: float, second: float, shared: float) -> float:
    """Return the distance between the centres of two circles that overlap by the area ``shared``, by bisection."""
    near, far = abs(first - second), first + second
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _overlap(first, second, middle) > shared else (near, middle)
    return (near + far) / 2


def _overlap(first: float, second: float, apart: float) -> float:
    if apart >= first + second or not first or not second:
        return 0.0
    if apart <= abs(first - second):
        return math.pi * min(first, second) ** 2
    halves = [
        radius**2 * (angle - math.sin(2 * angle) / 2)
        for radius, other in ((first, second), (second, first))
        for angle in [math.acos(np.clip((apart**2 + radius**2 - other**2) / (2 * apart * radius), -1, 1))]
    ]
    return sum(halves)


def bands_figure(systems: Mapping[str, Mapping[str, float]], *, unit: str = "nats") -> Figure:
    """Return one panel per system: its four parts side by side, above the information of both sources and of each."""
    figure = Figure(figsize=(7.4, 1.75 * len(systems) + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(systems), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (title, parts) in zip(grid, systems.items(), strict=True):
        # in order: unique to the code, redundant, unique to the rest, and synergistic
        edges = np.concatenate([[0.0], np.cumsum([parts[name] for name in PARTS])])
        for (name, colour), low, high in zip(PARTS.items(), edges, edges[1:], strict=False):
            if high - low > SMALLEST * edges[-1]:
                axes.add_patch(Rectangle((low, 2), high - low, 0.8, facecolor=colour, alpha=0.6, edgecolor=INK))
                line = f"{name}\n{high - low:.2f}" if high - low > NARROW * edges[-1] else f"{high - low:.2f}"
                axes.text((low + high) / 2, 2.4, line, ha="center", va="center", fontsize=7)
        boxes = (("I(y; all)", 0, 4, 1.1), ("I(y; code)", 0, 2, 0.2), ("I(y; rest)", 1, 3, -0.7))
        for name, first, last, height in boxes:
            width = float(edges[last] - edges[first])
            axes.add_patch(Rectangle((edges[first], height), width, 0.7, facecolor="white", edgecolor=INK))
            step = 0.01 * edges[-1]
            inside, late = width > 2 * NARROW * edges[-1], edges[first] > edges[-1] / 2
            place = edges[first] + step if inside else edges[first] - step if late else edges[last] + step
            side = "right" if late and not inside else "left"
            axes.text(place, height + 0.35, f"{name} = {width:.2f}", ha=side, va="center", fontsize=8)
        axes.set_ylim(-0.9, 3.0)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
    grid[-1].set_xlim(0, max(sum(parts.values()) for parts in systems.values()) * 1.01)
    grid[-1].set_xlabel(unit)
    return figure


def gap_figure(systems: Mapping[str, tuple[float, float, float]]) -> Figure:
    """Return one row per system: I(y; best code), and the part that MIG (above) and UniBound (below) subtract from it.

    The three numbers of a system are the information about a factor of the best code, of the second best code, and of
    all codes but the best. The green part is the score, and the red part is subtracted.
    """
    figure = Figure(figsize=(7.4, 1.2 * len(systems) + 0.9), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axis_end = max(best for best, _, _ in systems.values())
    for row, (best, second, rest) in enumerate(systems.values()):
        for name, taken, height in (("MIG", second, row - 0.4), ("UniBound", rest, row + 0.08)):
            kept = max(best - taken, 0.0)
            axes.barh(height, kept, height=0.32, align="edge", color=OWN, alpha=0.7)
            axes.barh(height, min(taken, best), left=kept, height=0.32, align="edge", color=REDUNDANT, alpha=0.6)
            beside = kept < SHORT * axis_end  # the bar is too short for its text
            place = (best if beside else 0.0) + 0.01 * axis_end
            axes.text(place, height + 0.16, f"{name} {kept:.2f}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(systems)), list(systems))
    axes.invert_yaxis()
    axes.set_xlabel("information about the factor (nats): green is the score, red is subtracted")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
