"""Plan for a time budget: permutations, parts of the samples and recomputation for a verdict, for each metric.

Metrics that share a computation are planned together. First every computation gets a fair share of the budget for the
essentials: an interval, a recomputation for the verdict, and a noise floor, in this order where not all of them fit.
What is left over goes to the main metrics first. When the essentials are planned, the rest of the budget pays for more
draws. Where the essentials are too expensive on all rows, draws and parts use some of the rows (`rows_for_draws`). This
does not apply to parts for metrics whose variance does not fall as one over the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from unweave.trust.budget.costs import DataSizes, Work
from unweave.trust.repeated_scoring import fair_share

PLANNED_SHARE = 0.9  # of the budget; the rest is for what the cost model misses
LEAST_SHARE = 0.25  # for draws, where the diagnosis, which is always made, takes most of a small budget
DRAWS = (0, 19, 39, 99, 199)
PARTS = (0, 8, 12, 24)
ROWS_TRIED = 5000
FEWEST_ROWS_TRIED = 1000
EVIDENCES_TRIED = 7  # two steps on one evidence, and one on five
SOME_ROWS = 3000  # for draws and parts that are too expensive on all rows
DIAGNOSIS = (0.3, 0.1)  # seconds of the diagnosis and of the verdicts' counterpart: fixed, and for each factor
MOST_FACTORS = 40  # beyond so many, the diagnosis looks at some


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
        """Those of evidence of these sizes.

        ``n_rows`` is the largest number of rows that draws and parts use, all by default. ``tried`` are the sizes of
        the data sets of the counterpart; by default a typical number of them.
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
# from the least to the most: the interval, the trial, the noise floor, then more of each
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
ESSENTIAL = 3  # the step of the ladder with everything that a verdict and an answer need


def rows_for_draws(works: Mapping[str, Work], sizes: DataSizes, budget: float) -> dict[str, int]:
    """How many rows draws and parts of every metric use: all, or `SOME_ROWS` where the essentials would not fit.

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
        Of the evidence.
    budget : float
        Seconds for noise floors, intervals and verdicts.
    rows : mapping of label to int, optional
        From `rows_for_draws`.
    tried : sequence of DataSizes, optional
        Of the data sets on which metrics are computed again for their verdicts.
    main : sequence of labels
        Metrics that come first, in this order; the others follow from cheap to expensive.

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
        for most in (share, left):  # a fair share for each, then what is left to each in turn
            for work in order:
                now = prices[work].seconds(LADDER[steps[work]])
                steps[work] = _highest(prices[work], now + min(most, left), steps[work], top)
                left += now - prices[work].seconds(LADDER[steps[work]])
    return {label: LADDER[steps[work.name]] for label, work in works.items()}


def seconds_of_diagnosis(sizes: DataSizes) -> float:
    """Seconds for what does not depend on the metrics: the diagnosis and the counterpart for the verdicts."""
    return DIAGNOSIS[0] + DIAGNOSIS[1] * min(sizes.n_factors, MOST_FACTORS)


def _for_draws(sizes: DataSizes, budget: float) -> float:
    """Seconds of the budget for draws, parts and trials."""
    return max(PLANNED_SHARE * budget - seconds_of_diagnosis(sizes), LEAST_SHARE * budget)


def _highest(price: Prices, seconds: float, now: int, top: int) -> int:
    """The highest step of the ladder up to ``top`` that costs no more than this; at least the present one."""
    return max([now, *(step for step in range(now, top + 1) if price.seconds(LADDER[step]) <= seconds)])
