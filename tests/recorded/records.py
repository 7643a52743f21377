"""Numbers on record: what public pieces give on fixed inputs, so that no number changes unnoticed.

A case is a function without arguments in one of the files ``*_numbers.py``; its value is condensed to plain data and
kept in the .json file beside it. After a change that is meant, ``python tests/recorded/records.py worlds`` writes the
record of ``worlds_numbers.py`` again; look at the difference before you commit it, and name it in the changelog.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from packaging.requirements import Requirement

HERE = Path(__file__).parent
CASES = {path.stem.removesuffix("_numbers"): path for path in sorted(HERE.glob("*_numbers.py"))}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
RELATIVE, ABSOLUTE = 1e-6, 1e-9
SLOW = 0.3  # CPU seconds of a case that are worth saying
LONGEST = 12  # entries of an array that are kept one by one


def cases_of(name: str) -> dict[str, Callable[[], Any]]:
    """The cases of a file."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(f"{name}_numbers").CASES


@functools.cache
def recorded(name: str) -> dict[str, Any]:
    """What is on record."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def other_versions() -> list[str]:
    """Libraries that numbers depend on, and that are not installed in the version that constraints-dev.txt pins."""
    lines = (HERE.parents[1] / "constraints-dev.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.startswith(LIBRARIES)]
    others = []
    for pin in pins:
        try:
            if not pin.specifier.contains(version(pin.name)):
                others.append(f"{pin.name} {version(pin.name)} instead of {pin}")
        except PackageNotFoundError:
            others.append(f"no {pin.name}")
    return others


def condensed(value: Any) -> Any:
    """A value as plain data; of a large array its shape, mean, spread and a sum with uneven weights.

    >>> condensed({"a": np.arange(3), "b": (1.5, None)})
    {'a': [0, 1, 2], 'b': [1.5, None]}
    >>> sorted(condensed(np.arange(100.0)))
    ['mean', 'shape', 'spread', 'weighted']
    """
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else repr(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: condensed(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): condensed(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, frozenset, set)):
        entries = sorted(value, key=str) if isinstance(value, (frozenset, set)) else value
        return [condensed(each) for each in entries]
    return getattr(value, "__qualname__", type(value).__qualname__)


def _of_array(values: np.ndarray) -> Any:
    if values.dtype.kind not in "biuf":
        return [condensed(each) for each in values.ravel().tolist()]
    if values.size <= LONGEST:
        return condensed(values.tolist())
    flat = values.astype(float).ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    weighted = float(finite @ np.cos(np.arange(flat.size)))
    found = {"shape": list(values.shape), "mean": finite.mean(), "spread": finite.std(), "weighted": weighted}
    n_missing = int((~np.isfinite(flat)).sum())
    return condensed(found | ({"missing": n_missing} if n_missing else {}))


def relative_of(name: str) -> float:
    """How far numbers of a file may differ, as a share."""
    return getattr(importlib.import_module(f"{name}_numbers"), "RELATIVE", RELATIVE)


def differences(before: Any, now: Any, relative: float = RELATIVE, place: str = "") -> Iterator[str]:
    """Places where two condensed values differ; what has come since counts as no difference.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}))
    ['a 1: 2.0 is now 2.5']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before:
            yield from differences(before[key], now.get(key, "nothing"), relative, f"{place} {key}".strip())
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for k, (one, two) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, two, relative, f"{place} {k}".strip())
    elif not _equal(before, now, relative):
        yield f"{place}: {str(before)[:100]} is now {str(now)[:100]}"


def _equal(before: Any, now: Any, relative: float) -> bool:
    if isinstance(before, (bool, str)) or isinstance(now, (bool, str)) or before is None or now is None:
        return bool(before == now)
    if isinstance(before, (list, dict)) or isinstance(now, (list, dict)):
        return False
    return math.isclose(before, now, rel_tol=relative, abs_tol=ABSOLUTE)


def main() -> None:
    """Write the records of the files named, or of all."""
    if other_versions():
        sys.exit(
            f"Records are written with the versions of constraints-dev.txt, not with {', '.join(other_versions())}."
        )
    for name in sys.argv[1:] or CASES:
        found = {}
        for case, compute in cases_of(name).items():
            start = time.process_time()
            found[case] = condensed(compute())
            if time.process_time() - start > SLOW:
                print(f"{name}, {case}: {time.process_time() - start:.1f} s")
        lines = [f"{json.dumps(case)}: {json.dumps(value, ensure_ascii=False)}" for case, value in found.items()]
        (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
