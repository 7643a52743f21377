"""Figures of 003."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from unweave.errors import InputError
from unweave.report.figures.geometry import FAINT, INK
from unweave.sweeps import run
from unweave_papers.experiment import Options
from unweave_papers.paper003.authors import COMPARED, CellAgreement, Key, SeedMean, authors_means, compared, means_of
from unweave_papers.paper003.protocols import ALL, MAIN, SUITE, ProtocolName
from unweave_papers.paper003.settings import COLUMNS, FIRST_SEED, SWEEPS, TIMES, DeclaredSweep, Setting


@dataclass(frozen=True)
class Part:
    """Panels of one experiment.

    ``x``, ``y``, ``columns``, ``rows``, ``colour`` and ``style`` name attributes of a setting, or "metric". ``x`` and
    ``y`` are on the axes, ``columns`` and ``rows`` have a panel for each value, and the others are shown by colour and
    line style. ``where`` selects settings by the allowed values of their attributes.
    """

    experiment: str
    kind: Literal["lines", "bars", "map"]
    x: str
    metrics: tuple[str, ...] = MAIN
    y: str = ""
    columns: str = ""
    rows: str = ""
    colour: str = "metric"
    style: str = ""
    log: bool = False
    title: str = ""
    where: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Settings that the part shows."""
        return tuple(
            setting
            for setting in SWEEPS[self.experiment].settings
            if all(value_of(setting, name) in allowed for name, allowed in self.where.items())
        )


@dataclass(frozen=True)
class PaperFigure:
    """A figure with one part of several panels, or several parts of one panel each."""

    name: str
    title: str
    parts: tuple[Part, ...]


def value_of(setting: Setting, name: str) -> Any:
    """Return an attribute of a setting, a ratio of two, or the strength of the coupling.

    >>> value_of(Setting("exp09_ratio", encoder="E7", m=10), "m/d")
    2.0
    """
    match name:
        case "m/d":
            return setting.m / setting.d
        case "m/n":
            return setting.m / setting.n
        case "d/n":
            return setting.d / setting.n
        case "coupling":
            return setting.rho if setting.alpha is None else setting.alpha
        case _:
            return getattr(setting, name)


def _one(name: str, title: str, *given: Any, **options: Any) -> PaperFigure:
    """A figure of one part, whose fields are the other arguments."""
    return PaperFigure(name, title, (Part(*given, **options),))


def _null(name: str, title: str, encoder: str, metrics: tuple[str, ...], sweep: str = "phase_fixed_m50") -> PaperFigure:
    where = {"sweep": (sweep,), "encoder": (encoder,)}
    return _one(name, title, "exp15", "map", "m/n", metrics, y="m/d", columns="metric", where=where)


def _mixing(name: str, d: int, metrics: tuple[str, ...]) -> PaperFigure:
    title = f"Correlation against mixing, D2 and E3, d = {d}"
    return _one(name, title, "exp04", "map", "rho", metrics, y="kappa", columns="metric", where={"d": (d,)})


def _coupling(name: str, d: int) -> PaperFigure:
    title, where = f"Factors that are predicted by others (E1), d = {d}", {"d": (d,), "sweep": ("d2", "d3")}
    return _one(name, title, "exp05", "lines", "coupling", SUITE, columns="sweep", where=where)


RATIO, DROPPED = {"sweep": ("ratio",)}, {"sweep": ("6a",)}
MIXED, OVERCOMPLETE = {**RATIO, "encoder": ("E3", "E7")}, {**RATIO, "encoder": ("E5", "E6", "E7", "E8")}
THREE = ("MCC-P", "DCI-D", "R2")

