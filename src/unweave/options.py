"""Validation of the options of metrics, estimators, worlds and encoders by their annotations, before they are used."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import reprlib
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from unweave.errors import OptionError, refuse_more_by_place
from unweave.sentences import printable

Checked = TypeVar("Checked", bound=Callable[..., Any])


@dataclass(frozen=True)
class Within:
    """The allowed range of a numeric option, ``least <= value < below``, as in ``Annotated[int, Within(1)]``.

    With ``open`` the value has to be above ``least``.

    >>> Within(1).holds(0), Within(0, 1).holds(0.5)
    (False, True)
    """

    least: float = -math.inf
    below: float = math.inf
    open: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value lies in the range."""
        return bool(self.least <= value < self.below) and not (self.open and value == self.least)

    def __str__(self) -> str:
        if math.isinf(self.least):
            return "that is finite"
        upper = "" if math.isinf(self.below) else f" and below {self.below:.6g}"
        return f"{'above' if self.open else 'from'} {self.least:g}{upper}"


Count = Annotated[int, Within(1)]
Several = Annotated[int, Within(2)]
Batches = Annotated[int, Within(2, 1e6)]  # more would need hours, or more memory than there is
Share = Annotated[float, Within(0, 1)]
HeldOut = Annotated[float, Within(0, 1, open=True)]
Quantile = Annotated[float, Within(0, math.nextafter(1.0, 2.0))]
Width = Annotated[int, Within(1, 1e5)]  # of a square matrix
Whole = Annotated[int, Within(0)]
Finite = Annotated[float, Within(open=True)]
Amount = Annotated[float, Within(0)]
Positive = Annotated[float, Within(0, open=True)]
Rate = Annotated[float, Within(0, 2, open=True)]  # of learning; with 2 and more, boosting diverges
Seed = Whole | np.random.Generator | None


