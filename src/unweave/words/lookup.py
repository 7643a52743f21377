"""Look up the function that writes the sentence of a finding by the finding's kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from unweave.findings import Finding
from unweave.words import (
    audits,
    data_caveats,
    diagnoses,
    draws,
    information_caveats,
    prediction_caveats,
    verdict_reasons,
)

TOPICS = (data_caveats, prediction_caveats, information_caveats, draws, diagnoses, verdict_reasons, audits)


def _stating(topic: ModuleType) -> dict[str, Callable[..., str]]:
    """Public functions that a module defines itself, by name."""
    functions = inspect.getmembers(topic, inspect.isfunction)
    return {name: entry for name, entry in functions if entry.__module__ == topic.__name__ and name[0] != "_"}


WORDS: dict[str, Callable[..., str]] = {kind: entry for topic in TOPICS for kind, entry in _stating(topic).items()}


def sentence(finding: Finding) -> str:
    """The finding as a sentence.

    >>> sentence(Finding("dead_codes", codes=["code 3"]))
    'code 3 does not vary and carries no information.'
    """
    return _stated(finding.kind, dict(finding.quantities), finding)


def sentence_of_several(findings: Sequence[Finding]) -> str:
    """One sentence with ranges for findings of one kind that differ only in their numbers.

    >>> print(sentence_of_several([Finding("rows_dropped", n_rows=3), Finding("rows_dropped", n_rows=5)]))
    3 to 5 rows with missing values were dropped.
    """
    quantities: dict[str, Any] = dict(findings[0].quantities)
    for name, quantity in quantities.items():
        found = [finding.quantities[name] for finding in findings]
        if not isinstance(quantity, str) and len(set(found)) > 1:
            quantities[name] = NumberRange(min(found), max(found))  # type: ignore[arg-type]
    return _stated(findings[0].kind, quantities, findings[0])


def _stated(kind: str, quantities: dict[str, Any], finding: Finding) -> str:
    if kind not in WORDS:  # a kind that a user defined
        named = {"factors": ", ".join(finding.factors), "codes": ", ".join(finding.codes)}
        known = {**quantities, **{name: text for name, text in named.items() if text}}
        listed = "; ".join(f"{name} {quantity}" for name, quantity in known.items())
        return f"{kind.replace('_', ' ').capitalize()}{f': {listed}' if listed else ''}."
    about = {name: getattr(finding, name) for name in ("factors", "codes") if getattr(finding, name)}
    return WORDS[kind](**quantities, **about)


@dataclass(frozen=True)
class NumberRange:
    """The smallest and the largest of several numbers; formatted as 'smallest to largest'.

    >>> f"{NumberRange(0.25, 1.5):.1f}", f"{NumberRange(19, 19.001):.0f}"
    ('0.2 to 1.5', '19')
    """

    low: float
    high: float

    def __format__(self, form: str) -> str:
        ends = format(self.low, form), format(self.high, form)
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)
