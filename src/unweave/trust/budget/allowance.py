"""The clock behind the plan: CPU seconds of this process, which do not run faster when others use the machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from unweave.trust.budget.draw_plan import Planned
from unweave.trust.repeated_scoring import Quota

MARGIN = 1.1


@dataclass(frozen=True)
class Allowance:
    """What is planned for each metric, and the seconds it has to fit in, from now on.

    Draws stop when the clock is past the budget by a tenth: the plan comes from a model, and the model may be wrong for
    metrics of your own or for unusual data.

    >>> Allowance({}, 0.0).used_up(), Allowance({}, 1e9).used_up()
    (True, False)

    Attributes
    ----------
    planned : mapping of label to Planned
        From `draw_plan`.
    seconds : float
        For all that stands beside the scores of one representation.
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
        """Permutations of every metric."""
        return Quota({label: plan.n_draws for label, plan in self.planned.items()}, self.stated, self.used_up)

    @property
    def parts(self) -> Quota:
        """Parts of the samples for every metric."""
        return Quota({label: plan.n_parts for label, plan in self.planned.items()}, self.stated, self.used_up)

    @property
    def untried(self) -> tuple[str, ...]:
        """Metrics whose verdicts are not tried: none when the time is used up."""
        late = self.used_up()
        return tuple(label for label, plan in self.planned.items() if late or not plan.tried)
