"""Summary of an evaluation as plain data, which all pages show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.codec import plain_data
from unweave.evaluation import Evaluation, Row
from unweave.evaluation.environments import Environments
from unweave.report.answer import (
    ANSWER_SCHEMA,
    MOST_LATENTS,
    Answer,
    ComparedAnswer,
    by_question,
    code_lists,
    compared_by,
    fitting_advice,
    narrow_intervals,
    noise_sentence,
    none_if_nan,
    settings_tested,
    shared_reasons,
    signed,
    sizes_in_words,
    whole_answer,
)
from unweave.report.cite import bibtex, methods_paragraph
from unweave.report.latex import latex_rows
from unweave.score import Score, ShownMatrix
from unweave.sentences import brief, counted, fixed, listed, say
from unweave.trust.comparison import Comparison
from unweave.trust.verdict_record import SECTIONS, Level


def trusted_scores(metrics: list[dict[str, Any]]) -> str:
    """Return one or two sentences that say how many scores can be trusted."""
    cells = [cell for metric in metrics for cell in metric["cells"]]
    judged = [cell["verdict"]["level"] for cell in cells if cell["verdict"]]
    failed = sum(cell["value"] is None for cell in cells)
    missing = f" {counted(failed, 'score')} could not be computed." if failed else ""
    if not judged:
        return f"{counted(len(cells), 'score')}, without verdicts: these are bare scores.{missing}"
    if set(judged) == {Level.TRUST}:
        all_scores = "The score" if len(judged) == 1 else f"All {len(judged)} scores"
        return f"{all_scores} can be trusted on these data.{missing}"
    said = [
        f"{judged.count(level) or 'none'} {level.words}"
        for level in Level
        if level in judged or (level is Level.TRUST and Level.NOISE not in judged)
    ]
    return f"Of {counted(len(judged), 'score')}, {listed(said)}.{missing}"


@dataclass(frozen=True)
class Detail:
    """Limits above which a matrix is drawn as an image of blocks and a chart shows only some of the factors.

    Attributes
    ----------
    table_cells, table_columns : int
        A matrix up to this size is shown as a table of numbers.
    picture_rows, picture_columns : int
        A larger matrix is shown as an image with at most this number of blocks.
    bars : int
        Largest number of bars in a chart.
    charts, matrices, links : int
        Largest number of charts and matrices per representation, and of strongest pairs listed with an image.
    """

    table_cells: int = 600
    table_columns: int = 24
    picture_rows: int = 120
    picture_columns: int = 100
    bars: int = 24
    charts: int = 40
    matrices: int = 24
    links: int = 12


FULL = Detail()

COMPACT = Detail(table_cells=200, picture_rows=60, picture_columns=50, bars=10, links=6)

COARSE = Detail(table_cells=60, picture_rows=40, picture_columns=30, bars=6, charts=6, matrices=4, links=3)

EVER_LESS = (FULL, COMPACT, COARSE)


BAND = (0.05, 0.95)


def floor_fields(row: Row) -> dict[str, Any] | None:
    """Return the mean and the 5 % and 95 % quantiles of the null scores, with p-value, kind and number of draws."""
    floor = row.noise_floor
    if floor is None or not floor.defined:
        return None
    draws = [draw for draw in floor.draws if not math.isnan(draw)]
    bounds = (-math.inf, math.inf) if row.score is None else row.score.bounds
    low, high = np.quantile(np.clip(draws, *bounds), BAND)
    return {
        "mean": floor.floor,
        "low": float(low),
        "high": float(high),
        "p_value": none_if_nan(floor.p_value),
        "resolution": none_if_nan(floor.resolution),
        "calibrated": none_if_nan(floor.calibrated),
        "kind": floor.kind,
        "n_draws": len(draws),
        "note": " ".join(map(str, floor.notes)),
        # the mean and the ends of the band; if lower scores are better, the band lies below the mean
        "per_factor": {
            name: [mean, *sorted((mean, floor.per_factor_upper[name]))] for name, mean in floor.per_factor_floor.items()
        },
    }


def interval_fields(row: Row) -> dict[str, Any] | None:
    """Return the ends, level and kind of the interval over samples."""
    interval = row.interval
    if interval is None or row.ends is None:
        return None
    low, high = row.ends
    return {
        "low": low,
        "high": high,
        "level": interval.level,
        "kind": "subsampling",
        "note": " ".join(map(str, interval.notes)),
        "per_factor": {name: list(ends) for name, ends in interval.per_factor.items()},
    }


def verdict_fields(row: Row, evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the level of the verdict and its reasons, each with the measured quantity and the advice.

    At noise level, this is the only reason, and nothing is advised.
    """
    if row.verdict is None:
        return None
    if row.level is Level.NOISE and row.noise_floor is not None:
        floor = row.noise_floor
        known = {"quantity": "noise floor", "measured": none_if_nan(floor.floor), "section": SECTIONS["P4"], "how": ""}
        return {"level": row.level, "reasons": [{"sentence": noise_sentence(row), **known, "instead": ""}]}
    reasons = [
        {
            "sentence": reason.sentence,
            "quantity": reason.quantity,
            "measured": none_if_nan(reason.measured),
            "section": reason.section,
            "how": reason.how,
            "instead": fitting_advice(reason, evaluation, row.representation),
        }
        for reason in row.verdict.reasons
    ]
    return {"level": row.level, "reasons": reasons if evaluation.data.factors else []}


