import dataclasses
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.preprocessing import StandardScaler

import unweave
from unweave.cli import main
from unweave.estimators import Linear
from unweave.metrics import r2


def mixed(seed, n=300, noise=0.3, width=8):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 2))
    return factors, factors @ rng.normal(size=(2, width)) + noise * rng.normal(size=(n, width))


def folds_of(factors, codes, **options):
    return unweave.Evidence(factors, codes, **options).folds(5, 0)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_linear_probe_is_the_metric_r2(grouped):
    factors, codes = mixed(0)
    table = {"size": factors[:, 0], "angle": factors[:, 1] % 1, "side": np.where(factors[:, 1] > 0, "left", "right")}
    options = {"kinds": {"angle": "circular:1"}, "row_groups": np.arange(300) // 3 if grouped else None}
    expected = r2(table, codes, **options).per_factor
    found = unweave.probe(table, codes, probes=["linear"], **options)
    assert found.matrix()[:, 0] == pytest.approx(list(expected.values()), abs=1e-8)


def test_scores_intervals_and_accuracy_agree_with_scikit_learn():
    factors, codes = mixed(1)
    side = factors[:, 1] > 0
    table = {"size": factors[:, 0], "side": np.where(side, "a", "b")}
    fold = np.empty(300, dtype=int)
    for k, (_, test) in enumerate(folds_of(table, codes)):
        fold[test] = k
    found = unweave.probe(table, codes, probes=["linear"])
    predicted = cross_val_predict(LinearRegression(), codes, factors[:, 0], cv=PredefinedSplit(fold))
    means = np.array([factors[fold != k, 0].mean() for k in range(5)])[fold]
    errors, squares = (factors[:, 0] - predicted) ** 2, (factors[:, 0] - means) ** 2
    row = found["size", "codes", "linear"]
    assert row.value == pytest.approx(1 - errors.sum() / squares.sum(), abs=1e-3)
    ratios = [1 - errors[np.arange(300) != i].sum() / squares[np.arange(300) != i].sum() for i in range(300)]
    jackknife = np.sqrt(299 * np.var(ratios))  # leaves out every row, instead of a linear approximation
    assert (row.upper - row.lower) / 2 == pytest.approx(1.968 * jackknife, rel=0.02)
    chosen = cross_val_predict(LinearRegression(), codes, side.astype(float), cv=PredefinedSplit(fold)) > 0.5
    assert found["side", "codes", "linear"].accuracy == pytest.approx((chosen == side).mean(), abs=0.011)


def test_the_kernel_probe_is_close_to_exact_kernel_ridge_regression():
    rng = np.random.default_rng(2)
    codes = rng.normal(size=(400, 2))
    factor = np.sin(2 * codes[:, 0]) * codes[:, 1] + 0.2 * rng.normal(size=400)
    errors = squares = 0.0
    for train, test in folds_of(factor, codes):
        scaled = StandardScaler().fit(codes[train])
        seen, unseen = scaled.transform(codes[train]), scaled.transform(codes[test])
        fitted = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(seen, factor[train] - factor[train].mean())
        errors += np.square(factor[test] - factor[train].mean() - fitted.predict(unseen)).sum()
        squares += np.square(factor[test] - factor[train].mean()).sum()
    found = unweave.probe(factor, codes)
    assert found.matrix("kernel")[0, 0] == pytest.approx(1 - errors / squares, abs=0.03)
    assert found.matrix("linear")[0, 0] < 0.1 < 0.5 < found.matrix("boosted")[0, 0]
    assert "does not predict it, but kernel" in found.sentence("factor 0")


def test_noise_of_known_size_gives_the_known_r2():
    rng = np.random.default_rng(3)
    factor = rng.normal(size=4000)
    found = unweave.probe(factor, factor + rng.normal(size=4000))  # R2 of the best readout is 1/2, and it is linear
    assert found.matrix("linear")[0, 0] == pytest.approx(0.5, abs=0.03)
    row = found["factor 0", "codes", "linear"]
    assert row.lower < 0.5 < row.upper
    assert all(found.matrix(name)[0, 0] < 0.52 for name in found.probes)


def test_intervals_cover_the_share_of_explained_variance():
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=200)
        row = unweave.probe(factor, factor + rng.normal(size=200), probes=["linear"], rng=seed).rows[0]
        covered += row.lower < 0.5 < row.upper
    assert 89 <= covered <= 100  # 95 within 3 standard errors; they do not include the error of the fit, about 1/n


