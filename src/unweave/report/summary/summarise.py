"""The function that summarises an Evaluation as plain data. All pages are rendered from this summary."""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean, stdev
from typing import Any

from unweave.codec import plain_data
from unweave.evaluation import Evaluation, Row
from unweave.report.answer.compared_answer import compared_by
from unweave.report.answer.grouping import by_question
from unweave.report.answer.levels import rank_of
from unweave.report.answer.plain import plain_answer
from unweave.report.answer.screening import code_lists
from unweave.report.citing.methods_text import bibtex, methods_paragraph
from unweave.report.latex import latex_rows
from unweave.report.summary.advice import grouped_reasons, headline, next_steps
from unweave.report.summary.diagnosis_summary import diagnosis_summary
from unweave.report.summary.factor_bars import factor_charts
from unweave.report.summary.matrix_summary import matrix_summaries
from unweave.report.summary.page_limits import FULL, Detail
from unweave.report.summary.trust_fields import comparison_fields, floor_fields, interval_fields, verdict_fields
from unweave.score import Score
from unweave.words.phrases import counted, listed

SCHEMA = "unweave.report/1"


def summarise(evaluation: Evaluation, detail: Detail = FULL) -> dict[str, Any]:
    """Return the data of a report, which can be written as strict JSON.

    None stands for values that are undefined or were not computed.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> summary = summarise(unweave.evaluate(factors, factors, metrics=["mcc"], quick=True))
    >>> summary["schema"], round(summary["metrics"][0]["cells"][0]["value"], 6)
    ('unweave.report/1', 1.0)
    """
    data, names = evaluation.data, evaluation.representations
    metrics = [_metric(evaluation, label) for label in evaluation.labels]
    matrices = [matrix_summaries(evaluation, name, detail) for name in names]
    factors = [factor["name"] for factor in data["factors"]]
    charts = [chart for metric in metrics for chart in factor_charts(metric, factors, detail)]
    n_charts = detail.charts * len(names)
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "title": _title(evaluation),
        "subtitle": _subtitle(evaluation),
        "answer": plain_answer(evaluation),
        "screening": code_lists(evaluation),
        "questions": [
            {"name": question.name, "text": question.text, "metrics": labels}
            for question, labels in by_question(evaluation).items()
        ],
        "pairs": data.get("matched_pairs", {}),
        "rankings": _rankings(evaluation) if len(names) > 1 else {},
        "headline": headline(metrics),
        "data": {
            "n_rows": data["n_rows"],
            "n_dropped": data["n_dropped"],
            "factors": data["factors"],
            "representations": [
                {"name": name, "n_codes": entry["n_codes"], "fingerprint": entry["fingerprint"]}
                for name, entry in data["representations"].items()
            ],
            "versions": data["versions"],
        },
        "counts": _level_counts(metrics),
        "metrics": metrics,
        "reasons": grouped_reasons(metrics, len(names)),
        "notes": [{"sentence": sentence, "metrics": list(labels)} for sentence, labels in evaluation.notes.items()],
        "matrices": [matrix for shown, _ in matrices for matrix in shown],
        "matrices_left_out": sum(n_left_out for _, n_left_out in matrices),
        "charts": charts[:n_charts],
        "charts_left_out": len(charts[n_charts:]),
        "diagnosis": [diagnosis_summary(evaluation, name, detail) for name in names],
        "next_steps": next_steps(metrics, len(names)),
    }
    summary["writing"] = {
        "methods": methods_paragraph(summary),
        "latex": latex_rows(summary),
        "bibtex": bibtex(summary),
    }
    return plain_data(summary)


def _rankings(evaluation: Evaluation) -> dict[str, Any]:
    """Return the representations ranked by each metric."""
    return {
        label: compared_by(label, question, evaluation)
        for question, labels in by_question(evaluation).items()
        for label in labels
    }


def _metric(evaluation: Evaluation, label: str) -> dict[str, Any]:
    rows = [row for row in evaluation.rows if row.label == label]
    card = rows[0].card
    score = next((row.score for row in rows if row.score), None)
    cells = [
        _cell(evaluation, name, [row for row in rows if row.representation == name])
        for name in evaluation.representations
        if any(row.representation == name for row in rows)
    ]
    groups = comparison_fields(evaluation).get(label, {"groups": [], "sentence": ""})
    for cell in cells:
        cell["groups"] = [k for k, group in enumerate(groups["groups"]) if cell["representation"] in group]
    return {
        "label": label,
        "metric": rows[0].metric,
        "version": score.version if score else None,
        "summary": card.summary,
        "measures": rows[0].measures,
        "reference": card.reference,
        "bounds": [end if math.isfinite(end) else None for end in card.bounds],
        "best": card.best if math.isfinite(card.best) else None,
        "lower_is_better": card.lower_is_better,
        "settings": {name: option for name, option in (score.settings if score else {}).items() if name != "rng"},
        "cells": cells,
        "domain": _domain(cells, card.bounds),
        "comparison": groups["sentence"],
    }


