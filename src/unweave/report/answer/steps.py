"""Recommendations: what to do about factors that were not found, and about questions without a trusted metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from unweave.evaluation import Evaluation, Row
from unweave.findings import Finding
from unweave.report.answer.factor_rows import FactorRow
from unweave.report.answer.levels import NOT_CHECKED, is_at_noise_level
from unweave.report.answer.question_lines import QuestionLine
from unweave.trust.verdict import Reason
from unweave.words import answers as words
from unweave.words.phrases import listed
from unweave.words.shared_reasons import shared_reason

MOST_STEPS = 5
Advise = Callable[[Sequence[str], Sequence[str]], str]
OTHER_REASONS: dict[str, Advise] = {
    "absent": words.find_absent,
    "noisy": words.reduce_noise,
    "folded": words.unfold,
}
ANY_DEPENDENCE = 0.1  # weaker correlations of factors need no advice


def next_steps(
    evaluation: Evaluation, representation: str, rows: Sequence[FactorRow], lines: Sequence[QuestionLine]
) -> list[str]:
    """Recommendations as sentences, the most important first."""
    steps = [*_of_checks(evaluation, lines), *of_factors(rows), *_of_questions(evaluation, representation, lines)]
    return list(dict.fromkeys(steps))[:MOST_STEPS] or [words.nothing_in_the_way()]


def _of_checks(evaluation: Evaluation, lines: Sequence[QuestionLine]) -> Iterator[str]:
    if not any(row.verdict for row in evaluation.rows):
        yield words.evaluate_in_full()


def of_factors(rows: Sequence[FactorRow]) -> Iterator[str]:
    """One recommendation for every group of mixed factors, then one for every other reason."""
    missing = [row for row in rows if row.found in ("no", "partly")]
    for names in _mixed_groups(missing):
        of_group = [row for row in rows if row.factor in names]
        readable = [row.readable for row in of_group if row.readable is not None]
        codes = _codes_of([row for row in of_group if row in missing])
        yield words.separate([row.factor for row in of_group], codes, min(readable) if readable else None)
    for reason, said in OTHER_REASONS.items():
        of_reason = [row for row in missing if row.reason == reason]
        if of_reason:
            yield said([row.factor for row in of_reason], _codes_of(of_reason))


def _codes_of(rows: Sequence[FactorRow]) -> list[str]:
    return list(dict.fromkeys(code for row in rows for code in row.codes))


def _mixed_groups(rows: Sequence[FactorRow]) -> list[set[str]]:
    """Factors that are mixed with each other, directly or through others."""
    groups: list[set[str]] = []
    for row in rows:
        if row.reason != "mixed":
            continue
        joined = {row.factor, *row.mixed_with}
        for group in [group for group in groups if group & joined]:
            groups.remove(group)
            joined |= group
        groups.append(joined)
    return groups


def _of_questions(evaluation: Evaluation, representation: str, lines: Sequence[QuestionLine]) -> Iterator[str]:
    """Why the metrics of some questions are not trusted, and what to do; every reason once."""
    groups: dict[tuple[object, ...], dict[str, Reason]] = {}
    for line in lines:
        row = evaluation.row(line.metric, representation)
        if line.level in ("trust", NOT_CHECKED) or row is None or row.verdict is None or not row.verdict.reasons:
            continue
        finding = row.verdict.reasons[0].finding
        groups.setdefault((line.level, finding.kind, finding.factors), {})[line.metric] = row.verdict.reasons[0]
    for (level, *_), reasons in groups.items():
        first = next(iter(reasons.values()))
        shared = shared_reason({name: reason.finding for name, reason in reasons.items()}) if len(reasons) > 1 else None
        advice = fitting_advice(first, evaluation, representation)
        said = f"{listed(list(reasons))} ({level}): {shared or first.sentence}"
        yield f"{said} {advice}" if advice else said


def fitting_advice(reason: Reason, evaluation: Evaluation, representation: str) -> str:
    """The advice of the reason, adapted to these data.

    Metrics that are at noise level here are not recommended. If the factors do not depend on each other, there is no
    advice to remove their correlation.
    """
    advice = reason.advice
    if advice is None or advice.kind != "advice":
        return reason.instead
    concerns = str(advice.quantities["concerns"])
    if concerns == "P1" and not _factors_depend(evaluation.data.get("diagnosis", {}).get(representation, {})):
        return ""
    named = [name for name in str(advice.quantities.get("metrics", "")).split(" or ") if name]
    useful = [name for name in named if _says_something(evaluation.row(name, representation))]
    return str(Finding("advice", concerns=concerns, metrics=" or ".join(useful)))


def _factors_depend(diagnosis: Mapping[str, Any]) -> bool:
    """Whether the diagnosis found a dependence between factors."""
    correlation = diagnosis.get("max_free_correlation") or diagnosis.get("max_correlation") or 0.0
    return correlation >= ANY_DEPENDENCE or bool(diagnosis.get("constraints") or diagnosis.get("dependent_pairs"))


def _says_something(row: Row | None) -> bool:
    """Whether a metric was computed and its score is not at noise level."""
    return row is not None and row.score is not None and not is_at_noise_level(row)
