"""Output files never replace inputs, are written atomically, and are checked before any computation."""

import sys

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import FileError, OptionError, evaluate
from unweave.cli import main, terminal
from unweave.whole_files import write_whole

FACTORS = np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture
def saved(tmp_path):
    np.savez(tmp_path / "ok.npz", factors=FACTORS, codes=FACTORS)
    evaluate(FACTORS, FACTORS, metrics=["mcc"], quick=True).save(tmp_path / "ok.json")
    np.save(tmp_path / "jacobians.npy", np.ones((3, 2, 2)))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "ok.npz", "--html", "ok.npz"),
        ("score", "ok.npz", "--markdown", "./ok.npz"),
        ("compare", "ok.npz", "--summary", "ok.npz"),
        ("report", "ok.json", "--html", "ok.json"),
    ],
)
def test_a_page_does_not_replace_what_is_read(saved, monkeypatch, arguments):
    monkeypatch.chdir(saved)
    before = (saved / arguments[1]).read_bytes()
    result = run(*arguments)
    assert result.exit_code == 2
    assert "it is one of the files that are read; name another file" in result.output
    assert (saved / arguments[1]).read_bytes() == before


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("the page of yesterday")

    def torn(file):
        file.write(b"half of")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(path, torn)
    assert path.read_text() == "the page of yesterday"
    assert list(tmp_path.iterdir()) == [path]


def test_pages_and_evaluations_are_written_whole(saved, monkeypatch):
    def full(path, write):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unweave.whole_files.write_whole", full)
    result = run("report", saved / "ok.json", "--html", saved / "page.html")
    assert result.exit_code == 2
    assert "cannot be written: No space left on device" in result.output
    with pytest.raises(FileError, match=r"ok\.json cannot be written: No space left on device"):
        evaluate(FACTORS, FACTORS, metrics=["mcc"], quick=True).save(saved / "ok.json")


@pytest.mark.parametrize("command", [("geometry", "jacobians.npy"), ("audit", "mcc")])
def test_pictures_that_cannot_be_drawn_are_refused_first(saved, monkeypatch, command):
    monkeypatch.chdir(saved)
    pytest.importorskip("matplotlib")
    result = run(*command, "--picture", "x.bogus")
    assert result.exit_code == 2
    assert "x.bogus does not end in .png, .pdf or .svg" in result.output
    monkeypatch.setattr(terminal, "find_spec", lambda name: None)
    result = run(*command, "--picture", "x.png")
    assert result.exit_code == 2
    assert "A picture needs matplotlib: install unweave[report]." in result.output


def test_a_package_that_is_not_installed_is_one_sentence(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "unweave.neural.decoders", raising=False)
    result = run("geometry", "numpy:sin", "--latent-size", 2)
    assert result.exit_code == 2
    assert "torch" in result.output
    assert "install unweave[torch]" in result.output


def test_a_frame_of_a_package_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(OptionError, match="The backend 'pandas' is not installed: install it, or use another"):
        evaluate(FACTORS, FACTORS, metrics=["mcc"], quick=True).to_frame("pandas")