# key, name, and whether the number is a share, which the page shows as a bar as well
FIGURES = (
    ("n_rows", "rows", False),
    ("n_factors", "factors", False),
    ("n_codes", "codes", False),
    ("rows_per_code", "rows per code", False),
    ("codes_per_factor", "codes per factor", False),
    ("effective_dimension", "independent factors", False),
    ("largest_correlation", "largest correlation of two factors", True),
    ("nuisance_share", "variance not explained by factors, mean over codes", True),
    ("dead_codes", "dead codes", False),
    ("duplicated_codes", "duplicated codes", False),
    ("heavy_tailed_codes", "codes with a kurtosis above 10", False),
)


def diagnosis_summary(evaluation: Evaluation, representation: str, detail: Detail) -> dict[str, Any]:
    """Return the diagnosis of one representation, or only the sizes of the data if they were not diagnosed."""
    data, diagnosis = evaluation.data, evaluation.data.diagnosis.get(representation)
    found = None if diagnosis is None else diagnosis.to_dict()
    n_codes = data.representations[representation].n_codes
    sizes = {
        "n_rows": data.n_rows,
        "n_factors": len(data.factors),
        "n_codes": n_codes,
        "rows_per_code": data.n_rows / n_codes if n_codes else None,
    }
    known = sizes if found is None else found | {"largest_correlation": found["max_correlation"]}
    constraints = [] if found is None else found["constraints"]
    figures = [
        {"key": key, "name": name, "value": value, "text": _text(key, value, known), "is_share": is_share}
        for key, name, is_share in FIGURES
        if (value := _figure(known.get(key))) is not None
    ]
    return {
        "representation": representation,
        "sentences": _sentences_of_sizes(sizes) if found is None else found["sentences"],
        "figures": figures,
        "constraints": [f"{each['determined']} is a function of {' and '.join(each['by'])}" for each in constraints],
        "charts": [] if found is None else _charts(found, detail),
        "looked": found is not None,
    }


def _figure(value: float | list[Any] | dict[str, Any] | None) -> float | None:
    """Return a number unchanged, and the length of a list or dictionary of names."""
    return len(value) if isinstance(value, (list, dict)) else value


def _text(key: str, value: float, known: dict[str, Any]) -> str:
    if key == "effective_dimension":
        return f"{value:g} of {known['n_factors']}"
    if key == "nuisance_share":
        return f"{100 * value:.0f} %"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else fixed(value, 2)


