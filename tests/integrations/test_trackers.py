"""An evaluation in every tracker, read back from its local store."""

import json
from dataclasses import replace

import numpy as np
import pytest

import unweave
from unweave.findings import stated
from unweave.integrations.monitor import logged_name, logged_numbers, logged_verdicts
from unweave.integrations.trackers import log_evaluation
from unweave.trust import Verdict
from unweave.trust.verdict_record import Reason

FACTORS = np.random.default_rng(0).uniform(size=(150, 2))


@pytest.fixture(scope="module")
def evaluation():
    return unweave.evaluate(FACTORS, FACTORS, metrics=["mcc", "mcc:correlation=spearman", "wsepin"], budget=2)


def test_names_and_numbers(evaluation):
    numbers, row = logged_numbers(evaluation), evaluation.row("mcc", "codes")
    assert numbers["unweave/mcc"] == row.score.value
    assert numbers["unweave/mcc_floor"] == row.noise_floor.floor
    assert numbers["unweave/mcc_lower"] == row.interval.lower
    assert "unweave/mcc_correlation_spearman" in numbers
    assert not [name for name in numbers if "wsepin" in name]
    assert logged_verdicts(evaluation)["unweave/mcc"].startswith(row.verdict.level)
    assert "posterior" in logged_verdicts(evaluation)["unweave/wsepin"]
    assert logged_name("β-VAE (beta=4)") == "β-VAE_beta_4"
    both = unweave.compare(FACTORS, {"a": FACTORS, "b": -FACTORS}, metrics=["mcc"], quick=True)
    assert set(logged_numbers(both, "")) == {"a/mcc", "b/mcc"}


def test_tensorboard(evaluation, tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tensorboard.SummaryWriter(tmp_path) as writer:
        logged = log_evaluation(evaluation, writer, step=3)
    events = EventAccumulator(str(tmp_path)).Reload()
    assert set(events.Tags()["scalars"]) == set(logged)
    (event,) = events.Scalars("unweave/mcc")
    assert (event.step, event.value) == (3, pytest.approx(logged["unweave/mcc"]))
    (text,) = events.Tensors("unweave/mcc_verdict/text_summary")
    assert text.tensor_proto.string_val[0].decode().startswith(evaluation.row("mcc", "codes").verdict.level)
    assert (tmp_path / "unweave-report.html").read_text().startswith("<!doctype html>")


def test_mlflow(evaluation, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'unweave[mlflow]'")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    with mlflow.start_run() as run:
        logged = log_evaluation(evaluation, mlflow, step=3)
    client = mlflow.MlflowClient()
    kept = client.get_run(run.info.run_id)
    assert kept.data.metrics == pytest.approx(logged)
    assert client.get_metric_history(run.info.run_id, "unweave/mcc")[0].step == 3
    assert kept.data.tags["unweave/mcc_verdict"].startswith(evaluation.row("mcc", "codes").verdict.level)
    assert [entry.path for entry in client.list_artifacts(run.info.run_id)] == ["unweave-report.html"]


def test_wandb(evaluation, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed: pip install 'unweave[wandb]'")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(mode="offline", dir=tmp_path, project="test")
    logged = log_evaluation(evaluation, run, step=3)
    run.log({"loss": 1.0}, step=4)  # closes step 3
    summary = {name: run.summary[name] for name in logged}
    verdict, page = run.summary["unweave/mcc_verdict"], run.summary["unweave-report"]
    run.finish()
    assert summary == pytest.approx(logged)
    assert verdict.startswith(evaluation.row("mcc", "codes").verdict.level)
    assert page["_type"] == "html-file"
    assert list(tmp_path.rglob("*.wandb"))
    assert list(tmp_path.rglob("*.html"))


def test_aim(evaluation, tmp_path):
    aim = pytest.importorskip("aim", reason="aim is not installed: pip install 'unweave[aim]'")
    run = aim.Run(repo=str(tmp_path), system_tracking_interval=None, log_system_params=False)
    logged = log_evaluation(evaluation, run, step=3)
    tracked = {metric.name: metric.values.values_list()[-1] for metric in run.metrics()}
    assert tracked == pytest.approx(logged)
    assert run["unweave/mcc_verdict"].startswith(evaluation.row("mcc", "codes").verdict.level)
    run.close()


def test_what_is_no_tracker_is_refused(evaluation):
    with pytest.raises(unweave.OptionError, match="not a supported tracker"):
        log_evaluation(evaluation, json)


def test_without_a_page(evaluation, tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="tensorboard is not installed")
    with tensorboard.SummaryWriter(tmp_path) as writer:
        log_evaluation(evaluation, writer, page=False, prefix="test")
    assert not (tmp_path / "unweave-report.html").exists()


def test_the_first_reason_of_a_verdict_is_logged(evaluation):
    row = evaluation.row("mcc", "codes")
    verdict = Verdict("caution", tuple(Reason(stated(said), "rows", 1.0) for said in ("First.", "Second.")))
    changed = replace(evaluation, rows=(replace(row, verdict=verdict),))
    assert logged_verdicts(changed) == {"unweave/mcc": "caution: First."}
