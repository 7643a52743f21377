"""`Claim`: a statement of a paper, our verdict, and the function that computes the evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from scipy.stats import t as student

ClaimVerdict = Literal[
    "holds",
    "holds in part",
    "does not hold",
    "error of the text",
    "artefact of code or protocol",
    "not testable here",
]
VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
# the value of Evidenced.holds that agrees with each verdict; None means that the statement holds in part
STATEMENT_HOLDS: dict[ClaimVerdict, bool | None] = {
    "holds": True,
    "holds in part": None,
    "does not hold": False,
    "error of the text": False,
    "artefact of code or protocol": False,
}
LEVEL = 0.95


@dataclass(frozen=True)
class MeasuredFigure:
    """A number with its interval over seeds; an exact number has no interval.

    >>> MeasuredFigure.over_seeds([0.80, 0.82, 0.84]).low < 0.8
    True
    >>> str(MeasuredFigure(0.8564)), str(MeasuredFigure(0.82, 0.77, 0.87))
    ('0.856', '0.820 [0.770, 0.870]')
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def over_seeds(cls, values: Sequence[float]) -> MeasuredFigure:
        """Return the mean over seeds with Student's 95 % interval; fewer than three seeds have no interval."""
        found = np.asarray(values, dtype=np.float64)
        mean = float(found.mean())
        if found.size < 3:
            return cls(mean)
        reach = float(student.ppf((1 + LEVEL) / 2, found.size - 1) * found.std(ddof=1) / math.sqrt(found.size))
        return cls(mean, mean - reach, mean + reach)

    @property
    def numbers(self) -> list[float]:
        """Value, and the ends of the interval if there is one."""
        return [self.value] if math.isnan(self.low) else [self.value, self.low, self.high]

    def __str__(self) -> str:
        value, *interval = (f"{number:.3f}" if abs(number) < 1000 else f"{number:.4g}" for number in self.numbers)
        return f"{value} [{interval[0]}, {interval[1]}]" if interval else value


@dataclass(frozen=True)
class Evidenced:
    """The result of an evidence function: whether the paper's statement holds, and the figures.

    ``holds`` is None if the statement holds in part, or only under conditions that the paper does not state.

    >>> Evidenced.of(False, {"DCI-D, 9 of 10 codes": 0.856}).figures["DCI-D, 9 of 10 codes"].value
    0.856
    """

    holds: bool | None
    figures: Mapping[str, MeasuredFigure]

    @classmethod
    def of(cls, holds: bool | None, figures: Mapping[str, float | MeasuredFigure]) -> Evidenced:
        """Return evidence from figures that may be plain numbers."""
        stated = None if holds is None else bool(holds)
        return cls(
            stated,
            {name: x if isinstance(x, MeasuredFigure) else MeasuredFigure(float(x)) for name, x in figures.items()},
        )


@dataclass(frozen=True)
class Claim:
    """A checkable claim of a paper.

    Parameters
    ----------
    paper : str
        Number of the paper: ``"003"``.
    number : int
        Number of the claim in its paper's file; it never changes.
    where : str
        Section, figure, table or equation of the paper.
    statement : str
        What the paper says, in our words.
    stated : str
        The paper's own figure; empty if it has none.
    verdict : str
        One of `VERDICTS`.
    why : str
        The reason of the verdict, in one or a few sentences.
    evidence : str
        ``module:function`` in the paper's ``evidence`` package; empty if nothing can be computed here.
    experiments : tuple of str
        Experiments of the paper whose rows decide the claim, if it needs trained models.
    tolerance : float
        Largest accepted difference of a figure from the recorded one, for other random numbers and library versions.
    seconds : float
        Approximate CPU seconds of the evidence.
    needs : tuple of str
        'torch', folders ('weights', 'data', 'authors_data'), or 'reproduced': stored results of its experiments.
    see : str
        A command that shows the claim in a table or figure; empty if there is none.
    figures : mapping of name to MeasuredFigure
        The recorded figures.
    """

    paper: str
    number: int
    where: str
    statement: str
    verdict: ClaimVerdict
    why: str
    stated: str = ""
    evidence: str = ""
    experiments: tuple[str, ...] = ()
    tolerance: float = 0.02
    seconds: float = 1.0
    needs: tuple[str, ...] = ()
    see: str = ""
    figures: Mapping[str, MeasuredFigure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the claim is cited: ``003:44``."""
        return f"{self.paper}:{self.number}"

    @property
    def is_computed(self) -> bool:
        """Whether there is evidence that can be computed."""
        return bool(self.evidence or self.experiments)

    @property
    def command(self) -> str:
        """Command that computes the evidence again."""
        return f"unweave claims check {self.name}"
