"""The figures of `Evaluation.plot`. The functions convert the rows to the plain data that the figures need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unweave.estimators.matching import best_matching
from unweave.evaluation import Evaluation, Row
from unweave.evidence import Evidence, EvidenceError, FactorKind
from unweave.report.figures.codes_and_factors import Pair, factor_bars_figure, matched_pairs_figure, matrix_figure
from unweave.report.figures.scores import Dot, scores_figure, verdicts_figure

MOST_CLASSES = 12


def evaluation_plot(
    evaluation: Evaluation,
    kind: str | None = None,
    metric: str | None = None,
    representation: str | None = None,
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
        raise EvidenceError(f"There is no plot of kind {kind!r}: choose one of {', '.join(KINDS)}.")
    if kind == "pairs":
        return _pairs(evaluation, factors, codes)
    name = representation or evaluation.representations[0]
    if name not in evaluation.representations:
        raise EvidenceError(f"There is no representation {name!r}: there are {', '.join(evaluation.representations)}.")
    return KINDS[kind](evaluation, metric, name)


def _dot(row: Row, name: str) -> Dot:
    value = math.nan if row.score is None else row.score.value
    floor = row.noise_floor.floor if row.noise_floor and row.noise_floor.defined else math.nan
    interval = row.interval.clipped if row.interval and row.interval.defined else None
    return Dot(name, value, floor, interval, row.verdict.level if row.verdict else None)


def _scores(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    rows = [row for row in _rows(evaluation, metric, representation) if row.score is not None]
    within = [row for row in rows if row.card.bounds == (0.0, 1.0)]  # scores with other bounds cannot share the axis
    return scores_figure([_dot(row, row.label) for row in within or rows])


def _comparison(evaluation: Evaluation, metric: str | None, _: str) -> Figure:
    """Rank the representations by one metric; those that share a letter do not differ significantly."""
    label = metric or evaluation.labels[0]
    rows = [row for name in evaluation.representations if (row := evaluation.row(label, name)) is not None]
    if not rows:
        raise EvidenceError(f"There is no score of {label!r}: there are {', '.join(evaluation.labels)}.")
    letters = evaluation.data.get("comparison", {}).get(label, {}).get("letters", {})
    down = rows[0].card.lower_is_better
    dots = [_with_letters(_dot(row, row.representation), letters.get(row.representation, "")) for row in rows]
    dots.sort(key=lambda dot: math.inf if math.isnan(dot.value) else dot.value if down else -dot.value)
    return scores_figure(dots, label)


def _with_letters(dot: Dot, letters: str) -> Dot:
    return Dot(dot.name, dot.value, dot.floor, dot.interval, dot.level, letters)


def _verdicts(evaluation: Evaluation, _: str | None, __: str) -> Figure:
    if all(row.verdict is None for row in evaluation.rows):
        raise EvidenceError("There are no verdicts: evaluate without quick=True.")
    return verdicts_figure(
        {
            name: {
                row.label: row.verdict.level if row.verdict else None
                for row in evaluation.rows
                if row.representation == name
            }
            for name in evaluation.representations
        }
    )


def _matrix(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    factors = [factor["name"] for factor in evaluation.data["factors"]]
    codes = evaluation.data["representations"][representation]["code_names"]
    for row in _rows(evaluation, metric, representation):
        for shown in row.score.matrices if row.score else ():
            matrix = np.asarray(row.score.parts[shown.part]) if row.score else np.empty((0, 0))
            if shown.columns == "factors" and matrix.shape == (len(codes), len(factors)):
                return matrix_figure(matrix, codes, factors, shown.meaning)
    raise EvidenceError("No score has a matrix of codes by factors: evaluate mcc, mig or dci_disentanglement.")


def _factors(evaluation: Evaluation, metric: str | None, representation: str) -> Figure:
    for row in _rows(evaluation, metric, representation):
        if row.score is not None and row.score.per_factor:
            floor, interval = row.noise_floor, row.interval
            means = floor.per_factor_floor if floor else {}
            noise = {name: (min(mean, floor.per_factor_upper[name]), max(mean, floor.per_factor_upper[name]))
                     for name, mean in means.items()} if floor else {}  # fmt: skip
            ends = getattr(interval, "per_factor", {}) or {}
            return factor_bars_figure(row.score.per_factor, noise, ends, row.label)
    raise EvidenceError("No score has values per factor: evaluate mcc, mig or identification.")


def _pairs(evaluation: Evaluation, factors: Any, codes: Any) -> Figure:
    """Plot each factor against its code in the best one-to-one matching by absolute rank correlation."""
    if factors is None or codes is None:
        raise EvidenceError(
            "A plot of pairs needs the data, which an evaluation does not keep: pass factors and codes."
        )
    from unweave.estimators.dependence.correlation import Spearman
    from unweave.metrics.matrices import correlation_matrix

    kinds = {entry["name"]: entry["kind"] for entry in evaluation.data["factors"]}
    evidence = Evidence(factors, codes)
    matrix = np.nan_to_num(correlation_matrix(evidence, Spearman()))
    matched = {int(factor): int(code) for code, factor in zip(*best_matching(matrix), strict=True)}
    pairs = []
    for factor, code in sorted(matched.items()):
        name, levels = evidence.factor_names[factor], evidence.factor_levels[factor]
        values = evidence.factors[:, factor]
        found = np.unique(values)
        discrete = kinds.get(name, evidence.kinds[factor]) in (FactorKind.CATEGORICAL, FactorKind.ORDINAL)
        classes = (
            tuple(_level_name(levels, value) for value in found) if discrete and len(found) <= MOST_CLASSES else ()
        )
        pairs.append(Pair(name, evidence.code_names[code], values, evidence.codes[:, code], classes))
    return matched_pairs_figure(pairs)


def _level_name(levels: Any, value: float) -> str:
    return str(levels[int(value)]) if levels is not None else f"{value:g}"


def _rows(evaluation: Evaluation, metric: str | None, representation: str) -> list[Row]:
    labels = evaluation.labels if metric is None else [metric]
    rows = [row for label in labels if (row := evaluation.row(label, representation)) is not None]
    if not rows:
        raise EvidenceError(f"There is no score of {metric!r}: there are {', '.join(evaluation.labels)}.")
    return rows


KINDS: dict[str, Callable[[Evaluation, str | None, str], Figure]] = {
    "scores": _scores,
    "matrix": _matrix,
    "factors": _factors,
    "pairs": _scores,  # not called: evaluation_plot handles pairs itself, because they need the data
    "verdicts": _verdicts,
    "comparison": _comparison,
}