# fmt: off
PROPERTIES = (
    Part("exp03", "lines", "rho", THREE, style="encoder", title="P1 correlation (d = 10)", where={"d": (10,)}),
    Part("exp06", "lines", "m", title="P2 dropped factors (d = 10)", where={**DROPPED, "dgp": ("D1",)}),
    Part("exp09", "lines", "m/d", THREE, style="encoder", log=True, title="P3 more codes (d = 5)",
         where={**RATIO, "encoder": ("E7", "E8")}),
    Part("exp15", "lines", "m/n", log=True, title="P4 noise (m = d = 50)",
         where={"sweep": ("phase_fixed_m50",), "encoder": ("E10",), "d": (50,)}),
)
DECLARED = (
    PaperFigure("fig1", "The four properties", PROPERTIES),
    _one("fig2", "Correlated factors", "exp03", "lines", "rho", columns="d", style="encoder"),
    _one("fig3", "Dropped factors, d = 10",
         "exp06", "lines", "m", columns="dgp", where={**DROPPED, "dgp": ("D1", "D3")}),
    _one("fig4", "More codes than factors, d = 5",
         "exp09", "lines", "m/d", columns="encoder", log=True, where=OVERCOMPLETE),
    _null("fig5", "Uniform noise, m = 50: every score above 0 is a false positive", "E10", MAIN),
    _null("fig5-text", "Uniform noise, d = 10: the grid that the text quotes", "E10", MAIN, "phase_june_fixed_d"),
    _one("fig5-collapse", "Noise, d = 10: MCC over m/n for three numbers of codes",
         "exp15", "lines", "m/n", ("MCC-P", "MCC-S"), columns="metric", rows="encoder", colour="m", log=True,
         where={"sweep": ("collapse",)}),
    _mixing("fig6", 5, MAIN),
    _one("fig7", "Perfect encoders (E1)", "exp01", "bars", "dgp", columns="d"),
    _one("fig8", "Perfect encoders (E1), all metrics", "exp01", "bars", "dgp", SUITE, columns="d"),
    _one("fig9", "Elementwise nonlinearity (E2)", "exp02", "lines", "alpha", columns="fn", rows="d"),
    _one("fig10", "Elementwise nonlinearity (E2), all metrics",
         "exp02", "lines", "alpha", SUITE, columns="fn", rows="d"),
    _one("fig11", "Number of rows, d = 5", "exp10", "lines", "n", columns="encoder", rows="dgp", log=True),
    _one("fig12", "Number of rows, d = 5, all metrics",
         "exp10", "lines", "n", SUITE, columns="encoder", rows="dgp", log=True),
    _mixing("fig13", 10, MAIN),
    _one("fig14", "Correlated factors, all metrics", "exp03", "lines", "rho", SUITE, columns="d", rows="encoder"),
    _mixing("fig15", 10, SUITE),
    _mixing("fig16", 5, SUITE),
    _one("fig17", "Dropped factors, d = 10", "exp06", "lines", "m", columns="dgp", where=DROPPED),
    _null("fig18", "Gaussian noise, m = 50", "E9", MAIN),
    _one("fig19", "More codes than factors, d = 20, n = 1600",
         "exp09", "bars", "encoder", where={"run": ("exp09_d20",)}),
    _one("fig20", "More codes than factors, d = 5",
         "exp09", "bars", "encoder", columns="dgp", where={"run": ("exp09",)}),
    _coupling("fig21", 5),
    _coupling("fig22", 10),
    _one("fig23", "Dropped factors, d = 10, all metrics",
         "exp06", "lines", "m", SUITE, columns="dgp", where=DROPPED),
    _one("fig24", "Three codes and an increasing number of correlated factors",
         "exp06", "lines", "d", where={"sweep": ("6b",), "dgp": ("D2",)}),
    _one("fig25", "Redundancy r against codes m, D3 and E4, d = 10",
         "exp07", "map", "m", y="r", columns="metric", where={"dgp": ("D3",)}),
    _one("fig26", "Kinds of codes, d = 5, all metrics",
         "exp08", "bars", "encoder", SUITE, columns="dgp", where={"run": ("exp08",)}),
    _one("fig27", "More codes than factors, d = 5, all metrics",
         "exp09", "lines", "m/d", SUITE, columns="encoder", log=True, where=OVERCOMPLETE),
    _one("fig28", "Mixed codes: as many as factors (E3) and more than factors (E7), d = 5",
         "exp09", "lines", "m/d", SUITE, columns="metric", colour="encoder", log=True, where=MIXED),
    _one("fig29", "Null encoders, d = 5, all metrics", "exp11", "lines", "n", SUITE, columns="sweep", log=True),
    _one("fig30", "Do null encoders reach 0?",
         "exp11", "lines", "n", SUITE, columns="metric", colour="sweep", log=True),
    _one("fig31", "Does m/d determine the scores? Codes (6a) and factors (6b) varied, D2",
         "exp12", "lines", "m/d", ALL, columns="metric", colour="sweep", where={"dgp": ("D2",)}),
    _one("fig32", "Does d/n determine the scores? D1 and E1",
         "exp13", "lines", "d/n", ALL, columns="metric", colour="d", log=True),
    _one("fig33", "Metrics by d/n, D1 and E1", "exp13", "lines", "d/n", ALL, columns="d", log=True),
    _one("fig34", "Codes varied, d = 10, n = 1000", "exp14", "lines", "m/d", ALL, where={"sweep": ("sweep_a",)}),
    _one("fig35", "Rows varied, d = 10, m = 5",
         "exp14", "lines", "n", ALL, log=True, where={"sweep": ("sweep_b",)}),
    _null("fig36", "Gaussian noise, m = 50, all metrics", "E9", SUITE),
    _null("fig37", "Uniform noise, m = 50, all metrics", "E10", SUITE),
)
# fmt: on

