"""Figures of scores and audits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from unweave.auditing import Audit
from unweave.auditing.measurement import PROPERTIES, Property
from unweave.auditing.properties import LOSSY_SHARE, PARTLY, SATISFIED, CurvePoint
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import best_matching
from unweave.evaluation import Evaluation, Row
from unweave.evidence import Evidence, FactorKind
from unweave.report.answer import layers
from unweave.report.figures.codes import Pair, factor_bars_figure, matched_pairs_figure, matrix_figure
from unweave.report.figures.geometry import FAINT, INK, blank_figure, colour_of, quiet
from unweave.sentences import texts
from unweave.trust.verdict_record import Level

Ends = tuple[float, float]


@dataclass(frozen=True)
class Dot:
    """A score with its noise floor, interval, verdict and letters. Unknown values are nan or None.

    >>> Dot("mcc", 0.9, floor=0.1, level=Level.TRUST).interval is None
    True
    """

    name: str
    value: float
    floor: float = np.nan
    interval: Ends | None = None
    level: Level | None = None
    letters: str = ""


def scores_figure(dots: Sequence[Dot], label: str = "score") -> Figure:
    """Return one row per score, with its interval in the colour of the verdict, and its noise floor in grey.

    >>> scores_figure([Dot("mcc", 0.9, 0.1, (0.8, 1.0), Level.TRUST)]).axes[0].get_yticklabels()[0].get_text()
    'mcc'
    """
    figure, axes = blank_figure(6.4, 1.0 + 0.26 * max(len(dots), 2))
    for place, dot in enumerate(dots):
        colour = (dot.level and dot.level.colour) or colour_of(0)
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
    for level in Level:
        if level.colour and any(dot.level is level for dot in dots):
            axes.plot([], [], marker="o", linestyle="", markersize=5, color=level.colour, label=level)
    if any(not np.isnan(dot.floor) for dot in dots):
        axes.plot([], [], color=FAINT, linewidth=6, label="noise")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=7, ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0))
    return figure


def verdicts_figure(levels: Mapping[str, Mapping[str, Level | None]]) -> Figure:
    """Return a table with metrics as columns and representations as rows; cells have the colour of the verdict.

    >>> figure = verdicts_figure({"codes": {"mcc": Level.TRUST, "mig": Level.CAUTION}})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['✓', '!']
    """
    names = list(dict.fromkeys(name for row in levels.values() for name in row))
    figure, axes = blank_figure(1.6 + 0.42 * len(names), 1.1 + 0.3 * len(levels))
    for row, of_row in enumerate(levels.values()):
        for column, name in enumerate(names):
            level = of_row.get(name)
            axes.barh(row, 0.92, height=0.86, left=column - 0.46, color=(level and level.colour) or FAINT)
            axes.text(column, row, level.sign if level else "", ha="center", va="center", color="white", fontsize=9)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="left", fontsize=8)
    axes.set_yticks(range(len(levels)), list(levels), fontsize=8)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.xaxis.tick_top()
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


MOST_CLASSES = 12


def evaluation_plot(
    evaluation: Evaluation,
    kind: str | None = None,
    metric: str | None = None,
    representation: str | None = None,
    rung: str = "direction",
    factors: Any = None,
    codes: Any = None,
) -> Figure:
    """Return the figure of the given kind; see `Evaluation.plot`.

    >>> import unweave
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> figure = evaluation_plot(unweave.evaluate(z, z, metrics=["mcc"], quick=True), "matrix")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['factor 0', 'factor 1']
    """
    several = len(evaluation.representations) > 1
    kind = kind or ("comparison" if several else "scores")
    if kind not in KINDS:
        raise InputError(f"There is no plot of kind {kind!r}: choose one of {', '.join(KINDS)}.")
    if kind == "pairs":
        return _pairs(evaluation, factors, codes)
    if kind == "layers":
        return layers_figure(evaluation, rung)
    name = representation or evaluation.representations[0]
    if name not in evaluation.representations:
        raise OptionError(f"There is no representation {name!r}: there are {', '.join(evaluation.representations)}.")
    return KINDS[kind](evaluation, metric, name)


def _dot(row: Row, name: str) -> Dot:
    value = math.nan if row.score is None else row.score.value
    floor = row.noise_floor.floor if row.noise_floor and row.noise_floor.defined else math.nan
    interval = row.interval.clipped if row.interval and row.interval.defined else None
    return Dot(name, value, floor, interval, row.level if row.verdict else None)


def _scores(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    rows = [row for row in _rows(evaluation, metric, representation) if row.score is not None]
    within = [row for row in rows if row.card.bounds == (0.0, 1.0)]  # scores with other bounds cannot share the axis
    return scores_figure([_dot(row, row.label) for row in within or rows])


def _comparison(evaluation: Evaluation, metric: str | None, _: str) -> Figure:
    """Rank the representations by one metric; those that share a letter do not differ significantly."""
    label = metric or evaluation.labels[0]
    rows = [row for name in evaluation.representations if (row := evaluation.row(label, name)) is not None]
    if not rows:
        raise InputError(f"There is no score of {label!r}: there are {', '.join(evaluation.labels)}.")
    letters = comparison.letters if (comparison := evaluation.data.comparison.get(label)) else {}
    down = rows[0].card.lower_is_better
    dots = [replace(_dot(row, row.representation), letters=letters.get(row.representation, "")) for row in rows]
    dots.sort(key=lambda dot: math.inf if math.isnan(dot.value) else dot.value if down else -dot.value)
    return scores_figure(dots, label)


def _verdicts(evaluation: Evaluation, _: str | None, __: str) -> Figure:
    if all(row.verdict is None for row in evaluation.rows):
        raise InputError("There are no verdicts: evaluate without quick=True.")
    return verdicts_figure(
        {
            name: {
                row.label: row.level if row.verdict else None for row in evaluation.rows if row.representation == name
            }
            for name in evaluation.representations
        }
    )


def layers_figure(evaluation: Evaluation, rung: str = "direction") -> Figure:
    """Return a curve for every factor over the representations in their order, with intervals and the noise of all."""
    found = layers(evaluation, rung)
    if found is None:
        raise InputError("There is no ladder of these representations: compare them with the panel or identification.")
    figure, axes = blank_figure(max(4.5, 1.8 + 0.5 * len(found.representations)), 3.2)
    places = np.arange(len(found.representations))
    for k, (factor, cells) in enumerate(found.cells.items()):
        low, value, high = (
            [math.nan if (each := getattr(cell, name)) is None else each for cell in cells]
            for name in ("low", "value", "high")
        )
        axes.plot(places, value, marker="o", markersize=3.5, linewidth=1.5, color=colour_of(k), label=factor)
        axes.fill_between(places, low, high, color=colour_of(k), alpha=0.15, linewidth=0)
    axes.axhspan(0, found.noise, color=FAINT, zorder=0, label="noise")
    axes.set_xticks(places, found.representations, rotation=45 if len(places) > 6 else 0, fontsize=8)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel(f"recovery: {rung.replace('_', ' ')}", fontsize=9)
    quiet(axes)
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _matrix(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    factors, codes = evaluation.factor_units, evaluation.data.representations[representation].unit_names
    for row in _rows(evaluation, metric, representation):
        for shown in row.score.matrices if row.score else ():
            matrix = np.asarray(row.score.parts[shown.part]) if row.score else np.empty((0, 0))
            if shown.columns == "factors" and matrix.shape == (len(codes), len(factors)):
                return matrix_figure(matrix, codes, factors, shown.meaning)
    raise InputError("No score has a matrix of codes by factors: evaluate mcc, mig or dci_disentanglement.")


def _factors(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    for row in _rows(evaluation, metric, representation):
        if row.score is not None and row.score.per_factor:
            floor, interval = row.noise_floor, row.interval
            means = floor.per_factor_floor if floor else {}
            noise = {name: (min(mean, floor.per_factor_upper[name]), max(mean, floor.per_factor_upper[name]))
                     for name, mean in means.items()} if floor else {}  # fmt: skip
            ends = getattr(interval, "per_factor", {}) or {}
            return factor_bars_figure(row.score.per_factor, noise, ends, row.label)
    raise InputError("No score has values per factor: evaluate mcc, mig or identification.")


def _pairs(evaluation: Evaluation, factors: Any, codes: Any) -> Figure:
    """Plot each factor against its code in the best one-to-one matching by absolute rank correlation."""
    if factors is None or codes is None:
        raise InputError("A plot of pairs needs the data, which an evaluation does not keep: pass factors and codes.")
    from unweave.estimators.correlation import Spearman
    from unweave.metrics.matrices import correlation_matrix

    kinds = {entry.name: entry.kind for entry in evaluation.data.factors}
    evidence = Evidence(factors, codes)
    matrix = np.nan_to_num(correlation_matrix(evidence, Spearman()))
    matched = {int(factor): int(code) for code, factor in zip(*best_matching(matrix), strict=True)}
    pairs = []
    for factor, code in sorted(matched.items()):
        name, levels = evidence.factor_names[factor], evidence.factor_levels[factor]
        values = evidence.factors[:, factor]
        found = np.unique(values)
        discrete = FactorKind(kinds.get(name, evidence.kinds[factor])).has_classes
        classes = tuple(f"{value:g}" if levels is None else str(levels[int(value)]) for value in found)
        classes = classes if discrete and len(found) <= MOST_CLASSES else ()
        pairs.append(Pair(name, evidence.code_names[code], values, evidence.codes[:, code], classes))
    return matched_pairs_figure(pairs)


def _rows(evaluation: Evaluation, metric: str | None, representation: str) -> list[Row]:
    labels = evaluation.labels if metric is None else [metric]
    rows = [row for label in labels if (row := evaluation.row(label, representation)) is not None]
    if not rows:
        raise InputError(f"There is no score of {metric!r}: there are {', '.join(evaluation.labels)}.")
    return rows


KINDS: dict[str, Callable[[Evaluation, str | None, str], Figure]] = {
    "scores": _scores,
    "matrix": _matrix,
    "factors": _factors,
    "pairs": _scores,  # not called, like layers: evaluation_plot handles these itself
    "layers": _scores,
    "verdicts": _verdicts,
    "comparison": _comparison,
}


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
        raise InputError(f"This audit cannot be drawn: {audit.refusal}")
    figure = Figure(figsize=(11.0, 8.8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{audit.metric}   {'  '.join(audit.ticks)}", fontsize=13)
    for axes, name in zip(figure.subplots(2, 2).ravel(), PROPERTIES, strict=True):
        result = audit[name]
        points = [point for point in audit.curves if point.name == name]
        sizes = sorted({point.n_factors for point in points})
        places = {x: float(place) for place, x in enumerate(sorted({point.x for point in points}))}
        handles, names, reach = _curves(axes, name, points, sizes, places)
        if len(sizes) > 1:
            handles += [Line2D([], [], color=INK, linestyle=style) for _, style in zip(sizes, DASHES, strict=False)]
            names += [f"d = {size}" for size in sizes]
        _limits(axes, name, points, sizes)
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
        small = {"fontsize": 7, "frameon": False, "handlelength": 1.8}
        axes.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, **small)
        axes.set_title(f"{name} {result.verdict}", loc="left", fontsize=10.5, color=VERDICT_COLOURS[result.verdict])
        axes.set_title(texts("asks")[name], loc="right", fontsize=8, color=INK)
    return figure


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
            relative = name in RELATIVE
            means = [point.change if relative else point.mean for point in curve]
            around = [point.change_interval if relative else point.interval for point in curve]
            low, high = [bounds[0] for bounds in around], [bounds[1] for bounds in around]
            axes.plot(xs, means, color=colour, linestyle=style, marker="o", markersize=3.5, linewidth=1.5)
            axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
            reach += [bound for bound in (*means, *low, *high) if math.isfinite(bound)]
            starts += [f"{curve[0].mean:.2f}".lstrip("0")] if curve else []
        handles.append(Line2D([], [], color=colour, marker="o", markersize=4))
        names.append(SERIES.get(label, label) + (f" ({', '.join(starts)})" if name in RELATIVE else ""))
    return handles, names, reach


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
