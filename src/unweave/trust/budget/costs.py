"""The cost of one computation of a metric, from the sizes of the data alone.

    seconds = sum_t a_t t(n, m, d),    t in 1, n, m d, n m, n d, k d, n m d, n m^2, m^2 d

with n rows, k = min(n, 1000), m codes, d factors, and coefficients a_t >= 0 that ``python -m benchmarks.costs``
measured on one core and wrote to ``costs.json``, once for numeric and once for categorical factors. The cost comes from
a model and not from a clock, so that the same call plans the same draws on every machine, however busy it is. Metrics
that share their computation have one entry in the table. A permutation costs a share of a score, because what is
computed from the codes alone or from the factors alone is computed once for all permutations.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from unweave.card.choices import Choice, card_of, stated_options
from unweave.evidence import Evidence, FactorKind

SOME = 1000  # largest number of rows that kernels and readouts use
SMALLEST = 1e-3  # seconds for the call itself and for creating a variant of the evidence


@dataclass(frozen=True)
class DataSizes:
    """Numbers of rows, codes and factors of an evidence, and the share of the factors that are categorical."""

    n_rows: int
    n_codes: int
    n_factors: int
    share_of_classes: float = 0.0

    @classmethod
    def of(cls, evidence: Evidence, n_rows: int | None = None) -> DataSizes:
        """Sizes of an evidence, with ``n_rows`` in place of its number of rows where given."""
        classes = [kind is FactorKind.CATEGORICAL for kind in evidence.kinds]
        share = sum(classes) / len(classes) if classes else 0.0
        return cls(evidence.n_rows if n_rows is None else n_rows, evidence.n_codes, evidence.n_factors, share)


TERMS: dict[str, Callable[[DataSizes], float]] = {
    "1": lambda sizes: 1.0,
    "n": lambda sizes: sizes.n_rows,
    "m d": lambda sizes: sizes.n_codes * sizes.n_factors,
    "n m": lambda sizes: sizes.n_rows * sizes.n_codes,
    "n d": lambda sizes: sizes.n_rows * sizes.n_factors,
    "k d": lambda sizes: min(sizes.n_rows, SOME) * sizes.n_factors,
    "n m d": lambda sizes: sizes.n_rows * sizes.n_codes * sizes.n_factors,
    "n m^2": lambda sizes: sizes.n_rows * sizes.n_codes**2,
    "m^2 d": lambda sizes: sizes.n_codes**2 * sizes.n_factors,
}


@dataclass(frozen=True)
class Work:
    """One entry of the table: a computation that several metrics share, and the coefficients of its cost.

    ``fixed_rows`` is True if some step uses a fixed number of rows. The variance of such a score does not fall as one
    over the number of rows, so it cannot be estimated from small parts.

    >>> Work("matrix", {"1": 0.5, "n m": 1e-3}).seconds(DataSizes(100, 10, 5))
    1.501
    """

    name: str
    numbers: Mapping[str, float]
    classes: Mapping[str, float] | None = None
    most_rows: float = math.inf
    share_of_permutation: float = 1.0
    fixed_rows: bool = False

    def seconds(self, sizes: DataSizes) -> float:
        """Seconds of one computation on one core; rows beyond ``most_rows`` cost nothing."""
        used = replace(sizes, n_rows=int(min(sizes.n_rows, self.most_rows)))
        numbers = _seconds(self.numbers, used)
        if self.classes is None or not sizes.share_of_classes:
            return SMALLEST + numbers
        return SMALLEST + numbers + sizes.share_of_classes * (_seconds(self.classes, used) - numbers)

    def seconds_of_permutation(self, sizes: DataSizes) -> float:
        """Seconds to score one permutation.

        >>> Work("matrix", {"1": 0.5}, share_of_permutation=0.2).seconds_of_permutation(DataSizes(100, 10, 5))
        0.101
        """
        return SMALLEST + self.share_of_permutation * (self.seconds(sizes) - SMALLEST)


def _seconds(coefficients: Mapping[str, float], sizes: DataSizes) -> float:
    return sum(factor * TERMS[term](sizes) for term, factor in coefficients.items())


def work_of(metric: Choice, seconds_taken: float, sizes: DataSizes) -> Work:
    """The metric's entry in the table, or a new entry from its measured seconds if the table has none.

    Metrics of your own, and metrics of the catalogue with other options, are not in the table. Their measured seconds
    are rounded up to a power of four, so that small differences in timing do not change the plan, and grow with the
    number of rows. They are at least the seconds in the table for the metric with default options.

    >>> from unweave.metrics import dci_completeness, dci_disentanglement
    >>> sizes = DataSizes(1000, 10, 5)
    >>> work_of(dci_completeness, 0.0, sizes) is work_of(dci_disentanglement, 9.0, sizes)
    True
    >>> work_of(functools.partial(dci_completeness, probe="other"), 9.0, sizes).seconds(sizes)
    16.001
    """
    name = card_of(metric).name
    known = table().get(name)
    options = stated_options(metric).keys() - {"rng"}
    if known is not None and not options:
        return known
    seconds = 4.0 ** math.ceil(math.log(max(seconds_taken, SMALLEST), 4))
    if known is not None:
        seconds = max(seconds, known.seconds(sizes) - SMALLEST)
    stated = ", ".join(f"{option}={stated_options(metric)[option]}" for option in sorted(options))
    return Work(f"{name} ({stated})", {"n": seconds / max(sizes.n_rows, 1)})


@functools.cache
def table() -> dict[str, Work]:
    """Entries of the table, by the name of the metric."""
    content = json.loads(files(__package__).joinpath("costs.json").read_text(encoding="utf-8"))
    works = [(_entry(name, entry), entry["metrics"]) for name, entry in content["works"].items()]
    return {metric: work for work, metrics in works for metric in metrics}


def _entry(name: str, entry: Mapping[str, Any]) -> Work:
    most_rows = entry["most_rows"] or math.inf
    share, fixed = entry["share_of_permutation"], entry["fixed_rows"]
    return Work(name, entry["numbers"], entry["classes"], most_rows, share, fixed)
