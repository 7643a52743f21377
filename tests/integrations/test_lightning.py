"""The callback in a real trainer, and scores logged by a module itself."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pytest.importorskip("lightning", reason="Lightning is not installed: pip install 'unweave[lightning]'")

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

from unweave.integrations.lightning import RepresentationCallback
from unweave.integrations.torchmetrics import RepresentationScore, RepresentationScores

FACTORS = torch.rand(256, 2, generator=torch.Generator().manual_seed(0))
INPUTS = FACTORS @ torch.tensor([[1.0, 0.5], [-0.5, 1.0]])
LOADER = DataLoader(TensorDataset(INPUTS, FACTORS), batch_size=64)


class Module(LightningModule):
    def __init__(self, broken=False):
        super().__init__()
        self.encoder, self.broken = nn.Linear(2, 2), broken
        self.mcc, self.scores = RepresentationScore("mcc"), RepresentationScores(["r2", "mig"])

    def encode(self, inputs):
        if self.broken:
            raise RuntimeError("no codes today")
        return self.encoder(inputs)

    def training_step(self, batch, _):
        inputs, factors = batch
        return ((self.encoder(inputs) - factors) ** 2).mean()

    def validation_step(self, batch, _):
        inputs, factors = batch
        self.mcc.update(factors, self.encoder(inputs))
        self.scores.update(factors, self.encoder(inputs))
        self.log("mcc", self.mcc)

    def on_validation_epoch_end(self):
        self.log_dict(self.scores.compute())
        self.scores.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.05)


def fit(module, *callbacks, logger, folder, **options):
    trainer = Trainer(
        max_epochs=4,
        accelerator="cpu",
        logger=logger,
        callbacks=list(callbacks),
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
        **options,
    )
    trainer.fit(module, LOADER, LOADER)
    return trainer


pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning's own, on workers and the like


class Watched(nn.Linear):
    """A module that keeps what it is asked to log."""

    def __init__(self):
        super().__init__(2, 2)
        self.logged = []

    def log_dict(self, numbers, **options):
        self.logged.append((list(numbers), options))


def trainer_at(epoch=0, step=0, rank=0):
    return SimpleNamespace(current_epoch=epoch, global_step=step, is_global_zero=rank == 0, loggers=[])


@pytest.mark.parametrize(
    ("options", "steps"),
    [({}, [1, 2, 3, 4]), ({"every_n_epochs": 2}, [2, 4]), ({"every_n_epochs": 0}, []), ({"every_n_steps": 3}, [3, 6])],
)
def test_every_few_epochs_or_steps_are_scored_by_the_first_process_alone(options, steps):
    module = Watched()
    first, second = (RepresentationCallback(INPUTS, FACTORS, metrics=["mcc"], **options) for _ in range(2))
    for callback, rank in ((first, 0), (second, 1)):
        for epoch in range(4):
            for step in (2 * epoch + 1, 2 * epoch + 2):
                callback.on_train_batch_end(trainer_at(epoch, step, rank), module, None, None, 0)
            callback.on_train_epoch_end(trainer_at(epoch, 2 * epoch + 2, rank), module)
    assert first.history.steps == steps
    assert second.history.steps == []
    assert module.logged == [(["unweave/mcc"], {"rank_zero_only": True, "batch_size": 1})] * len(steps)


@pytest.mark.parametrize(("finish", "rank", "steps"), [(True, 0, [4]), (True, 1, []), (False, 0, []), (False, 1, [])])
def test_the_last_scoring_is_by_the_first_process_if_it_is_wanted(finish, rank, steps):
    callback = RepresentationCallback(INPUTS, FACTORS, metrics=["mcc"], finish=finish, budget=0.1)
    callback.on_train_end(trainer_at(4, 8, rank), Watched())
    assert callback.history.steps == steps


def test_scores_reach_loggers_and_checkpoints(tmp_path):
    callback = RepresentationCallback(
        INPUTS, FACTORS, every_n_epochs=2, metrics=["mcc", "r2"], budget=0.2, page=tmp_path / "page.html"
    )
    best = ModelCheckpoint(tmp_path, monitor="unweave/mcc", mode="max", every_n_epochs=2)
    logger = CSVLogger(tmp_path)
    trainer = fit(Module(), callback, best, logger=logger, folder=tmp_path)
    assert callback.history.steps == [2, 4]
    assert callback.history.evaluations[4].row("mcc", "codes").verdict is not None
    assert float(trainer.callback_metrics["unweave/mcc"]) == pytest.approx(callback.history.values("mcc")[-1], abs=1e-6)
    assert best.best_model_score is not None
    assert "unweave/mcc" in (tmp_path / "lightning_logs/version_0/metrics.csv").read_text()
    assert (tmp_path / "page.html").exists()


def test_what_a_module_logs_itself_is_the_same_number(tmp_path):
    callback = RepresentationCallback(INPUTS, FACTORS, metrics=["mcc", "r2", "mig"], finish=False)
    trainer = fit(Module(), callback, logger=False, folder=tmp_path, enable_checkpointing=False)
    for name in ("mcc", "r2", "mig"):  # both at the end of the last epoch
        assert float(trainer.callback_metrics[name]) == pytest.approx(
            float(trainer.callback_metrics[f"unweave/{name}"]), abs=1e-5
        )


def test_by_steps_and_with_a_page_in_tensorboard(tmp_path):
    callback = RepresentationCallback(INPUTS, FACTORS, every_n_steps=5, metrics=["mcc"], budget=0.2)
    fit(Module(), callback, logger=TensorBoardLogger(tmp_path), folder=tmp_path)
    assert callback.history.steps == [5, 10, 15, 16]
    assert list(tmp_path.rglob("unweave-report.html"))


def test_an_encoder_that_fails_does_not_stop_the_training(tmp_path):
    callback = RepresentationCallback(INPUTS, FACTORS, metrics=["mcc"])
    trainer = fit(Module(broken=True), callback, logger=False, folder=tmp_path, enable_checkpointing=False)
    assert trainer.current_epoch == 4
    assert callback.history.steps == []
    assert "no codes today" in callback.history.problems[1]
