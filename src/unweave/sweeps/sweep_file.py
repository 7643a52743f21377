"""A sweep declared in a TOML file: worlds, encoders, their parameters, metrics, rows and seeds."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from unweave.errors import OptionError, UnweaveError
from unweave.evaluation.choose import chosen_metrics
from unweave.names import option_suggestion, suggestion
from unweave.own_modules import imported
from unweave.randomness import seed_range
from unweave.sweeps.sweep import Cell, Label, Sweep, short_name
from unweave.synthetic import encoders, worlds
from unweave.whole_files import read_toml

KEYS = ("name", "metrics", "n_rows", "n_seeds", "seed", "worlds", "encoders")


class Classes(NamedTuple):
    """Classes that may be named as worlds or encoders: those of unweave, and frozen dataclasses as module:name."""

    what: str
    method: str
    known: Mapping[str, type]


def read_sweep(path: str | Path) -> Sweep:
    """The sweep that a TOML file declares; if the file states no name, the sweep has the name of the file.

    If a parameter is a list, every value of the list is used. A value that is itself a list is written as a list in a
    list: ``[[0, 2]]``.
    """
    return read_toml(Path(path), lambda declared: declared_sweep(declared, Path(path).stem))


def declared_sweep(declared: Mapping[str, Any], name: str) -> Sweep:
    """The sweep that a mapping, as read from TOML, declares.

    >>> sweep = declared_sweep(
    ...     {
    ...         "metrics": ["mcc"],
    ...         "n_rows": 200,
    ...         "n_seeds": 2,
    ...         "worlds": [{"class": "Circuit"}],
    ...         "encoders": [{"class": "Mixed", "kappa": [1.0, 10.0]}],
    ...     },
    ...     "example",
    ... )
    >>> len(sweep.cells), sweep.cells[-1].columns
    (4, {'world': 'Circuit', 'encoder': 'Mixed', 'encoder.kappa': 10.0, 'n_rows': 200, 'seed': 1})
    """
    for key in declared:
        if key not in KEYS:
            raise OptionError(f"{key!r} is not a key of a sweep: {option_suggestion(key, KEYS)}")
    for key in ("metrics", "worlds", "encoders"):
        if not (isinstance(declared.get(key), list) and declared[key]):
            raise OptionError(f"{key!r} is missing, empty or not a list: write a list with at least one entry.")
    stated = declared.get("name", name)
    if not isinstance(stated, str) or stated in ("", ".", "..") or set(stated) & set("/\\"):
        raise OptionError(f"name = {stated!r} cannot name a folder: use words without slashes, in quotes.")
    if not all(isinstance(metric, str) for metric in declared["metrics"]):
        raise OptionError('metrics are not all text: write them like ["mcc", "mcc:correlation=spearman"].')
    chosen = chosen_metrics(declared["metrics"])
    cells = [
        Cell(world, encoder, n_rows, seed, chosen, labels={**world_labels, **encoder_labels})
        for (world, world_labels), (encoder, encoder_labels), n_rows, seed in itertools.product(
            list(_declared_items(declared, "world", worlds, "sample")),
            list(_declared_items(declared, "encoder", encoders, "encode")),
            _numbers_of_rows(declared.get("n_rows", 1000)),
            seed_range(declared.get("n_seeds", 5), declared.get("seed", 0)),
        )
    ]
    return Sweep(stated, tuple(cells))


def _declared_items(
    declared: Mapping[str, Any], what: str, module: ModuleType, method: str
) -> Iterator[tuple[Any, dict[str, Label]]]:
    """Every world or encoder that the entries declare, and its labels in the table."""
    known = {name: entry for name, entry in vars(module).items() if _declares(entry, method)}
    classes = Classes(what, method, known)
    for number, given in enumerate(declared[f"{what}s"], 1):
        where = f"{what}s, entry {number}"
        entry = {"class": given} if isinstance(given, str) else given
        kind = _declared_class(entry, classes, where)
        swept = {key: value if isinstance(value, list) else [value] for key, value in entry.items() if key != "class"}
        for values in itertools.product(*swept.values()):
            parameters = {key: _value(value, classes, where) for key, value in zip(swept, values, strict=True)}
            shown = {f"{what}.{key}": _short_value(value) for key, value in parameters.items()}
            yield _instance(kind, parameters, where), {what: kind.__name__, **shown}


def _declares(entry: Any, method: str) -> bool:
    return isinstance(entry, type) and dataclasses.is_dataclass(entry) and hasattr(entry, method)


def _declared_class(entry: Any, classes: Classes, where: str) -> type:
    """The class that an entry names; raises an error if parameters are unknown or missing."""
    if not (isinstance(entry, dict) and isinstance(entry.get("class"), str)):
        raise OptionError(f"{where} has no class: write for example class = {next(iter(classes.known))!r}.")
    name, (what, method, known) = entry["class"], classes
    if ":" not in name and name not in known:
        raise OptionError(f"{where}: class {name!r} is not known: {suggestion(name, known)}")
    try:
        kind: Any = known[name] if name in known else imported(name, what)
    except UnweaveError as error:
        raise OptionError(f"{where}: {error}") from None
    if not _declares(kind, method):
        raise OptionError(f"{where}: {name!r} cannot be the {what}: name a frozen dataclass with a method {method!r}.")
    fields = [field for field in dataclasses.fields(kind) if field.init]
    names = [field.name for field in fields]
    for key in entry.keys() - {"class", *names}:
        raise OptionError(f"{where}: {name} has no parameter {key!r}: {suggestion(key, names)}")
    for field in fields:
        optional = (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
        if not optional and field.name not in entry:
            raise OptionError(f"{where}: {name} needs the parameter {field.name!r}.")
    return kind


def _instance(kind: type, parameters: dict[str, Any], where: str) -> Any:
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        stated = ", ".join(f"{key} = {value!r}" for key, value in parameters.items())
        raise OptionError(f"{where}: {kind.__name__} cannot be created with {stated}: {error}") from None


def _numbers_of_rows(given: Any) -> list[int]:
    numbers = given if isinstance(given, list) else [given]
    fine = all(isinstance(number, int) and not isinstance(number, bool) and number >= 1 for number in numbers)
    if not (numbers and fine and len(set(numbers)) == len(numbers)):
        raise OptionError(f"n_rows = {given!r} is not valid: use whole numbers from 1, all of them different.")
    return numbers


def _value(value: Any, classes: Classes, where: str) -> Any:
    """A value of a parameter: lists become tuples, and a table with a class becomes an object of this class."""
    if isinstance(value, list):
        return tuple(_value(entry, classes, where) for entry in value)
    if not isinstance(value, dict):
        return value
    kind = _declared_class(value, classes, where)
    return _instance(
        kind, {key: _value(entry, classes, where) for key, entry in value.items() if key != "class"}, where
    )


def _short_value(value: Any) -> Label:
    if isinstance(value, (str, int, float, bool)):
        return value
    return short_name(value) if dataclasses.is_dataclass(value) else repr(value)