def test_p_values_are_uniform_or_larger_for_noise_and_no_factor_is_claimed():
    p_values, claims = [], 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        layers = {f"layer {k}": rng.normal(size=(100, 4)) for k in range(3)}
        found = unweave.probe(rng.normal(size=(100, 1)), layers, probes=["linear"], rng=seed)
        p_values += [row.p_value for row in found.rows]
        claims += "no probe predicts it" not in found.sentence("factor 0")
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert claims <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("n", "draws"),
    [(100, 30), pytest.param(100, 150, marks=pytest.mark.slow), pytest.param(500, 80, marks=pytest.mark.slow)],
)
def test_p_values_of_every_probe_have_their_size(n, draws):
    """Predictions of different folds depend on each other's targets; boosted trees had p <= .05 in 12 % of draws."""
    p_values = {name: [] for name in ("linear", "kernel", "boosted")}
    for seed in range(draws):
        rng = np.random.default_rng([seed, n, 1])
        for row in unweave.probe(rng.normal(size=(n, 2)), rng.normal(size=(n, 8)), rng=seed).rows:
            p_values[row.probe].append(row.p_value)
    for name, found in p_values.items():
        size = np.mean(np.array(found) <= 0.05)
        assert size <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / (2 * draws)), name


def test_the_control_task_finds_memory_and_not_what_is_read():
    rng = np.random.default_rng(4)
    levels = rng.integers(0, 4, size=(600, 2))
    one_hot = np.eye(16)[levels @ [4, 1]]  # says which combination, from which any function of it can be read
    found = unweave.probe(levels, {"combination": one_hot, "linear": levels * 1.0}, probes=["linear"], kinds="ordinal")
    assert found.matrix(of="value").min() > 0.98
    assert found.matrix(of="control")[:, 0].min() > 0.9  # every random labelling of 16 types is linear in one_hot
    assert found.matrix(of="selectivity")[:, 0].max() < 0.1
    assert found.matrix(of="selectivity")[:, 1].min() > 0.6
    assert "selectivity" in found.sentence("factor 0") or "linear from linear" in found.sentence("factor 0")


def test_a_factor_that_is_the_combination_has_no_control():
    """Random values of three batches are as easy to read as the batches, which is no memory."""
    rng = np.random.default_rng(8)
    batch = rng.integers(0, 3, size=600)
    codes = np.eye(3)[batch] + 0.3 * rng.normal(size=(600, 3))
    alone = unweave.probe({"batch": batch}, codes, probes=["linear"], kinds="categorical")
    assert alone.rows[0].value > 0.6 > 0.02 > alone.rows[0].control == alone.rows[0].floor
    assert "memorises" not in alone.sentence("batch")
    crossed = unweave.probe({"batch": batch, "type": rng.integers(0, 4, 600)}, codes, probes=["linear"])
    assert crossed.rows[0].control != crossed.rows[0].floor


def test_without_repeated_combinations_the_control_is_chance():
    found = unweave.probe(*mixed(5))
    assert found.matrix(of="control").tolist() == found.matrix(of="floor").tolist()
    assert np.abs(found.matrix(of="floor")).max() < 0.02


