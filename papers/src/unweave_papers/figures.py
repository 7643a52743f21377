"""Figures of the papers: curves, bars, grids, and diagrams of information and of its decomposition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle
from numpy.typing import ArrayLike

from unweave.arrays import FloatArray
from unweave.report.figures.geometry import FAINT, GEOMETRY_COLOURS, INK, constrained_figure

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
    return _with_legend(figure)


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
    return _with_legend(figure)


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
    return _with_legend(figure)


def histograms_figure(columns: Mapping[str, ArrayLike], label: str) -> Figure:
    """Return the densities of some columns, as outlines over shared bins."""
    figure = _blank(6.0, 3.6)
    axes = figure.add_subplot()
    edges = np.histogram_bin_edges(np.concatenate([np.asarray(column) for column in columns.values()]), 60)
    for (name, column), colour in zip(columns.items(), _colours(len(columns)), strict=True):
        density, _ = np.histogram(column, edges, density=True)
        axes.stairs(density, edges, color=colour, linewidth=1.5, label=name)
    axes.set_xlabel(label)
    axes.set_ylabel("density")
    return _with_legend(figure)


def _with_legend(figure: Figure) -> Figure:
    [axes] = figure.axes
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _blank(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _colours(n: int) -> list[tuple[float, ...]]:
    return [colormaps["tab10" if n <= 10 else "tab20"](place) for place in range(n)]


def projections_figure(rows: FloatArray, names: Sequence[str]) -> Figure:
    """Return a scatter plot matrix of the columns, with histograms on the diagonal."""
    n = rows.shape[1]
    figure = constrained_figure(1.5 * n, 1.5 * n)
    grid = figure.subplots(n, n, squeeze=False)
    for i, j in ((i, j) for i in range(n) for j in range(n)):
        axes = grid[i][j]
        if i == j:
            axes.hist(rows[:, i], bins=30, color=GEOMETRY_COLOURS[0])
        else:
            axes.plot(rows[:, j], rows[:, i], ".", markersize=1, color=GEOMETRY_COLOURS[0], rasterized=True)
        axes.set(xticks=[], yticks=[])
        if i == n - 1:
            axes.set_xlabel(names[j], fontsize=8)
        if j == 0:
            axes.set_ylabel(names[i], fontsize=8)
    return figure


def clouds_figure(clouds: Mapping[str, Sequence[FloatArray]], names: Sequence[str]) -> Figure:
    """Return scatter plots of point clouds (n x 2), with one row per key of ``clouds`` and one column per name."""
    figure = constrained_figure(1.7 * len(names), 1.8 * len(clouds))
    grid = figure.subplots(len(clouds), len(names), squeeze=False, sharex=True, sharey=True)
    for row, (label, points) in zip(grid, clouds.items(), strict=True):
        for axes, name, cloud in zip(row, names, points, strict=True):
            axes.plot(cloud[:, 0], cloud[:, 1], ".", markersize=1, color=GEOMETRY_COLOURS[0], rasterized=True)
            axes.set_aspect("equal")
            axes.set_title(name, fontsize=8)
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(label, fontsize=8)
    return figure


ALONG, ACROSS, SHARED, TOTAL = "#d97706", "#3b6ea8", "#8a5a44", "#9aa0a6"


def contour_grid_figure(
    panels: Mapping[str, tuple[FloatArray, FloatArray]],
    data: FloatArray,
    entropies: Mapping[str, tuple[float, float, float]] | None = None,
    arrows: Mapping[str, FloatArray] | None = None,
) -> Figure:
    """Return lines along which one of two latents is constant, over the data (n x 2), as in Figure 1 of 000.

    A panel has lines (line x point x 2) along which the first latent varies (orange), and the second (blue). Below it
    are bars of its entropies, of their mutual information and, in grey, of the joint entropy, if these are given.
    ``arrows`` are the columns of a Jacobian (2 x 2) at the middle of the data.
    """
    n_rows = 1 if entropies is None else 2
    figure = constrained_figure(3.2 * len(panels), 3.0 if entropies is None else 4.3)
    ratios = [3] if entropies is None else [3, 1.6]
    grid = figure.subplots(n_rows, len(panels), squeeze=False, gridspec_kw={"height_ratios": ratios}, sharey="row")
    low, high = data.min(axis=0) - 0.2, data.max(axis=0) + 0.2
    for axes, (name, (first, second)) in zip(grid[0], panels.items(), strict=True):
        axes.plot(data[:, 0], data[:, 1], ".", color=FAINT, markersize=2, zorder=0, rasterized=True)
        for lines, colour in ((first, ALONG), (second, ACROSS)):
            for line in lines:
                axes.plot(line[:, 0], line[:, 1], color=colour, linewidth=0.9)
        for column, colour in zip((arrows or {}).get(name, np.empty((2, 0))).T, (ALONG, ACROSS), strict=False):
            style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "mutation_scale": 10}
            axes.annotate("", data.mean(axis=0) + column, data.mean(axis=0), arrowprops=style, zorder=6)
        axes.set_title(name, fontsize=10)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    for axes, name in zip(grid[1] if entropies else (), panels, strict=False):
        assert entropies is not None
        along, across, shared = entropies[name]
        labels = ["$H_1$", "$H_2$", "$I$", "$H$"]
        values = [along, across, shared, along + across - shared]
        bars = axes.bar(labels, values, color=[ALONG, ACROSS, SHARED, TOTAL], width=0.65)
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.margins(y=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    if entropies is not None:
        grid[1][0].set_ylabel("nats")
    return figure


def image_grid_figure(
    images: FloatArray, row_names: Sequence[str], column_names: Sequence[str] = (), signed: bool = True
) -> Figure:
    """Return rows of images (row x column x height x width). If they are signed, zero is white."""
    n_rows, n_columns = images.shape[:2]
    figure = constrained_figure(1.0 + 1.05 * n_columns, 0.4 + 1.05 * n_rows)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for i, row in enumerate(images):
        size = float(np.abs(row).max()) or 1.0
        for j, image in enumerate(row):
            axes = grid[i][j]
            limits = (-size, size) if signed else (float(images.min()), float(images.max()))
            axes.imshow(image, cmap="RdBu_r" if signed else "gray", vmin=limits[0], vmax=limits[1])
            axes.set(xticks=[], yticks=[])
            if i == 0 and column_names:
                axes.set_title(column_names[j], fontsize=8)
        grid[i][0].set_ylabel(row_names[i], fontsize=8, rotation=0, ha="right", va="center")
    return figure


DIFFERS = "#f6d9b8"


def mark_table_figure(
    rows: Mapping[str, Sequence[tuple[str, str]]], columns: Sequence[str], *, title: str = ""
) -> Figure:
    """Return a table with one row per name. Each cell has a pair of marks: ours and that of the paper."""
    figure = constrained_figure(2.2 + 1.15 * len(columns), 0.9 + 0.36 * len(rows))
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


OWN, OTHERS, REDUNDANT, SYNERGISTIC = "#2a9d6f", "#3b6ea8", "#c0392b", "#9b5de5"
INTERVAL = "#d97706"
PARTS = {"unique": OWN, "redundant": REDUNDANT, "unique to the rest": OTHERS, "synergistic": SYNERGISTIC}
SHORT = 0.15  # share of the axis; the text of shorter bars is placed beside them
SMALLEST, NARROW = 0.005, 0.1  # shares of the total below which a part is not drawn, and below which its name is not


def interval_figure(
    intervals: Mapping[str, Mapping[str, tuple[float, float]]], unit: str = "share of entropy"
) -> Figure:
    """Return the intervals between the lower and upper bounds of each term for each model."""
    terms = list(next(iter(intervals.values())))
    figure = constrained_figure(1.2 + 0.55 * len(intervals) * len(terms), 3.4)
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
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if axes.get_xlabel() else "y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def circles_figure(systems: Mapping[str, Mapping[str, float]]) -> Figure:
    """Return one panel per system, with a circle for each of the two sources inside a circle for both.

    The area of a circle is the information of the source about y. The overlap of the inner circles is the redundant
    information, and the area outside them is the synergistic information.
    """
    figure = constrained_figure(3.3 * len(systems), 3.9)
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
    figure = constrained_figure(7.4, 1.75 * len(systems) + 0.6)
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
    figure = constrained_figure(7.4, 1.2 * len(systems) + 0.9)
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