FIGURES = {figure.name: figure for figure in DECLARED}


def figures_of(experiment: str) -> list[PaperFigure]:
    """Return the figures that show only this experiment."""
    return [figure for figure in DECLARED if {part.experiment for part in figure.parts} == {experiment}]


NUMBERS = ("mean", "low", "high")


@dataclass(frozen=True)
class Shown:
    """Data of one part of a figure: our means, and the authors' means if they are known."""

    part: Part
    ours: Mapping[Key, SeedMean]
    theirs: Mapping[Key, SeedMean] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of the part that were computed."""
        computed = {key[-1] for key in self.ours}
        return tuple(label for label in self.part.metrics if label in computed)


@dataclass(frozen=True)
class Computed:
    """Means of the cells of a figure or experiment, the authors' means, and the data of the figures."""

    ours: Mapping[Key, SeedMean]
    theirs: Mapping[Key, SeedMean]
    figures: Mapping[str, list[Shown]]


def protocol_of(options: Options) -> ProtocolName:
    """Return the protocol of the options, which is ours by default."""
    return "authors" if options.protocol == "authors" else "ours"


def means(
    declared: DeclaredSweep, settings: Iterable[Setting], metrics: tuple[str, ...], options: Options
) -> dict[Key, SeedMean]:
    """Return means over seeds of these cells; results that are in the folder are not computed again."""
    wanted = options.metrics or metrics
    for label in wanted:
        if label not in ALL:
            raise InputError(f"003 has no metric {label!r}: it has {', '.join(ALL)}.")
    kept = tuple(label for label in metrics if label in wanted)
    if not kept:
        raise InputError(f"None of these metrics is shown here: choose from {', '.join(metrics)}.")
    first = FIRST_SEED if options.seed is None else options.seed
    seeds = range(first, first + (options.n_seeds or declared.n_seeds))
    sweep = declared.sweep(protocol_of(options), settings, kept, seeds)
    folder = options.folder / sweep.name
    n_jobs = 1 if options.n_jobs is None else options.n_jobs
    return means_of(run(sweep, folder, n_jobs=n_jobs, cluster=options.cluster, progress=options.progress))


def theirs(experiment: str, options: Options) -> dict[Key, SeedMean]:
    """Return the authors' means, from their folder if it is given."""
    return authors_means(options.authors_data, experiment)


def computed_figure(figure: PaperFigure, options: Options) -> Computed:
    """Compute the cells of one figure."""
    parts = []
    for part in figure.parts:
        ours = means(SWEEPS[part.experiment], part.settings, part.metrics, options)
        known = {key: mean for key, mean in theirs(part.experiment, options).items() if key in ours}
        parts.append(Shown(part, ours, known))
    ours = {key: mean for part in parts for key, mean in part.ours.items()}
    known = {key: mean for part in parts for key, mean in part.theirs.items()}
    return Computed(ours, known, {figure.name: parts})


def computed_experiment(declared: DeclaredSweep, figures: Iterable[PaperFigure], options: Options) -> Computed:
    """Compute all cells of an experiment, and the figures that show only this experiment."""
    ours = means(declared, declared.settings, declared.metrics, options)
    shown = {figure.name: computed_figure(figure, options).figures[figure.name] for figure in figures}
    return Computed(ours, theirs(declared.name, options), shown)


def comparisons(options: Options) -> list[CellAgreement]:
    """Compare all cells of the fifteen experiments with the authors' data, by the released code's protocol."""
    options = dataclasses.replace(options, protocol="authors")
    agreements: list[CellAgreement] = []
    for name, declared in SWEEPS.items():
        agreements += compared(name, theirs(name, options), means(declared, declared.settings, COMPARED, options))
    return agreements


def table_of_means(computed: Computed) -> str:
    """Return means and intervals as CSV, beside the authors' if they are known."""
    rows = [[*key, *_numbers(mean), *_numbers(computed.theirs.get(key))] for key, mean in computed.ours.items()]
    return _csv([*COLUMNS, "metric", *NUMBERS, *(f"authors_{name}" for name in NUMBERS)], rows)


