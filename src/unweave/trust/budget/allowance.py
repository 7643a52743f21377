"""The clock behind the plan: CPU seconds of this process, which do not depend on the load of the machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from unweave.trust.budget.draw_plan import Planned
from unweave.trust.repeated_scoring import Quota

MARGIN = 1.1


@dataclass(frozen=True)
class Allowance:
    """The draws planned for each metric, and the seconds that they may take from now on.

    Draws stop when the clock exceeds the budget by a tenth. The plan comes from a cost model, which may be wrong for
    metrics of your own or for unusual data.

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
    """

    planned: Mapping[str, Planned]
    seconds: float
    stated: float = 0.0
    _start: float = field(default_factory=time.process_time)

    def used_up(self) -> bool:
        """Whether the clock has passed the budget."""
        return time.process_time() - self._start >= MARGIN * self.seconds

    @property
    def draws(self) -> Quota:
        """Number of permutations for every metric."""
        return Quota({label: plan.n_draws for label, plan in self.planned.items()}, self.stated, self.used_up)

    @property
    def parts(self) -> Quota:
        """Number of parts of the samples for every metric."""
        return Quota({label: plan.n_parts for label, plan in self.planned.items()}, self.stated, self.used_up)

    @property
    def untried(self) -> tuple[str, ...]:
        """Metrics that are not recomputed for their verdicts."""
        late = self.used_up()
        return tuple(label for label, plan in self.planned.items() if late or not plan.tried)
