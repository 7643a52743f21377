"""Plan for a time budget: permutations, parts of the samples and recomputation for a verdict, for each metric.

Metrics that share a computation are planned together. Each computation gets a fair share of the budget, and what cheap
ones do not need goes to the expensive ones. Within its share, a computation gets all draws, or the largest of a few
round numbers that fits. Where not even the smallest number fits, the interval has priority, then the verdict, then the
noise floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unweave.trust.budget.costs import DataSizes, Work
from unweave.trust.repeated_scoring import fair_share

PLANNED_SHARE = 0.75  # of the budget; the rest is for what the cost model misses
LEAST_SHARE = 0.25  # for draws, where the diagnosis, which is always made, takes most of a small budget
DRAWS = (0, 19, 39, 99, 199)
PARTS = (0, 8, 12, 24)
ROWS_TRIED = 5000
FEWEST_ROWS_TRIED = 1000
EVIDENCES_TRIED = 7  # two steps on one evidence, and one on five
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
    """Seconds of one permutation, one part, and one trial on the counterpart."""

    draw: float
    part: float
    trial: float

    @classmethod
    def of(cls, work: Work, sizes: DataSizes) -> Prices:
        """Those of evidence of these sizes."""
        n = sizes.n_rows
        tried = replace(sizes, n_rows=max(FEWEST_ROWS_TRIED, min(n, ROWS_TRIED)))
        return cls(
            work.seconds(sizes), work.seconds(replace(sizes, n_rows=n // 2)), EVIDENCES_TRIED * work.seconds(tried)
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


def draw_plan(works: Mapping[str, Work], sizes: DataSizes, budget: float) -> dict[str, Planned]:
    """Plan for every metric within this many seconds.

    Parameters
    ----------
    works : mapping of label to Work
        What each metric computes; labels with the same work share it.
    sizes : DataSizes
        Of the evidence.
    budget : float
        Seconds for noise floors, intervals and verdicts.

    Examples
    --------
    >>> works = {"cheap": Work("cheap", {"n": 1e-6}), "dear": Work("dear", {"n": 1e-3})}
    >>> found = draw_plan(works, DataSizes(1000, 10, 5), budget=60.0)
    >>> found["cheap"].n_draws, found["dear"].n_draws, found["dear"].n_parts
    (199, 19, 8)
    >>> draw_plan(works, DataSizes(1000, 10, 5), budget=0.0)["cheap"]
    Planned(n_draws=0, n_parts=0, tried=False)
    """
    prices = {work.name: Prices.of(work, sizes) for work in works.values()}
    left = max(PLANNED_SHARE * budget - seconds_of_diagnosis(sizes), LEAST_SHARE * budget)
    share = fair_share((price.seconds(ALL) for price in prices.values()), left)
    steps = {name: _highest(price, share) for name, price in prices.items()}
    left -= sum(price.seconds(LADDER[steps[name]]) for name, price in prices.items())
    # what is left goes to the next steps
    for name in sorted(prices, key=lambda work: (prices[work].draw, work)):
        now = prices[name].seconds(LADDER[steps[name]])
        steps[name] = _highest(prices[name], now + left)
        left += now - prices[name].seconds(LADDER[steps[name]])
    return {label: LADDER[steps[work.name]] for label, work in works.items()}


def seconds_of_diagnosis(sizes: DataSizes) -> float:
    """Seconds for what does not depend on the metrics: the diagnosis and the counterpart for the verdicts."""
    return DIAGNOSIS[0] + DIAGNOSIS[1] * min(sizes.n_factors, MOST_FACTORS)


def _highest(price: Prices, seconds: float) -> int:
    """The highest step of the ladder that costs no more than this."""
    return max(step for step, planned in enumerate(LADDER) if step == 0 or price.seconds(planned) <= seconds)