def test_episodes_are_not_split():
    rng = np.random.default_rng(6)
    episode = np.repeat(np.arange(30), 10)
    label = rng.normal(size=30)[episode]
    codes = rng.normal(size=(30, 20))[episode] + 0.01 * rng.normal(size=(300, 20))  # the episode, not the label
    frame = rng.normal(size=300)  # without it, rows with equal factors would be found to belong together
    apart = unweave.probe({"label": label, "frame": frame}, codes, probes=["linear"], row_groups=episode)
    mixed_up = unweave.probe({"label": label, "frame": frame}, codes, probes=["linear"])
    assert mixed_up["label", "codes", "linear"].value > 0.5 > 0.2 > apart["label", "codes", "linear"].value
    assert apart.n_units == 30


def test_p_values_of_episodes_have_their_size():
    episode, p_values = np.repeat(np.arange(30), 5), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        label = rng.normal(size=30)[episode]
        codes = rng.normal(size=(30, 3))[episode] + 0.1 * rng.normal(size=(150, 3))
        found = unweave.probe(label, codes, probes=["linear"], row_groups=episode, rng=seed)
        p_values.append(found.rows[0].p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_twin_and_the_learning_curve():
    factors, codes = mixed(7, n=800)
    twin = np.random.default_rng(0).normal(size=codes.shape)
    found = unweave.probe(factors, {"a": codes, "b": codes}, probes=["linear"], baseline={"b": twin})
    first, second = found["factor 0", "a", "linear"], found["factor 0", "b", "linear"]
    assert np.isnan(first.baseline)
    assert abs(second.baseline) < 0.05 < 0.8 < second.value
    assert [size for size, _ in first.curve] == pytest.approx([40, 160, 640], rel=0.1)  # shares of all rows, by fold
    assert first.curve[-1] == (640, first.value)
    assert first.curve[0][1] < first.value
    assert unweave.probe(factors, codes, baseline=codes, probes=["linear"]).rows[0].baseline == first.value


def test_unseen_combinations_separate_readouts_that_hold_from_those_that_do_not():
    rng = np.random.default_rng(8)
    levels = rng.integers(0, 5, size=(1500, 2)).astype(float)
    codes = {
        "factors": levels + 0.1 * rng.normal(size=levels.shape),
        "cells": np.eye(25)[(levels @ [5, 1]).astype(int)],
    }
    seen = unweave.probe(levels, codes, probes=["linear"])
    unseen = unweave.probe(levels, codes, probes=["linear"], split="unseen combinations")
    assert seen.matrix().min() > 0.95
    assert unseen.matrix()[:, 0].min() > 0.95
    assert unseen.matrix()[:, 1].max() < 0.05  # an indicator that never was 1 in training says nothing


def test_own_probes_and_a_constant_factor():
    factors, codes = mixed(9)
    table = {"size": factors[:, 0], "always": np.ones(300)}
    found = unweave.probe(table, codes, probes={"mine": Linear()})
    assert found.probes == ("mine",)
    assert np.isnan(found["always", "codes", "mine"].value)
    assert "constant" in found.sentence("always")
    assert found["size", "codes", "mine"].value == unweave.probe(table, codes, probes="linear").rows[0].value
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["schema"] == "unweave.probe/1"
    assert len(str(found).splitlines()) > 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probes": ["mlp"]}, "'mlp' is not a probe: choose among"),
        ({"probes": []}, "There is no probe: choose among"),
        ({"probes": {"mine": 3}}, "map names to probes"),
        ({"split": "new"}, "split='new' is not known: use 'random' or 'unseen combinations'"),
        ({"baseline": {"other": np.zeros((300, 2))}}, "baseline names 'other', but the layers are codes"),
        ({"baseline": np.zeros((20, 2))}, "The rows do not pair up"),
        ({"level": 2}, "level=2 is not a level"),
        ({"rng": -1}, "The seed -1 is not allowed"),
        ({"row_groups": np.arange(300) // 100}, "need at least 10 row groups and there are 3"),
    ],
)
def test_bad_input_is_one_sentence(options, message):
    with pytest.raises(unweave.UnweaveError, match=message):
        unweave.probe(*mixed(0), **({"probes": ["linear"]} | options))


def test_no_layers_no_factors_and_one_factor_without_combinations():
    factors, codes = mixed(0)
    with pytest.raises(unweave.InputError, match="no layers"):
        unweave.probe(factors, {})
    with pytest.raises(unweave.InputError, match="no factors"):
        unweave.probe(None, codes)
    with pytest.raises(unweave.InputError, match="no unseen combinations"):
        unweave.probe(factors[:, 0], codes, split="unseen combinations")
    with pytest.raises(unweave.OptionError, match="not a probe of this report"):
        unweave.probe(factors, codes, probes=["linear"]).matrix("kernel")


def test_the_command_reads_layers_from_files_or_from_one_file(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    factors, codes = mixed(0)
    np.savez("early.npz", factors=factors, codes=np.sin(5 * codes))
    np.savez("late.npz", factors=factors, codes=codes)
    np.savez("all.npz", factors=factors, early=np.sin(5 * codes), late=codes)
    arguments = ["--probes", "linear", "--seed", "1", "--json"]
    files = CliRunner().invoke(main, ["probe", "early.npz", "late.npz", *arguments, "--picture", "layers.png"])
    one = CliRunner().invoke(main, ["probe", "all.npz", "--layers", "early,late", *arguments])
    assert files.exit_code == one.exit_code == 0, (files.output, one.output)
    assert json.loads(files.output) == json.loads(one.output)
    expected = unweave.probe(factors, {"early": np.sin(5 * codes), "late": codes}, probes=["linear"], rng=1)
    assert [row["value"] for row in json.loads(one.output)["rows"]] == [row.value for row in expected.rows]
    assert (tmp_path / "layers.png").stat().st_size > 1000
    shown = CliRunner().invoke(main, ["probe", "late.npz", "--probes", "linear", "--baseline", "early.npz"])
    assert "the baseline has" in shown.output
    wrong = CliRunner().invoke(main, ["probe", "late.npz", "early.npz", "--layers", "codes"])
    assert wrong.exit_code == 2
    assert "--layers names arrays of one file" in wrong.output


def test_a_factor_is_probed_on_its_own_labels_whatever_labels_another_factor_lacks():
    rng = np.random.default_rng(3140)
    z = rng.normal(size=(400, 3))
    codes = {"early": z + rng.normal(size=z.shape), "late": z @ rng.normal(size=(3, 6))}
    few = z.copy()
    few[rng.permutation(400)[:320], 0] = np.nan
    whole, part = (unweave.probe(each, codes, probes=["linear"], missing="drop") for each in (z, few))
    for row in whole.rows:
        other = part[row.factor, row.layer, row.probe]
        assert other.n_rows == (80 if row.factor == "factor 0" else 400)
        if row.factor != "factor 0":
            assert (other.value, other.lower) == pytest.approx((row.value, row.lower), abs=1e-9)
        assert other.lower - 0.05 <= row.value <= other.upper + 0.05
    assert "on the 80 of 400 rows with its label" in part.sentence("factor 0")
    assert "of 400 rows" not in part.sentence("factor 1")


@pytest.mark.parametrize("n", [10, 12])
def test_ten_rows_are_enough(n):
    factors = np.random.default_rng(0).normal(size=(n, 2))
    assert unweave.probe(factors, factors, probes="linear").matrix().min() > 0.9


def test_equal_rows_are_one_combination_and_are_tested():
    """A grid of 5 x 5 values, each 30 times with the same codes: once, no interval could be given."""
    values = np.indices((5, 5)).reshape(2, -1).T.repeat(30, axis=0).astype(float)
    found = unweave.probe(values, values @ [[1.0, 1.0], [1.0, -1.0]], probes=["linear"], split="unseen combinations")
    assert all(row.lower > 0.99 and row.p_value <= 0.05 for row in found.rows)
    assert found.sentence("factor 0").startswith("factor 0: linear from codes 1.00")
    untested = dataclasses.replace(found.rows[0], lower=math.nan, upper=math.nan, p_value=math.nan)
    said = dataclasses.replace(found, rows=(untested,)).sentence("factor 0")
    assert said == "factor 0: linear from codes 1.00, not tested: too few held-out units."
