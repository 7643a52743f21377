"""The record of a verdict: a level and reasons, each with its number and a line of code that computes it again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from unweave.findings import Finding

Level = Literal["trust", "no verdict", "caution", "do not use"]
Property = Literal["P1", "P2", "P3", "P4"]

SECTIONS: dict[Property, str] = {
    "P1": "003, section 3.1",
    "P2": "003, section 3.2",
    "P3": "003, section 3.3",
    "P4": "003, section 3.4",
}


@dataclass(frozen=True)
class Reason:
    """A reason for a verdict: a finding, its most important quantity, a reference, and what to do instead.

    ``how`` is a line of Python that computes the numbers of the sentence again, where ``evidence`` is the evidence that
    was judged and ``metric`` the metric.
    """

    finding: Finding
    quantity: str
    measured: float
    section: str = ""
    advice: Finding | None = None
    how: str = ""

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return str(self.finding)

    @property
    def instead(self) -> str:
        """What to do instead, in words; empty where nothing is advised."""
        return "" if self.advice is None else str(self.advice)


@dataclass(frozen=True)
class Verdict:
    """How far a metric's score may be trusted on these data, with reasons, the most important first.

    The level is "no verdict" where a verdict would have no meaning, or where the check itself fails on these data; the
    reason says which. ``elsewhere`` is the estimated score with independent factors, no redundant codes and enough
    rows; nan where that could not be computed.

    >>> Verdict("caution", (Reason("There are few rows.", "rows", 40.0),)).reasons[0].sentence
    'There are few rows.'
    """

    level: Level
    reasons: tuple[Reason, ...] = ()
    elsewhere: float = math.nan
