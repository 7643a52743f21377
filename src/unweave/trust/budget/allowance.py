"""The clock behind the plan: CPU seconds of this process, which do not depend on the load of the machine."""

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

    Draws stop when the clock exceeds the budget by half. The plan comes from a cost model, which may be wrong for
    metrics of your own or for unusual data; elsewhere the clock has no influence.

    >>> Allowance({}, 0.0).used_up(), Allowance({}, 1e9).used_up()
    (True, False)

    Attributes
    ----------
    planned : mapping of label to Planned
        From `draw_plan`.
    seconds : float
        For noise floors, intervals and verdicts of one representation.
    stated : float
        The budget as the user gave it, for notes.
    rows, rows_of_parts : mapping of label to int
        How many rows draws use, and how many parts have at most.
    started : float
        When the clock started.
    """

    planned: Mapping[str, Planned]
    seconds: float
    stated: float = 0.0
    rows: Mapping[str, int] = field(default_factory=dict)
    rows_of_parts: Mapping[str, int] = field(default_factory=dict)
    started: float = field(default_factory=time.process_time)

    def used_up(self) -> bool:
        """Whether the clock has passed the budget."""
        return time.process_time() - self.started >= MARGIN * self.seconds

    @property
    def draws(self) -> Quota:
        """Number of permutations for every metric."""
        counts = {label: plan.n_draws for label, plan in self.planned.items()}
        return Quota(counts, self.stated, self.used_up, self.rows)

    @property
    def parts(self) -> Quota:
        """Number of parts of the samples for every metric."""
        counts = {label: plan.n_parts for label, plan in self.planned.items()}
        return Quota(counts, self.stated, self.used_up, self.rows_of_parts)

    @property
    def untried(self) -> tuple[str, ...]:
        """Metrics that are not recomputed for their verdicts."""
        late = self.used_up()
        return tuple(label for label, plan in self.planned.items() if late or not plan.tried)
