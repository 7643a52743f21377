"""Sweeps: grids of cells, each a world, an encoder and a seed."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast
from typing import Protocol as TypingProtocol

import numpy as np

from unweave.arrays import student_reach
from unweave.card.decorator import metric_of, stated_options
from unweave.errors import InputError, OptionError
from unweave.evaluation.choose import MetricChoice, chosen_by_text, chosen_metrics
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.names import explains_options
from unweave.options import Count, Whole, checks_options
from unweave.randomness import import_without_drawing, random_stream, seed_range
from unweave.score import Score
from unweave.trust.scoring import result_or_reason, takes_seed

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Group

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
    """A metric as plain data: its ``content`` if it has one, or import path, version and the values of its options.

    >>> from unweave.metrics import r2
    >>> metric_content(r2)["metric"]
    'unweave.metrics.prediction.r2'
    """
    if hasattr(entry, "content"):
        return cast(dict[str, Any], entry.content)
    metric, stated = metric_of(entry), stated_options(entry)
    in_force = {
        name: content_of(stated.get(name, option.default))
        for name, option in metric.options.items()
        if name != "rng" or name in stated  # if not stated, it is the seed of the cell
    }
    return {"metric": _address(metric), "version": metric.card.version, "options": in_force}


def content_of(item: Any) -> Any:
    """An item as plain data that identifies it.

    >>> from unweave.estimators.information import Histogram
    >>> content_of(Histogram(bins=7))["fields"]["bins"]
    7
    """
    if item is None or (isinstance(item, (bool, str, int, float)) and not isinstance(item, enum.Enum)):
        # JSON has no nan and no infinities, so they are written as text
        return item if not isinstance(item, float) or np.isfinite(item) else {"float": repr(float(item))}
    if isinstance(item, np.generic):
        return content_of(item.item())
    for content in (_content_of_declared, _content_of_collection):
        plain = content(item)
        if plain is not None:
            return plain
    raise InputError(
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
        raise InputError(f"{name} has no import path, so a sweep cannot store its results: define it in a module.")
    return f"{item.__module__}.{name}"


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True)
class Measurement:
    """Score of one metric on one data set, or nan and the reason.

    ``final`` is False after an unexpected error (a bug, out of memory), as opposed to a metric that is undefined on the
    data; the next run then tries again.

    >>> Measurement("mcc", value=1.0, raw=1.02).problem is None
    True
    """

    metric: str
    value: float
    raw: float
    problem: str | None = None
    seconds: float = field(default=math.nan, compare=False)
    final: bool = True


class Protocol(TypingProtocol):
    """How a cell is computed; a frozen dataclass, because its fields are part of the key of a cell.

    >>> protocol: Protocol = AllRows()
    """

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """One measurement for each of these metrics, in their order.

        The value of a metric must not depend on the other metrics, because a sweep only computes missing ones.
        """


@dataclass(frozen=True)
class AllRows:
    """Computes every metric on all rows of one `Evidence`, so that metrics share computations.

    The world and the encoder use two random streams that are spawned from the seed, so that cells with the same seed
    and world have the same factors for all encoders. Metrics with a random part use the seed itself.

    >>> from unweave.metrics import mcc
    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Circuit
    >>> [measurement] = AllRows().scores(Circuit(), PermutedAndScaled(), 200, 0, {"mcc": mcc})
    >>> round(measurement.value, 3)
    1.0
    """

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """One measurement for each of these metrics, in their order."""
        of_world, of_encoder = random_stream(seed, "factors of a cell"), random_stream(seed, "codes of a cell")
        factors = world.sample(n_rows, of_world)
        codes = encoder.encode(factors, of_encoder)
        evidence = Evidence(factors, codes, kinds=getattr(world, "kinds", None))
        return scores_of_evidence(metrics, evidence, seed)


def scores_of_evidence(metrics: Mapping[str, Any], evidence: Evidence, seed: int) -> list[Measurement]:
    """One measurement for each of these metrics by label; a metric with a random part uses this seed."""
    return [measured(label, partial(scored, entry, evidence, seed)) for label, entry in metrics.items()]


def scored(entry: Any, evidence: Evidence, seed: int) -> Score:
    """Score of a metric, with this seed if the metric has an option ``rng`` that is not set."""
    return entry(evidence, rng=seed) if takes_seed(entry) else entry(evidence)


@checks_options
def measured(label: str, score: Callable[[], Score]) -> Measurement:
    """The measurement from a call of ``score``; an error becomes nan with a problem.

    >>> measured("late", lambda: Score(raw=1.02, bounds=(0.0, 1.0))).value
    1.0
    >>> measured("broken", lambda: 1 / 0).problem
    'failed with ZeroDivisionError: division by zero'
    """
    start = time.perf_counter()
    result = result_or_reason(score, label)
    seconds = time.perf_counter() - start
    if isinstance(result, Finding):
        return unmeasured(label, result, seconds)
    if not isinstance(result, Score):
        raise OptionError(f"The function of {label!r} returned {type(result).__name__}: let it return a Score.")
    reason = (" ".join(map(str, result.caveats)) or "undefined") if math.isnan(result.raw) else None
    return Measurement(label, result.value, float(result.raw), reason, seconds)


def unmeasured(label: str, reason: Finding, seconds: float = math.nan) -> Measurement:
    """The measurement of a metric without a score; it is final if the metric is undefined on the data."""
    failed, text = reason.kind == "failed", " ".join(str(reason.quantities["text"]).split())
    problem = f"failed with {reason.quantities['error']}: {text}" if failed else text
    return Measurement(label, math.nan, math.nan, problem, seconds, not failed)


Label = str | int | float | bool | None
RESULT_COLUMNS = ("metric", "value", "raw", "problem")
NOT_LABELS = frozenset({*RESULT_COLUMNS, "n_rows", "seed", "key", "seconds"})


@checks_options
@dataclass(frozen=True)
class Cell:
    """One data set and the metrics to compute on it.

    Attributes
    ----------
    world, encoder : frozen dataclasses
        ``world.sample(n_rows, rng)`` draws the factors, and ``encoder.encode(factors, rng)`` computes the codes.
    n_rows, seed : int
        Size of the data set, and seed of its random streams.
    metrics : names, metrics, ``functools.partial`` of metrics, or a mapping from labels to these
        Names may include options: ``"mcc:correlation=spearman"``. `metric_by_label` has the resulting metrics.
    protocol : Protocol
        How scores are computed; by default every metric on all rows.
    labels : mapping of name to number or text
        Further columns of the table. Labels named ``world`` and ``encoder`` replace the default ones.

    Examples
    --------
    >>> from unweave.synthetic.encoders import Mixed
    >>> from unweave.synthetic.worlds import Circuit
    >>> cell = Cell(Circuit(), Mixed(kappa=2.0), 500, 0, ("mcc", "r2"), labels={"kappa": 2.0})
    >>> list(cell.metric_by_label), cell.columns
    (['mcc', 'r2'], {'world': 'Circuit()', 'encoder': 'Mixed(kappa=2.0)', 'kappa': 2.0, 'n_rows': 500, 'seed': 0})
    """

    world: Any
    encoder: Any
    n_rows: Count
    seed: Whole
    metrics: Mapping[str, Any] | Iterable[MetricChoice]
    protocol: Protocol = AllRows()
    labels: Mapping[str, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, label in self.labels.items():
            if name in NOT_LABELS or not (label is None or isinstance(label, (str, int, float, bool))):
                raise OptionError(
                    f"{name}={label!r} cannot label a cell: use numbers or text, and names other than "
                    f"{', '.join(sorted(NOT_LABELS))}."
                )
        object.__setattr__(self, "metrics", _by_label(self.metrics))

    @property
    def metric_by_label(self) -> dict[str, Any]:
        """The metrics (functions or partial functions) by their labels in the table."""
        return cast(dict[str, Any], self.metrics)

    @property
    def columns(self) -> dict[str, Label]:
        """The columns that describe this cell in the table: world, encoder, labels, number of rows and seed."""
        described = {"world": short_name(self.world), "encoder": short_name(self.encoder)}
        return {**described, **self.labels, "n_rows": self.n_rows, "seed": self.seed}

    def only(self, labels: Iterable[str]) -> Cell:
        """The same cell with some of the metrics."""
        return dataclasses.replace(self, metrics={label: self.metric_by_label[label] for label in labels})


@checks_options
@dataclass(frozen=True)
class Sweep:
    """A name and the cells, in the order of the table; `grid` creates one.

    >>> from unweave.synthetic.encoders import Mixed
    >>> from unweave.synthetic.worlds import Circuit
    >>> sweep = grid("one", worlds=[Circuit()], encoders=[Mixed()], metrics=["mcc"], n_seeds=2)
    >>> sweep.name, len(sweep.cells)
    ('one', 2)
    """

    name: str
    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        if not self.cells:
            raise InputError(f"The sweep {self.name!r} has no cells: declare at least one.")


@explains_options
@checks_options
def grid(
    name: str,
    *,
    worlds: Mapping[str, Any] | Sequence[Any],
    encoders: Mapping[str, Any] | Sequence[Any],
    metrics: Mapping[str, Any] | Iterable[MetricChoice],
    n_rows: int | Iterable[int] = 1000,
    n_seeds: int = 5,
    seed: int = 0,
    protocol: Protocol | None = None,
) -> Sweep:
    """A sweep over every combination of world, encoder, number of rows and seed, with all metrics on each.

    ``worlds`` and ``encoders`` may be mappings, whose keys are then shown in the table. Every combination is
    computed with ``n_seeds`` seeds, of which ``seed`` is the first.

    >>> from unweave.synthetic.encoders import Mixed, PermutedAndScaled
    >>> from unweave.synthetic.worlds import Circuit
    >>> sweep = grid(
    ...     "both", worlds=[Circuit()], encoders={"E1": PermutedAndScaled(), "E3": Mixed()}, metrics=["mcc"], n_seeds=3
    ... )
    >>> len(sweep.cells), sweep.cells[3].columns["encoder"], sweep.cells[3].seed
    (6, 'E3', 0)
    """
    chosen = _by_label(metrics)
    sizes = list(n_rows) if isinstance(n_rows, Iterable) else [n_rows]
    cells = [
        Cell(world, encoder, n, cell_seed, chosen, protocol or AllRows(), {"world": of_world, "encoder": of_encoder})
        for (of_world, world), (of_encoder, encoder), n, cell_seed in itertools.product(
            _named_items(worlds), _named_items(encoders), sizes, seed_range(n_seeds, seed)
        )
    ]
    return Sweep(name, tuple(cells))


def short_name(item: Any) -> str:
    """Class name of a world or encoder, with the fields that differ from their default values."""
    if not dataclasses.is_dataclass(item):
        return type(item).__name__
    stated = [
        f"{entry.name}={getattr(item, entry.name)!r}"
        for entry in dataclasses.fields(item)
        if entry.default is dataclasses.MISSING or getattr(item, entry.name) != entry.default
    ]
    return f"{type(item).__name__}({', '.join(stated)})"


def _named_items(items: Mapping[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    if isinstance(items, Mapping):
        return list(items.items())
    return [(short_name(item), item) for item in items]


def _by_label(metrics: Mapping[str, Any] | Iterable[MetricChoice]) -> dict[str, Any]:
    if not isinstance(metrics, Mapping):
        return chosen_metrics(metrics)
    if not metrics:
        raise OptionError("There is no metric to compute: name at least one.")
    chosen = {
        str(label): chosen_by_text(choice) if isinstance(choice, str) else choice for label, choice in metrics.items()
    }
    for entry in chosen.values():
        metric_of(entry)
    return chosen


@explains_options
def summary(table: pl.DataFrame, level: float = 0.95) -> pl.DataFrame:
    """Mean of the values over seeds for every setting and metric, with Student's t interval.

    ``n_seeds`` is the number of seeds with a value. Seeds without a value are left out; if no seed has a value, the
    problem is shown. The interval is nan for fewer than two seeds, and may exceed the bounds of the metric.

    >>> import polars as pl
    >>> table = pl.DataFrame({"seed": [0, 1], "metric": ["mcc"] * 2, "value": [0.4, 0.6], "raw": 0.0, "problem": None})
    >>> summary(table).select("metric", "mean", pl.col("low", "high").round(2), "n_seeds").rows()
    [('mcc', 0.5, -0.77, 1.77, 2)]
    """
    import polars as pl

    if not isinstance(table, pl.DataFrame) or not {"seed", "metric", "value", "problem"} <= {*table.columns}:
        raise InputError("This is not the table of a sweep: pass what unweave.sweeps.run returned.")
    groups = [name for name in table.columns if name not in ("seed", "value", "raw", "problem")]
    rows: list[dict[str, Any]] = []
    for labels, group in table.group_by(groups, maintain_order=True):
        values = group["value"].to_numpy()
        problems = group["problem"].drop_nulls()
        defined = values[~np.isnan(values)]
        mean = float(defined.mean()) if defined.size else np.nan
        half = np.nan
        if defined.size > 1:
            half = float(student_reach(defined.std(ddof=1), defined.size - 1, level) / np.sqrt(defined.size))
        rows.append(
            dict(zip(groups, labels, strict=True))
            | {"mean": mean, "low": mean - half, "high": mean + half, "n_seeds": defined.size}
            | {"problem": problems[0] if len(problems) and not defined.size else None}
        )
    schema = {name: table.schema[name] for name in groups}
    numbers = {"mean": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(), "n_seeds": pl.Int64()}
    return pl.DataFrame(rows, schema={**schema, **numbers, "problem": pl.String()})


def terminal_table(table: pl.DataFrame) -> Group:
    """Means and intervals for a terminal: one column for each metric, and a note for each reason of missing values."""
    import_without_drawing("rich.style")
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    means = summary(table)
    metrics = means["metric"].unique(maintain_order=True).to_list()
    # constant columns are not shown
    labels = [name for name in means.columns[: means.columns.index("metric")] if means[name].n_unique() > 1]
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in labels:
        shown.add_column(Text(name))
    for name in metrics:
        shown.add_column(Text(name), justify="right")
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in means.iter_rows(named=True):
        mean, half = row["mean"], row["high"] - row["mean"]
        cell = "undefined" if np.isnan(mean) else f"{mean:.3f}" if np.isnan(half) else f"{mean:.3f} ± {half:.3f}"
        lines.setdefault(tuple(row[name] for name in labels), {})[row["metric"]] = cell
    for line, cells in lines.items():
        stated = ("" if label is None else str(label) for label in line)
        shown.add_row(*map(Text, stated), *(Text(cells.get(name, "")) for name in metrics))
    problems = table.drop_nulls("problem").group_by("metric", "problem", maintain_order=True).len()
    notes = [f"{metric}, {times} times: {problem}" for metric, problem, times in problems.iter_rows()]
    several = table["seed"].n_unique() > 1
    heading = f"Means of {table['seed'].n_unique()} seeds ± half of their 95 % interval" if several else "One seed"
    return Group(Text(heading), shown, *(Text(note, style="dim") for note in notes))
