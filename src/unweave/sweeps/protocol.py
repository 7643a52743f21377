"""Protocols: a protocol draws the data set of a cell and computes metrics on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from typing import Protocol as TypingProtocol

from unweave.card import MetricUndefined
from unweave.card.choices import metric_of, stated_options
from unweave.evidence import Evidence, EvidenceError
from unweave.randomness import random_stream
from unweave.score import Score


@dataclass(frozen=True)
class Measurement:
    """Score of one metric on one data set, or nan and the reason.

    ``final`` is False after an unexpected error (a bug, out of memory), as opposed to a metric that is undefined on the
    data; the next run then tries again.

    >>> Measurement("mcc", value=1.0, raw=1.02).problem is None
    True
    """

    metric: str
    value: float
    raw: float
    problem: str | None = None
    seconds: float = field(default=math.nan, compare=False)
    final: bool = True


class Protocol(TypingProtocol):
    """How a cell is computed; a frozen dataclass, because its fields are part of the key of a cell.

    >>> protocol: Protocol = AllRows()
    """

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """One measurement for each of these metrics, in their order.

        The value of a metric must not depend on the other metrics, because a sweep only computes missing ones.
        """


@dataclass(frozen=True)
class AllRows:
    """Computes every metric on all rows of one `Evidence`, so that metrics share computations.

    The world and the encoder use two random streams that are spawned from the seed, so that cells with the same seed
    and world have the same factors for all encoders. Metrics with a random part use the seed itself.

    >>> from unweave.metrics import mcc
    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Circuit
    >>> [found] = AllRows().scores(Circuit(), PermutedAndScaled(), 200, 0, {"mcc": mcc})
    >>> round(found.value, 3)
    1.0
    """

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """One measurement for each of these metrics, in their order."""
        of_world, of_encoder = random_stream(seed, "factors of a cell"), random_stream(seed, "codes of a cell")
        factors = world.sample(n_rows, of_world)
        codes = encoder.encode(factors, of_encoder)
        evidence = Evidence(factors, codes, kinds=getattr(world, "kinds", None))
        return [measured(label, partial(scored, entry, evidence, seed)) for label, entry in metrics.items()]


def scored(entry: Any, evidence: Evidence, seed: int) -> Score:
    """Score of a metric, with this seed if the metric has an option ``rng`` that is not set."""
    takes_seed = "rng" in metric_of(entry).options and "rng" not in stated_options(entry)
    return entry(evidence, rng=seed) if takes_seed else entry(evidence)


def measured(label: str, score: Callable[[], Score]) -> Measurement:
    """The measurement from a call of ``score``; an error becomes nan with a problem.

    >>> measured("late", lambda: Score(raw=1.02, bounds=(0.0, 1.0))).value
    1.0
    >>> measured("broken", lambda: 1 / 0).problem
    'failed with ZeroDivisionError: division by zero'
    """
    start = time.perf_counter()
    try:
        found = score()
    except Exception as error:  # an error must not stop other metrics and cells
        problem, final = problem_of(error)
        return Measurement(label, math.nan, math.nan, problem, time.perf_counter() - start, final)
    reason = (" ".join(map(str, found.caveats)) or "undefined") if math.isnan(found.raw) else None
    return Measurement(label, found.value, float(found.raw), reason, time.perf_counter() - start)


def problem_of(error: Exception) -> tuple[str, bool]:
    """A sentence that describes the error, and whether it is final: the metric is undefined on the data."""
    text = " ".join(str(error).split())
    if isinstance(error, (MetricUndefined, EvidenceError)):
        return text, True
    return f"failed with {type(error).__name__}: {text}", False
