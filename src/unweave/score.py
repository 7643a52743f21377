"""`Score`: the number that a metric returns, with its parts, caveats and settings."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, NoReturn

from unweave.arrays import FloatArray, RealNumber
from unweave.codec import SavedRecord, plain_data
from unweave.errors import OptionError
from unweave.findings import Finding, stated


@dataclass(frozen=True)
class ShownMatrix:
    """A part of a score that a report shows as a matrix: rows are codes, columns are factors or codes.

    Attributes
    ----------
    part : str
        Name of the part, a key of `Score.parts`.
    meaning : str
        What a cell of the matrix means.
    columns : {'factors', 'codes'}
        What the columns are.
    framed : bool
        Whether the largest cell of each column is marked.

    Examples
    --------
    >>> ShownMatrix("weights", "Weight of every code for every factor").columns
    'factors'
    """

    part: str
    meaning: str = ""
    columns: Literal["factors", "codes"] = "factors"
    framed: bool = True


@dataclass(frozen=True, eq=False)
class Score(SavedRecord, RealNumber):
    """The result of a metric: a number within its bounds, its parts, and its caveats.

    A score is a number: it can be added, compared and returned to scikit-learn, where its ``value`` is used. Two scores
    are equal when all of their attributes are equal.

    Attributes
    ----------
    raw : float
        The number as computed, before clipping; nan if the metric is undefined. Noise floors, intervals and rankings
        use it.
    metric, version : str, int
        Name and version of the metric.
    bounds : tuple of two floats
        The range that `value` is clipped to.
    per_factor, per_code : dict of name to float
        The score of every factor and of every code, if the metric defines them.
    parts : dict of name to array
        Intermediate results, such as matrices with a row per code and a column per factor.
    matrices : tuple of ShownMatrix
        Which parts are matrices that a report shows, and what they mean.
    caveats : tuple of Finding
        Warnings about the score; ``str`` of each is a sentence. Plain sentences may be passed and become findings.
    findings : tuple of Finding
        Explanation of the score in sentences: for `identification` one for every factor.
    settings : dict
        The value of every option, with estimators in full.
    best : float
        The best possible score with these options; infinite if there is no limit in that direction, nan if no score is
        better than another.

    Examples
    --------
    >>> score = Score(raw=1.02, metric="mcc", bounds=(0.0, 1.0))
    >>> float(score), score.raw, score > 0.5, score / 2
    (1.0, 1.02, True, 0.5)
    >>> Score.from_json(score.to_json()) == score
    True
    """

    raw: float
    metric: str = ""
    version: int = 0
    bounds: tuple[float, float] = (-math.inf, math.inf)
    per_factor: dict[str, float] = field(default_factory=dict)
    per_code: dict[str, float] = field(default_factory=dict)
    parts: dict[str, FloatArray] = field(default_factory=dict)
    caveats: tuple[Finding, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    best: float = math.nan
    matrices: tuple[ShownMatrix, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        caveats = (each if isinstance(each, Finding) else stated(str(each)) for each in self.caveats)
        object.__setattr__(self, "caveats", tuple(caveats))
        for shown in self.matrices:
            if shown.part not in self.parts:
                known = ", ".join(self.parts) or "none"
                raise ValueError(f"A score shows the matrix {shown.part!r}, which is not among its parts: {known}.")

    @property
    def value(self) -> float:
        """The number clipped to its bounds; nan if undefined."""
        return float(self.raw if math.isnan(self.raw) else min(max(self.raw, self.bounds[0]), self.bounds[1]))

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the lower bound."""
        return self.best == self.bounds[0]

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return True  # so that `if row.score` is also true for a score of 0

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Score) else super().__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return super().__hash__()

    def __repr__(self) -> str:
        note = f", {len(self.caveats)} caveat{'s' * (len(self.caveats) > 1)}" if self.caveats else ""
        return f"Score({self.metric or 'unnamed'} = {self.value:.4g}{note})"

    def _repr_html_(self) -> str:
        from unweave.report.notebook import score_view  # late: report is above score

        return score_view(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null, infinities become text."""
        return {"value": plain_data(self.value), **plain_data(self)}


class _Module(ModuleType):
    """This module, which people call because the command is called ``unweave score``."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise OptionError("unweave.score is no function: write unweave.evaluate(factors, codes).")


sys.modules[__name__].__class__ = _Module
