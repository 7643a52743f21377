"""CPU time of the whole default answer on ten ordinary data sets, and of a comparison of 12 checkpoints.

The data sets were fixed before anything was made faster. ``python -m benchmarks answer checkpoints`` measures them.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measurement import Measurement, Target
from unweave import compare, evaluate

# name, rows, codes, factors of each kind (numbers, levels, classes, circles), correlation of the numbers, encoder
DATA = (
    ("small, private", 500, 5, (3, 0, 0, 0), 0.0, "private"),
    ("small, mixed kinds", 500, 10, (1, 1, 1, 0), 0.0, "network"),
    ("correlated", 1_000, 10, (5, 0, 0, 0), 0.6, "private"),
    ("leaky", 2_000, 10, (5, 0, 0, 0), 0.0, "leaky"),
    ("levels and a circle", 2_000, 16, (0, 4, 1, 1), 0.0, "network"),
    ("rotated", 3_000, 32, (5, 0, 0, 0), 0.3, "rotated"),
    ("ten factors", 5_000, 10, (10, 0, 0, 0), 0.0, "leaky"),
    ("mixed kinds", 10_000, 12, (2, 1, 2, 0), 0.3, "private"),
    ("wide network", 20_000, 64, (7, 0, 0, 0), 0.0, "network"),
    ("many rows", 50_000, 20, (5, 3, 1, 1), 0.3, "leaky"),
)
LEVELS, CLASSES, NOISE, LEAK = 8, 4, 0.3, 0.3


def data_set(name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Factors, codes and kinds of the data set with this name."""
    place, (_, n, m, counts, rho, encoder) = next((i, each) for i, each in enumerate(DATA) if each[0] == name)
    rng = np.random.default_rng([32, place])
    numbers, levels, classes, circles = counts
    common = rng.normal(size=(n, 1))
    columns = [
        np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=(n, numbers)),
        rng.integers(LEVELS, size=(n, levels)),
        rng.integers(CLASSES, size=(n, classes)),
        rng.uniform(0, 2 * np.pi, size=(n, circles)),
    ]
    kinds = ["continuous"] * numbers + ["ordinal"] * levels + ["categorical"] * classes + ["circular"] * circles
    one_hot = (columns[2][:, :, None] == np.arange(CLASSES)).reshape(n, -1)
    inputs = np.hstack([columns[0], columns[1], one_hot, np.cos(columns[3]), np.sin(columns[3])]).astype(float)
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    width = inputs.shape[1]
    if encoder == "network":
        codes = np.tanh(inputs @ rng.normal(size=(width, 64)) / np.sqrt(width)) @ rng.normal(size=(64, m))
    elif encoder == "rotated":
        codes = inputs @ rng.normal(size=(width, m))
    else:
        codes = np.hstack([inputs, np.zeros((n, max(0, m - width)))])[:, :m]
        if encoder == "leaky":
            codes = codes + LEAK * inputs @ rng.normal(size=(width, m)) / np.sqrt(width)
    codes = codes + NOISE * np.maximum(codes.std(axis=0), 1.0) * rng.normal(size=(n, m))
    return np.hstack(columns), codes, kinds


def checkpoints() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Factors, and codes of 12 steps of a training that unmixes them, n = 1,500, m = 10, d = 5."""
    rng = np.random.default_rng([32, 12])
    factors, mixing = rng.normal(size=(1_500, 5)), rng.normal(size=(5, 10))
    kept = np.eye(5, 10)
    steps = {}
    for step, share in enumerate(np.linspace(0, 1, 12)):
        codes = factors @ (share * kept + (1 - share) * mixing / np.sqrt(5))
        steps[f"step {step}"] = codes + NOISE * rng.normal(size=codes.shape)
    return factors, steps


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, int]:
    """CPU seconds of an evaluation, and the number of its rows without a floor, an interval or a verdict."""
    start = time.process_time()
    found = call()
    seconds = time.process_time() - start
    return seconds, sum(not _is_checked(row) for row in found.rows)


def _is_checked(row: Any) -> bool:
    floor, interval, verdict = row.noise_floor, row.interval, row.verdict
    complete = floor is not None and floor.defined and interval is not None and interval.defined
    return complete and verdict is not None and verdict.level != "not checked"


def default_answer() -> Measurement:
    """The default call on all ten data sets."""
    evaluate(*_noise(), progress=False)  # imports
    times, notes, incomplete = [], [], 0
    for name, n, m, counts, *_ in DATA:
        factors, codes, kinds = data_set(name)
        seconds, missing = cpu_seconds(functools.partial(evaluate, factors, codes, kinds=kinds, progress=False))
        times.append(seconds)
        incomplete += missing
        notes.append(f"{name}, {n:,} x {m} x {sum(counts)}: {seconds:.1f} s, {missing} not checked")
    return Measurement(
        subject=f"evaluate with its defaults, ten data sets; largest {max(times):.1f} s, {incomplete} rows not checked",
        figure=statistics.median(times),
        unit="CPU seconds, median",
        target=Target("at most", 6),
        notes=tuple(notes),
    )


def _noise() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(100, 2)), rng.normal(size=(100, 2))


def compared_checkpoints() -> Measurement:
    """The comparison of 12 checkpoints."""
    compare(_noise()[0], {"a": _noise()[1], "b": _noise()[1]}, progress=False)  # imports
    factors, steps = checkpoints()
    seconds, missing = cpu_seconds(functools.partial(compare, factors, steps, progress=False))
    return Measurement(
        subject=f"compare, 12 checkpoints, n = 1,500, m = 10, d = 5; {missing} rows not checked",
        figure=seconds,
        unit="CPU seconds",
        target=Target("at most", 25),
    )


ANSWER = {"answer": default_answer, "checkpoints": compared_checkpoints}
