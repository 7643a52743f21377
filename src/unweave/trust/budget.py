"""How many draws of floors, intervals and verdicts fit into a time budget."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from unweave.card.decorator import Choice, card_of, stated_options
from unweave.evidence import Evidence
from unweave.trust.scoring import Quota, fair_share

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
        classes = [kind.is_categorical for kind in evidence.kinds]
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


PLANNED_SHARE = 0.9  # share of the budget that is planned; the rest allows for errors of the cost model

LEAST_SHARE = 0.25  # share of the budget that is left for draws even if the diagnosis takes most of it

DRAWS = (0, 19, 39, 99, 199)

PARTS = (0, 8, 12, 24)

ROWS_TRIED = 5000

FEWEST_ROWS_TRIED = 1000

EVIDENCES_TRIED = 7  # assumed number of data sets on which a metric is computed again, while they are not known

SOME_ROWS = 3000  # number of rows for draws and parts that are too expensive on all rows

DIAGNOSIS = (0.3, 0.1)  # seconds for the diagnosis and the counterpart: a constant, and for each factor

MOST_FACTORS = 40  # above this number of factors, the cost of the diagnosis is taken as constant


@dataclass(frozen=True)
class Planned:
    """Plan of one metric: permutations, parts of the samples, and whether it is recomputed on a counterpart."""

    n_draws: int = 0
    n_parts: int = 0
    tried: bool = False


@dataclass(frozen=True)
class Prices:
    """Seconds of one permutation, one part, and all trials on the counterpart."""

    draw: float
    part: float
    trial: float

    @classmethod
    def of(
        cls, work: Work, sizes: DataSizes, n_rows: int | None = None, tried: Sequence[DataSizes] | None = None
    ) -> Prices:
        """Seconds for evidence of these sizes.

        ``n_rows`` is the largest number of rows that draws and parts use, all by default. ``tried`` are the sizes of
        the data sets of the counterpart; by default, typical sizes are assumed.
        """
        n = sizes.n_rows
        used = n if n_rows is None else min(n, n_rows)
        if tried is None:
            typical = replace(sizes, n_rows=max(FEWEST_ROWS_TRIED, min(n, ROWS_TRIED)))
            tried = [typical] * EVIDENCES_TRIED
        return cls(
            work.seconds_of_permutation(replace(sizes, n_rows=used)),
            work.seconds(replace(sizes, n_rows=n // 2 if work.fixed_rows else min(n // 2, used))),
            sum(map(work.seconds, tried)),
        )

    def seconds(self, planned: Planned) -> float:
        """Seconds of this plan."""
        return planned.n_draws * self.draw + planned.n_parts * self.part + planned.tried * self.trial


ALL = Planned(DRAWS[-1], PARTS[-1], True)

# plans in increasing order of cost: the interval, the recomputation, the noise floor, then more draws and parts
LADDER = (
    Planned(),
    Planned(0, 8, False),
    Planned(0, 8, True),
    Planned(19, 8, True),
    Planned(39, 8, True),
    Planned(39, 12, True),
    Planned(99, 12, True),
    Planned(99, 24, True),
    ALL,
)

ESSENTIAL = 3  # first step of the ladder with an interval, a recomputation and a noise floor


def rows_for_draws(works: Mapping[str, Work], sizes: DataSizes, budget: float) -> dict[str, int]:
    """Number of rows that draws and parts of every metric use: all, or `SOME_ROWS` if the essentials would not fit.

    >>> works = {"cheap": Work("cheap", {"n": 1e-6}), "dear": Work("dear", {"n": 1e-4})}
    >>> rows_for_draws(works, DataSizes(50_000, 10, 5), budget=60.0)
    {'cheap': 50000, 'dear': 3000}
    """
    prices = {work.name: Prices.of(work, sizes).seconds(LADDER[ESSENTIAL]) for work in works.values()}
    share = fair_share(prices.values(), _for_draws(sizes, budget))
    n, some = sizes.n_rows, min(sizes.n_rows, SOME_ROWS)
    return {label: n if prices[work.name] <= share else some for label, work in works.items()}


def draw_plan(
    works: Mapping[str, Work],
    sizes: DataSizes,
    budget: float,
    *,
    rows: Mapping[str, int] | None = None,
    tried: Sequence[DataSizes] | None = None,
    main: Sequence[str] = (),
) -> dict[str, Planned]:
    """Plan for every metric within this many seconds.

    Parameters
    ----------
    works : mapping of label to Work
        What each metric computes; labels with the same work share it.
    sizes : DataSizes
        Sizes of the evidence.
    budget : float
        Seconds for noise floors, intervals and verdicts.
    rows : mapping of label to int, optional
        Number of rows that draws use, from `rows_for_draws`; all by default.
    tried : sequence of DataSizes, optional
        Sizes of the data sets on which metrics are recomputed for their verdicts.
    main : sequence of labels
        Metrics that are planned first, in this order; all others follow from cheap to expensive.

    Examples
    --------
    >>> works = {"cheap": Work("cheap", {"n": 1e-6}), "dear": Work("dear", {"n": 1e-3})}
    >>> found = draw_plan(works, DataSizes(1000, 10, 5), budget=60.0)
    >>> found["cheap"].n_draws, found["dear"].n_draws, found["dear"].n_parts
    (199, 39, 12)
    >>> draw_plan(works, DataSizes(1000, 10, 5), budget=0.0)["cheap"]
    Planned(n_draws=0, n_parts=0, tried=False)
    """
    prices = {work.name: Prices.of(work, sizes, (rows or {}).get(label), tried) for label, work in works.items()}
    first = [works[label].name for label in main if label in works]
    order = sorted(
        prices, key=lambda work: (first.index(work) if work in first else len(first), prices[work].draw, work)
    )
    steps = dict.fromkeys(prices, 0)
    left = _for_draws(sizes, budget)
    for top in (ESSENTIAL, len(LADDER) - 1):
        needs = (prices[work].seconds(LADDER[top]) - prices[work].seconds(LADDER[steps[work]]) for work in order)
        share = fair_share(needs, left)
        for most in (share, left):  # each work first gets its share, and then the remainder goes to each in turn
            for work in order:
                now = prices[work].seconds(LADDER[steps[work]])
                steps[work] = _highest(prices[work], now + min(most, left), steps[work], top)
                left += now - prices[work].seconds(LADDER[steps[work]])
    return {label: LADDER[steps[work.name]] for label, work in works.items()}


def seconds_of_diagnosis(sizes: DataSizes) -> float:
    """Seconds for the diagnosis and the counterpart, which do not depend on the metrics."""
    return DIAGNOSIS[0] + DIAGNOSIS[1] * min(sizes.n_factors, MOST_FACTORS)


def _for_draws(sizes: DataSizes, budget: float) -> float:
    """Seconds of the budget for draws, parts and trials."""
    return max(PLANNED_SHARE * budget - seconds_of_diagnosis(sizes), LEAST_SHARE * budget)


def _highest(price: Prices, seconds: float, now: int, top: int) -> int:
    """The highest step of the ladder from ``now`` to ``top`` that costs no more than ``seconds``; at least ``now``."""
    return max([now, *(step for step in range(now, top + 1) if price.seconds(LADDER[step]) <= seconds)])


MARGIN = 1.5


@dataclass(frozen=True)
class Allowance:
    """The draws planned for each metric, and the seconds that they may take from now on.

    Draws stop when the clock exceeds the budget by half. This happens only if the cost model behind the plan is wrong,
    as it may be for metrics of your own or for unusual data. Otherwise the clock does not influence the results.

    >>> Allowance({}, 0.0).used_up(), Allowance({}, 1e9).used_up()
    (True, False)

    Attributes
    ----------
    planned : mapping of label to Planned
        The plan for each metric, from `draw_plan`.
    seconds : float
        CPU seconds for noise floors, intervals and verdicts of one representation.
    stated : float
        The budget as the user gave it, which notes repeat.
    rows, rows_of_parts : mapping of label to int
        Number of rows that draws use, and the largest number of rows of a part.
    started : float
        CPU time of the process when the clock started, in seconds.
    """

    planned: Mapping[str, Planned]
    seconds: float
    stated: float = 0.0
    rows: Mapping[str, int] = field(default_factory=dict)
    rows_of_parts: Mapping[str, int] = field(default_factory=dict)
    started: float = field(default_factory=time.process_time)

    def used_up(self) -> bool:
        """Whether 1.5 times the budget has been used."""
        return time.process_time() - self.started >= MARGIN * self.seconds

    @property
    def draws(self) -> Quota:
        """Quota of permutations for every metric."""
        counts = {label: plan.n_draws for label, plan in self.planned.items()}
        return Quota(counts, self.stated, self.used_up, self.rows)

    @property
    def parts(self) -> Quota:
        """Quota of parts of the samples for every metric."""
        counts = {label: plan.n_parts for label, plan in self.planned.items()}
        return Quota(counts, self.stated, self.used_up, self.rows_of_parts)

    @property
    def untried(self) -> tuple[str, ...]:
        """Labels of the metrics that are not recomputed for their verdicts."""
        late = self.used_up()
        return tuple(label for label, plan in self.planned.items() if late or not plan.tried)
