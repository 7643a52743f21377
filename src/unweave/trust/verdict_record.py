"""The record of a verdict: a level and reasons, each with its number and a line of code that computes it again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from unweave.findings import Finding

Property = Literal["P1", "P2", "P3", "P4"]

SECTIONS: dict[Property, str] = {
    "P1": "003, section 3.1",
    "P2": "003, section 3.2",
    "P3": "003, section 3.3",
    "P4": "003, section 3.4",
}


class Level(StrEnum):
    """How far a score may be relied on, from best to worst, and how pages show it.

    A level is a text, so that files hold the same words. ``gravity`` is its place in this order: a score that could not
    be checked comes after one with small doubts, because pages prefer numbers about which something is known. A
    score is not checked if it has no verdict, or if the draws of its verdict did not fit into the budget. A
    `Verdict` is never 'noise level': this is the level of a `Row` whose permutation test does not reject.

    >>> max(Level.CAUTION, Level.TRUST, key=lambda level: level.gravity)
    'caution'
    """

    TRUST = "trust", "can be trusted on these data", "green", "#2a9d6f", "✓"
    NOISE = "noise level", "at noise level", "", "", "", r"$^{\circ}$"
    CAUTION = "caution", "with caution", "yellow", "#d97706", "!", r"$^{\dagger}$"
    NO_VERDICT = "no verdict", "could not be checked"
    NOT_CHECKED = "not checked", "not checked"
    DO_NOT_USE = "do not use", "should not be used", "red", "#c0392b", "✗", r"$^{\ddagger}$"

    gravity: int
    words: str  # after a number of scores
    style: str  # of a text on a terminal
    colour: str  # in figures
    sign: str
    latex_mark: str

    def __new__(
        cls, text: str, words: str = "", style: str = "", colour: str = "", sign: str = "", latex_mark: str = ""
    ) -> Self:
        """Make a level; its gravity is the number of levels before it."""
        level = str.__new__(cls, text)
        level._value_, level.gravity = text, len(cls.__members__)
        level.words, level.style, level.colour, level.sign, level.latex_mark = words, style, colour, sign, latex_mark
        return level

    def __repr__(self) -> str:
        return repr(self.value)


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

    >>> Verdict(Level.CAUTION, (Reason("There are few rows.", "rows", 40.0),)).reasons[0].sentence
    'There are few rows.'
    """

    level: Level
    reasons: tuple[Reason, ...] = ()
    elsewhere: float = math.nan

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", Level(self.level))  # also accepts the word