def _sentences_of_sizes(sizes: dict[str, Any]) -> list[str]:
    if not sizes["rows_per_code"]:
        return []
    per_code = f"{sizes['rows_per_code']:,.0f}" if sizes["rows_per_code"] >= 10 else f"{sizes['rows_per_code']:.1f}"
    return [
        f"There are {counted(sizes['n_rows'], 'row')}, {counted(sizes['n_codes'], 'code')} and "
        f"{counted(sizes['n_factors'], 'factor')}, which is {per_code} rows per code.",
        "The data were not diagnosed: evaluate without --quick to diagnose them.",
    ]


def _charts(found: dict[str, Any], detail: Detail) -> list[dict[str, Any]]:
    """Return charts of the strength of dependence of pairs of factors, and of the unexplained variance of each code."""
    pairs = {" and ".join(pair["factors"]): pair["strength"] for pair in found["dependent_pairs"]}
    charts = (
        _chart("Strength of dependence between factors", pairs, detail),
        _chart("Share of each code's variance not explained by factors", found["nuisance_per_code"], detail),
    )
    return [chart for chart in charts if chart]


def _chart(title: str, values: dict[str, float | None], detail: Detail) -> dict[str, Any] | None:
    known = sorted(((value, name) for name, value in values.items() if value is not None), reverse=True)
    if not known:
        return None
    shown = known[: detail.bars]
    sentence = f"Only the {len(shown)} largest of {len(known):,} values are shown." if len(shown) < len(known) else ""
    bars = [{"name": name, "value": value} for value, name in shown]
    return {"title": title, "bars": bars, "sentence": sentence}


def factor_charts(metric: dict[str, Any], factors: Sequence[str], detail: Detail) -> list[dict[str, Any]]:
    """Return one chart for each representation for which the metric has a score per factor.

    If there are many factors, the chart has only the highest and the lowest scores.
    """
    charts = []
    for cell in metric["cells"]:
        named = [name for name in factors if name in cell["per_factor"]]
        if not named or all(math.isnan(cell["per_factor"][name]) for name in named):
            continue
        shown, sentence = _shown(named, cell["per_factor"], detail.bars)
        if metric["metric"] == "identification":
            sentence = f"{say('beyond_luck')} {sentence}".rstrip()
        charts.append(
            {
                "label": metric["label"],
                "representation": cell["representation"],
                "measures": metric["measures"],
                "domain": metric["domain"],
                "lower_is_better": metric["lower_is_better"],
                "sentence": sentence,
                "bars": [_bar(name, cell, metric["lower_is_better"]) for name in shown],
            }
        )
    return charts


def _bar(factor: str, cell: dict[str, Any], lower_is_better: bool) -> dict[str, Any]:
    value = cell["per_factor"][factor]
    band = (cell["floor"] or {}).get("per_factor", {}).get(factor)
    ends = (cell["interval"] or {}).get("per_factor", {}).get(factor)
    within_noise = None
    if band and not math.isnan(value):
        edge = band[1] if lower_is_better else band[2]
        within_noise = None if edge is None else value >= edge if lower_is_better else value <= edge
    return {"factor": factor, "value": value, "floor": band, "interval": ends, "within_noise": within_noise}


def _shown(named: list[str], per_factor: dict[str, float], at_most: int) -> tuple[list[str], str]:
    if len(named) <= at_most:
        return named, ""
    order = sorted(
        (name for name in named if not math.isnan(per_factor[name])), key=lambda name: (per_factor[name], name)
    )
    half = at_most // 2
    lowest, highest = order[:half], order[max(half, len(order) - half) :]
    sentence = f"Only the {len(highest)} highest and {len(lowest)} lowest of {len(named):,} factors are shown."
    return [*reversed(highest), *reversed(lowest)], sentence


