"""Folders of models that are trained by the command line and by TOML files, read, compared and drawn."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import unweave
from unweave import FileError, OptionError
from unweave.cli import main
from unweave.datasets import small_sprites
from unweave.models import (
    AAE,
    MLP,
    VAE,
    AnnealedVAE,
    BetaVAE,
    FactorVAE,
    JointVAE,
    TrainingSettings,
    compared_runs,
    train,
)
from unweave.models.model import traversals
from unweave.models.training import Stack
from unweave.models.training_file import (
    DataSetChoice,
    TrainingDeclaration,
    data_set_of,
    declared_training,
    read_declaration,
    read_runs,
)
from unweave.sweeps.trained_models import ModelRow, RunComparison, letters_of_ties

FEW = TrainingSettings(n_steps=3, batch_size=8)


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two settings with two seeds, trained by the command for a few steps, with pictures."""
    path = tmp_path_factory.mktemp("trained") / "runs"
    found = run("train", "beta_vae", "small_sprites", "--beta", "1,4", "--seeds", 2, "--steps", 3, "--out", path)
    assert found.exit_code == 0, found.output
    assert "4 of 4 models trained" in found.output
    return path


def test_the_command_writes_weights_settings_and_pictures(folder):
    run_settings = json.loads((folder / "run.json").read_text())
    assert run_settings["data"]["fingerprint"] == small_sprites().fingerprint
    assert set(run_settings["versions"]) == {"unweave", "torch"}
    for beta in (1, 4):
        model = folder / f"beta_vae-beta={beta}-seed=1"
        assert json.loads((model / "model.json").read_text())["objective"] == {"name": "beta_vae", "beta": beta}
        assert (model / "weights.safetensors").stat().st_size > 400_000
        assert (model / "traversals.png").stat().st_size > 1000
    assert (folder / "losses.png").exists()
    assert (folder / "reconstructions.png").exists()


def test_models_read_again_encode_as_before(folder):
    sprites = small_sprites()
    asked = {"n_seeds": 2, "settings": TrainingSettings(n_steps=3), "folder": folder}
    trained = train(sprites, [BetaVAE(beta=1), BetaVAE(beta=4)], **asked)
    images = sprites.images(np.arange(5))
    for one, other in zip(sorted(trained, key=lambda model: model.name), read_runs(folder), strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.encode(images).mean, other.encode(images).mean)
        np.testing.assert_array_equal(one.encode(images).std, other.encode(images).std)


def test_compare_has_a_line_a_model_and_one_for_every_setting(folder):
    found = run("compare", folder, "--metrics", "mcc,r2")
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert sum("seed " in line for line in lines) == 4
    assert sum("2 seeds" in line for line in lines) == 2
    plain = json.loads(run("compare", folder, "--metrics", "mcc", "--json").output)
    assert {row["setting"] for row in plain["rows"]} == {"beta_vae-beta=1", "beta_vae-beta=4"}


def test_encode_writes_codes_that_score_reads(folder):
    found = run("encode", folder, "--rows", 60)
    assert found.exit_code == 0, found.output
    file = folder / "beta_vae-beta=4-seed=0" / "codes.npz"
    with np.load(file) as content:
        assert content["codes"].shape == content["codes_std"].shape == (60, 10)
        assert content["factors"].shape == (60, 4)
    assert run("score", file, "--metrics", "mcc", "--quick").exit_code == 0


def test_encode_needs_a_data_set_unless_it_gets_a_folder():
    found = run("encode", "module:name")
    assert found.exit_code == 2
    assert "DATASET is missing" in found.output


def test_toml_declares_several_objectives(tmp_path):
    file = tmp_path / "runs.toml"
    file.write_text(
        'dataset = "small_sprites"\nn_seeds = 1\nn_codes = 3\ntrunk = {kind = "mlp", hidden = [8]}\n'
        "[training]\nn_steps = 2\nbatch_size = 4\n"
        '[[objectives]]\nname = "beta_vae"\nbeta = [1, 4]\n'
        '[[objectives]]\nname = "factor_vae"\ncritic_hidden = [8, 8]\n'
        '[[objectives]]\nname = "joint_vae"\ncategories = [[2], [3]]\n'
    )
    declared = read_declaration(file)
    expected = (
        BetaVAE(1),
        BetaVAE(4),
        FactorVAE(critic_hidden=(8, 8)),
        JointVAE(categories=(2,)),
        JointVAE(categories=(3,)),
    )
    assert declared.objectives == expected
    found = run("train", file, "--out", tmp_path / "runs", "--no-pictures")
    assert found.exit_code == 0, found.output
    models = read_runs(tmp_path / "runs")
    assert {model.spec.objective for model in models} == set(expected)
    joint = next(model for model in models if model.spec.objective == JointVAE(categories=(2,)))
    assert joint.encode(small_sprites().images([0])).names == ("code 0", "code 1", "code 2", "category 0")


