"""`History`: the evaluations of a training run by step, as a table and as curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unweave.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class History:
    """Evaluations in the order of training, and the problems that occurred.

    Attributes
    ----------
    evaluations : dict of step to Evaluation
    problems : dict of step to str
        Why there is no evaluation at a step.

    Examples
    --------
    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> history = History()
    >>> history.evaluations[1] = evaluate(z, z, metrics=["mcc"], quick=True)
    >>> history.steps, [round(value, 2) for value in history.values("mcc")]
    ([1], [1.0])
    """

    evaluations: dict[int, Evaluation] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)

    @property
    def steps(self) -> list[int]:
        """Steps that were scored."""
        return list(self.evaluations)

    @property
    def labels(self) -> list[str]:
        """Metrics that were computed at any step."""
        return list(dict.fromkeys(label for evaluation in self.evaluations.values() for label in evaluation.labels))

    @property
    def last(self) -> Evaluation | None:
        """The latest evaluation."""
        return next(reversed(self.evaluations.values()), None)

    def values(self, label: str) -> list[float]:
        """A metric's value at every step; nan if it was not computed."""
        means = (evaluation.mean_and_spread(label, "codes") for evaluation in self.evaluations.values())
        return [mean for mean, _ in means]

    def to_frame(self, backend: str = "polars") -> Any:
        """Data frame with one row per step and metric, and the columns of `Evaluation.to_frame`."""
        import narwhals.stable.v1 as nw

        rows = [(step, row) for step, evaluation in self.evaluations.items() for row in evaluation.rows]
        frame = nw.from_native(Evaluation(tuple(row for _, row in rows), {}).to_frame(backend))
        steps = nw.new_series("step", [step for step, _ in rows], nw.Int64, backend=frame.implementation)
        return frame.with_columns(steps).to_native()

    def plot(self) -> Figure:
        """Plot every metric over the steps, with the interval and the noise floor if they were computed.

        The method returns a matplotlib figure and needs the extra ``unweave[report]``.
        """
        from unweave.report.figures.history import history_figure

        curves = {label: self.values(label) for label in self.labels}
        shown = {label: values for label, values in curves.items() if not all(map(math.isnan, values))}
        rows = {} if self.last is None else {label: self.last.row(label, "codes") for label in shown}
        floors = {label: row.noise_floor.floor for label, row in rows.items() if row and row.noise_floor}
        intervals = {
            label: (row.interval.lower, row.interval.upper) for label, row in rows.items() if row and row.interval
        }
        return history_figure(self.steps, shown, floors, intervals)
