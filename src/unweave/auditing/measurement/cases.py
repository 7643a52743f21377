"""`Case`: a world, an encoder and a number of rows, which together with a seed determine a data set."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass

from unweave.auditing.measurement.subjects import Auditable, Scale, Subject, subject_of
from unweave.evidence import Evidence
from unweave.synthetic.encoders import Encoder
from unweave.synthetic.worlds import World
from unweave.threads import one_thread

# with the same seed, world and map would use the same random numbers, and noise codes would depend on the factors
MAP_SEED = 1000


@dataclass(frozen=True)
class Case:
    """A number of rows of a world, and the encoder that computes their codes."""

    world: World
    encoder: Encoder
    n_rows: int = 1000

    def evidence(self, seed: int) -> Evidence:
        """The data for a seed; cases with the same seed use the same random numbers for the world and the encoder."""
        factors = self.world.sample(self.n_rows, seed)
        kinds = getattr(self.world, "kinds", "continuous")
        return Evidence(factors, self.encoder.encode(factors, MAP_SEED + seed), kinds=kinds)

    @property
    def size(self) -> int:
        """Rows times codes times factors; a metric's computing time is assumed to be proportional to it."""
        d = self.world.n_factors
        return self.n_rows * self.encoder.n_codes(d) * d

    def expression(self, subject: Subject, seed: int) -> str:
        """A Python expression for the subject's score, after ``from unweave.auditing.reproduce_case import *``."""
        rows = "" if self.n_rows == 1000 else f", n_rows={self.n_rows}"
        scale = f", scale=({subject.worst:g}, {subject.best:g})" if subject.rescaled else ""
        return f"scored({subject.text}, {written(self.world)}, {written(self.encoder)}{rows}, seed={seed}{scale})"


def written(value: object) -> str:
    """A frozen value as a Python expression that creates it, without fields that have their default values.

    >>> from unweave.synthetic.encoders import Mixed, WithCopies
    >>> written(WithCopies(Mixed(ratio=3.0)))
    'WithCopies(encoder=Mixed(ratio=3.0))'
    """
    if not dataclasses.is_dataclass(value):
        return repr(value)
    entries = [(entry, getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    stated = [f"{entry.name}={written(item)}" for entry, item in entries if item != entry.default]
    return f"{type(value).__name__}({', '.join(stated)})"


@dataclass(frozen=True)
class Outcome:
    """Result of one metric on one case and seed: a value, or the reason why there is none, and the CPU time."""

    value: float | None
    problem: str
    seconds: float


def scored(
    metric: Auditable,
    world: World,
    encoder: Encoder,
    *,
    n_rows: int = 1000,
    seed: int = 0,
    scale: Scale | None = None,
) -> float:
    """The score of a metric for an encoder and rows of a world, on the audit's scale (1 is best).

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Independent
    >>> round(scored("mcc", Independent(5), PermutedAndScaled(), seed=3), 6)
    1.0
    """
    with one_thread():
        return subject_of(metric, scale).score(Case(world, encoder, n_rows).evidence(seed), seed)


def outcomes(case: Case, seed: int, subjects: Sequence[Subject]) -> list[Outcome]:
    """Outcomes of all subjects on the same evidence, so that they share computations; a failure becomes a problem."""
    with one_thread():  # sums are computed in the same order on every machine
        evidence = case.evidence(seed)
        return [_outcome(subject, evidence, seed) for subject in subjects]


def _outcome(subject: Subject, evidence: Evidence, seed: int) -> Outcome:
    start = time.process_time()
    value, problem = None, ""
    try:
        found = subject.score(evidence, seed)
        if found == found:
            value = found
        else:
            problem = "undefined (nan)"
    except Exception as error:  # any error of a user's metric is a result of the audit
        problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Outcome(value, problem, time.process_time() - start)
