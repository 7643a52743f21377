"""Encoding: possible outputs of encoders, interruptions, and the use of the file in score and compare."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import unweave
from unweave import FileError, InputError, OptionError, UnweaveError, store
from unweave.cli import main
from unweave.datasets import CorrelatedPair, DependentSample, DSprites, small_sprites
from unweave.encoding import encode, named_model, read_encoded
from unweave.evidence import Posterior
from unweave.files.reading import read_files

SPRITES = small_sprites()
FEW = DSprites(16, {"orientation": [0], "x": [0], "y": [0]})  # 18 images


def means(images):
    at = np.arange(16.0)
    lit = images.sum(axis=(1, 2, 3))
    return np.stack([images[:, 0].sum(axis=1) @ at / lit, images[:, 0].sum(axis=2) @ at / lit, lit], axis=1)


def categories(images):
    share = images.mean(axis=(1, 2, 3))
    return np.stack([share, 1 - share], axis=1)


def test_codes_of_all_images_in_order():
    found = encode(means, SPRITES)
    assert found.means == pytest.approx(means(SPRITES.images()), rel=1e-6)
    assert np.array_equal(found.factors, SPRITES.factors())
    assert np.array_equal(found.indices, np.arange(4608))
    assert found.kinds == SPRITES.kinds


@pytest.mark.parametrize(
    "output",
    [
        lambda images: (means(images), np.full((len(images), 3), 0.5)),
        lambda images: (means(images), np.full((len(images), 3), 2 * np.log(0.5))),
        lambda images: {"mean": means(images), "std": np.full((len(images), 3), 0.5)},
        lambda images: {"mean": means(images), "logvar": np.full((len(images), 3), 2 * np.log(0.5))},
        lambda images: Posterior(means(images), np.full((len(images), 3), 0.5)),
        lambda images: (means(images), np.full((len(images), 3), 0.5), [categories(images)]),
        lambda images: Posterior(
            means(images), np.full((len(images), 3), 0.5), categories={"category 0": categories(images)}
        ),
    ],
)
def test_what_an_encoder_may_return(output):
    posterior = encode(output, SPRITES, rows=40).codes
    assert isinstance(posterior, Posterior)
    assert posterior.std == pytest.approx(np.full((40, 3), 0.5))
    if posterior.categories:
        chosen = encode(means, SPRITES, rows=40).indices
        assert posterior.categories["category 0"] == pytest.approx(categories(SPRITES.images(chosen)), abs=1e-6)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda images: means(images)[:-1], "one row per image"),
        (lambda images: means(images) * np.nan, "returned nan as codes"),
        (lambda images: (means(images), -np.ones((len(images), 2))), "return one spread for each mean"),
        (lambda images: (means(images), 1, 2, 3), "returned 4 values"),
        (lambda images: {"codes": means(images)}, "let it return 'mean' as well"),
        (lambda images: np.array(["a"] * len(images)), "let it return numbers"),
        (lambda images: images, "one row per image"),
        (lambda images: (means(images), None, [3 * categories(images)]), "not probabilities"),
        (lambda images: np.ones((len(images), len(images))), "let it return the same shapes"),
    ],
)
def test_bad_outputs(output, message):
    with pytest.raises(InputError, match=message):
        encode(output, SPRITES, rows=60, batch_size=50)


def test_a_spread_may_be_said():
    def encoder(images):
        return means(images), np.full((len(images), 3), 0.5)

    assert encode(encoder, SPRITES, rows=9, spread="log_variance").codes.std[0, 0] == pytest.approx(np.exp(0.25))
    with pytest.raises(InputError, match="negative standard deviation"):
        encode(lambda images: (means(images), -means(images)), SPRITES, rows=9, spread="std")


def test_rows_and_dependence():
    drawn = encode(means, SPRITES, rows=500, seed=3)
    assert len(np.unique(drawn.indices)) == 500
    assert np.array_equal(drawn.indices, encode(means, SPRITES, rows=500, seed=3).indices)
    dependent = encode(means, DependentSample(SPRITES, [CorrelatedPair("x", "y", 0.1)]), rows=500)
    assert np.corrcoef(dependent.factors[:, 2:].T)[0, 1] > 0.9
    with pytest.raises(OptionError, match="pass their number as rows"):
        encode(means, DependentSample(SPRITES, [CorrelatedPair("x", "y", 0.1)]))
    with pytest.raises(OptionError, match="ask for fewer"):
        encode(means, SPRITES, rows=5000)


class Interrupted(Exception):
    pass


def test_an_interrupted_encoding_goes_on(tmp_path):
    out, seen = tmp_path / "codes.npz", []

    def failing(images):
        if len(seen) == 50:
            raise Interrupted
        seen.append(len(images))
        return means(images)

    with pytest.raises(Interrupted):
        encode(failing, SPRITES, out=out, batch_size=50)
    assert not out.exists()
    kept = len(list((tmp_path / "codes.npz.parts").glob("0*.npz")))
    assert kept == 2
    counted = []
    again = encode(lambda images: counted.append(len(images)) or means(images), SPRITES, out=out, batch_size=50)
    assert sum(counted) == 4608 - 2000 + 8  # finished parts are not computed again; 8 images are the probe
    assert np.array_equal(again.means, encode(means, SPRITES, batch_size=50).means)
    assert not (tmp_path / "codes.npz.parts").exists()
    assert np.array_equal(read_encoded(out).means, again.means)


def test_a_killed_encoding_leaves_nothing_half_written(tmp_path):
    """If a process is killed while it writes a part, the part is not used and the encoding can be continued."""
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, numpy as np\n"
        "from unweave.datasets import small_sprites\n"
        "from unweave.encoding import encode\n"
        "calls = []\n"
        "def encoder(images):\n"
        "    calls.append(1)\n"
        "    if len(calls) > 50:\n"
        "        os._exit(9)\n"
        "    return images.mean(axis=(1, 2))\n"
        "encode(encoder, small_sprites(), out='codes.npz', batch_size=50)\n"
    )
    source = Path(unweave.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    assert subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, check=False).returncode == 9
    parts = tmp_path / "codes.npz.parts"
    whole = sorted(parts.glob("0*.npz"))
    assert len(whole) == 2
    whole[1].write_bytes(whole[1].read_bytes()[:300])  # a truncated part
    found = encode(lambda images: images.mean(axis=(1, 2)), SPRITES, out=tmp_path / "codes.npz", batch_size=50)
    assert found.means == pytest.approx(SPRITES.images().mean(axis=(1, 2)), abs=1e-6)


def test_parts_of_another_model_are_not_taken(tmp_path):
    out, calls = tmp_path / "codes.npz", []

    def failing(images):
        calls.append(1)
        if len(calls) > 25:
            raise Interrupted
        return means(images)

    with pytest.raises(Interrupted):
        encode(failing, SPRITES, out=out, batch_size=50)
    with pytest.raises(FileError, match="another model"):
        encode(lambda images: 2 * means(images), SPRITES, out=out, batch_size=50)
    with pytest.raises(FileError, match="another rows"):
        encode(means, SPRITES, out=out, rows=100, batch_size=50)


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.np, "savez", full)
    with pytest.raises(FileError, match="No space left on device; make room and give the same command again"):
        encode(means, SPRITES, out=tmp_path / "codes.npz", rows=20)
    assert not (tmp_path / "codes.npz").exists()
    assert not list((tmp_path / "codes.npz.parts").glob("*.unfinished"))


def test_a_disk_that_is_full_at_the_very_beginning(tmp_path, monkeypatch):
    """The same command can be run again when there is space on the disk."""

    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "codes.npz"
    with monkeypatch.context() as patched:
        patched.setattr(store, "write_whole", full)
        with pytest.raises(FileError, match="cannot be written: No space left"):
            encode(means, SPRITES, out=out, rows=20)
    # as of a process that was killed during writing
    (tmp_path / "codes.npz.parts" / ".unweave-0123456789abcdef.unfinished").write_text("{")
    assert encode(means, SPRITES, out=out, rows=20).n_rows == 20
    assert read_encoded(out).n_rows == 20
    assert not (tmp_path / "codes.npz.parts").exists()


@pytest.mark.parametrize("n_letters", [245, 246, 251])
def test_the_name_of_the_file_may_have_any_legal_length(tmp_path, n_letters):
    out = tmp_path / f"{'c' * n_letters}.npz"
    assert encode(means, SPRITES, out=out, rows=20).n_rows == 20
    assert list(tmp_path.iterdir()) == [out]


def test_codes_that_are_no_numbers_late_in_the_data(tmp_path):
    """A model that fails on some images only raises an error and leaves no file."""

    def late(images):
        codes = means(images)
        codes[-1, 1] = np.nan if len(seen) > 30 else 0.0
        seen.append(1)
        return codes

    seen = []
    with pytest.raises(InputError, match=r"returned nan as codes, in row 49 and column 1"):
        encode(late, SPRITES, out=tmp_path / "codes.npz", batch_size=50)
    assert not (tmp_path / "codes.npz").exists()


def test_interrupting_the_command(tmp_path, monkeypatch):
    """Ctrl-C ends with one sentence, and the same command continues the encoding."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stopping.py").write_text(
        "calls = []\n"
        "def encoder(images):\n"
        "    calls.append(len(images))\n"
        "    if len(calls) == 50:\n"
        "        raise KeyboardInterrupt\n"
        "    return images.mean(axis=(1, 2))\n"
    )
    command = ["encode", "stopping:encoder", "small_sprites", "--out", "codes.npz", "--batch-size", "50"]
    stopped = CliRunner().invoke(main, command)
    assert stopped.exit_code == 130
    assert "run the same command again" in stopped.output
    assert not (tmp_path / "codes.npz").exists()
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    import stopping

    assert sum(stopping.calls) == 8 + 49 * 50 + 8 + 4608 - 2000  # two of five parts were finished
    assert read_encoded("codes.npz").n_rows == 4608


