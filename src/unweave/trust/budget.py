"""How many draws of floors, intervals and verdicts fit into a time budget, from a table of costs and never by a clock.

The draws of a floor stop when they are decided (`floors.draws_suffice`), wherever the budget ends. The budget is an
upper bound: a metric whose draws do not fit is not checked, and the verdict of a metric whose draws fit does not depend
on the budget.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files

from unweave.card.decorator import Choice, card_of, stated_options
from unweave.evidence import Evidence

SOME = 1000  # largest number of rows that kernels and readouts use

SMALLEST = 1e-3  # seconds for the call itself and for creating a variant of the evidence

UNKNOWN = 0.1  # seconds assumed for a metric that is not in the table


@dataclass(frozen=True)
class DataSizes:
    """Numbers of rows, codes and factors of an evidence, and the share of the factors that are categorical."""

    n_rows: int
    n_codes: int
    n_factors: int
    share_of_classes: float = 0.0

    @classmethod
    def of(cls, evidence: Evidence) -> DataSizes:
        """Sizes of an evidence."""
        classes = [kind.is_categorical for kind in evidence.kinds]
        share = sum(classes) / len(classes) if classes else 0.0
        return cls(evidence.n_rows, evidence.n_codes, evidence.n_factors, share)


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
    most_rows: float | None = None
    share_of_permutation: float = 1.0
    share_of_permuted_classes: float | None = None
    fixed_rows: bool = False

    def seconds(self, sizes: DataSizes, n_rows: int | None = None) -> float:
        """Seconds of one computation on one core, on ``n_rows`` rows if given; rows beyond ``most_rows`` are free."""
        return self._seconds(sizes, n_rows, 1.0, 1.0)

    def _seconds(self, sizes: DataSizes, n_rows: int | None, of_numbers: float, of_classes: float) -> float:
        n = sizes.n_rows if n_rows is None else n_rows
        used = replace(sizes, n_rows=int(min(n, self.most_rows or math.inf)))
        numbers, classes = (
            sum(factor * TERMS[term](used) for term, factor in coefficients.items())
            for coefficients in (self.numbers, self.classes or self.numbers)
        )
        share = sizes.share_of_classes
        return SMALLEST + (1 - share) * of_numbers * numbers + share * of_classes * classes

    def seconds_of_permutation(self, sizes: DataSizes, n_rows: int | None = None) -> float:
        """Seconds to score one permutation.

        >>> Work("matrix", {"1": 0.5}, share_of_permutation=0.2).seconds_of_permutation(DataSizes(100, 10, 5))
        0.101
        """
        of_numbers, of_classes = self.share_of_permutation, self.share_of_permuted_classes
        return self._seconds(sizes, n_rows, of_numbers, of_numbers if of_classes is None else of_classes)


@functools.cache
def table() -> dict[str, Work]:
    """Entries of the table, by the name of the metric."""
    content = json.loads(files(__package__).joinpath("costs.json").read_text(encoding="utf-8"))["works"]
    works = [(entry.pop("metrics"), Work(name, **entry)) for name, entry in content.items()]
    return {metric: work for metrics, work in works for metric in metrics}


def work_of(metric: Choice) -> Work:
    """The metric's entry in the table; `UNKNOWN` seconds per 1,000 rows if it is not in the table.

    A metric of the catalogue with other options is taken to cost what it costs with its default options, apart from
    other metrics. Nothing is measured, so that the plan is the same on every machine.

    >>> from unweave.metrics import dci_completeness, dci_disentanglement
    >>> work_of(dci_completeness) is work_of(dci_disentanglement)
    True
    """
    known = table().get(card_of(metric).name, Work(card_of(metric).name, {"n": UNKNOWN / 1000}))
    options = {name: value for name, value in stated_options(metric).items() if name != "rng"}
    stated = ", ".join(f"{name}={options[name]}" for name in sorted(options))
    return replace(known, name=f"{card_of(metric).name} ({stated})") if options else known


LEAST_SHARE = 0.5  # share of the budget that is left for draws, however long scores and diagnosis take

SOME_ROWS = 3000  # number of rows for parts and trials that are too expensive on all rows

ROWS_OF_DRAWS = 1500  # the same for permutations, if there are more than twice as many

DEAR = 0.1  # seconds of a part on all rows that are too expensive

DEAR_DRAW = 0.03  # the same for a permutation, of which there are more

FEWEST_DRAWS, N_DRAWS = 29, 99  # fewest draws that can show that a score is above noise, and most draws

FEWEST_PARTS, PAIRED_PARTS, N_PARTS = 6, 12, 24  # of dear metrics; of these in a comparison; of others

DEAR_PART = 0.01  # seconds of a part of a dear metric: more than 6 parts hardly make an interval shorter

DIAGNOSIS = (0.3, 0.1)  # seconds for the diagnosis and the counterpart: a constant, and for each factor

WITH_LADDER = "identification"  # the metric beside which an evaluation computes the ladder

MOST_FACTORS = 40  # above this number of factors, the cost of the diagnosis is taken as constant


@dataclass(frozen=True)
class DrawPlan:
    """Upper bounds for the draws of every metric, by label.

    Attributes
    ----------
    n_draws, n_parts : mapping of label to int
        Largest number of permutations, and of parts of the samples.
    rows, rows_of_parts : mapping of label to int
        Number of rows that permutations use, and the largest number of rows of a part; all rows where it is missing.
    rows_scored : mapping of label to int
        Number of rows that the score itself uses where that is not all; its parts are parts of as many rows.
    most_parts : mapping of label to int
        Number of parts if the budget allows them.
    budget : float
        The budget as the user gave it, which notes repeat.
    seconds : mapping of str to float
        Expected seconds if all draws are needed: of "draws", "parts" and "trials".
    """

    n_draws: Mapping[str, int]
    n_parts: Mapping[str, int]
    rows: Mapping[str, int] = field(default_factory=dict)
    rows_of_parts: Mapping[str, int] = field(default_factory=dict)
    rows_scored: Mapping[str, int] = field(default_factory=dict)
    most_parts: Mapping[str, int] = field(default_factory=dict)
    budget: float = math.inf
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def untried(self) -> tuple[str, ...]:
        """Labels of the metrics that are not recomputed for their verdicts."""
        return tuple(label for label, n_draws in self.n_draws.items() if not n_draws)


def seconds_of_diagnosis(evidence: Evidence) -> float:
    """Expected seconds for the diagnosis and the counterpart, which do not depend on the metrics."""
    return DIAGNOSIS[0] + DIAGNOSIS[1] * min(evidence.n_factors, MOST_FACTORS)


def draw_plan(
    works: Mapping[str, Work],
    evidence: Evidence,
    budget: float,
    *,
    tried: Sequence[Evidence] = (),
    some_rows: bool = True,
    parts_of_some_rows: bool = True,
    compared: bool = False,
    n_codes: int | None = None,
    of_ladder: Evidence | None = None,
) -> DrawPlan:
    """The plan of one representation within this many seconds.

    From cheap to expensive metrics, each gets what a verdict needs, as long as it fits: the fewest draws that can show
    that a score is above noise, the trials and the fewest parts. The remaining seconds go to more draws, then to more
    parts, in the same order. A larger budget therefore never gives a metric less.

    Parameters
    ----------
    works : mapping of label to Work
        What each metric computes; labels with the same work share it.
    evidence : Evidence
        The data.
    budget : float
        Seconds for scores, noise floors, intervals and verdicts.
    tried : sequence of Evidence
        Data sets on which metrics are recomputed for their verdicts.
    some_rows, parts_of_some_rows : bool
        Whether draws and parts may use a part of the rows where one on all rows is expensive. This depends on the cost
        of one draw and not on the budget.
    compared : bool
        Whether representations are compared, pair by pair, by their parts.
    n_codes : int, optional
        Number of codes from which the rows of parts follow: the largest of all compared representations, so that all
        of them have the same parts.
    of_ladder : Evidence, optional
        What the ladder is computed on, if not the evidence: with screened codes, all codes and rows.

    Examples
    --------
    >>> works = {"cheap": Work("cheap", {"n": 1e-6}), "dear": Work("dear", {"n": 1e-4})}
    >>> rows = Evidence([[0.0, 1.0]] * 1000, [[0.0, 1.0]] * 1000)
    >>> draw_plan(works, rows, budget=15.0).n_draws, draw_plan(works, rows, budget=3.0).n_draws
    ({'cheap': 99, 'dear': 99}, {'cheap': 29, 'dear': 0})
    """
    sizes, n = DataSizes.of(evidence), evidence.n_rows
    widest = replace(sizes, n_codes=n_codes or sizes.n_codes)
    each = {work.name: work for work in works.values()}
    rows, most, scored, parts = {}, {}, {}, {}
    for name, work in each.items():
        rows[name] = _rows_of_draw(work, sizes) if some_rows else n
        scored[name], most[name] = _rows_of_part(work, n, work.seconds(widest)) if parts_of_some_rows else (n, n)
        dear = work.seconds(widest, min(scored[name] // 2, most[name])) > DEAR_PART
        parts[name] = (PAIRED_PARTS if compared else FEWEST_PARTS) if dear else N_PARTS
    draw = {name: work.seconds_of_permutation(sizes, rows[name]) for name, work in each.items()}
    part = {name: work.seconds(sizes, min(scored[name] // 2, most[name])) for name, work in each.items()}
    trial = {name: sum(work.seconds(DataSizes.of(other)) for other in tried) for name, work in each.items()}
    fixed = seconds_of_diagnosis(evidence) + sum(work.seconds(sizes) for work in each.values())
    if any(name.startswith(WITH_LADDER) for name in each):
        fixed += table()["ladder"].seconds(DataSizes.of(of_ladder or evidence))
    n_draws, n_parts = _affordable(draw, part, trial, parts, max(budget - fixed, LEAST_SHARE * budget))
    checked = dict.fromkeys(filter(n_draws.get, n_draws), 1)

    def of_labels(counts: Mapping[str, int]) -> dict[str, int]:
        return {label: counts[work.name] for label, work in works.items()}

    return DrawPlan(
        n_draws=of_labels(n_draws),
        n_parts=of_labels(n_parts),
        rows=of_labels(rows),
        rows_of_parts=of_labels(most),
        rows_scored=of_labels(scored),
        most_parts=of_labels(parts),
        budget=budget,
        seconds={
            kind: sum(counts.get(name, 0) * price[name] for name in each)
            for kind, counts, price in (("draws", n_draws, draw), ("parts", n_parts, part), ("trials", checked, trial))
        },
    )


def _rows_of_draw(work: Work, sizes: DataSizes) -> int:
    """Number of rows of a permutation."""
    n = sizes.n_rows
    return ROWS_OF_DRAWS if n > 2 * ROWS_OF_DRAWS and work.seconds_of_permutation(sizes) > DEAR_DRAW else n


def _rows_of_part(work: Work, n: int, seconds: float) -> tuple[int, int]:
    """Number of rows that the score uses, of which parts are taken, and largest number of rows of a part."""
    if work.fixed_rows:
        return min(n, int(work.most_rows or n)), n
    return n, min(n, SOME_ROWS) if seconds > DEAR else n


def _affordable(
    draw: Mapping[str, float],
    part: Mapping[str, float],
    trial: Mapping[str, float],
    most_parts: Mapping[str, int],
    left: float,
) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of draws and parts, given the seconds of a draw, a part and all trials, and the seconds that are left."""
    order = sorted(draw, key=lambda name: (draw[name], name))
    n_draws, n_parts = dict.fromkeys(draw, 0), dict.fromkeys(draw, 0)
    checked = []
    for name in order:
        left -= FEWEST_DRAWS * draw[name] + FEWEST_PARTS * part[name] + trial[name]
        if left < 0:
            break
        checked.append(name)
        n_draws[name], n_parts[name] = FEWEST_DRAWS, FEWEST_PARTS
    for counts, price, most in ((n_draws, draw, dict.fromkeys(draw, N_DRAWS)), (n_parts, part, most_parts)):
        for name in checked:
            more = int(min(most[name] - counts[name], max(left, 0.0) / price[name]))
            counts[name] += more
            # what a metric cannot afford is not left for others, so that more seconds never give less
            left = left - more * price[name] if counts[name] == most[name] else 0.0
    return n_draws, n_parts
