"""The reasons why scores are not trusted: every reason once, with the scores that share it."""

from __future__ import annotations

from dataclasses import dataclass

from unweave.evaluation import Evaluation
from unweave.findings import Finding
from unweave.report.answer.levels import rank_of
from unweave.words.shared_reasons import shared_reason


@dataclass(frozen=True)
class SharedReason:
    """A sentence, the scores that share it, their verdict, and whether the sentence already names the scores."""

    sentence: str
    scores: tuple[str, ...]
    level: str
    names_scores: bool


def shared_reasons(evaluation: Evaluation) -> list[SharedReason]:
    """The main reason of every score that is not trusted, once for all scores with the same verdict and reason.

    The worst verdicts come first.
    """
    several = len(evaluation.representations) > 1
    groups: dict[tuple[object, ...], dict[str, Finding]] = {}
    for row in evaluation.rows:
        if row.verdict is None or row.verdict.level == "trust" or not row.verdict.reasons:
            continue
        finding = row.verdict.reasons[0].finding
        moves = {"before", "after"} <= set(finding.quantities)
        cause = (finding.kind, finding.factors) if moves else (str(finding),)
        name = f"{row.label} of {row.representation}" if several else row.label
        groups.setdefault((row.verdict.level, *cause), {}).setdefault(name, finding)
    found = []
    for (level, *_), findings in groups.items():
        shared = shared_reason(findings)
        sentence = shared or str(next(iter(findings.values())))
        found.append(SharedReason(sentence, tuple(findings), str(level), shared is not None))
    return sorted(found, key=lambda reason: -rank_of(reason.level))
