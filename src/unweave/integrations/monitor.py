"""Scores during training."""

from __future__ import annotations

import contextlib
import math
import re
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from unweave.encoding import OutputReader, encoder_of
from unweave.evaluation import Evaluation, Row, evaluate
from unweave.evaluation.choose import MetricChoice, chosen_metrics
from unweave.evaluation.results import frame_columns
from unweave.evidence import EvidenceOptions, Posterior
from unweave.evidence.columns import data_frame, plain
from unweave.options import Count, checks_options

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

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame with one row per step and metric, and the columns of `Evaluation.to_frame`."""
        rows = [(step, row) for step, evaluation in self.evaluations.items() for row in evaluation.rows]
        return data_frame(frame_columns(row for _, row in rows) | {"step": [step for step, _ in rows]}, backend)

    def plot(self) -> Figure:
        """Plot every metric over the steps, with the interval and the noise floor if they were computed.

        The method returns a matplotlib figure and needs the extra ``unweave[report]``.
        """
        from unweave.report.figures.curves import history_figure

        curves = {label: self.values(label) for label in self.labels}
        shown = {label: values for label, values in curves.items() if not all(map(math.isnan, values))}
        rows = {} if self.last is None else {label: self.last.row(label, "codes") for label in shown}
        floors = {label: row.noise_floor.floor for label, row in rows.items() if row and row.noise_floor}
        intervals = {
            label: (row.interval.lower, row.interval.upper) for label, row in rows.items() if row and row.interval
        }
        return history_figure(self.steps, shown, floors, intervals)


NOT_IN_A_NAME = re.compile(r"[^\w./-]+")


@checks_options
def logged_name(label: str) -> str:
    """A label that has only characters that every tracker accepts.

    >>> logged_name("mcc (correlation=spearman)")
    'mcc_correlation_spearman'
    """
    return NOT_IN_A_NAME.sub("_", label).strip("_")


@checks_options
def logged_numbers(evaluation: Evaluation, prefix: str = "unweave") -> dict[str, float]:
    """Every score by name, with its noise floor, p-value, calibrated score and interval if they were computed.

    Undefined numbers are left out. If there are several representations, the name contains the representation.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> {name: round(value, 3) for name, value in logged_numbers(evaluate(z, z, metrics="mcc", quick=True)).items()}
    {'unweave/mcc': 1.0}
    """
    numbers = {}
    for name, row in _first_rows(evaluation, prefix).items():
        value, _ = evaluation.mean_and_spread(row.label, row.representation)
        numbers[name] = value
        numbers |= {f"{name}_{part}": value for part, value in _floor_and_interval(row).items()}
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


@checks_options
def logged_verdicts(evaluation: Evaluation, prefix: str = "unweave") -> dict[str, str]:
    """The verdict of every score by name with its reason, or the problem if there is no score.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> logged_verdicts(evaluate(z, z, metrics="mcc", quick=True))
    {}
    """
    verdicts = {}
    for name, row in _first_rows(evaluation, prefix).items():
        if row.problem is not None:
            verdicts[name] = str(row.problem)
        elif row.verdict is not None:
            reasons = " ".join(reason.sentence for reason in row.verdict.reasons[:1])
            verdicts[name] = f"{row.level}: {reasons}" if reasons else row.level
    return verdicts


def _first_rows(evaluation: Evaluation, prefix: str) -> dict[str, Row]:
    several = len(evaluation.representations) > 1
    rows: dict[str, Row] = {}
    for row in evaluation.rows:
        levels = [prefix, row.representation if several else "", row.label]
        rows.setdefault("/".join(logged_name(level) for level in levels if level), row)
    return rows


def _floor_and_interval(row: Row) -> dict[str, float]:
    floor, interval = row.noise_floor, row.interval
    return {part: getattr(floor, part) for part in ("floor", "p_value", "calibrated") if floor is not None} | {
        part: getattr(interval, part) for part in ("lower", "upper") if interval is not None
    }


METRICS = ("mcc", "r2", "mig", "dci_disentanglement", "identification")


@checks_options
class Monitor:
    """Score a model on held-out samples during training, and record the history.

    A metric, an encoder or a tracker that fails never stops the training; the history has the error message. The
    model, its mode and torch's random state are not changed, so that training gives the same weights with and without
    a monitor.

    Parameters
    ----------
    inputs : array or tensor, first axis samples
        The held-out samples as the model takes them.
    factors : table
        Their true factors.
    every : int
        Calling the monitor scores only the steps that are multiples of this number.
    metrics : names or metrics
        By default `mcc`, `r2`, `mig`, `dci_disentanglement` and `identification`.
    tracker : object, optional
        Where to log; see `unweave.integrations.trackers.log_evaluation`.
    page : path, optional
        File for the report of `finish`.
    budget : float
        Approximate CPU seconds of the evaluation in `finish`.
    batch_size : int
        Samples encoded at a time.
    **evidence_options
        Options of `Evidence`, such as ``kinds``.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).uniform(size=(200, 2))
    >>> monitor = Monitor(factors, factors, every=2, metrics=["mcc"])
    >>> for epoch in range(1, 5):  # a model that learns to separate the factors
    ...     scored = monitor(epoch, lambda samples: samples + (1 - epoch / 4) * samples[:, ::-1])
    >>> monitor.history.steps, [round(value, 1) for value in monitor.history.values("mcc")]
    ([2, 4], [0.9, 1.0])
    """

    def __init__(
        self,
        inputs: Any,
        factors: Any,
        *,
        every: Count = 1,
        metrics: MetricChoice | Iterable[MetricChoice] = METRICS,
        tracker: Any = None,
        page: str | Path | None = None,
        budget: float = 30.0,
        batch_size: int = 500,
        **evidence_options: Unpack[EvidenceOptions],
    ) -> None:
        self.chosen = list(chosen_metrics(metrics).values())  # so that a wrong name raises an error before training
        self.inputs: NDArray[Any] = np.asarray(plain(inputs))
        self.factors, self.every, self.tracker, self.page = factors, every, tracker, page
        self.budget, self.batch_size, self.options = budget, batch_size, evidence_options
        self.history = History()
        self._warned: set[str] = set()

    def __call__(self, step: int, model: Any) -> dict[str, float]:
        """Scores by name if the step is a multiple of ``every``, and otherwise an empty dictionary.

        ``model`` is a torch module, a function, or an object with a method encode, as for `unweave.encode`.
        """
        return self.score(step, model) if step % self.every == 0 else {}

    def score(self, step: int, model: Any, *, quick: bool = True) -> dict[str, float]:
        """Scores at this step by name; empty if they could not be computed."""
        try:
            starts = range(0, len(self.inputs), self.batch_size)
            with _same_randomness():
                batches = (self.inputs[start : start + self.batch_size] for start in starts)
                arrays = OutputReader().all_arrays(encoder_of(model), batches)
            codes = Posterior(arrays["codes"], arrays["codes_std"]) if "codes_std" in arrays else arrays["codes"]
            evaluation = evaluate(
                self.factors,
                codes,
                metrics=self.chosen,
                quick=quick,
                budget=self.budget,
                progress=False,
                **self.options,
            )
            self.history.evaluations[step] = evaluation
            self._log(evaluation, step, with_page=not quick)
            return logged_numbers(evaluation)
        except Exception as error:
            self._note(step, error)
            return {}

    def finish(self, step: int, model: Any) -> Evaluation | None:
        """Score with noise floors, intervals and verdicts, and write the page; None if this failed."""
        self.score(step, model, quick=False)
        evaluation = self.history.evaluations.get(step)
        if evaluation is not None and self.page is not None:
            try:
                evaluation.to_html(self.page)
            except Exception as error:
                self._note(step, error)
        return evaluation

    def _log(self, evaluation: Evaluation, step: int, *, with_page: bool) -> None:
        if self.tracker is not None:
            from unweave.integrations.trackers import log_evaluation

            log_evaluation(evaluation, self.tracker, step=step, page=with_page)

    def _note(self, step: int, error: Exception) -> None:
        problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
        self.history.problems[step] = problem
        if problem not in self._warned:
            self._warned.add(problem)
            warnings.warn(f"unweave could not score step {step}, and training continues: {problem}", stacklevel=4)


def _same_randomness() -> contextlib.AbstractContextManager[Any]:
    """Restore torch's random state afterwards, because an encoder may draw random numbers."""
    torch = sys.modules.get("torch")
    return contextlib.nullcontext() if torch is None else torch.random.fork_rng()
