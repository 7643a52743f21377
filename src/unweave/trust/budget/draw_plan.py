"""Plan for a time budget: permutations, parts of the samples and recomputation for a verdict, for each metric.

Metrics that share a computation are planned together. First the budget is divided between the computations
(`fair_share`) for the essentials: an interval, a recomputation for the verdict, and a noise floor, in this order where
not all of them fit. The remainder goes to the main metrics first. When the essentials are planned, the rest of the
budget is used for more draws. Where the essentials are too expensive on all rows, draws and parts use some of the rows
(`rows_for_draws`). Parts use them only for metrics whose variance falls as one over the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from unweave.trust.budget.costs import DataSizes, Work
from unweave.trust.repeated_scoring import fair_share

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
