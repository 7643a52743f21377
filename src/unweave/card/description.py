"""`CardDescription`: the content of a card as plain data, which is stored with a score and can be written to JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from unweave.card.card import Card


@dataclass(frozen=True)
class CardDescription:
    """Description of a metric, with the bounds and the best score that apply to the options in use.

    Tables, pages and citations use it instead of the catalogue, so that a user's own metric is described by its own
    card, whatever its name.

    >>> from unweave.metrics import jemmig
    >>> CardDescription.of(jemmig.card, {}).lower_is_better
    True
    """

    name: str
    version: int
    summary: str
    measures: str
    reference: str
    fails_when: str
    needs: tuple[str, ...] = ()
    bounds: tuple[float, float] = (-math.inf, math.inf)
    best: float = math.nan

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the smallest one."""
        return self.best == self.bounds[0]

    @classmethod
    def of(cls, card: Card, options: Mapping[str, object]) -> CardDescription:
        """Description of the card for these options."""
        holding = card.under(options)
        return cls(
            name=card.name,
            version=card.version,
            summary=card.summary,
            measures=card.measures,
            reference=card.reference,
            fails_when=card.fails_when,
            needs=tuple(card.needs),
            bounds=(float(holding.bounds[0]), float(holding.bounds[1])),
            best=float(holding.best),
        )
