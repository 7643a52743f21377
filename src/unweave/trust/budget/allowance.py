"""A clock that limits the planned draws. It counts CPU seconds, which do not depend on the load of the machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from unweave.trust.budget.draw_plan import Planned
from unweave.trust.repeated_scoring import Quota

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
