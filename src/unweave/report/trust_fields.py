"""What is known of a row's trust: the one place that looks for it, and gives None where an evaluation has none.

Scores alone (``--quick``, or files of older versions) have no noise floor, interval or verdict; a file that was read
back may hold them as plain mappings. Everything else in this room sees the dictionaries that these functions give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from unweave.evaluation import Evaluation, Row

LEVELS = ("trust", "caution", "do not use")


def floor_fields(row: Row) -> dict[str, Any] | None:
    """Mean and 5 % and 95 % quantiles of what knows nothing, with p-value, kind and number of draws."""
    floor = _get(row, "noise_floor")
    if floor is None or _number(_get(floor, "floor")) is None:
        return None
    draws = [draw for draw in _get(floor, "draws", ()) if draw is not None and not math.isnan(draw)]
    low, high = _number(_get(floor, "low")), _number(_get(floor, "high"))
    if draws and (low is None or high is None):
        low, high = (float(quantile) for quantile in np.quantile(draws, [0.05, 0.95]))
    per_factor = {str(name): _numbers(band) for name, band in dict(_get(floor, "per_factor", {})).items()}
    edges = dict(_get(floor, "per_factor_upper", {}))
    for name, mean in dict(_get(floor, "per_factor_floor", {})).items():
        # the edge is what few nulls reach: above the mean, or below it where lower is better
        ends = sorted(end for end in (_number(mean), _number(edges.get(name))) if end is not None)
        if len(ends) == 2:
            per_factor.setdefault(str(name), [_number(mean), *ends])
    return {
        "mean": _number(_get(floor, "floor")),
        "low": low,
        "high": high,
        "p_value": _number(_get(floor, "p_value")),
        "resolution": _number(_get(floor, "resolution")),
        "calibrated": _number(_get(floor, "calibrated")),
        "kind": str(_get(floor, "kind", "permutation")),
        "n_draws": int(_get(floor, "n_draws", len(draws))),
        "note": _sentences(_get(floor, "note", _get(floor, "notes", ""))),
        "per_factor": per_factor,
    }


def interval_fields(row: Row) -> dict[str, Any] | None:
    """Ends, level and kind of the interval over samples."""
    interval = _get(row, "interval")
    low, high = (
        _number(_get(interval, end, _get(interval, ender))) for end, ender in (("low", "lower"), ("high", "upper"))
    )
    if low is None or high is None or row.score is None:
        return None
    return {
        "low": float(np.clip(low, *row.score.bounds)),  # as scores are
        "high": float(np.clip(high, *row.score.bounds)),
        "level": _number(_get(interval, "level")),
        "kind": str(_get(interval, "kind", "subsampling")),
        "note": _sentences(_get(interval, "note", _get(interval, "notes", ""))),
        "per_factor": {str(name): _numbers(ends) for name, ends in dict(_get(interval, "per_factor", {})).items()},
    }


def verdict_fields(row: Row) -> dict[str, Any] | None:
    """Level and reasons, each with what was measured and what to do instead."""
    verdict = _get(row, "verdict")
    if verdict is None:
        return None
    return {
        "level": str(_get(verdict, "level")),
        "reasons": [
            {
                "sentence": str(_get(reason, "sentence", "")),
                "quantity": str(_get(reason, "quantity", "")),
                "measured": _number(_get(reason, "measured")),
                "section": str(_get(reason, "section", "")),
                "instead": str(_get(reason, "instead", "")),
            }
            for reason in _get(verdict, "reasons", ())
        ],
    }


def diagnosis_fields(evaluation: Evaluation, representation: str) -> dict[str, Any]:
    """What was found out about the data of one representation; empty where nobody looked."""
    found = dict(_get(evaluation.data.get("diagnosis") or {}, representation, {}))
    if "max_correlation" in found:
        found.setdefault("largest_correlation", found["max_correlation"])
    return found


def comparison_fields(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Groups of representations that cannot be told apart, best first, by metric, with sentences about them."""
    found: dict[str, dict[str, Any]] = {}
    for label, entry in dict(evaluation.data.get("comparison") or {}).items():
        groups = _get(entry, "groups", _get(entry, "ties", ()))
        found[str(label)] = {
            "groups": [[str(name) for name in ([group] if isinstance(group, str) else group)] for group in groups],
            "sentence": _sentences(_get(entry, "sentence", _get(entry, "notes", ""))),
        }
    return found


def code_names_of(evaluation: Evaluation, representation: str) -> list[str]:
    """Names of the codes: as stored, or as a score names them, or numbers."""
    entry = evaluation.data["representations"][representation]
    scores = (row.score for row in evaluation.rows if row.representation == representation)
    by_score = next(
        (list(score.per_code) for score in scores if score and len(score.per_code) == entry["n_codes"]), None
    )
    return list(entry.get("code_names") or by_score or [f"code {i}" for i in range(entry["n_codes"])])


def _get(item: Any, name: str, default: Any = None) -> Any:
    found = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
    return default if found is None else found


def _number(item: Any) -> float | None:
    return None if item is None or math.isnan(float(item)) else float(item)


def _numbers(items: Iterable[Any]) -> list[float | None]:
    return [_number(item) for item in items]


def _sentences(item: Any) -> str:
    return item if isinstance(item, str) else " ".join(str(sentence) for sentence in item or ())
