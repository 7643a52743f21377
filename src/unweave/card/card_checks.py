"""Validation of a card's fields: an invalid value raises an error with one sentence when the metric is declared."""

from __future__ import annotations

import difflib
import math
import reprlib
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, get_args

from unweave.card.vocabulary import PROPERTIES, Assumption, Case, Equivalence, NamedChance, Need, Variant
from unweave.evidence import FactorKind

if TYPE_CHECKING:
    from unweave.card.card import Card


class MetricError(TypeError):
    """Raised for a metric that is declared incorrectly; the message states what is wrong and what to write instead.

    >>> import unweave
    >>> unweave.metric(bounds="hello")
    Traceback (most recent call last):
    unweave.card.card_checks.MetricError: A card has bounds='hello': write two numbers, the lower one first.
    """


def check_card(card: Card) -> None:
    """Raise a `MetricError` for the first invalid field of the card."""
    check_fields(f"The card of {card.name}", vars(card))
    low, high = card.bounds
    if not (math.isnan(card.best) or low <= card.best <= high):
        raise MetricError(
            f"The card of {card.name} has best={card.best:g} outside its bounds, {low:g} to {high:g}: "
            "write a score within them, or math.nan if no score is better than another."
        )


def check_fields(whose: str, fields: dict[str, Any]) -> None:
    """Raise a `MetricError` for the first of these fields with an invalid value; each field is checked by itself."""
    for name, value in fields.items():
        makes_sense, expected = RULES[name]
        if not makes_sense(value):
            raise MetricError(f"{whose} has {name}={reprlib.repr(value)}: write {expected}.")
    measures = fields.get("measures")
    near = difflib.get_close_matches(measures, PROPERTIES, cutoff=0.9) if measures else []
    if near and measures not in PROPERTIES:
        raise MetricError(f"{whose} has measures={measures!r}: did you mean {near[0]!r}?")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_tolerance(value: object) -> bool:
    return _is_number(value) and value >= 0  # type: ignore[operator]


def _is_whole_from(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _are_bounds(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value)) and value[0] < value[1]


def _is_chance(value: object) -> bool:
    return callable(value) or _is_number(value) or value in get_args(NamedChance)


def _is_one_of(vocabulary: object) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in get_args(vocabulary)


def _are(collection: type, kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, collection) and all(isinstance(entry, kind) for entry in value)  # type: ignore[attr-defined]


def _are_needs(value: object) -> bool:
    return isinstance(value, tuple) and set(value) <= set(get_args(Need))


def _are_cases(value: object) -> bool:
    return isinstance(value, tuple) and set(value) <= set(get_args(Case))


def _quoted(vocabulary: object) -> str:
    return ", ".join(map(repr, get_args(vocabulary)))


Rule = tuple[Callable[[Any], bool], str]
_TEXT: Rule = (_is_text, "a text that is not empty")
_TOLERANCE: Rule = (_is_tolerance, "a number from 0")

RULES: dict[str, Rule] = {
    "name": _TEXT,
    "summary": (lambda value: isinstance(value, str), "a text"),  # empty if the function has no docstring
    "measures": (_is_text, "a property in a few words, such as 'compactness'"),
    "equivalence": (_is_one_of(Equivalence), f"one of {_quoted(Equivalence)}"),
    "factor_kinds": (_are(frozenset, FactorKind), "a frozenset of FactorKind, such as ANY_KIND"),
    "needs": (_are_needs, f"a tuple of these: {_quoted(Need)}"),
    "min_rows": (_is_whole_from(0), "a whole number from 0"),
    "bounds": (_are_bounds, "two numbers, the lower one first"),
    "best": (_is_number, "a number, or math.nan if no score is better than another"),
    "chance": (_is_chance, f"a number, a function of n, m and d, or one of {_quoted(NamedChance)}"),
    "cost": _TEXT,
    "fails_when": _TEXT,
    "reference": _TEXT,
    "assumes": (_are(tuple, Assumption), "a tuple of Assumption"),
    "identity_tolerance": _TOLERANCE,
    "order_tolerance": _TOLERANCE,
    "takes_factor_tables": (lambda value: isinstance(value, bool), "True or False"),
    "takes_sparse_codes": (lambda value: isinstance(value, bool), "True or False"),
    "factor_by_factor": (lambda value: isinstance(value, bool), "True or False"),
    "takes_code_groups": (lambda value: isinstance(value, bool), "True or False"),
    "undefined_with": (_are_cases, f"a tuple of these: {_quoted(Case)}"),
    "variants": (_are(tuple, Variant), "a tuple of Variant"),
    "raw_range": (lambda value: isinstance(value, str), "a text, empty if raw scores lie within the bounds"),
    "version": (_is_whole_from(1), "a whole number from 1"),
}
