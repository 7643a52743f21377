"""Noise floor, interval and verdict of a score, and the diagnosis of its data, as the plain data that a page shows.

The functions return None if there is no noise floor, interval or verdict. This is the case with ``--quick``, and for
metrics that do not define them. Values that are nan become None.
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
        "p_value": _known(floor.p_value),
        "resolution": _known(floor.resolution),
        "calibrated": _known(floor.calibrated),
        "kind": floor.kind,
        "n_draws": len(draws),
        "note": " ".join(map(str, floor.notes)),
        "per_factor": {name: _factor_band(floor, name) for name in floor.per_factor_floor},
    }


def interval_fields(row: Row) -> dict[str, Any] | None:
    """Return the ends, level and kind of the interval over samples."""
    interval = row.interval
    if interval is None or not interval.defined:
        return None
    low, high = interval.clipped  # scores are clipped to the bounds of the metric as well
    return {
        "low": low,
        "high": high,
        "level": interval.level,
        "kind": "subsampling",
        "note": " ".join(map(str, interval.notes)),
        "per_factor": {name: list(ends) for name, ends in interval.per_factor.items()},
    }


def verdict_fields(row: Row, evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the level of the verdict and its reasons, each with the measured quantity and the advice."""
    if row.verdict is None:
        return None
    reasons = [
        _reason_fields(reason) | {"instead": fitting_advice(reason, evaluation, row.representation)}
        for reason in row.verdict.reasons
    ]
    return {"level": row.verdict.level, "words": verdict_in_words(row), "reasons": reasons}


def diagnosis_fields(evaluation: Evaluation, representation: str) -> dict[str, Any] | None:
    """Return ``Diagnosis.to_dict`` of one representation, or None if its data were not diagnosed."""
    by_representation: dict[str, dict[str, Any]] = evaluation.data.get("diagnosis", {})
    return by_representation.get(representation)


def comparison_fields(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Return for each metric the groups of representations that do not differ significantly, best first, with notes."""
    by_label: dict[str, dict[str, Any]] = evaluation.data.get("comparison", {})
    return {
        label: {"groups": entry["ties"], "sentence": " ".join(note["sentence"] for note in entry["notes"])}
        for label, entry in by_label.items()
    }


def code_names_of(evaluation: Evaluation, representation: str) -> list[str]:
    """Return the names of the codes of a representation."""
    names: list[str] = evaluation.data["representations"][representation]["code_names"]
    return names


def _factor_band(floor: NoiseFloor, factor: str) -> list[float]:
    """Return the mean null score of a factor and the ends of the band from this mean to the upper null quantile.

    If lower scores are better, the band lies below the mean.
    """
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
