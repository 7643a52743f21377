"""What a verdict holds: a level and its reasons, each with the number it rests on and a line that computes it again."""

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
    """Why a verdict is what it is: a finding, its weightiest quantity, where to read on, and what to do instead.

    ``how`` is a line of Python that computes the quantity again, where ``evidence`` is the evidence that was judged and
    ``metric`` the metric.
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
    """How far a metric's score may be trusted on these data, with the reasons, the weightiest first.

    The level is "no verdict" where none would have a meaning, or where the check itself does not work on these data;
    the reason says which. ``elsewhere`` is what the metric would give with independent factors, no redundant codes and
    enough rows; nan where that could not be tried.

    >>> Verdict("caution", (Reason("There are few rows.", "rows", 40.0),)).reasons[0].sentence
    'There are few rows.'
    """

    level: Level
    reasons: tuple[Reason, ...] = ()
    elsewhere: float = math.nan