def matrix_summaries(evaluation: Evaluation, representation: str, detail: Detail) -> tuple[list[dict[str, Any]], int]:
    """Return the matrices of the scores of one representation, and the number of matrices that were left out."""
    factors, codes = evaluation.factor_units, evaluation.data.representations[representation].unit_names
    varying = _varying_factors(evaluation, representation, factors)
    first_seed = {row.label: row.seed for row in reversed(evaluation.rows)}
    met: list[tuple[ShownMatrix, FloatArray, list[str]]] = []
    for row in evaluation.rows:
        # if there are several seeds, the matrix of the first seed is shown
        if row.representation != representation or row.seed != first_seed[row.label] or not row.score:
            continue
        for shown in row.score.matrices:
            n_columns = len(codes) if shown.columns == "codes" else len(factors)
            matrix = _widened(np.asarray(row.score.parts[shown.part]), len(codes), n_columns, varying)
            if matrix is None:
                continue
            same = [entry for entry in met if entry[0] == shown and np.array_equal(entry[1], matrix, equal_nan=True)]
            if same:
                same[0][2].append(row.label)
            else:
                met.append((shown, matrix, [row.label]))
    summaries = [
        {
            "representation": representation,
            "metrics": labels,
            **summarised_matrix(shown, matrix, codes, codes if shown.columns == "codes" else factors, detail),
        }
        for shown, matrix, labels in met[: detail.matrices]
    ]
    return summaries, len(met) - len(summaries)


