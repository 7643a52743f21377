"""Cells that take almost no time, for tests that need many cells or record where and how often they run."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from unweave.card import MetricUndefined, metric
from unweave.score import Score
from unweave.sweeps import Cell, Measurement, Sweep, run

FIELDS = {
    "measures": "nothing",
    "equivalence": "any",
    "needs": (),
    "min_rows": 1,
    "chance": 0.0,
    "cost": "none",
    "fails_when": "always",
    "reference": "none",
}


@metric(**FIELDS)
def first(evidence, *, scale: float = 1.0):
    return Score(raw=scale)


@metric(**FIELDS)
def second(evidence):
    return Score(raw=0.5)


@dataclass(frozen=True)
class Gaussian:
    n_factors: int = 2

    def sample(self, n_rows, rng=0):
        return np.random.default_rng(rng).normal(size=(n_rows, self.n_factors))


@dataclass(frozen=True)
class Same:
    """An encoder whose codes are the factors; it writes a line to a file for every call."""

    record: str = ""

    def encode(self, factors, rng=0):
        if self.record:
            with Path(self.record).open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()}\n")
        return factors


@dataclass(frozen=True)
class Raising:
    """An encoder that fails, in one of several ways, until a file appears."""

    kind: str
    until: str

    def encode(self, factors, rng=0):
        if Path(self.until).exists():
            return factors
        if self.kind == "exit":
            os._exit(1)
        raise {"bug": TypeError, "undefined": MetricUndefined, "stop": KeyboardInterrupt}[self.kind]("on purpose")


@dataclass(frozen=True)
class Arithmetic:
    """A protocol whose scores depend only on cell and metric, without drawing data; ``pause`` is in seconds."""

    pause: float = 0.0
    record: str = ""

    def scores(self, world, encoder, n_rows, seed, metrics):
        Same(self.record).encode(None)
        if self.pause:
            time.sleep(self.pause)
        raw = [float(np.random.default_rng([n_rows, seed, *label.encode()]).normal()) for label in metrics]
        problem = "not for this seed" if seed % 7 == 0 else None
        return [
            Measurement(label, np.nan if problem else min(max(number, 0), 1), number, problem)
            for label, number in zip(metrics, raw, strict=True)
        ]


def largest_thread_count():
    return max(library["num_threads"] for library in threadpool_info())


@dataclass(frozen=True)
class ThreadCounts:
    """A protocol whose score is the largest number of threads that a numerical library would use."""

    def scores(self, world, encoder, n_rows, seed, metrics):
        largest = float(largest_thread_count())
        return [Measurement(label, largest, largest) for label in metrics]


def many(n_cells, pause=0.0, record=""):
    protocol = Arithmetic(pause, record)
    return Sweep(
        "many", tuple(Cell(Gaussian(), Same(), 10, seed, (first, second), protocol) for seed in range(n_cells))
    )


def run_alone(n_cells, folder, n_jobs, pause, record=""):
    """Run a sweep in a session of its own, so that it can be killed together with its workers."""
    os.setsid()
    run(many(n_cells, pause, record), folder, n_jobs=n_jobs)