def test_the_file_goes_into_score(tmp_path):
    encode(
        lambda images: (means(images), np.full((len(images), 3), 0.2)), SPRITES, out=tmp_path / "codes.npz", rows=600
    )
    files = read_files(tmp_path / "codes.npz")
    assert list(files.factors) == ["shape", "scale", "x", "y"]
    assert files.kinds == list(SPRITES.kinds)
    assert isinstance(files.codes, Posterior)
    command = ["score", str(tmp_path / "codes.npz"), "--metrics", "mcc", "--quick"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    assert "600" in shown.output
    both = CliRunner().invoke(main, ["compare", str(tmp_path / "codes.npz"), "--metrics", "mcc", "--quick"])
    assert both.exit_code == 0, both.output


def test_categories_go_into_score(tmp_path):
    def encoder(images):
        return means(images), np.full((len(images), 3), 0.2), {"kind": categories(images)}

    encode(encoder, SPRITES, out=tmp_path / "codes.npz", rows=100)
    assert list(read_files(tmp_path / "codes.npz").codes.categories) == ["kind"]


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mymodel.py").write_text("def encoder(images):\n    return images.mean(axis=(1, 2))\n")
    command = ["encode", "mymodel:encoder", "small_sprites", "--out", "codes.npz", "--rows", "300"]
    done = CliRunner().invoke(main, [*command, "--dependence", "x~y:0.1"])
    assert done.exit_code == 0, done.output
    assert "300 images, 16 codes, 4 factors" in done.output
    assert np.corrcoef(read_encoded("codes.npz").factors[:, 2:].T)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mymodel:encoder", "dsprits"], "did you mean 'dsprites'?"),
        (["mymodel", "small_sprites"], "is not a model"),
        (["net.pt", "small_sprites"], "has weights and not the network: write a module"),
        (["small_sprites", "mymodel:encoder"], "mymodel:encoder is no data set: the model comes first"),
        (["nomodule:encoder", "small_sprites"], "cannot be imported"),
        (["json:nothing", "small_sprites"], "has no 'nothing'"),
        (["json:dumps", "mnist"], "give their path"),
        (["json:dumps", "shapes3d", "--path", ".", "--size", "9"], "does not take size"),
        (["json:dumps", "small_sprites", "--dependence", "xy"], "not a dependence"),
        (["missing.npz", "small_sprites"], "no file missing.npz"),
    ],
)
def test_bad_commands(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, ["encode", *arguments, "--out", "codes.npz"])
    assert ended.exit_code == 2
    assert message in ended.output
    assert not (tmp_path / "codes.npz").exists()


