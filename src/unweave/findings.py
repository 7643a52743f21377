"""`Finding`: a caveat, note or reason as data; its sentence is a template of its kind in `sentences.toml`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from unweave.errors import InputError
from unweave.sentences import filled, printable, say, templates

Quantity = float | str


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Finding:
    """A caveat, a note, a reason or a diagnosis: its kind, its quantities, and the factors and codes it is about.

    ``str(finding)`` is its sentence. Two findings are equal when all of their attributes are; here nan equals nan.

    Attributes
    ----------
    kind : str
        A key of the section ``[findings]`` of `sentences.toml`, whose template is the sentence. An unknown kind is
        refused; `stated` makes a finding of a sentence of your own.
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
        if kind not in templates()["findings"]:
            near = difflib.get_close_matches(kind, templates()["findings"])
            meant = f"did you mean {near[0]!r}?" if near else "use stated(...) for a sentence of your own."
            raise ValueError(f"There is no finding of kind {kind!r}: {meant}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "quantities", {name: _plain(quantity) for name, quantity in quantities.items()})
        object.__setattr__(self, "factors", tuple(factors))
        object.__setattr__(self, "codes", tuple(codes))

    def restated(self, **quantities: Quantity) -> Finding:
        """The same finding with other quantities."""
        return type(self)(self.kind, factors=self.factors, codes=self.codes, **{**self.quantities, **quantities})

    def __str__(self) -> str:
        return _sentence(self, self.quantities)

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
        """Finding from `to_dict`; of a kind that this version does not have, the sentence as it was stated."""
        if data["kind"] not in templates()["findings"]:
            return cls("stated", text=data["sentence"])
        quantities = {name: _restored(quantity) for name, quantity in data["quantities"].items()}
        return cls(data["kind"], factors=data["factors"], codes=data["codes"], **quantities)


def stated(text: str) -> Finding:
    """A finding whose sentence is this text, for caveats of user-defined metrics.

    >>> str(stated("Read it with care."))
    'Read it with care.'
    """
    return Finding("stated", text=text)


def sentence_of_several(findings: Sequence[Finding]) -> str:
    """One sentence with ranges for findings of one kind that differ only in their numbers.

    >>> print(sentence_of_several([Finding("rows_dropped", n_rows=3), Finding("rows_dropped", n_rows=5)]))
    3 to 5 rows with missing values were dropped.
    """
    quantities: dict[str, Any] = dict(findings[0].quantities)
    for name, quantity in quantities.items():
        several: list[Any] = [finding.quantities[name] for finding in findings]
        if not isinstance(quantity, str) and len(set(several)) > 1:
            quantities[name] = NumberRange(min(several), max(several))
    return _sentence(findings[0], quantities)


def shared_reason(findings: Mapping[str, Finding]) -> str | None:
    """The reason that the findings of several metrics share, with the change of each score; None if none is stated.

    >>> moved = {"before": 0.75, "after": 1.0, "further": False}
    >>> both = {name: Finding("depends_on_number_of_rows", rows_per_code=3, **moved) for name in ("mig", "sap")}
    >>> print(shared_reason(both))
    Depend on the number of rows. With more rows, mig goes from 0.75 to 1.00, sap from 0.75 to 1.00.
    """
    first = next(iter(findings.values()))
    template = templates()["shared"].get(first.kind)
    if template is None or not all({"before", "after"} <= set(each.quantities) for each in findings.values()):
        return None
    changes = [
        say("score_change", name=name, is_first=k == 0, **each.quantities)
        for k, (name, each) in enumerate(findings.items())
    ]
    further = any(each.quantities.get("further") for each in findings.values())
    about = {"factors": first.factors, "n": len(findings), "changes": ", ".join(changes), "further": further}
    values = {**first.quantities, **about}
    return filled(template, values)


@dataclass(frozen=True)
class NumberRange:
    """The smallest and the largest of several numbers; formatted as 'smallest to largest'.

    >>> f"{NumberRange(0.25, 1.5):.1f}", f"{NumberRange(19, 19.001):.0f}"
    ('0.2 to 1.5', '19')
    """

    low: float
    high: float

    def __format__(self, form: str) -> str:
        ends = format(self.low, form), format(self.high, form)
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _sentence(finding: Finding, quantities: Mapping[str, Any]) -> str:
    first, *others = finding.factors or ("",)
    about = {"factors": finding.factors, "factor": first, "other_factors": others, "codes": finding.codes}
    values = {**quantities, **about, "code": "".join(finding.codes[:1])}
    try:
        return filled(templates()["findings"][finding.kind], values)
    except KeyError as missing:
        raise InputError(
            f"A finding {finding.kind!r} states no {missing}: the file that it was read from is damaged."
        ) from None


def _plain(quantity: Any) -> Quantity:
    """Convert a numpy number to a Python number, and a text to one without control characters."""
    quantity = quantity.item() if hasattr(quantity, "item") else quantity
    return printable(quantity) if isinstance(quantity, str) else quantity


def _strict(quantity: Quantity) -> Any:
    if isinstance(quantity, float) and not math.isfinite(quantity):
        return None if math.isnan(quantity) else {"float": str(quantity)}
    return quantity


def _restored(quantity: Any) -> Quantity:
    if quantity is None:
        return math.nan
    return float(quantity["float"]) if isinstance(quantity, Mapping) else quantity
