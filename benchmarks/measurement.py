"""The result of a benchmark, and its text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

VERDICTS = {True: "met", False: "NOT met", None: "-"}


@dataclass(frozen=True)
class Target:
    """A bound on a ratio (or on gigabytes for memory)."""

    bound: Literal["at most", "at least"]
    limit: float

    def met_by(self, figure: float) -> bool:
        """Whether the figure is within the bound."""
        return figure <= self.limit if self.bound == "at most" else figure >= self.limit


@dataclass(frozen=True)
class Measurement:
    """One figure with its unit, the compared computations, and notes on parts that were timed and scaled.

    A measurement without a target is only informative.
    """

    subject: str
    figure: float
    unit: str
    target: Target | None = None
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is no target."""
        return None if self.target is None else self.target.met_by(self.figure)

    def lines(self, name: str) -> list[str]:
        """Return the table row and the lines below it."""
        target = "context" if self.target is None else f"{self.target.bound} {self.target.limit:g}"
        row = f"{name:<20}{self.figure:>8.2f}  {target:<13}{VERDICTS[self.met]:<9}{self.unit}"
        return [row, *(f"{'':<52}{line}" for line in (self.subject, *self.notes))]

    def as_plain_data(self) -> dict[str, Any]:
        """Return the measurement as plain data for a JSON file."""
        return {**asdict(self), "met": self.met}


HEADING = f"{'BENCHMARK':<20}{'FIGURE':>8}  {'TARGET':<13}{'VERDICT':<9}WHAT THE FIGURE IS"


def seconds(times: dict[str, float]) -> str:
    """Format CPU times for a note; they depend on the machine and its load."""
    return "CPU here: " + ", ".join(f"{name} {took:.3g} s" for name, took in times.items())
