"""Seed studies of 001, 002 and 004: verdicts take the variation over seeds into account."""

import math
from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch")

from unweave_papers.experiment import Options, experiment_of, paper_of
from unweave_papers.paper001 import models as of_001
from unweave_papers.paper002.experiments import Repeated, compare
from unweave_papers.trained import SmallSetting, difference

NAMES = ("beta_vae-beta=1", "beta_vae-beta=4", "beta_vae-beta=64", "factor_vae-gamma=10", "factor_vae-gamma=40")


def settings(number, *means, spread=0.01):
    """Settings with three seeds around each mean."""
    return [
        SmallSetting(name, tuple({number: mean + step * spread} for step in (-1, 0, 1)))
        for name, mean in zip(NAMES, means, strict=True)
    ]


def merged(first, second):
    """Merge the numbers of two lists of the same settings."""
    return [
        SmallSetting(one.name, tuple({**left, **right} for left, right in zip(one.seeds, other.seeds, strict=True)))
        for one, other in zip(first, second, strict=True)
    ]


def verdicts(checks):
    return {check.claim: check.holds for check in checks if check.holds is not None}


def test_an_interval_over_seeds_is_that_of_student():
    setting = SmallSetting("one", ({"a": 1.0}, {"a": 2.0}, {"a": 3.0}))
    low, high = setting.interval("a")
    assert high - 2.0 == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert low == pytest.approx(4.0 - high)
    assert SmallSetting("lonely", ({"a": 1.0},)).interval("a") == (-math.inf, math.inf)


def test_one_seed_tells_nothing_apart():
    found = difference(SmallSetting("a", ({"x": 0.0},)), SmallSetting("b", ({"x": 9.0},)), "x")
    assert (found.value, found.low, found.high) == (9.0, -math.inf, math.inf)


def test_a_difference_has_the_interval_of_welch():
    first, second = ({"x": 0.0}, {"x": 1.0}, {"x": 2.0}), ({"x": 10.0}, {"x": 11.0}, {"x": 12.0})
    found = difference(SmallSetting("a", first), SmallSetting("b", second), "x")
    # equal variances of 1 and three seeds each: 4 degrees of freedom, standard error sqrt(2 / 3)
    assert found.high - 10 == pytest.approx(2.7764 * math.sqrt(2 / 3), rel=1e-4)
    assert found.low > 0


@pytest.mark.parametrize("falls", [True, False])
def test_figure_2_is_decided_by_the_seeds(falls):
    last = 1.0 if falls else 7.0
    found = merged(
        settings("I(x, z)", 5.0, 4.0, last, 3.0, 3.0),
        settings("mean I(x, z_i)", 0.5, 0.4, 0.1, 0.6, 0.2 if falls else 0.8),
    )
    said = verdicts(of_001.compare_information(found, None))
    assert said["I(x, z) falls with beta"] is falls
    assert said["the weight of TC does not change I(x, z)"] is True
    assert said["the weight of TC lowers mean I(x, z_i)"] is falls


def test_a_change_within_the_spread_of_seeds_is_undecided():
    found = merged(
        settings("I(x, z)", 5.0, 4.9, 4.8, 5.0, 5.0, spread=0.5),
        settings("mean I(x, z_i)", 0.5, 0.5, 0.4, 0.5, 0.4, spread=0.5),
    )
    checks = {check.claim: check for check in of_001.compare_information(found, None)}
    assert checks["I(x, z) falls with beta"].verdict == "undecided"
    assert checks["the weight of TC does not change I(x, z)"].verdict == "undecided"
    moved = merged(settings("I(x, z)", 5, 5, 5, 3, 5.0), settings("mean I(x, z_i)", 5, 5, 5, 3, 5.0))
    assert verdicts(of_001.compare_information(moved, None))["the weight of TC does not change I(x, z)"] is False


def test_figure_5_wants_the_worst_factor_vae_above_the_best_beta_vae():
    better = merged(settings("JEMMIG", 0.9, 0.8, 0.7, 0.5, 0.6), settings("RMIG", 0.1, 0.2, 0.3, 0.5, 0.4))
    worse = merged(settings("JEMMIG", 0.9, 0.8, 0.4, 0.5, 0.6), settings("RMIG", 0.1, 0.2, 0.6, 0.5, 0.4))
    for found, holds in ((better, True), (worse, False)):
        said = verdicts(of_001.compare_gaps(found, None))
        assert said["the worst FactorVAE is better than the best beta-VAE by JEMMIG"] is holds
        assert said["the worst FactorVAE is better than the best beta-VAE by RMIG"] is holds
        assert said["JEMMIG and RMIG agree"] is True


