"""What stands beside a row's score and what is known of its data, as the plain data that a page shows.

Scores alone (``--quick``) have no noise floor, interval or verdict, and a metric may have none of its own accord: these
functions then give None. What is nan there is None here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unweave.evaluation import Evaluation, Row
from unweave.report.answer.levels import verdict_in_words
from unweave.report.answer.steps import fitting_advice
from unweave.trust.nulls.noise_floor import NoiseFloor
from unweave.trust.verdict import Reason

BAND = (0.05, 0.95)


def floor_fields(row: Row) -> dict[str, Any] | None:
    """Mean and 5 % and 95 % quantiles of the null scores, with p-value, kind and number of draws."""
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
        "p_value": _known(floor.p_value),
        "resolution": _known(floor.resolution),
        "calibrated": _known(floor.calibrated),
        "kind": floor.kind,
        "n_draws": len(draws),
        "note": " ".join(map(str, floor.notes)),
        "per_factor": {name: _factor_band(floor, name) for name in floor.per_factor_floor},
    }


def interval_fields(row: Row) -> dict[str, Any] | None:
    """Ends, level and kind of the interval over samples."""
    interval = row.interval
    if interval is None or not interval.defined:
        return None
    low, high = interval.clipped  # as scores are
    return {
        "low": low,
        "high": high,
        "level": interval.level,
        "kind": "subsampling",
        "note": " ".join(map(str, interval.notes)),
        "per_factor": {name: list(ends) for name, ends in interval.per_factor.items()},
    }


def verdict_fields(row: Row, evaluation: Evaluation) -> dict[str, Any] | None:
    """Level and reasons, each with what was measured and what to do instead."""
    if row.verdict is None:
        return None
    reasons = [
        _reason_fields(reason) | {"instead": fitting_advice(reason, evaluation, row.representation)}
        for reason in row.verdict.reasons
    ]
    return {"level": row.verdict.level, "words": verdict_in_words(row), "reasons": reasons}


def diagnosis_fields(evaluation: Evaluation, representation: str) -> dict[str, Any] | None:
    """What ``Diagnosis.to_dict`` says of the data of one representation; None where nobody looked."""
    by_representation: dict[str, dict[str, Any]] = evaluation.data.get("diagnosis", {})
    return by_representation.get(representation)


def comparison_fields(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Groups of representations that do not differ significantly, best first, by metric, with sentences about them."""
    by_label: dict[str, dict[str, Any]] = evaluation.data.get("comparison", {})
    return {
        label: {"groups": entry["ties"], "sentence": " ".join(note["sentence"] for note in entry["notes"])}
        for label, entry in by_label.items()
    }


def code_names_of(evaluation: Evaluation, representation: str) -> list[str]:
    """Names of the codes."""
    names: list[str] = evaluation.data["representations"][representation]["code_names"]
    return names


def _factor_band(floor: NoiseFloor, factor: str) -> list[float]:
    """Mean and both ends; one is what few nulls reach, above the mean, or below it where lower is better."""
    mean = floor.per_factor_floor[factor]
    return [mean, *sorted((mean, floor.per_factor_upper[factor]))]


def _reason_fields(reason: Reason) -> dict[str, Any]:
    return {
        "sentence": reason.sentence,
        "quantity": reason.quantity,
        "measured": _known(reason.measured),
        "section": reason.section,
        "how": reason.how,
    }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
