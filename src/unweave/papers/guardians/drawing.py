"""Drawing of 003's figures: our means as lines, bars or maps, the authors' means as markers or as maps below."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from unweave.papers.guardians import figures as declared
from unweave.papers.guardians.authors.results import Key, SeedMean
from unweave.papers.guardians.declared_sweeps import TIMES
from unweave.papers.guardians.figures import value_of
from unweave.papers.guardians.reproduction import Shown
from unweave.papers.guardians.settings import Setting
from unweave.report.figures.geometry import FAINT, INK

# Okabe and Ito's colours, which can be distinguished with any colour vision, and further colours after them
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#000000")
EXTRA = ("#999999", "#5e3c99", "#b2abd2", "#666666")
ORDER = ("MCC-P", "DCI-D", "R2", "MCC-S", "MCC-RDC", "MIG", "InfoM", "T-MEX", "DCI-C", "DCI-I", "InfoC", "InfoE")
COLOUR_OF_METRIC = dict(zip(ORDER, (*COLOURS, *EXTRA), strict=True))
LINES: tuple[Any, ...] = ("-", (0, (1.2, 1.2)))  # solid and dotted
MARKERS = ("o", "s")
PANELS_PER_ROW = 4
NAMES = {
    "D1": "independent (D1)",
    "D2": "correlated (D2)",
    "D3": "constraint of one (D3)",
    "D4": "constraint of two (D4)",
    "E9": "Gaussian noise",
    "E10": "uniform noise",
    "d2": "D2, coupling = rho",
    "d3": "D3, coupling = alpha",
}
AXES = {
    "rho": "correlation rho",
    "alpha": "nonlinearity alpha",
    "kappa": "condition kappa",
    "m": "codes m",
    "n": "rows n",
}


@dataclass(frozen=True)
class Panel:
    """One panel: its title, and the settings and metrics that it shows."""

    title: str
    settings: tuple[Setting, ...]
    metrics: tuple[str, ...]


def guardians_figure(figure: declared.Figure, parts: Sequence[Shown]) -> Figure:
    """Draw a figure of 003 in the paper's layout."""
    if parts[0].part.kind == "map":
        return _maps(figure, parts[0])
    panels = [(shown, panel) for shown in parts for panel in _panels(shown)]
    n_columns = _n_columns(parts, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    drawing = _figure(max(3.1 * n_columns, 4.6), 2.5 * n_rows + 0.9)
    grid = drawing.subplots(n_rows, n_columns, squeeze=False, sharey=True)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, (axes, (shown, panel)) in enumerate(zip(grid.ravel(), panels, strict=False)):
        draw: Callable[..., None] = _bars if shown.part.kind == "bars" else _lines
        draw(axes, shown, panel)
        axes.set_title(panel.title, fontsize=9)
        axes.set_ylim(-0.04, 1.05)
        axes.grid(axis="y", color=FAINT, linewidth=0.6)
        axes.set_axisbelow(True)
        if place % n_columns == 0:
            axes.set_ylabel("score", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    drawing.suptitle(figure.title, fontsize=11)
    handles = _legend(parts)
    n_across = int(drawing.get_figwidth() / 1.15)
    drawing.legend(handles=handles, loc="outside lower center", ncols=n_across, frameon=False, fontsize=8)
    return drawing


def _n_columns(parts: Sequence[Shown], n_panels: int) -> int:
    part = parts[0].part
    if len(parts) == 1 and part.rows:
        return len(_values(parts[0], part.columns)) if part.columns else 1
    return min(n_panels, PANELS_PER_ROW)


def _values(shown: Shown, name: str) -> list[Any]:
    """Return the distinct values of an attribute in the order of the experiment."""
    if name == "metric":
        return list(shown.metrics)
    return list(dict.fromkeys(value_of(setting, name) for setting in shown.part.settings))


def _panels(shown: Shown) -> Iterator[Panel]:
    part = shown.part
    for row in _values(shown, part.rows) if part.rows else [None]:
        for column in _values(shown, part.columns) if part.columns else [None]:
            chosen, metrics, titles = part.settings, shown.metrics, []
            for name, value in ((part.columns, column), (part.rows, row)):
                if name == "metric":
                    metrics = (str(value),)
                elif name:
                    chosen = tuple(setting for setting in chosen if value_of(setting, name) == value)
                titles += [_named(name, value)] if name else []
            yield Panel(part.title or ", ".join(titles), chosen, metrics)


def _named(name: str, value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    for code, noise in (("E10", "uniform"), ("E9", "Gaussian")):
        text = text.replace(f"{TIMES}{code}", f", {noise} ").strip()
    return f"{name} = {text}" if name in ("d", "m", "r", "n") else NAMES.get(text, text)


def _series(shown: Shown, panel: Panel) -> Iterator[tuple[str, int, str, list[tuple[Any, Key]]]]:
    """Yield colour, style, metric and points (x and key) of every line in a panel."""
    part = shown.part
    styles = _values(shown, part.style) if part.style else [None]
    groups = _values(shown, part.colour)
    for metric in panel.metrics:
        for group in [metric] if part.colour == "metric" else groups:
            colour = (
                COLOUR_OF_METRIC[metric] if part.colour == "metric" else COLOURS[groups.index(group) % len(COLOURS)]
            )
            for k, style in enumerate(styles):
                points = [
                    (value_of(setting, part.x), (*setting.key, metric))
                    for setting in panel.settings
                    if (part.colour == "metric" or value_of(setting, part.colour) == group)
                    and (style is None or value_of(setting, part.style) == style)
                ]
                if points:
                    yield colour, k, metric, sorted(points, key=lambda point: point[0])


def _lines(axes: Axes, shown: Shown, panel: Panel) -> None:
    for colour, k, _, points in _series(shown, panel):
        x = np.array([place for place, _ in points], dtype=float)
        ours = [shown.ours[key] for _, key in points]
        low, high = np.array([entry.low for entry in ours]), np.array([entry.high for entry in ours])
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        alone = "_" if len(points) == 1 else None
        axes.plot(x, [entry.mean for entry in ours], linestyle=LINES[k % 2], marker=alone, color=colour, linewidth=1.6)
        for place, key in points:
            if key in shown.theirs:
                _marker(axes, place, shown.theirs[key], colour, MARKERS[k % 2])
    if shown.part.log:
        _log_axis(axes, _values(shown, shown.part.x))
    elif shown.part.x in ("m", "d"):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(AXES.get(shown.part.x, shown.part.x), fontsize=9)


def _log_axis(axes: Axes, values: list[float]) -> None:
    """Set a logarithmic x axis with plain numbers at the values, without those that would overlap."""
    shown: list[float] = []
    span = math.log(max(values) / min(values))
    for value in sorted(values):
        if not shown or math.log(value / shown[-1]) > 0.14 * span:
            shown.append(value)
    axes.set_xscale("log")
    axes.set_xticks(shown, [f"{value:g}" for value in shown])
    axes.xaxis.set_minor_locator(NullLocator())


def _bars(axes: Axes, shown: Shown, panel: Panel) -> None:
    places = [value_of(setting, shown.part.x) for setting in panel.settings]
    width = 0.82 / len(panel.metrics)
    for k, metric in enumerate(panel.metrics):
        for place, setting in enumerate(panel.settings):
            x, key = place + (k + 0.5) * width - 0.41, (*setting.key, metric)
            mean = shown.ours[key]
            axes.bar(x, mean.mean, 0.9 * width, color=COLOUR_OF_METRIC[metric])
            if mean.has_interval:
                axes.plot([x, x], [mean.low, mean.high], color=INK, linewidth=0.8)
            if key in shown.theirs:
                _marker(axes, x, shown.theirs[key], INK, "D", face="white")
    axes.set_xticks(range(len(places)), places)


def _marker(axes: Axes, x: float, mean: SeedMean, colour: str, marker: str, face: str = "none") -> None:
    half = [[mean.mean - mean.low], [mean.high - mean.mean]] if mean.has_interval else None
    axes.errorbar(
        x,
        mean.mean,
        yerr=half,
        fmt=marker,
        color=colour,
        markerfacecolor=face,
        markersize=3.6,
        markeredgewidth=0.9,
        elinewidth=0.7,
        zorder=4,
    )


def _legend(parts: Sequence[Shown]) -> list[Line2D]:
    """Return legend entries for colours, then styles, then markers."""
    part, first = parts[0].part, parts[0]
    thick = 5 if part.kind == "bars" else 1.8
    if part.colour == "metric":
        computed = {metric for shown in parts for metric in shown.metrics}
        colours = {metric: colour for metric, colour in COLOUR_OF_METRIC.items() if metric in computed}
    else:
        groups = _values(first, part.colour)
        colours = {_named(part.colour, group): COLOURS[k % len(COLOURS)] for k, group in enumerate(groups)}
    handles = [Line2D([], [], color=colour, linewidth=thick, label=label) for label, colour in colours.items()]
    with_theirs = any(shown.theirs for shown in parts)
    for shown in parts:
        for k, style in enumerate(_values(shown, shown.part.style) if shown.part.style else []):
            marker = MARKERS[k % 2] if with_theirs else None
            handles.append(
                Line2D([], [], color=INK, linestyle=LINES[k % 2], marker=marker, markerfacecolor="none", label=style)
            )
    if with_theirs:
        marker = "D" if part.kind == "bars" else "o"
        handles.append(
            Line2D([], [], color=INK, linestyle="", marker=marker, markerfacecolor="none", label="authors' data")
        )
    return handles


def _maps(figure: declared.Figure, shown: Shown) -> Figure:
    """Draw heat maps with numbers, a panel for each metric; the authors' maps are below ours."""
    part = shown.part
    xs, ys = (sorted(set(_values(shown, name))) for name in (part.x, part.y))
    sources = [("here", shown.ours)] + ([("authors' data", shown.theirs)] if shown.theirs else [])
    per_row = min(len(shown.metrics), PANELS_PER_ROW)
    n_blocks = math.ceil(len(shown.metrics) / per_row)
    n_rows = n_blocks * len(sources)
    width, height = 0.42 * len(xs) + 0.55, 0.27 * len(ys) + 0.75
    drawing = _figure(width * per_row + 1.3, height * n_rows + 0.7)
    grid = drawing.subplots(n_rows, per_row, squeeze=False, sharex=True, sharey=True)
    image: Any = None
    for axes in grid.ravel():
        axes.set_visible(False)
    for k, metric in enumerate(shown.metrics):
        for s, (source, means) in enumerate(sources):
            axes = grid[len(sources) * (k // per_row) + s][k % per_row]
            axes.set_visible(True)
            values = np.full((len(ys), len(xs)), np.nan)
            for setting in part.settings:
                found = means.get((*setting.key, metric))
                if found is not None:
                    values[ys.index(value_of(setting, part.y)), xs.index(value_of(setting, part.x))] = found.mean
            image = _map(axes, values, xs, ys)
            axes.set_title(f"{metric}, {source}" if len(sources) > 1 else metric, fontsize=9)
            if k % per_row == 0:
                axes.set_ylabel(AXES.get(part.y, part.y), fontsize=9)
            axes.set_xlabel(AXES.get(part.x, part.x) if s == len(sources) - 1 else "", fontsize=9)
    drawing.suptitle(figure.title, fontsize=11)
    bar = drawing.colorbar(image, ax=list(grid.ravel()), shrink=0.8, aspect=30)
    bar.set_label("score", fontsize=9)
    return drawing


def _map(axes: Axes, values: Any, xs: list[float], ys: list[float]) -> Any:
    image = axes.imshow(np.ma.masked_invalid(values), cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text, colour = ("n/a", INK) if np.isnan(value) else (f"{value:.2f}".lstrip("0") or "0", "white")
        colour = "black" if value > 0.55 else colour
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
    axes.set_xticks(
        range(len(xs)), [f"{x:g}" for x in xs], rotation=45 if len(xs) > 6 and max(len(f"{x:g}") for x in xs) > 2 else 0
    )
    axes.set_yticks(range(len(ys)), [f"{y:g}" for y in ys])
    axes.tick_params(labelsize=7, length=0, labelbottom=True)
    axes.spines[:].set_visible(False)
    return image


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
