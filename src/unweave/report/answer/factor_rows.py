"""The table of factors: whether each was found, in which codes, how well, and if not, why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unweave.evaluation import Evaluation, Row
from unweave.findings import Finding
from unweave.words.answers import FOUND, obstacle

SOURCE = "identification"


@dataclass(frozen=True)
class FactorRow:
    """Whether one factor was found, in which codes, and if not, why.

    ``found`` is 'yes', 'partly', 'no', 'implied' (other factors determine it, so it need not be encoded) or 'not
    known'. ``share`` is how well codes of its own recover the factor, from 0 to 1, with an interval. ``readable`` is
    the R2 of the factor from all codes.
    """

    factor: str
    found: str
    codes: tuple[str, ...] = ()
    share: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    mixed_with: tuple[str, ...] = ()
    readable: float | None = None
    obstacle: str = ""

    @property
    def counts(self) -> bool:
        """Whether the factor is counted in the headline: neither implied nor unknown."""
        return self.found in ("yes", "partly", "no")


def factor_rows(evaluation: Evaluation, representation: str) -> tuple[FactorRow, ...]:
    """A row for every factor, from the findings of `identification`; no rows if it was not computed."""
    row = evaluation.row(SOURCE, representation)
    if row is None or row.score is None:
        return ()
    names = [factor["name"] for factor in evaluation.data["factors"]]
    findings = {finding.factors[0]: finding for finding in row.score.findings if finding.factors}
    constant = set(evaluation.data.get("diagnosis", {}).get(representation, {}).get("constant_factors", ()))
    determined_by = _determined_by(evaluation, representation)
    undefined = math.isnan(row.score.raw)
    return tuple(
        _row(name, j, row, findings.get(name), determined_by.get(name, ()), name in constant, undefined)
        for j, name in enumerate(names)
    )


def _row(
    name: str,
    place: int,
    row: Row,
    finding: Finding | None,
    determined_by: tuple[str, ...],
    constant: bool,
    undefined: bool,
) -> FactorRow:
    score = row.score
    assert score is not None
    if constant:
        return FactorRow(name, "not known", obstacle=obstacle("constant"))
    if finding is None:
        return FactorRow(name, "not known")
    found = "not known" if undefined else FOUND.get(finding.kind, "not known")
    reason = str(finding.quantities.get("reason", ""))
    if found == "implied":
        return FactorRow(name, found, reason="implied", obstacle=obstacle("implied", determined_by))
    low, high = _ends(row, name)
    readable = score.parts.get("affine_recovery")
    return FactorRow(
        factor=name,
        found=found,
        codes=finding.codes,
        share=_known(finding.quantities.get("share", score.per_factor.get(name, math.nan))),
        low=low,
        high=high,
        reason=reason,
        mixed_with=finding.factors[1:],
        readable=None if readable is None else _known(readable[place]),
        obstacle="" if found == "yes" else obstacle(reason, finding.factors[1:]),
    )


def _ends(row: Row, factor: str) -> tuple[float | None, float | None]:
    """Ends of the factor's interval, clipped to 0 and 1."""
    ends = row.interval.per_factor.get(factor) if row.interval is not None and row.interval.defined else None
    if ends is None or any(map(math.isnan, ends)):
        return None, None
    low, high = (float(min(max(end, 0.0), 1.0)) for end in ends)
    return low, high


def _determined_by(evaluation: Evaluation, representation: str) -> dict[str, tuple[str, ...]]:
    diagnosis: dict[str, Any] = evaluation.data.get("diagnosis", {}).get(representation, {})
    return {entry["determined"]: tuple(entry["by"]) for entry in diagnosis.get("constraints", ())}


def _known(number: Any) -> float | None:
    return None if number is None or math.isnan(float(number)) else max(0.0, float(number))
