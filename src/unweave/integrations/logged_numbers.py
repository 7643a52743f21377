"""An evaluation as a flat dictionary of names and numbers, for trackers and training loops."""

from __future__ import annotations

import math
import re

from unweave.evaluation import Evaluation, Row

NOT_IN_A_NAME = re.compile(r"[^\w./-]+")


def logged_name(label: str) -> str:
    """A label that has only characters that every tracker accepts.

    >>> logged_name("mcc (correlation=spearman)")
    'mcc_correlation_spearman'
    """
    return NOT_IN_A_NAME.sub("_", label).strip("_")


def logged_numbers(evaluation: Evaluation, prefix: str = "unweave") -> dict[str, float]:
    """Every score by name, with its noise floor, p-value, calibrated score and interval if they were computed.

    Undefined numbers are left out. If there are several representations, the name contains the representation.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> {name: round(value, 3) for name, value in logged_numbers(evaluate(z, z, metrics="mcc", quick=True)).items()}
    {'unweave/mcc': 1.0}
    """
    numbers = {}
    for name, row in _first_rows(evaluation, prefix).items():
        value, _ = evaluation.mean_and_spread(row.label, row.representation)
        numbers[name] = value
        numbers |= {f"{name}_{part}": value for part, value in _beside(row).items()}
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


def logged_verdicts(evaluation: Evaluation, prefix: str = "unweave") -> dict[str, str]:
    """The verdict of every score by name with its reason, or the problem if there is no score."""
    found = {}
    for name, row in _first_rows(evaluation, prefix).items():
        if row.problem is not None:
            found[name] = str(row.problem)
        elif row.verdict is not None:
            reasons = " ".join(reason.sentence for reason in row.verdict.reasons[:1])
            found[name] = f"{row.verdict.level}: {reasons}" if reasons else row.verdict.level
    return found


def _first_rows(evaluation: Evaluation, prefix: str) -> dict[str, Row]:
    several = len(evaluation.representations) > 1
    rows: dict[str, Row] = {}
    for row in evaluation.rows:
        levels = [prefix, row.representation if several else "", row.label]
        rows.setdefault("/".join(logged_name(level) for level in levels if level), row)
    return rows


def _beside(row: Row) -> dict[str, float]:
    floor, interval = row.noise_floor, row.interval
    return {part: getattr(floor, part) for part in ("floor", "p_value", "calibrated") if floor is not None} | {
        part: getattr(interval, part) for part in ("lower", "upper") if interval is not None
    }
