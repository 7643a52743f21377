"""A monitor scores held-out samples, never stops or changes the training, and records a history."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import unweave
from unweave.integrations.monitor import Monitor

FACTORS = torch.rand(200, 2, generator=torch.Generator().manual_seed(0))
INPUTS = FACTORS @ torch.tensor([[1.0, 0.5], [-0.5, 1.0]])


class Encoder(nn.Module):
    """A stochastic encoder with batch normalisation, so that a careless evaluation would change it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 4))

    def forward(self, inputs):
        mean, log_variance = self.layers(inputs).chunk(2, dim=1)
        return mean + torch.randn_like(mean) * (log_variance / 2).exp()


def train(monitor=None, n_epochs=6):
    torch.manual_seed(0)
    model = Encoder()
    optimiser = torch.optim.Adam(model.parameters(), 0.05)
    for epoch in range(1, n_epochs + 1):
        loss = ((model(INPUTS) - FACTORS) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if monitor is not None:
            monitor(epoch, model)
    return model


def test_training_is_the_same_with_a_monitor():
    monitor = Monitor(INPUTS, FACTORS, every=2, metrics=["mcc", "r2"])
    watched, alone = train(monitor), train()
    assert watched.training
    for one, other in zip(watched.state_dict().values(), alone.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    assert monitor.history.steps == [2, 4, 6]
    assert all(0 <= value <= 1 for value in monitor.history.values("mcc"))


def test_scores_are_those_of_evaluate():
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc"], batch_size=64)
    found = monitor(1, lambda inputs: 2 * inputs)
    assert found == {"unweave/mcc": unweave.metrics.mcc(FACTORS, INPUTS).value}


def test_a_posterior_is_scored_as_one():
    monitor = Monitor(INPUTS, FACTORS, metrics=["wsepin"])
    assert "unweave/wsepin" in monitor(1, lambda inputs: (inputs, np.full(inputs.shape, 0.1)))


@pytest.mark.parametrize(
    "model", [lambda inputs: inputs * math.nan, lambda inputs: inputs[:3], lambda inputs: 1 / 0, "not a model"]
)
def test_what_fails_never_stops_the_training(model):
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc"])
    with pytest.warns(UserWarning, match="training continues") as warned:
        assert monitor(1, model) == {}
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert monitor(2, model) == {}  # the same warning appears once
    assert set(monitor.history.problems) == {1, 2}
    assert monitor(3, lambda inputs: inputs)["unweave/mcc"] > 0


def test_one_metric_that_fails_leaves_the_others():
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc", "wsepin"])
    assert set(monitor(1, lambda inputs: inputs)) == {"unweave/mcc"}


def test_a_tracker_that_fails_leaves_the_scores():
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc"], tracker=object())
    with pytest.warns(UserWarning, match="not a supported tracker"):
        monitor(1, lambda inputs: inputs)
    assert monitor.history.steps == [1]


def test_wrong_options_are_errors_before_the_training():
    with pytest.raises(unweave.OptionError, match="no metric called"):
        Monitor(INPUTS, FACTORS, metrics=["mc"])
    with pytest.raises(ValueError, match="every=0"):
        Monitor(INPUTS, FACTORS, every=0)


def test_the_end_has_floors_a_page_and_a_figure(tmp_path):
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc", "r2"], page=tmp_path / "page.html", budget=2)
    for step in (1, 2):
        monitor(step, lambda inputs: np.tanh(inputs))
    last = monitor.finish(3, lambda inputs: inputs)
    assert last.row("mcc", "codes").verdict is not None
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (axes,) = monitor.history.plot().axes
    assert {line.get_label() for line in axes.lines} >= {"mcc", "r2"}
    assert list(axes.lines[0].get_xdata()) == [1, 2, 3]
    frame = monitor.history.to_frame("polars")
    assert frame.height == 6
    assert frame["step"].to_list() == [1, 1, 2, 2, 3, 3]


def test_a_tracker_gets_the_page_at_the_end_only(monkeypatch):
    logged = []
    monkeypatch.setattr("unweave.integrations.trackers.log_evaluation", lambda *_, **options: logged.append(options))
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc"], tracker=object(), budget=0.1)
    monitor(1, lambda inputs: inputs)
    monitor.finish(2, lambda inputs: inputs)
    assert logged == [{"step": 1, "page": False}, {"step": 2, "page": True}]


def test_an_end_that_fails_says_why_and_writes_no_page(tmp_path):
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc"], page=tmp_path / "page.html")
    with pytest.warns(UserWarning, match="training continues"):
        assert monitor.finish(3, lambda inputs: 1 / 0) is None
    assert monitor.history.problems == {3: "ZeroDivisionError: division by zero"}
    assert not (tmp_path / "page.html").exists()


def test_curves_have_gaps_where_a_score_is_undefined_and_undefined_metrics_have_none():
    monitor = Monitor(INPUTS, FACTORS, metrics=["mcc", "wsepin"])
    monitor(1, lambda inputs: (inputs, np.full(inputs.shape, 0.1)))
    monitor(2, lambda inputs: inputs)  # without a posterior, wsepin is undefined
    assert np.isnan(monitor.history.values("wsepin")).tolist() == [False, True]
    (axes,) = monitor.history.plot().axes
    assert {line.get_label() for line in axes.lines} >= {"mcc", "wsepin"}
    alone = Monitor(INPUTS, FACTORS, metrics=["mcc", "wsepin"])
    alone(1, lambda inputs: inputs)
    (axes,) = alone.history.plot().axes
    assert "wsepin" not in {line.get_label() for line in axes.lines}


@pytest.mark.filterwarnings("ignore:unweave could not score")
def test_a_monitor_evaluates_as_it_was_told_and_shows_no_bar(monkeypatch):
    from unweave.integrations import monitor as monitor_module

    asked = []
    monkeypatch.setattr(monitor_module, "evaluate", lambda *_, **options: asked.append(options) or 1 / 0)
    watching = Monitor(INPUTS, FACTORS, every=2, metrics=["mcc"], budget=3)
    for step in range(4):
        watching(step, Encoder())
    watching.score(9, Encoder(), quick=False)
    assert [(each["quick"], each["budget"], each["progress"]) for each in asked] == [
        (True, 3, False), (True, 3, False), (False, 3, False),
    ]  # fmt: skip