@functools.cache
def option_types(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; empty if they cannot be evaluated."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def check_option_values(whose: str, types: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise an `OptionError` for the first value that the annotation of its option does not allow.

    >>> check_option_values("mcc", {"bins": Count}, {"bins": 0})
    Traceback (most recent call last):
    unweave.OptionError: bins=0 of mcc is not allowed: use a whole number from 1.
    """
    for name, value in given.items():
        alternatives = _alternatives(types.get(name, Any))
        described = [_allowed_values(entry) for entry in alternatives]
        if not all(described) or any(_allows(entry, value) for entry in alternatives):
            continue
        words, shown = _joined_by_or(described), printable(reprlib.repr(value)[:100])
        if isinstance(value, str) and any(get_origin(entry) is Literal for entry in alternatives):
            raise OptionError(f"{name}={shown} is not known: use {words}.")
        raise OptionError(f"{name}={shown} of {whose} is not allowed: use {words}.")


def checks_options(thing: Checked) -> Checked:
    """Let a function, or the constructor of a class, refuse values that its annotations do not allow.

    >>> @checks_options
    ... def repeated(times: Count) -> None: ...
    >>> repeated(0)
    Traceback (most recent call last):
    unweave.OptionError: times=0 of repeated is not allowed: use a whole number from 1.
    """
    function: Any = thing.__init__ if isinstance(thing, type) else thing  # type: ignore[misc]
    signature, annotated = inspect.signature(function), thing if dataclasses.is_dataclass(thing) else function

    @functools.wraps(function)
    def checked(*positional: Any, **named: Any) -> Any:
        refuse_more_by_place(len(positional), signature.parameters, thing.__name__)
        given = signature.bind(*positional, **named).arguments
        check_option_values(thing.__name__, option_types(annotated), given)
        return function(*positional, **named)

    if not isinstance(thing, type):
        return checked  # type: ignore[return-value]
    thing.__init__ = checked  # type: ignore[misc]
    return thing


def _alternatives(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, UnionType):
        return [part for entry in get_args(annotation) for part in _alternatives(entry)]
    return [annotation]


def _allows(annotation: Any, value: Any) -> bool:
    """Whether a value is allowed by one alternative of an annotation."""
    kind = get_origin(annotation)
    if kind is Annotated:
        stated, *ranges = get_args(annotation)
        return _allows(stated, value) and all(entry.holds(value) for entry in ranges if isinstance(entry, Within))
    if kind is Literal:
        return isinstance(value, typing.Hashable) and value in get_args(annotation)
    if kind is tuple:
        return isinstance(value, tuple) and _allows_entries(get_args(annotation), value)
    if kind in CONTAINERS:  # a text and an array without axes look like sequences
        is_text = isinstance(value, (str, bytes)) and kind in (Sequence, Iterable)
        fits = isinstance(value, kind) and not is_text and getattr(value, "shape", None) != ()
        return fits and _entries_fit(kind, get_args(annotation), value)
    if annotation in PLAIN:
        return PLAIN[annotation](value)
    if _is_strategy(annotation):
        asked = getattr(annotation, "__abstractmethods__", ()) or _public_methods(annotation)
        if asked:
            return not isinstance(value, type) and all(hasattr(value, name) for name in asked)
    return isinstance(value, annotation)


PLAIN: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: isinstance(value, (bool, np.bool_)),
    int: lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    float: lambda value: isinstance(value, Real) and not isinstance(value, bool) and value == value,
    NoneType: lambda value: value is None,
    str: lambda value: isinstance(value, str) and "\0" not in value,
    Path: lambda value: isinstance(value, Path) and "\0" not in str(value),
}


def _entries_fit(kind: Any, kinds: tuple[Any, ...], value: Any) -> bool:
    """Whether the entries of a sequence, or the values of a mapping, are of the annotated kind."""
    alternatives = _alternatives(kinds[-1]) if kinds and kind in (Sequence, Mapping) else []
    if not all(each is float or _is_strategy(each) for each in alternatives) or not alternatives:
        return True
    entries = value.values() if kind is Mapping else value
    return all(any(_allows(each, entry) for each in alternatives) for entry in entries)


def _allows_entries(kinds: tuple[Any, ...], entries: tuple[Any, ...]) -> bool:
    kinds = kinds[:1] * len(entries) if kinds[-1] is Ellipsis else kinds
    return len(entries) == len(kinds) and all(map(_allows, kinds, entries))


def _allowed_values(annotation: Any) -> str:
    """The values that an alternative allows, in words; empty for annotations that are not checked."""
    if get_origin(annotation) is Annotated:
        kind, *ranges = get_args(annotation)
        return " ".join([_allowed_values(kind), *(str(entry) for entry in ranges if isinstance(entry, Within))])
    if get_origin(annotation) is Literal:
        return _joined_by_or([repr(word) for word in get_args(annotation)])
    if get_origin(annotation) is tuple:
        kinds = get_args(annotation)
        how_many = "a tuple" if kinds[-1] is Ellipsis else f"a tuple of {len(kinds)} entries"
        words = _allowed_values(kinds[0])
        return words and f"{how_many}, each entry {words}"
    if isinstance(annotation, type) and annotation in WORDS:
        return WORDS[annotation]
    if get_origin(annotation) in CONTAINERS:
        return CONTAINERS[get_origin(annotation)]
    ours = inspect.isclass(annotation) and annotation.__module__.startswith("unweave")
    if not (ours or _is_strategy(annotation)):
        return ""
    what = "an object" if ours and "estimators" not in annotation.__module__ else "an estimator of unweave.estimators"
    return f"{what} ({annotation.__name__})"


CONTAINERS: dict[Any, str] = {
    Mapping: "a mapping",
    dict: "a dictionary",
    list: "a list",
    Sequence: "a sequence",
    Iterable: "something to iterate over",
    Callable: "a function",
    np.ndarray: "an array",
}

WORDS: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    NoneType: "None",
    np.random.Generator: "a numpy Generator",
}


def _is_strategy(annotation: Any) -> bool:
    """Whether the option is an estimator: a protocol, or a frozen dataclass."""
    return inspect.isclass(annotation) and (
        getattr(annotation, "_is_protocol", False) or dataclasses.is_dataclass(annotation)
    )


def _public_methods(strategy: type) -> list[str]:
    return [name for name, entry in vars(strategy).items() if inspect.isfunction(entry) and not name.startswith("_")]


def _joined_by_or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
