"""`Audit`: the results of an audit of one metric, as plain data that is printed as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from unweave.auditing.findings.adversary import RedTeam
from unweave.auditing.findings.card_check import Promise
from unweave.auditing.findings.properties import PropertyVerdict
from unweave.auditing.measurement.grid import PROPERTIES, Question
from unweave.codec import plain_data, read_json, restored
from unweave.findings import Finding

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

SCHEMA = "unweave.audit/2"
TICKS: dict[str, str] = {"satisfied": "✓", "partly": "~", "violated": "✗", "undecided": "?"}
NOT_APPLICABLE = "–"  # noqa: RUF001 - a dash for a cell without an answer

Ends = tuple[float, float]


@dataclass(frozen=True)
class PropertyNumber:
    """One number of a property with its interval and standard deviation (``spread``) over seeds.

    ``counts`` is True if the number is part of the verdict.
    """

    label: str
    kind: str
    number: float
    interval: Ends
    n_seeds: int
    counts: bool = True
    spread: float = float("nan")


@dataclass(frozen=True)
class WorstCase:
    """The score, or difference of scores, at the seed where the decisive number is worst, and an expression for it."""

    number: float
    expression: str


@dataclass(frozen=True)
class Result:
    """Result for one property: verdict, decisive number, all numbers, worst case, and missing points.

    ``possible`` are the verdicts that are possible given the intervals and missing points. ``n_undefined`` is the
    number of points of a further question at which the metric is undefined; these points are ignored.
    """

    name: Question
    verdict: PropertyVerdict
    possible: tuple[PropertyVerdict, ...]
    number: float
    interval: Ends
    where: str
    measured: tuple[PropertyNumber, ...]
    missing: tuple[str, ...] = ()
    worst_case: WorstCase | None = None
    n_undefined: int = 0

    @property
    def tick(self) -> str:
        """The symbol for the verdict, as in Table 3 of 003."""
        return TICKS[self.verdict]


@dataclass(frozen=True)
class CurvePoint:
    """Mean score at one point of a curve, and its difference from the start of the curve, with intervals over seeds."""

    name: Question
    series: str
    n_factors: int
    x: float
    mean: float
    interval: Ends
    change: float
    change_interval: Ends
    n_seeds: int


@dataclass(frozen=True)
class Audit:
    """A metric's scorecard for the four properties of 003; print it for a table.

    ``refusal`` is the reason why a metric could not be audited; then there are no results. ``treatment`` says how its
    scores were rescaled, and ``problems`` where and how often it raised an error or was nan. ``further`` has the
    results of questions other than the four properties. ``remarks`` say if a metric is constant, depends only on sizes
    or on the order of rows, or scores noise as high as a perfect encoder, so that its marks are meaningless.
    """

    metric: str
    version: int
    results: tuple[Result, ...] = ()
    curves: tuple[CurvePoint, ...] = ()
    promises: tuple[Promise, ...] = ()
    red_team: RedTeam | None = None
    problems: tuple[Finding, ...] = ()
    equivalence: str = ""
    treatment: Finding | None = None
    refusal: Finding | None = None
    n_seeds: int = 0
    further: tuple[Result, ...] = ()
    remarks: tuple[Finding, ...] = ()
    grid: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    @property
    def ticks(self) -> str:
        """One mark for each of P1 to P4: ✓ satisfied, ~ partly, ✗ violated, ? undecided, a dash for not applicable."""
        return "".join(result.tick for result in self.results) or NOT_APPLICABLE * len(PROPERTIES)

    def __getitem__(self, name: str) -> Result:
        """The result of P1, P2, P3 or P4, or of a further question: few factors, levels, many to one, rows."""
        return next(result for result in (*self.results, *self.further) if result.name == name)

    def __str__(self) -> str:
        from unweave.auditing.rendering import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        return str(import_module("unweave.report.page.notebook_parts").audit_view(self))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Any:
        from unweave.auditing.rendering import rich_audit

        parts: RenderableType = rich_audit(self)
        yield parts

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null, infinities become text."""
        return {"schema": SCHEMA, "ticks": self.ticks, **plain_data(self)}

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Audit from the output of `to_dict`."""
        return restored(cls, data)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Audit from the output of `to_json`."""
        return cls.from_dict(read_json(text))