def test_the_declaration_of_the_documents_is_one():
    declared = read_declaration(Path(__file__).parents[2] / "docs" / "models.toml")
    assert len(declared.objectives) == 13
    assert declared.dataset.loaded().n_images == 4608


def test_an_interruption_ends_with_a_sentence_and_the_same_command_goes_on(tmp_path, monkeypatch):
    def interrupted(stack, n_steps):
        raise KeyboardInterrupt

    command = ("train", "vae", "small_sprites", "--steps", 2, "--out", tmp_path / "runs", "--no-pictures")
    with monkeypatch.context() as patch:
        patch.setattr(Stack, "advance", interrupted)
        found = run(*command)
    assert found.exit_code == 130
    assert "run the same command again" in found.output
    assert run(*command).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["beta_va", "small_sprites"], "did you mean 'beta_vae'"),
        (["beta_vae", "small_sprits"], "did you mean 'small_sprites'"),
        (["beta_vae"], "There is no data set"),
        (["beta_vae", "small_sprites", "--beta", "-3"], "beta=-3 of beta_vae is out of range"),
        (["beta_vae", "small_sprites", "--gamma", "3"], "'gamma' is not a setting of beta_vae"),
        (["beta_vae", "small_sprites", "--beta", "much"], "'much' is not a number"),
        (["beta_vae", "small_sprites", "--beta"], "are not hyperparameters"),
        (["beta_vae", "small_sprites", "--steps", "0"], "n_steps=0"),
        (["beta_vae", "small_sprites", "--learning-rate", "-1"], "learning_rate=-1.0"),
        (["missing.toml"], "cannot be read"),
    ],
    ids=str,
)
def test_bad_commands_get_one_sentence(arguments, sentence, tmp_path):
    found = run("train", *arguments, "--out", tmp_path / "runs")
    assert found.exit_code == 2
    assert sentence in found.output
    assert found.output.startswith("Error: ")
    assert len(found.output.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_folder_of_another_run_is_refused_by_the_command(folder):
    found = run("train", "beta_vae", "small_sprites", "--steps", 4, "--out", folder)
    assert found.exit_code == 2
    assert "contains runs with other settings (n_steps: 3 there, 4 now)" in found.output


def test_a_folder_without_runs_is_refused(tmp_path):
    found = run("compare", tmp_path)
    assert found.exit_code == 2
    assert "is not a folder that unweave train wrote: name the files of codes in it" in found.output
    found = run("encode", tmp_path)
    assert "is not a folder that unweave train wrote" in found.output


def test_own_images_are_led_to_python_and_not_in_a_circle(tmp_path):
    """Models of an array have no data set to load; every message names a call that works."""
    images = np.random.default_rng(0).random((60, 1, 8, 8), dtype=np.float32)
    train(images, n_codes=2, trunk=MLP((4,)), settings=FEW, folder=tmp_path / "runs")
    for command in ("compare", "encode"):
        found = run(command, tmp_path / "runs")
        assert "unweave.encode(model, images, factors, out=...) for each model of unweave.models.read" in found.output
    (tmp_path / "photos").mkdir()
    for arguments in (("encode", tmp_path / "runs"), ("train", "vae")):
        found = run(*arguments, str(tmp_path / "photos"), "--out", tmp_path / "other")
        assert "photos is a folder and no data set with a name: read your images into an array" in found.output
    [model] = unweave.models.read_runs(tmp_path / "runs")
    encoded = unweave.encode(model, images, images.reshape(60, -1)[:, :2], out=tmp_path / "codes.npz")
    assert encoded.evidence(kinds="continuous", factor_names=["a", "b"]).factor_names == ("a", "b")


def test_without_torch_the_command_says_so(tmp_path):
    # a finder without torch, because other libraries look into sys.modules, where a missing package has no entry
    program = f"""
import sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Finder)
from unweave.cli import main
main(['train', 'vae', 'small_sprites', '--out', {str(tmp_path / "runs")!r}])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.strip() == "Error: Models need torch: install it with pip install 'unweave[torch]'."


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ({"objectives": ["vae"]}, "'dataset' is missing"),
        ({"dataset": "small_sprites"}, "'objectives' is missing"),
        ({"dataset": "small_sprites", "objectives": ["vae"], "sedes": 3}, "did you mean 'seed'"),
        ({"dataset": "small_sprites", "objectives": [{"beta": 3}]}, "has no name"),
        ({"dataset": "small_sprites", "objectives": "vae"}, "not a list of names"),
        ({"dataset": "small_sprites", "objectives": ["vae", 3]}, "not a list of names"),
        ({"dataset": 3, "objectives": ["vae"]}, "dataset = 3 is not a table of settings"),
        ({"dataset": "small_sprites", "objectives": ["vae"], "trunk": "resnet"}, "no trunk 'resnet'"),
        ({"dataset": "small_sprites", "objectives": ["vae"], "training": {"likelihood": "poisson"}}, "no likelihood"),
        ({"dataset": "small_sprites", "objectives": ["vae"], "training": {"rate": 1}}, "'rate' is not a setting"),
    ],
    ids=str,
)
def test_bad_declarations_get_one_sentence(declared, sentence):
    with pytest.raises(OptionError, match=sentence):
        declared_training(declared)


def test_what_is_not_declared_has_its_default():
    declared = declared_training({"dataset": "small_sprites", "objectives": ["vae", "aae"]})
    assert declared == TrainingDeclaration(DataSetChoice("small_sprites"), (VAE(), AAE()))


@pytest.mark.parametrize(("given", "expected"), [([8], (8,)), ([[8]], (8,)), (8, (8,)), ([4, 8], (4, 8))])
def test_a_field_that_is_a_list_takes_one_list_or_several(given, expected):
    objectives = [{"name": "aae", "critic_hidden": given}]
    declared = declared_training({"dataset": "small_sprites", "objectives": objectives})
    assert declared.objectives == (AAE(critic_hidden=expected),)


def test_a_folder_is_read_with_its_unfinished_and_user_defined_models(tmp_path):
    def mine(step):
        return step.reconstruction

    images, path = np.eye(4), tmp_path / "within" / "runs"
    asked = {"n_codes": 2, "trunk": MLP((4,)), "settings": FEW}
    path.mkdir(parents=True)
    (path / "lock").touch()  # of a training that was killed before it wrote anything else
    (path / ".unweave-0123456789abcdef.unfinished").touch()
    [custom, factor] = train(images, [mine, FactorVAE(critic_hidden=(4,))], folder=path, **asked)
    assert (path / "run.json").read_text().startswith('{\n "format": "unweave.runs/1",\n "data": {\n  "name": "array"')
    file = path / factor.name / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "training"}))
    read, unfinished = read_runs(path)
    np.testing.assert_array_equal(read.encode(images).mean, custom.encode(images).mean)
    assert read.history == custom.history
    with pytest.raises(OptionError, match="user-defined function"):
        read.spec.objective.function(None)
    assert unfinished.network is None
    assert "not finished: run the same command again" in unfinished.problem
    with pytest.raises(FileError, match="does not state the data set"):
        data_set_of(path)


def test_a_description_that_was_edited_is_refused(tmp_path):
    asked = {"n_codes": 2, "trunk": MLP((4,)), "settings": FEW, "folder": tmp_path / "runs"}
    train(np.eye(4), **asked)
    with pytest.raises(FileError, match=r"other n_codes \(2 there, 3 now\)"):
        train(np.eye(4), **asked | {"n_codes": 3})
    file = tmp_path / "runs" / "run.json"
    stated = json.loads(file.read_text())
    for content, sentence in (
        (stated | {"trunk": "mlp"}, r"other trunk \(mlp there, "),
        (stated | {"format": "unweave.runs/0"}, "not a folder of runs that this version can read"),
        ([], "does not describe a run"),
    ):
        file.write_text(json.dumps(content))
        with pytest.raises(FileError, match=sentence):
            train(np.eye(4), **asked)
    file.write_text(json.dumps(stated | {"format": "unweave.runs/0"}))
    with pytest.raises(FileError, match="written by another version"):
        read_runs(tmp_path / "runs")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "run.json").write_text(json.dumps(stated))
    with pytest.raises(FileError, match="has no models yet"):
        read_runs(tmp_path / "empty")
    (tmp_path / "photos").mkdir()
    for name in ("lock", "cat.png"):
        (tmp_path / "photos" / name).touch()
    with pytest.raises(FileError, match="files that are not runs"):
        train(np.eye(4), **asked | {"folder": tmp_path / "photos"})


def compared(**scores):
    rows = [
        ModelRow(setting, seed, 1.0, 1.0, 1.0, {"mcc": value})
        for setting, values in scores.items()
        for seed, value in enumerate(values)
    ]
    return RunComparison(tuple(rows), ("mcc",), {})


def test_settings_are_tied_where_seeds_overlap():
    """Two settings with the same scores share a letter, and a third with very different scores does not."""
    found = compared(a=(0.50, 0.52, 0.54), b=(0.51, 0.53, 0.52), c=(0.11, 0.10, 0.12))
    spread = found.spread("a", "mcc")
    assert (spread.mean, spread.std, len(spread.values)) == (pytest.approx(0.52), pytest.approx(0.02), 3)
    assert spread.upper - spread.mean == pytest.approx(4.303 * 0.02 / math.sqrt(3), rel=1e-3)  # t of two degrees
    assert spread.mean - spread.lower == pytest.approx(spread.upper - spread.mean)
    assert letters_of_ties(found, "mcc", lower_is_better=False, level=0.95) == {"a": "a", "b": "a", "c": "b"}


def test_the_best_setting_has_the_first_letter():
    found = compared(a=(0.11, 0.10, 0.12), b=(0.50, 0.52, 0.54))
    assert letters_of_ties(found, "mcc", lower_is_better=False, level=0.95) == {"b": "a", "a": "b"}
    assert letters_of_ties(found, "mcc", lower_is_better=True, level=0.95) == {"a": "a", "b": "b"}


def test_settings_differ_up_to_the_level_of_their_p_value():
    """Means .2 and .4 with variances .01 and .01 of three seeds: t = 2.449 with 4 degrees, so p = .0705."""
    found = compared(a=(0.1, 0.2, 0.3), b=(0.3, 0.4, 0.5))
    assert len(set(letters_of_ties(found, "mcc", lower_is_better=False, level=0.929).values())) == 2
    assert len(set(letters_of_ties(found, "mcc", lower_is_better=False, level=0.930).values())) == 1
    unequal = compared(a=(0.2, 0.2, 0.2), b=(0.25, 0.25), c=(0.9,))  # by means, and one seed is compared with none
    assert list(letters_of_ties(unequal, "mcc", lower_is_better=False, level=0.95)) == ["b", "a"]
    constant = compared(a=(0.1, 0.1), b=(0.2, 0.2))  # p is 0
    assert len(set(letters_of_ties(constant, "mcc", lower_is_better=False, level=1.0).values())) == 2


def test_a_setting_has_its_mean_and_from_two_seeds_on_its_spread_in_the_table():
    from unweave.report.tables import _spread

    found = compared(a=(0.25,), b=(0.2, 0.4))
    assert _spread(found, "a", "mcc") == ".250"
    assert _spread(found, "b", "mcc") == ".300 ± .141"


def test_one_seed_has_no_spread():
    spread = compared(a=(0.3, math.nan)).spread("a", "mcc")
    assert spread.mean == 0.3
    assert math.isnan(spread.std)


def test_a_diverged_model_has_a_row_without_numbers():
    sprites = small_sprites()
    objectives = [AnnealedVAE(gamma=1), AnnealedVAE(gamma=1e38, capacity=1000, capacity_steps=1)]
    fleet = train(sprites, objectives, n_codes=2, settings=FEW)
    found = compared_runs(fleet, sprites, metrics=["mcc"], n_rows=200)
    assert [math.isnan(row.scores["mcc"]) for row in found.rows] == [False, True]
    assert "not finite" in found.rows[1].problem


def test_the_command_says_on_the_stream_of_errors_which_model_diverged(tmp_path):
    asked = ["--gamma", "1e38", "--capacity", "1000", "--capacity-steps", "1", "--steps", "3", "--codes", "2"]
    found = run("train", "annealed_vae", "small_sprites", *asked, "--no-pictures", "--out", tmp_path / "runs")
    assert found.exit_code == 1
    assert "not finite" in found.stderr
    assert "not finite" not in found.stdout
    assert "0 of 1 models trained" in found.stdout


def test_traversals_move_one_code_and_sort_by_information(blocks):
    [model] = train(blocks[0], JointVAE(), n_codes=2, settings=FEW)
    rows = traversals(model, blocks[0])
    assert len(rows) == 3
    assert {len(row) for row in rows.values()} == {9, 3}  # nine places of a Gaussian code, three values of the other
    assert [float(name.split("(")[1][:-1]) for name in rows] == sorted(
        (float(name.split("(")[1][:-1]) for name in rows), reverse=True
    )