def summarised_matrix(
    shown: ShownMatrix, matrix: FloatArray, rows: Sequence[str], columns: Sequence[str], detail: Detail
) -> dict[str, Any]:
    """Return a small matrix as it is, and a large matrix as the maxima of its blocks with its strongest pairs."""
    is_table = matrix.size <= detail.table_cells and len(columns) <= detail.table_columns
    size, finite = np.abs(matrix), matrix[np.isfinite(matrix)]
    signed = bool(finite.size and finite.min() < 0)
    largest = float(np.abs(finite).max()) if finite.size else 1.0
    summary: dict[str, Any] = {
        "name": shown.part,
        "title": shown.part.removesuffix("_matrix").replace("_", " "),
        "meaning": shown.meaning,
        "columns": shown.columns,
        "n_rows": len(rows),
        "n_columns": len(columns),
        "signed": signed,
        "scale": [0.0, 1.0],  # all matrices share this scale, and larger values have the last colour
        "largest": largest,
        "as_table": is_table,
        "framed": shown.framed,
        "sentence": "",
        "strongest": [],
    }
    if is_table:
        return summary | {"row_names": list(rows), "column_names": list(columns), "values": matrix.tolist()}
    own = np.where(np.isfinite(size), size, -np.inf)
    order = np.lexsort((-own.max(axis=1), own.argmax(axis=1)))
    high, wide = -(-len(rows) // detail.picture_rows), -(-len(columns) // detail.picture_columns)
    largest_first = np.argsort(-own, axis=None, kind="stable")[: detail.links]
    strongest = [divmod(int(k), len(columns)) for k in largest_first if np.isfinite(own.flat[k])]
    return summary | {
        "values": _largest_of_blocks(size[order], high, wide).tolist(),
        "rows_per_block": high,
        "columns_per_block": wide,
        "sentence": _how_aggregated(len(rows), len(columns), high, wide, shown.columns, signed),
        "strongest": [{"row": rows[i], "column": columns[j], "value": float(matrix[i, j])} for i, j in strongest],
    }


def _how_aggregated(n_rows: int, n_columns: int, high: int, wide: int, kind: str, signed: bool) -> str:
    ordered = f"{n_rows:,} codes by {n_columns:,} {kind}, sorted by the {kind[:-1]} that they depend on most."
    if high * wide == 1:
        return ordered
    block = f"{counted(high, 'code')} by {counted(wide, kind[:-1])}"
    return f"{ordered} Each cell shows the largest {'absolute ' * signed}value of a block of {block}."


def _largest_of_blocks(matrix: FloatArray, high: int, wide: int) -> FloatArray:
    """Return the largest finite value of each block of ``high`` x ``wide`` cells, or nan if a block has none."""
    lowest = np.where(np.isfinite(matrix), matrix, -np.inf)
    starts = np.arange(0, matrix.shape[0], high), np.arange(0, matrix.shape[1], wide)
    blocks = np.maximum.reduceat(np.maximum.reduceat(lowest, starts[0], axis=0), starts[1], axis=1)
    return np.where(np.isfinite(blocks), blocks, np.nan)


def _varying_factors(evaluation: Evaluation, representation: str, factors: Sequence[str]) -> list[int]:
    """Return the indices of factors for which some score is defined, or of all factors if there are none."""
    scores = [row.score for row in evaluation.rows if row.representation == representation and row.score]
    per_factor = [score.per_factor for score in scores if score.per_factor]
    known = [j for j, name in enumerate(factors) if any(np.isfinite(part.get(name, np.nan)) for part in per_factor)]
    return known or list(range(len(factors)))


def _latent_pairs(evaluation: Evaluation, answer: Answer | ComparedAnswer) -> dict[str, Any] | None:
    """Return the information of pairs of the most important latents of a decoder without factors, if it is known."""
    scores = [row.score for row in evaluation.rows if row.metric == "manifold_mutual_information" and row.score]
    if isinstance(answer, ComparedAnswer) or answer.spectrum is None or not scores or len(answer.spectrum.latents) < 2:
        return None
    shown = answer.spectrum.latents[: FULL.table_columns]
    places, names = [row.place for row in shown], [row.latent for row in shown]
    matrix = np.asarray(scores[0].parts["matrix"])[np.ix_(places, places)]
    of_pairs = ShownMatrix("matrix", columns="codes", framed=False)
    summary = summarised_matrix(of_pairs, matrix, names, names, FULL)
    return summary | {"corner": "latent", "representation": answer.representation}


def _widened(matrix: FloatArray, n_codes: int, n_columns: int, varying: list[int]) -> FloatArray | None:
    """Return the matrix with ``n_columns`` columns, where columns of factors that the metric left out are nan.

    The result is None if the array is not a matrix of codes by factors or codes.
    """
    if not matrix.size or matrix.ndim != 2 or len(matrix) != n_codes:
        return None
    if matrix.shape[1] == n_columns:
        return matrix
    if matrix.shape[1] != len(varying):
        return None
    whole = np.full((n_codes, n_columns), np.nan)
    whole[:, varying] = matrix
    return whole


SCHEMA = "unweave.report/3"


def summarise(evaluation: Evaluation, detail: Detail = FULL) -> dict[str, Any]:
    """Return the data of a report, which can be written as strict JSON.

    None stands for values that are undefined or were not computed.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> summary = summarise(unweave.evaluate(factors, factors, metrics=["mcc"], quick=True))
    >>> summary["schema"], round(summary["metrics"][0]["cells"][0]["value"], 6)
    ('unweave.report/3', 1.0)
    """
    data, names, answer = evaluation.data, evaluation.representations, whole_answer(evaluation)
    metrics = [_metric(evaluation, label) for label in evaluation.labels]
    matrices = [matrix_summaries(evaluation, name, detail) for name in names]
    charts = [chart for metric in metrics for chart in factor_charts(metric, data.factor_names, detail)]
    n_charts = detail.charts * len(names)
    questions = by_question(evaluation)
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "title": _title(evaluation),
        "subtitle": _subtitle(evaluation),
        "answer": {"schema": ANSWER_SCHEMA, **plain_data(answer)},
        "tables": _tables(answer),
        "screening": code_lists(evaluation),
        "questions": [
            {"name": question.name, "text": question.text, "metrics": labels} for question, labels in questions.items()
        ],
        "pairs": data.matched_pairs,
        "drawn_codes": data.drawn_codes,
        "rankings": {
            label: compared_by(label, question, evaluation)
            for question, labels in questions.items()
            for label in labels
            if len(names) > 1
        },
        "trusted": _trusted(evaluation, metrics),
        "data": {
            "n_rows": data.n_rows,
            "n_dropped": data.n_dropped,
            "n_groups": data.n_groups,
            "factors": plain_data(data.factors),
            "representations": [
                {"name": name, "n_codes": entry.n_codes, "fingerprint": entry.fingerprint}
                for name, entry in data.representations.items()
            ],
            "versions": data.versions,
            "notes": list(map(str, data.notes)),
        },
        "counts": _level_counts(metrics) if data.factors else {},
        "metrics": metrics,
        "reasons": shared_reasons(evaluation, main_only=False),
        "notes": [{"sentence": sentence, "metrics": list(labels)} for sentence, labels in evaluation.notes.items()],
        "matrices": [matrix for shown, _ in matrices for matrix in shown],
        "matrices_left_out": sum(n_left_out for _, n_left_out in matrices),
        "charts": charts[:n_charts],
        "charts_left_out": len(charts[n_charts:]),
        "diagnosis": [diagnosis_summary(evaluation, name, detail) for name in names] if data.n_rows else [],
        "latent_pairs": _latent_pairs(evaluation, answer),
        "traversals": data.traversals.get(names[0], ()) if len(names) == 1 else (),
        "environments": [_environments(name, found) for name, found in data.environments.items()],
    }
    summary["writing"] = {
        "methods": methods_paragraph(summary),
        "latex": _latex(summary, answer),
        "bibtex": bibtex(summary),
    }
    return plain_data(summary)


