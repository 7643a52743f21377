"""Rules that decide from figures whether a statement holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unweave.papers.ledger.claim import Evidenced, MeasuredFigure


def decided(figures: Mapping[str, float | MeasuredFigure], holds: Callable[[list[float]], bool | None]) -> Evidenced:
    """Return evidence for which ``holds`` is called with the values of the figures, in their order."""
    stated = Evidenced.of(None, figures).figures
    return Evidenced(_plain(holds([entry.value for entry in stated.values()])), stated)


def rises(values: Iterable[float], by: float = 0.05) -> bool:
    """Whether no value is more than .02 below the one before, and the last exceeds the first by more than ``by``."""
    found = list(values)
    return found[-1] - found[0] > by and all(b > a - 0.02 for a, b in itertools.pairwise(found))


def falls(values: Iterable[float], by: float = 0.05) -> bool:
    """Whether no value is more than .02 above the one before, and the last is below the first by more than ``by``."""
    return rises([-value for value in values], by)


def near(values: Iterable[float], target: float, within: float) -> bool:
    """Whether all values differ from the target by at most ``within``."""
    return all(abs(value - target) <= within for value in values)


def _plain(holds: Any) -> bool | None:
    return None if holds is None else bool(holds)