def test_figure_3c_separates_training_from_evaluation():
    rng = np.random.default_rng(0)
    trainings, evaluations = rng.normal(size=(12, 1)), rng.normal(size=(12, 6))
    found = Repeated({"UniBound": trainings + 0.01 * evaluations, "MIG": 0.01 * trainings + evaluations})
    assert verdicts(compare(found, None)) == {
        "UniBound: log of the deviation over trainings over that over evaluations": True,
        "MIG: log of the deviation over trainings over that over evaluations": False,
    }
    middling = Repeated({"MIG": rng.normal(size=(5, 1)) + rng.normal(size=(5, 6))})
    assert [check.verdict for check in compare(middling, None)][-1] == "undecided"


def test_the_ratio_of_variances_covers_the_truth():
    """The interval covers the true ratio in about 95 % of simulated studies."""
    rng = np.random.default_rng(1)
    studies = [Repeated({"a": 2 * rng.normal(size=(5, 1)) + rng.normal(size=(5, 6))}).ratio("a") for _ in range(300)]
    covered = np.mean([low <= 4 <= high for low, high in studies])
    assert 0.91 < covered < 0.985


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "name"),
    [
        ("001", "fig2"),
        ("001", "fig19"),
        ("001", "fig4"),
        ("001", "fig12"),
        ("001", "fig13"),
        ("001", "fig22"),
        ("001", "fig26"),
        ("001", "fig28"),
        ("001", "tab5"),
        ("002", "fig3c"),
        ("004", "fig5-seeds"),
        ("004", "fig6-seeds"),
        ("004", "fig6-coloured"),
    ],
)
def test_an_experiment_runs_from_training_to_pictures(paper, name, tmp_path):
    experiment = experiment_of(paper_of(paper), name)
    options = Options(tmp_path, n_steps=100, n_seeds=2)
    experiment.check(options)
    data = experiment.compute(options)
    assert list(experiment.compare(data, options))
    assert all(figure.axes for _, figure in experiment.draw(data, options))


@pytest.mark.parametrize(("reference", "sign"), [("RMIG", 1), ("JEMMIG", -1)])
@pytest.mark.parametrize("with_it", [1, -1])
def test_informativeness_rises_with_rmig_and_falls_with_jemmig(monkeypatch, reference, sign, with_it):
    """A perfect rank correlation in the right direction holds, and in the other does not."""
    monkeypatch.setattr(of_001, "_listing", lambda *_: ())
    monkeypatch.setattr(of_001, "_rank_correlation", partial(of_001._rank_correlation, n_draws=40))
    steps = np.arange(5.0)
    found = merged(
        settings(reference, *steps), settings("DCI I", *(with_it * sign * steps), spread=0.01 * with_it * sign)
    )
    found = merged(found, merged(settings("DCI D", *steps), settings("DCI C", *-steps)))
    held = verdicts(of_001.compare_dci(reference, found, None))
    assert held[f"DCI I correlates with {reference}"] == (with_it == 1)
    assert (held["DCI D favours high beta"], held["DCI C favours high beta"]) == (True, False)
    assert held[f"DCI D does not correlate with {reference}"] is False


def test_small_models_are_trained_as_they_are_stated(monkeypatch, tmp_path):
    from unweave import models
    from unweave_papers import trained as small_models

    asked = []
    monkeypatch.setattr(models, "train", lambda *given, **options: asked.append((given, options)) or [])
    stated = Options(tmp_path, n_steps=600, seed=4, n_seeds=2)
    for options in (stated, Options(tmp_path)):
        small_models.trained(options, small_models.beta_vaes([2.0]), n_codes=7)
    (given, first), (_, usual) = asked
    assert [objective.beta for objective in given[1]] == [2.0]
    assert (first["n_seeds"], first["seed"], first["n_codes"], first["settings"].n_steps) == (2, 4, 7, 600)
    assert first["folder"] == tmp_path / "small-models-7-codes-600-steps"
    assert (usual["n_seeds"], usual["seed"]) == (small_models.N_SEEDS, 0)
    assert usual["settings"].n_steps == small_models.N_STEPS
    settings = first["settings"]
    assert (settings.learning_rate, settings.reconstruction_weight, settings.checkpoint_every) == (0.001, 16.0, 1000)
    annealed = small_models.annealed_vae(stated)
    assert (annealed.gamma, annealed.capacity, annealed.capacity_steps) == (100, 4, 300)
    assert small_models.annealed_vae(Options(tmp_path)).capacity_steps == small_models.N_STEPS / 2
