"""A Lightning callback that scores a held-out set during training."""

from __future__ import annotations

import contextlib
from typing import Any

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError:
    raise ImportError("This needs Lightning: pip install 'unweave[lightning]'.") from None

from unweave.integrations.monitor import History, Monitor
from unweave.integrations.trackers import log_evaluation


class RepresentationCallback(Callback):
    """Score held-out samples every few epochs or steps, and with noise floors and verdicts at the end.

    Scores are logged as ``unweave/mcc`` and so on, so that `ModelCheckpoint` and `EarlyStopping` can use these names as
    ``monitor=``. Only the first process computes scores. A metric that fails never stops the training.

    Parameters
    ----------
    inputs, factors : array or tensor, and table
        Held-out samples as the module takes them, and their true factors.
    every_n_epochs : int
        Number of epochs from one scoring to the next; 0 for no scoring by epochs.
    every_n_steps : int, optional
        Score by training steps instead.
    finish : bool
        Whether to score with noise floors, intervals and verdicts when training ends. The report page is sent to the
        trackers of the trainer.
    **options
        ``metrics``, ``page``, ``budget`` and the other options of `Monitor`.

    Attributes
    ----------
    history : History
        Evaluations by epoch (or step); ``history.plot()`` draws them.

    Notes
    -----
    Codes come from the module's method ``encode`` if it has one, and otherwise from calling the module. The
    result may be codes, or a mean with a standard deviation or log-variance.

    Examples
    --------
    >>> import torch
    >>> factors = torch.rand(200, 2, generator=torch.Generator().manual_seed(0))
    >>> callback = RepresentationCallback(factors, factors, every_n_epochs=5, metrics=["mcc"])
    >>> callback.history.steps
    []
    """

    def __init__(
        self,
        inputs: Any,
        factors: Any,
        *,
        every_n_epochs: int = 1,
        every_n_steps: int | None = None,
        finish: bool = True,
        **options: Any,
    ) -> None:
        self.every_n_epochs, self.every_n_steps, self.finish = every_n_epochs, every_n_steps, finish
        self.monitor = Monitor(inputs, factors, **options)

    @property
    def history(self) -> History:
        """Evaluations by epoch or step."""
        return self.monitor.history

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score the held-out set after every ``every_n_epochs`` epochs."""
        epoch = trainer.current_epoch + 1
        if self.every_n_steps is None and self.every_n_epochs and epoch % self.every_n_epochs == 0:
            self._score(trainer, pl_module, epoch)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Score the held-out set after every ``every_n_steps`` steps."""
        if self.every_n_steps and trainer.global_step % self.every_n_steps == 0:
            self._score(trainer, pl_module, trainer.global_step)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score with noise floors, intervals and verdicts, and log the scores and the report page."""
        if not (self.finish and trainer.is_global_zero):
            return
        step = trainer.current_epoch if self.every_n_steps is None else trainer.global_step
        evaluation = self.monitor.finish(step, pl_module)
        if evaluation is None:
            return
        for logger in trainer.loggers:
            with contextlib.suppress(Exception):  # a logger that does not accept a page must not stop the training
                run = logger.experiment  # type: ignore[attr-defined]
                log_evaluation(evaluation, run, step=trainer.global_step)

    def _score(self, trainer: Trainer, pl_module: LightningModule, step: int) -> None:
        if trainer.is_global_zero:
            numbers = self.monitor.score(step, pl_module)
            pl_module.log_dict(numbers, rank_zero_only=True, batch_size=1)