def test_a_torch_module():
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(256, 4)
            self.dropout = torch.nn.Dropout(0.5)

        def encode(self, images):
            return self.dropout(self.layer(images.flatten(1))), torch.full((len(images), 4), -1.0)

    model = Model().train()
    found = encode(model, SPRITES, rows=30)
    expected = SPRITES.images(found.indices).reshape(30, -1) @ model.layer.weight.detach().numpy().T
    assert found.means == pytest.approx(expected + model.layer.bias.detach().numpy(), abs=1e-5)
    assert found.codes.std[0, 0] == pytest.approx(np.exp(-0.5))
    assert model.training  # its mode is restored


def test_a_broken_file_of_codes(tmp_path):
    encode(means, SPRITES, out=tmp_path / "codes.npz", rows=20)
    content = (tmp_path / "codes.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[:-100])
    np.savez(tmp_path / "other.npz", codes=np.zeros((3, 2)))
    for name, message in (("cut", "not a complete file"), ("other", "no array"), ("none", "no file")):
        with pytest.raises(FileError, match=message):
            read_encoded(tmp_path / f"{name}.npz")


class Opened:
    """A pickled object that would run code when it is loaded."""

    def __reduce__(self):
        return print, ("code of the file was run",)


def test_a_file_of_codes_runs_nothing(tmp_path, capsys):
    path = encode(means, SPRITES, rows=20).save(tmp_path / "codes.npz")
    with np.load(path) as content:
        arrays = dict(content)
    arrays["codes"] = np.array([Opened()], dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(FileError):
        read_encoded(path)
    assert capsys.readouterr().out == ""


def test_rows_drawn_without_a_seed_are_those_of_seed_zero():
    drawn, named, other = (encode(means, SPRITES, rows=30, **seed) for seed in ({}, {"seed": 0}, {"seed": 1}))
    assert (drawn.indices == named.indices).all()
    assert not (drawn.indices == other.indices).all()


def test_geometry_says_that_codes_are_no_decoder(tmp_path):
    path = tmp_path / "codes.npz"
    encode(lambda images: images.mean(axis=(1, 2)), small_sprites(), out=path, rows=10)
    done = CliRunner().invoke(main, ["geometry", str(path)])
    assert done.exit_code == 2
    assert "has codes" in done.output
    assert "pass the decoder as module:name" in " ".join(done.output.split())


def test_from_one_image_to_all_of_them():
    assert encode(means, FEW, rows=1, batch_size=1).means.shape == (1, 3)
    assert sorted(encode(means, FEW, rows=18, batch_size=1).indices) == list(range(18))
    for options, message in (
        ({"rows": 0}, "rows is 0: ask for at least one image"),
        ({"rows": 19}, "dsprites has 18 images, so 19 cannot be drawn"),
        ({"batch_size": 0}, "batch_size is 0: use at least one image per batch"),
    ):
        with pytest.raises(OptionError, match=message):
            encode(means, FEW, **options)


class Model:
    encode = staticmethod(means)


class NamedModel(Model):
    name = "my model"


@pytest.mark.parametrize(("model", "name"), [(means, "means"), (Model(), "Model"), (NamedModel(), "my model")])
def test_the_note_states_how_the_codes_were_computed(model, name):
    note = {"model": name, "dataset": "dsprites", "fingerprint": FEW.fingerprint}
    assert encode(model, FEW).note == note | {"rows": 18, "seed": None}
    assert encode(model, FEW, rows=5, seed=3).note == note | {"rows": 5, "seed": 3}


def test_the_file_has_all_that_was_encoded(tmp_path):
    def encoder(images):
        return means(images), np.full((len(images), 3), 0.2), {"kind": categories(images)}

    found = encode(encoder, FEW, out=tmp_path / "codes.npz", rows=7)
    again = read_encoded(tmp_path / "codes.npz")
    for each in (found, again, found.rows(slice(None))):
        assert {name: array.tolist() for name, array in each.arrays.items()} == {
            name: array.tolist() for name, array in found.arrays.items()
        }
        assert each.factors.tolist() == FEW.factors(found.indices).tolist()
        assert each.indices.tolist() == found.indices.tolist()
        assert (each.factor_names, each.kinds, each.note) == (FEW.factor_names, FEW.kinds, found.note)
        assert each.codes.categories["kind"].tolist() == found.arrays["codes_category kind"].tolist()
    assert again.rows([2, 0]).means.tolist() == found.means[[2, 0]].tolist()


def constant(value, fails=False):
    """An encoder whose codes are all the same; it may fail after the first images."""
    calls = []

    def encoder(images):
        calls.append(1)
        if fails and len(calls) > 1:
            raise Interrupted
        return np.full((len(images), 2), value)

    return encoder


def test_a_model_is_recognised_by_its_first_codes_to_three_decimals(tmp_path):
    out = tmp_path / "codes.npz"
    with pytest.raises(Interrupted):
        encode(constant(0.25, fails=True), FEW, out=out)
    manifest = json.loads((tmp_path / "codes.npz.parts" / "manifest.json").read_text())
    assert len(bytes.fromhex(manifest["model"])) == 16
    with pytest.raises(FileError, match="another model"):
        encode(constant(0.252), FEW, out=out)
    assert encode(constant(0.2502), FEW, out=out).n_rows == 18


def test_models_are_named_by_a_module_whether_there_are_weights_or_not(tmp_path):
    assert named_model("json:dumps") is named_model("json:dumps", tmp_path) is json.dumps
    assert named_model("collections:OrderedDict") == {}
    for text, weights, message in (
        ("vae", None, "'vae' is not a model: write module:name"),
        ("vae", tmp_path, "has no model 'vae'"),
        ("vae.npz", None, "no file vae.npz"),
    ):
        with pytest.raises(UnweaveError, match=message):
            named_model(text, weights)