def _trusted(evaluation: Evaluation, metrics: list[dict[str, Any]]) -> str:
    """How many scores can be trusted, and which intervals are too narrow."""
    if not evaluation.data.factors:
        return say("verdicts_need_factors")
    return f"{trusted_scores(metrics)} {narrow_intervals(evaluation)}".rstrip()


def _latex(summary: dict[str, Any], answer: Answer | ComparedAnswer) -> str:
    """The table of the settings if names differ by a seed alone, and otherwise a row for each representation."""
    settings = answer.settings if isinstance(answer, ComparedAnswer) else None
    return latex_rows(summary) if settings is None else settings.to_latex()


def _tables(answer: Answer | ComparedAnswer) -> dict[str, Any]:
    """Return what the page takes from the typed answer: tables, and the sentence with the parts of the ladder."""
    if isinstance(answer, ComparedAnswer):
        found = answer.settings
        tests = (
            {"tests": settings_tested(found, tuple(found.scores))} if found and any(found.differences.values()) else {}
        )
        return {"course": answer.course.on_the_way if answer.course else "", **tests}
    shown = [plain_data(row) | {"leaks": row.leaks} for row in answer.shown_factors]
    units = answer.spectrum and answer.spectrum.units
    of_units: dict[str, Any] = {"units": units and plain_data(units.table()), "effects": None}
    effects = answer.spectrum and answer.spectrum.effects
    if effects:
        largest = np.max(effects.size, axis=0)
        of_units["effects"] = [
            {
                "latent": latent,
                "cells": [
                    {"mean": signed(m), "size": brief(s), "share": m / (of or 1.0)}
                    for m, s, of in zip(mean, size, largest, strict=True)
                ],
            }
            for latent, mean, size in list(zip(effects.latents, effects.mean, effects.size, strict=True))[:MOST_LATENTS]
        ]
    return {"shown_factors": shown, "parts": answer.parts_sentence, **of_units}


def _metric(evaluation: Evaluation, label: str) -> dict[str, Any]:
    rows = [row for row in evaluation.rows if row.label == label]
    card = rows[0].card
    score = next((row.score for row in rows if row.score), None)
    cells = [
        _cell(evaluation, name, [row for row in rows if row.representation == name])
        for name in evaluation.representations
        if any(row.representation == name for row in rows)
    ]
    comparison = evaluation.data.comparison.get(label, Comparison(label, 0.95))
    for cell in cells:
        cell["groups"] = [k for k, group in enumerate(comparison.ties) if cell["representation"] in group]
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
        "comparison": " ".join(map(str, comparison.notes)),
    }


