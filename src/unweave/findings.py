"""`Finding`: a caveat, note or reason as data; the package `words` turns it into a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

Quantity = float | str
# imported by name at run time, because `unweave.words` imports this module


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Finding:
    """A caveat, a note, a reason or a diagnosis: its kind, its quantities, and the factors and codes it is about.

    ``str(finding)`` is its sentence. Two findings are equal when all of their attributes are; here nan equals nan.

    Attributes
    ----------
    kind : str
        An identifier, which is also the name of the function in `unweave.words` that writes the sentence.
    quantities : mapping of name to number or text
        The numbers and names that the sentence needs.
    factors, codes : tuple of str
        Names of the factors and codes that the finding is about.

    Examples
    --------
    >>> finding = Finding("rows_dropped", n_rows=3)
    >>> str(finding)
    '3 rows with missing values were dropped.'
    >>> Finding.from_dict(finding.to_dict()) == finding
    True
    """

    kind: str
    quantities: Mapping[str, Quantity]
    factors: tuple[str, ...]
    codes: tuple[str, ...]

    def __init__(
        self, kind: str, /, *, factors: Iterable[str] = (), codes: Iterable[str] = (), **quantities: Quantity
    ) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "quantities", {name: _plain(quantity) for name, quantity in quantities.items()})
        object.__setattr__(self, "factors", tuple(factors))
        object.__setattr__(self, "codes", tuple(codes))

    def __str__(self) -> str:
        from unweave.words import sentence  # late: words is above findings

        return sentence(self)

    def __repr__(self) -> str:
        named = {"factors": self.factors, "codes": self.codes}
        stated = {**self.quantities, **{name: names for name, names in named.items() if names}}
        return f"Finding({', '.join([repr(self.kind), *(f'{name}={item!r}' for name, item in stated.items())])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        quantities = tuple(
            (name, None if isinstance(quantity, float) and math.isnan(quantity) else quantity)
            for name, quantity in sorted(self.quantities.items())
        )
        return self.kind, quantities, self.factors, self.codes

    def to_dict(self) -> dict[str, Any]:
        """Plain data for strict JSON, with the sentence; nan becomes null, and infinity becomes {"float": "inf"}."""
        quantities = {name: _strict(quantity) for name, quantity in self.quantities.items()}
        return {
            "kind": self.kind,
            "quantities": quantities,
            "factors": list(self.factors),
            "codes": list(self.codes),
            "sentence": str(self),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Finding from `to_dict`."""
        quantities = {name: _restored(quantity) for name, quantity in data["quantities"].items()}
        return cls(data["kind"], factors=data["factors"], codes=data["codes"], **quantities)


def stated(text: str) -> Finding:
    """A finding whose sentence is this text, for caveats of user-defined metrics.

    >>> str(stated("Read it with care."))
    'Read it with care.'
    """
    return Finding("stated", text=text)


def as_findings(items: Iterable[Finding | str]) -> tuple[Finding, ...]:
    """Findings as they are, and plain sentences converted to findings."""
    return tuple(item if isinstance(item, Finding) else stated(str(item)) for item in items)


def _plain(quantity: Any) -> Quantity:
    """Convert a numpy number to a Python number."""
    return quantity.item() if hasattr(quantity, "item") else quantity


def _strict(quantity: Quantity) -> Any:
    if isinstance(quantity, float) and not math.isfinite(quantity):
        return None if math.isnan(quantity) else {"float": str(quantity)}
    return quantity


def _restored(quantity: Any) -> Quantity:
    if quantity is None:
        return math.nan
    return float(quantity["float"]) if isinstance(quantity, Mapping) else quantity