def _cell(evaluation: Evaluation, representation: str, rows: list[Row]) -> dict[str, Any]:
    """Return the scores of one metric on one representation: the mean over seeds, with floor, interval and verdict."""
    scores = [row.score for row in rows if row.score]
    return {
        "representation": representation,
        **_over_seeds(scores),
        "seeds": [row.seed for row in rows if row.seed is not None],
        "problem": next((str(row.problem) for row in rows if row.problem), None),
        "caveats": list(dict.fromkeys(str(caveat) for score in scores for caveat in score.caveats)),
        "chance": next((row.chance for row in rows if row.chance is not None), None),
        **_trust(evaluation, rows),
        "per_factor": _means_per_factor([score.per_factor for score in scores]),
        "seconds": sum(row.seconds for row in rows),
    }


def _over_seeds(scores: list[Score]) -> dict[str, float | None]:
    """Return the mean and the standard deviation over seeds; None if the score is undefined for any seed."""
    values = [score.value for score in scores]
    if not values or any(map(math.isnan, values)):
        return {"value": None, "raw": None, "spread": None}
    spread = stdev(values) if len(values) > 1 else None
    return {"value": fmean(values), "raw": fmean(score.raw for score in scores), "spread": spread}


def _trust(evaluation: Evaluation, rows: list[Row]) -> dict[str, Any]:
    """Return the floor and the interval of the first seed that has them, and the worst verdict of all seeds."""
    floor = next(filter(None, map(floor_fields, rows)), None)
    verdicts = [verdict for row in rows if (verdict := verdict_fields(row, evaluation))]
    return {
        "floor": floor,
        "interval": next(filter(None, map(interval_fields, rows)), None),
        "calibrated": floor["calibrated"] if floor else None,
        "verdict": max(verdicts, key=lambda verdict: rank_of(verdict["level"])) if verdicts else None,
    }


def _means_per_factor(parts: list[dict[str, float]]) -> dict[str, float]:
    return {name: fmean(part.get(name, math.nan) for part in parts) for name in (parts[0] if parts else {})}


def _domain(cells: list[dict[str, Any]], bounds: tuple[float, float]) -> list[float]:
    """Return the ends of the axis for a metric.

    They are the bounds of the metric. An infinite bound is replaced by the smallest or largest value shown, or by 0.
    """
    seen: list[float | None] = [0.0]
    for cell in cells:
        bands = [cell["floor"] or {}, cell["interval"] or {}]
        seen += [cell["value"], *(band.get(end) for band in bands for end in ("low", "high"))]
        seen += [value for value in cell["per_factor"].values() if math.isfinite(value)]
    finite = [value for value in seen if value is not None and math.isfinite(value)]
    low = bounds[0] if math.isfinite(bounds[0]) else min(finite)
    high = bounds[1] if math.isfinite(bounds[1]) else max(finite)
    return [low, high if high > low else low + 1.0]


def _level_counts(metrics: list[dict[str, Any]]) -> dict[str, int]:
    levels = Counter(cell["verdict"]["level"] for metric in metrics for cell in metric["cells"] if cell["verdict"])
    known = ("trust", "no verdict", "caution", "do not use")
    return {level: levels[level] for level in sorted({*known, *levels}, key=rank_of)}


def _title(evaluation: Evaluation) -> str:
    names = evaluation.representations
    if len(names) > 1:
        return f"{listed(list(names), at_most=4)} compared"
    if not evaluation.data["n_rows"]:
        return "How the decoder uses its latents"
    return "What the codes contain" if names == ("codes",) else f"What {names[0]} contains"


def _subtitle(evaluation: Evaluation) -> str:
    data = evaluation.data
    if not data["n_rows"]:
        return "A decoder alone, without factors and codes."
    sizes = [entry["n_codes"] for entry in data["representations"].values()]
    codes = counted(sizes[0], "code") if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,} codes"
    dropped = f"; {counted(data['n_dropped'], 'row')} with missing values dropped" if data["n_dropped"] else ""
    factors = f"{counted(len(data['factors']), 'factor')} and " if data["factors"] else ""
    return f"{factors}{codes} on {counted(data['n_rows'], 'row')}{dropped}."
