"""`Monitor`: scores a held-out set at regular intervals during training, in any training loop."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from unweave.encoding.models import encoder_of
from unweave.encoding.outputs import OutputReader
from unweave.evaluation import Evaluation, evaluate
from unweave.evaluation.metric_choice import MetricChoice, chosen_metrics
from unweave.evidence import EvidenceOptions, Posterior
from unweave.evidence.reading.columns import plain
from unweave.integrations.history import History
from unweave.integrations.logged_numbers import logged_numbers

METRICS = ("mcc", "r2", "mig", "dci_disentanglement", "identification")


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
        every: int = 1,
        metrics: MetricChoice | Iterable[MetricChoice] = METRICS,
        tracker: Any = None,
        page: str | Path | None = None,
        budget: float = 30.0,
        batch_size: int = 500,
        **evidence_options: Unpack[EvidenceOptions],
    ) -> None:
        if every < 1:
            raise ValueError(f"every={every} is not a number of steps: use 1 or more.")
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
            codes = self._encoded(model)
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

    def _encoded(self, model: Any) -> Any:
        encoder, reader = encoder_of(model), OutputReader()
        batches = []
        with _same_randomness():
            for start in range(0, len(self.inputs), self.batch_size):
                batch = self.inputs[start : start + self.batch_size]
                batches.append(reader.arrays(encoder(batch), len(batch)))
        arrays = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
        return Posterior(arrays["codes"], arrays["codes_std"]) if "codes_std" in arrays else arrays["codes"]

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
