"""Records to strict JSON and back: one codec for scores, rows, noise floors, intervals, verdicts, diagnoses and audits.

A record is a frozen dataclass. In JSON, nan is null, an infinity is the text 'inf' or '-inf', and arrays and tuples are
lists. Data that is read is checked against the types of the record's fields. For an invalid file, the error states in
one sentence which field is wrong.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from statistics import mode
from typing import Any, Literal, Self, TypeVar, cast, get_args, get_origin

import cattrs
import numpy as np
from cattrs.errors import AttributeValidationNote, IterableValidationNote

from unweave.errors import InputError
from unweave.findings import Finding
from unweave.sentences import printable

Record = TypeVar("Record")
INFINITIES = ("inf", "-inf")


class CodecError(ValueError):
    """Raised for data that does not fit the record; the message says which field is wrong."""


def plain_data(item: Any) -> Any:
    """Convert an item to types of strict JSON; a record becomes a mapping of its fields.

    >>> plain_data({"a": float("nan"), "b": np.array([1.0, float("inf")])})
    {'a': None, 'b': [1.0, 'inf']}
    """
    if isinstance(item, np.ndarray) and item.dtype.kind in "fiub" and np.isfinite(item).all():
        return item.tolist()  # fast path without a function call per number
    if isinstance(item, (np.ndarray, np.generic)):
        item = item.tolist()
    if item is None or isinstance(item, (bool, int)):
        return item
    if isinstance(item, str):
        return str(item)
    if isinstance(item, float):
        return None if math.isnan(item) else float(item) if math.isfinite(item) else str(item)
    if isinstance(item, Finding):
        return item.to_dict()
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {entry.name: plain_data(getattr(item, entry.name)) for entry in dataclasses.fields(item)}
    if isinstance(item, Mapping):
        return {str(key): plain_data(entry) for key, entry in item.items()}
    if isinstance(item, Sequence):
        return [plain_data(entry) for entry in item]
    return repr(item)


def restored(kind: type[Record], data: Any) -> Record:
    """Restore a record of this kind from `plain_data`; entries that are not fields of the record are ignored.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Place:
    ...     x: float
    >>> restored(Place, {"x": None}), restored(Place, {"x": "inf"})
    (Place(x=nan), Place(x=inf))
    >>> restored(Place, {"x": "far"})
    Traceback (most recent call last):
    unweave.codec.CodecError: x: 'far' is not a number
    """
    try:
        if not isinstance(data, Mapping):
            raise ValueError(f"{data!r} is not a record with fields")
        return _CONVERTER.structure(data, kind)
    except Exception as error:  # invalid data can cause any exception; the message names the field
        raise CodecError(_first_problem(error)) from None


def read_record(kind: type[Record], saved: Any) -> Record:
    """Restore a record from its plain data or from their JSON; raises an `InputError` that names the wrong field.

    >>> read_record(Finding, "[")
    Traceback (most recent call last):
    unweave.InputError: This is not a Finding as it was written (Expecting value): pass what to_json or to_dict gave.
    """
    try:
        return restored(kind, read_json(saved) if isinstance(saved, (str, bytes)) else saved)
    except (ValueError, RecursionError) as error:
        reason = printable(str(error).partition(": line")[0])
        raise InputError(
            f"This is not a {kind.__name__} as it was written ({reason}): pass what to_json or to_dict gave."
        ) from None


class SavedRecord:
    """Methods of a record that write it as plain data or JSON, and read it back."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null, infinities become text."""
        data: dict[str, Any] = plain_data(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The record from `to_dict`."""
        return read_record(cls, data)

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record from `to_json`."""
        return read_record(cls, text)


def read_json(text: str | bytes) -> Any:
    """Plain data from JSON; raises a ValueError if a key is repeated, because other programs read the other entry.

    >>> read_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' is there twice
    """
    return json.loads(text, object_pairs_hook=_without_repeated_keys)


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError(f"the key {mode(name for name, _ in pairs)[:100]!r} is there twice")
    return entries


def _first_problem(error: BaseException) -> str:
    """Message for the first of nested validation errors: the field and the cause."""
    place: list[str] = []
    while isinstance(error, cattrs.BaseValidationError):
        error = error.exceptions[0]
        for note in getattr(error, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                place.append(note.name)
            elif isinstance(note, IterableValidationNote):
                place.append(str(note.index))
    if isinstance(error, KeyError):
        return f"{'.'.join([*place])}: it is missing" if place else f"{error.args[0]!r} is missing"
    text = " ".join(str(error).split())
    text = text if len(text) < 200 else f"{text[:150]} ..."
    return f"{'.'.join(place)}: {text}" if place else text


def _number(item: Any, _kind: object) -> float:
    if item is None:
        return math.nan
    if isinstance(item, bool) or not (isinstance(item, (int, float)) or item in INFINITIES):
        raise ValueError(f"{item!r} is not a number")
    number = float(item)
    return item if number == item else number  # 40 stays 40, so that reading and writing again gives the same text


def _whole(item: Any, _kind: object) -> int:
    if isinstance(item, bool) or not isinstance(item, int):
        raise ValueError(f"{item!r} is not a whole number")
    return item


def _truth(item: Any, _kind: object) -> bool:
    if not isinstance(item, bool):
        raise ValueError(f"{item!r} is not true or false")
    return item


def _text(item: Any, kind: Any) -> str:
    if not isinstance(item, str):
        raise ValueError(f"{item!r} is not a text")
    return printable(item) if kind is str else kind(_one_of(item, kind))  # other kinds of text are enumerations


def _array(item: Any, _kind: object) -> np.ndarray:
    """Array of nested lists in which null stands for nan."""
    try:
        array = np.array(item if item != [] else np.empty(0))
        return array if array.dtype.kind in "bif" else np.array(item, dtype=object).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("this is not an array of numbers") from None


def _one_of(item: Any, kind: Any) -> Any:
    options = get_args(kind) or [*kind]
    if item not in options:
        raise ValueError(f"{item!r} is not one of {', '.join(map(repr, options))}")
    return item


def _finding(item: Any, _kind: object) -> Finding:
    try:
        return Finding.from_dict(item)
    except (TypeError, KeyError, AttributeError):
        raise ValueError("this is not a finding: it needs kind, quantities, factors and codes") from None


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind, read in ((float, _number), (int, _whole), (bool, _truth), (str, _text), (Finding, _finding)):
        converter.register_structure_hook(kind, read)
    converter.register_structure_hook_func(lambda kind: get_origin(cast(Any, kind)) is np.ndarray, _array)
    converter.register_structure_hook_func(lambda kind: get_origin(cast(Any, kind)) is Literal, _one_of)
    return converter


_CONVERTER = _converter()