def _cell(evaluation: Evaluation, representation: str, rows: list[Row]) -> dict[str, Any]:
    """Return the scores of one metric on one representation: the mean over seeds, with floor, interval and verdict."""
    scores = [row.score for row in rows if row.score]
    factors = scores[0].per_factor if scores else {}
    return {
        "representation": representation,
        **_over_seeds(scores),
        "seeds": [row.seed for row in rows if row.seed is not None],
        "problem": next((str(row.problem) for row in rows if row.problem), None),
        "caveats": list(dict.fromkeys(str(caveat) for score in scores for caveat in score.caveats)),
        "chance": next((row.chance for row in rows if row.chance is not None), None),
        **_trust(evaluation, rows),
        "per_factor": {name: fmean(score.per_factor.get(name, math.nan) for score in scores) for name in factors},
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
        "at_noise_level": any(row.at_noise_level for row in rows),
        "verdict": max(verdicts, key=lambda verdict: verdict["level"].gravity) if verdicts else None,
    }


def _domain(cells: list[dict[str, Any]], bounds: tuple[float, float]) -> list[float]:
    """Return the ends of the axis for a metric.

    They are the bounds of the metric. An infinite bound is replaced by the smallest or largest value shown, or by 0; a
    finite bound below 0, by 0, so that scores of a page share the axis from 0 to 1.
    """
    seen: list[float | None] = [0.0]
    for cell in cells:
        bands = [cell["floor"] or {}, cell["interval"] or {}]
        seen += [cell["value"], *(band.get(end) for band in bands for end in ("low", "high"))]
        seen += [value for value in cell["per_factor"].values() if math.isfinite(value)]
    finite = [value for value in seen if value is not None and math.isfinite(value)]
    low = max(bounds[0], 0.0) if math.isfinite(bounds[0]) else min(finite)
    high = bounds[1] if math.isfinite(bounds[1]) else max(finite)
    return [low, high if high > low else low + 1.0]


def _level_counts(metrics: list[dict[str, Any]]) -> dict[str, int]:
    levels = Counter(cell["verdict"]["level"] for metric in metrics for cell in metric["cells"] if cell["verdict"])
    return {level: levels[level] for level in Level if level is not Level.NOT_CHECKED}


def _title(evaluation: Evaluation) -> str:
    names = evaluation.representations
    if len(names) > 1:
        return f"{listed(list(names)) if len(names) <= 3 else f'{len(names)} representations'} compared"
    if not evaluation.data.n_rows:
        return "How the decoder uses its latents"
    return "What the codes contain" if names == ("codes",) else f"What {names[0]} contains"


def _environments(representation: str, found: Environments) -> dict[str, Any]:
    """What the page shows of the environments of one representation."""
    rows = [
        {
            "name": name,
            "n_rows": found.n_rows[name],
            "sets": ", ".join(f"{code} ({fixed(found[name, code].shift, 2)})" for code in found.direct(name)),
            "others": ", ".join(code for code in found.shifted(name) if code not in found.direct(name)),
            "verdict": found.verdict(name),
        }
        for name in found.names
    ]
    edges = ", ".join(f"{cause} \N{RIGHTWARDS ARROW} {effect}" for cause, effect in found.edges)
    about = {"headline": found.headline, "n_reference": found.n_rows[found.reference], "notes": found.notes}
    return {"representation": representation, "rows": rows, "edges": edges, **about}


def _subtitle(evaluation: Evaluation) -> str:
    data = evaluation.data
    if not data.n_rows:
        return "A decoder alone, without factors and codes."
    codes, rows = sizes_in_words(data)
    dropped = f"; {counted(data.n_dropped, 'row')} with missing values dropped" if data.n_dropped else ""
    factors = f"{counted(len(data.factors), 'factor')} and " if data.factors else ""
    return f"{factors}{codes} on {rows}{dropped}."
