"""Log an evaluation to an experiment tracker: MLflow, Weights & Biases, TensorBoard or Aim."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from unweave.errors import OptionError
from unweave.evaluation import Evaluation
from unweave.integrations.monitor import logged_numbers, logged_verdicts
from unweave.options import checks_options
from unweave.whole_files import write_whole

PAGE = "unweave-report.html"
Record = tuple[dict[str, float], dict[str, str], str | None]  # numbers, verdicts, page


@checks_options
def log_evaluation(
    evaluation: Evaluation, tracker: Any, *, step: int | None = None, page: bool = True, prefix: str = "unweave"
) -> dict[str, float]:
    """Log scores, noise floors, intervals, verdicts and the report page to a tracker.

    Parameters
    ----------
    evaluation : Evaluation
        What to log.
    tracker : module mlflow, run of wandb or aim, or SummaryWriter
        The active run: the module ``mlflow``, the result of ``wandb.init()``, ``aim.Run()``, or a TensorBoard writer.
    step : int, optional
        Epoch or step of the training.
    page : bool
        Whether to log the report page. TensorBoard cannot show it, so it is written to the folder of the events.
    prefix : str
        First part of every name.

    Returns
    -------
    dict of name to float
        The numbers as they were logged: ``unweave/mcc``, ``unweave/mcc_floor``, and so on.

    Examples
    --------
    >>> import tempfile, unweave
    >>> from torch.utils.tensorboard import SummaryWriter
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     logged = log_evaluation(unweave.evaluate(z, z, metrics=["mcc"], quick=True), writer, step=1)
    >>> {name: round(value, 3) for name, value in logged.items()}
    {'unweave/mcc': 1.0}
    """
    log = TRACKERS.get(package_of(tracker))
    if log is None:
        raise OptionError(
            f"{type(tracker).__name__} of {package_of(tracker)!r} is not a supported tracker: pass the module mlflow, "
            "a run of wandb or aim, or a TensorBoard SummaryWriter."
        )
    numbers = logged_numbers(evaluation, prefix)
    log(tracker, (numbers, logged_verdicts(evaluation, prefix), evaluation.to_html() if page else None), step)
    return numbers


def package_of(tracker: Any) -> str:
    """Name of the package of a tracker.

    >>> package_of(tempfile)
    'tempfile'
    """
    module = tracker.__name__ if isinstance(tracker, ModuleType) else type(tracker).__module__
    return module.partition(".")[0]


def _to_mlflow(mlflow: Any, record: Record, step: int | None) -> None:
    numbers, verdicts, page = record
    mlflow.log_metrics(numbers, step=step)
    mlflow.set_tags({f"{name}_verdict": verdict for name, verdict in verdicts.items()})
    if page is not None:
        mlflow.log_text(page, PAGE)


def _to_wandb(run: Any, record: Record, step: int | None) -> None:
    numbers, verdicts, page = record
    shown: dict[str, Any] = dict(numbers)
    if page is not None:
        import wandb

        shown["unweave-report"] = wandb.Html(page)
    run.log(shown, step=step)
    run.summary.update({f"{name}_verdict": verdict for name, verdict in verdicts.items()})


def _to_tensorboard(writer: Any, record: Record, step: int | None) -> None:
    numbers, verdicts, page = record
    for name, value in numbers.items():
        writer.add_scalar(name, value, step)
    for name, verdict in verdicts.items():
        writer.add_text(f"{name}_verdict", verdict, step)
    if page is not None:
        folder = (
            getattr(writer, "log_dir", None) or getattr(writer, "logdir", None) or tempfile.mkdtemp(prefix="unweave-")
        )
        write_whole(Path(folder, PAGE), lambda file: file.write(page.encode()))
    writer.flush()


def _to_aim(run: Any, record: Record, step: int | None) -> None:
    numbers, verdicts, page = record
    for name, value in numbers.items():
        run.track(value, name=name, step=step)
    for name, verdict in verdicts.items():
        run[f"{name}_verdict"] = verdict
    if page is not None:
        from aim import Text

        run.track(Text(page), name="unweave-report", step=step)


TRACKERS: dict[str, Callable[[Any, Record, int | None], None]] = {
    "mlflow": _to_mlflow,
    "wandb": _to_wandb,
    "torch": _to_tensorboard,
    "tensorboardX": _to_tensorboard,
    "aim": _to_aim,
}
