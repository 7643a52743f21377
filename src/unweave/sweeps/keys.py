"""Content keys: results with the same key are equal.

A key is a hash of everything that determines a result: world, encoder and protocol (class and all fields, also nested
ones), number of rows and seed, the metric with its version and the values of all its options, and the releases
(major.minor) of the libraries in `LIBRARIES`. It changes if a default value changes, but not if a default value is
passed explicitly. Names of sweeps and labels of cells are not part of it.

The code itself is not hashed. A class whose results change has to change its class attribute ``version``, as metrics
change the version of their card.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.card.choices import metric_of, stated_options
from unweave.evidence import EvidenceError

if TYPE_CHECKING:
    from unweave.sweeps.sweep import Cell

SCHEMA = 1
LIBRARIES = ("unweave", "numpy", "scipy", "scikit-learn")


@functools.cache
def library_releases() -> dict[str, str]:
    """Major and minor version of every library that influences results."""
    return {name: ".".join(version(name).split(".")[:2]) for name in LIBRARIES}


def row_keys(cell: Cell) -> dict[str, str]:
    """The key of every metric of a cell, by label."""
    data = {
        "schema": SCHEMA,
        "libraries": library_releases(),
        "world": content_of(cell.world),
        "encoder": content_of(cell.encoder),
        "protocol": content_of(cell.protocol),
        "n_rows": int(cell.n_rows),
        "seed": int(cell.seed),
    }
    start = hashlib.blake2b(_canonical(data), digest_size=16)
    keys = {}
    for label, entry in cell.metric_by_label.items():
        digest = start.copy()
        digest.update(_canonical(metric_content(entry)))
        keys[label] = digest.hexdigest()
    return keys


def metric_content(entry: Any) -> dict[str, Any]:
    """A metric as plain data: its import path, its version, and the values of its options.

    >>> from unweave.metrics import r2
    >>> metric_content(r2)["metric"]
    'unweave.metrics.prediction.r2.r2'
    """
    metric, stated = metric_of(entry), stated_options(entry)
    in_force = {
        name: content_of(stated.get(name, option.default))
        for name, option in metric.options.items()
        if name != "rng" or name in stated  # if not stated, it is the seed of the cell
    }
    return {"metric": _address(metric), "version": metric.card.version, "options": in_force}


def content_of(item: Any) -> Any:
    """An item as plain data that identifies it.

    >>> from unweave.estimators.information.histogram import Histogram
    >>> content_of(Histogram(bins=7))["fields"]["bins"]
    7
    """
    if item is None or (isinstance(item, (bool, str, int, float)) and not isinstance(item, enum.Enum)):
        # JSON has no nan and no infinities, so they are written as text
        return item if not isinstance(item, float) or np.isfinite(item) else {"float": repr(float(item))}
    if isinstance(item, np.generic):
        return content_of(item.item())
    for content in (_content_of_declared, _content_of_collection):
        found = content(item)
        if found is not None:
            return found
    raise EvidenceError(
        f"A sweep cannot identify an object of type {type(item).__name__}, so it cannot store results for it: "
        "use numbers, text, arrays, tuples and frozen dataclasses."
    )


def _content_of_declared(item: Any) -> dict[str, Any] | None:
    """Content of dataclasses, enumerations, partial functions, classes and functions; None for anything else."""
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        content = {
            "class": _address(type(item)),
            "fields": {entry.name: content_of(getattr(item, entry.name)) for entry in dataclasses.fields(item)},
        }
        declared = {name: getattr(item, name, None) for name in ("version", "library")}
        return content | {name: stated for name, stated in declared.items() if isinstance(stated, (int, str))}
    if isinstance(item, enum.Enum):
        return {"class": _address(type(item)), "name": item.name}
    if isinstance(item, functools.partial):
        return {"partial": _address(item.func), "args": content_of(item.args), "options": content_of(item.keywords)}
    return {"name": _address(item)} if hasattr(item, "__qualname__") else None


def _content_of_collection(item: Any) -> Any:
    """Content of arrays, mappings, sets and sequences; None for anything else."""
    if isinstance(item, np.ndarray) and item.dtype.kind in "fiubcSU":
        digest = hashlib.blake2b(np.ascontiguousarray(item).tobytes(), digest_size=16).hexdigest()
        return {"array": digest, "dtype": item.dtype.str, "shape": list(item.shape)}
    if isinstance(item, Mapping):
        pairs = [[content_of(key), content_of(value)] for key, value in item.items()]
        return {"mapping": sorted(pairs, key=_canonical)}
    if isinstance(item, AbstractSet):
        return {"set": sorted(map(content_of, item), key=_canonical)}
    return [content_of(entry) for entry in item] if isinstance(item, Sequence) else None


def _address(item: Any) -> str:
    """Import path of a class or function, or of the class of an object."""
    name = getattr(item, "__qualname__", type(item).__qualname__)
    if "<" in name:
        raise EvidenceError(f"{name} has no import path, so a sweep cannot store its results: define it in a module.")
    return f"{item.__module__}.{name}"


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
