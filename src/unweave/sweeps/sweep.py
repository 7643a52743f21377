"""`Cell` and `Sweep`: plain values that declare what to compute."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from unweave.card.choices import metric_of
from unweave.evaluation.metric_choice import MetricChoice, chosen_by_text, chosen_metrics
from unweave.evidence import EvidenceError
from unweave.sweeps.protocol import AllRows, Protocol

Label = str | int | float | bool | None
RESULT_COLUMNS = ("metric", "value", "raw", "problem")
NOT_LABELS = frozenset({*RESULT_COLUMNS, "n_rows", "seed", "key", "seconds"})


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
    n_rows: int
    seed: int
    metrics: Mapping[str, Any] | Iterable[MetricChoice]
    protocol: Protocol = AllRows()  # noqa: RUF009 - frozen
    labels: Mapping[str, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("n_rows", 1), ("seed", 0)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int) or given < least:
                raise EvidenceError(f"{name}={given!r} of a cell is not a whole number from {least}.")
        for name, label in self.labels.items():
            if name in NOT_LABELS or not (label is None or isinstance(label, (str, int, float, bool))):
                raise EvidenceError(
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


@dataclass(frozen=True)
class Sweep:
    """A name and the cells, in the order of the table; `grid` creates one.

    >>> from unweave.synthetic.encoders import Mixed
    >>> from unweave.synthetic.worlds import Circuit
    >>> sweep = grid("one", worlds=[Circuit()], encoders=[Mixed()], metrics=["mcc"], seeds=2)
    >>> sweep.name, len(sweep.cells)
    ('one', 2)
    """

    name: str
    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        if not self.cells:
            raise EvidenceError(f"The sweep {self.name!r} has no cells: declare at least one.")


def grid(
    name: str,
    *,
    worlds: Mapping[str, Any] | Sequence[Any],
    encoders: Mapping[str, Any] | Sequence[Any],
    metrics: Mapping[str, Any] | Iterable[MetricChoice],
    n_rows: int | Iterable[int] = 1000,
    seeds: int | Iterable[int] = 5,
    protocol: Protocol | None = None,
) -> Sweep:
    """A sweep over every combination of world, encoder, number of rows and seed, with all metrics on each.

    ``worlds`` and ``encoders`` may be mappings, whose keys are then shown in the table. ``seeds`` is the number of
    seeds, or the seeds themselves.

    >>> from unweave.synthetic.encoders import Mixed, PermutedAndScaled
    >>> from unweave.synthetic.worlds import Circuit
    >>> sweep = grid(
    ...     "both", worlds=[Circuit()], encoders={"E1": PermutedAndScaled(), "E3": Mixed()}, metrics=["mcc"], seeds=3
    ... )
    >>> len(sweep.cells), sweep.cells[3].columns["encoder"], sweep.cells[3].seed
    (6, 'E3', 0)
    """
    chosen = _by_label(metrics)
    cells = [
        Cell(
            world,
            encoder,
            n,
            seed,
            chosen,
            protocol or AllRows(),
            {"world": world_label, "encoder": encoder_label},
        )
        for (world_label, world), (encoder_label, encoder), n, seed in itertools.product(
            _named(worlds),
            _named(encoders),
            [n_rows] if isinstance(n_rows, int) else list(n_rows),
            range(seeds) if isinstance(seeds, int) else list(seeds),
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


def _named(items: Mapping[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    if isinstance(items, Mapping):
        return list(items.items())
    return [(short_name(item), item) for item in items]


def _by_label(metrics: Mapping[str, Any] | Iterable[MetricChoice]) -> dict[str, Any]:
    if not isinstance(metrics, Mapping):
        return chosen_metrics(metrics)
    if not metrics:
        raise EvidenceError("There is no metric to compute: name at least one.")
    chosen = {
        str(label): chosen_by_text(choice) if isinstance(choice, str) else choice for label, choice in metrics.items()
    }
    for entry in chosen.values():
        metric_of(entry)
    return chosen