def table_of_comparisons(agreements: Iterable[CellAgreement]) -> str:
    """Return every comparison as CSV."""
    names = [f"{side}_{name}" for side in ("authors", "here") for name in NUMBERS]
    rows = [
        [entry.experiment, entry.cell, entry.metric, *numbers, entry.overlaps, entry.equal, entry.reason]
        for entry in agreements
        for numbers in [_numbers(entry.theirs) + _numbers(entry.ours)]
    ]
    return _csv(["experiment", "cell", "metric", *names, "overlap", "equal", "reason"], rows)


def _csv(headings: list[str], rows: Iterable[list[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([headings, *rows])
    return text.getvalue()


def _numbers(mean: SeedMean | None) -> tuple[str, ...]:
    return ("", "", "") if mean is None else tuple(f"{getattr(mean, name):.6g}" for name in NUMBERS)


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


Panel = tuple[str, tuple[Setting, ...], tuple[str, ...]]  # its title, and the settings and metrics that it shows


def guardians_figure(figure: PaperFigure, parts: Sequence[Shown]) -> Figure:
    """Draw a figure of 003 in the paper's layout."""
    if parts[0].part.kind == "map":
        return _maps(figure, parts[0])
    panels = [(shown, panel) for shown in parts for panel in _panels(shown)]
    part, n_columns = parts[0].part, min(len(panels), PANELS_PER_ROW)
    if len(parts) == 1 and part.rows:
        n_columns = len(_values(parts[0], part.columns)) if part.columns else 1
    n_rows = math.ceil(len(panels) / n_columns)
    drawing = _figure(max(3.1 * n_columns, 4.6), 2.5 * n_rows + 0.9)
    grid = drawing.subplots(n_rows, n_columns, squeeze=False, sharey=True)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, (axes, (shown, (title, *panel))) in enumerate(zip(grid.ravel(), panels, strict=False)):
        draw: Callable[..., None] = _bars if shown.part.kind == "bars" else _lines
        draw(axes, shown, *panel)
        axes.set_title(title, fontsize=9)
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
                titles += [_label_of_value(name, value)] if name else []
            yield part.title or ", ".join(titles), chosen, metrics


def _label_of_value(name: str, value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    for code, noise in (("E10", "uniform"), ("E9", "Gaussian")):
        text = text.replace(f"{TIMES}{code}", f", {noise} ").strip()
    return f"{name} = {text}" if name in ("d", "m", "r", "n") else NAMES.get(text, text)


def _series(
    shown: Shown, settings: Sequence[Setting], metrics: Sequence[str]
) -> Iterator[tuple[str, int, list[tuple[Any, Key]]]]:
    """Yield colour, style and points (x and key) of every line in a panel."""
    part = shown.part
    styles = _values(shown, part.style) if part.style else [None]
    groups = _values(shown, part.colour)
    for metric in metrics:
        for group in [metric] if part.colour == "metric" else groups:
            colour = (
                COLOUR_OF_METRIC[metric] if part.colour == "metric" else COLOURS[groups.index(group) % len(COLOURS)]
            )
            for k, style in enumerate(styles):
                points = [
                    (value_of(setting, part.x), (*setting.key, metric))
                    for setting in settings
                    if (part.colour == "metric" or value_of(setting, part.colour) == group)
                    and (style is None or value_of(setting, part.style) == style)
                ]
                if points:
                    yield colour, k, sorted(points, key=lambda point: point[0])


def _lines(axes: Axes, shown: Shown, settings: Sequence[Setting], metrics: Sequence[str]) -> None:
    for colour, k, points in _series(shown, settings, metrics):
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


def _bars(axes: Axes, shown: Shown, settings: Sequence[Setting], metrics: Sequence[str]) -> None:
    places = [value_of(setting, shown.part.x) for setting in settings]
    width = 0.82 / len(metrics)
    for k, metric in enumerate(metrics):
        for place, setting in enumerate(settings):
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
        colours = {_label_of_value(part.colour, group): COLOURS[k % len(COLOURS)] for k, group in enumerate(groups)}
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


def _maps(figure: PaperFigure, shown: Shown) -> Figure:
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
                mean = means.get((*setting.key, metric))
                if mean is not None:
                    values[ys.index(value_of(setting, part.y)), xs.index(value_of(setting, part.x))] = mean.mean
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
