"""Commands import objects by module:name, and do not change the import path."""

import sys
import textwrap

import polars as pl
import pytest
from click.testing import CliRunner

from unweave import OptionError
from unweave.cli import main
from unweave.own_modules import imported, own_modules_allowed

MODULE = """
    import os
    import sys
    from dataclasses import dataclass

    from my_neighbour import HALF

    import numpy as np

    from unweave.metrics import mcc
    from unweave.synthetic.known_decoders import Torus


    def always_half(factors, codes):
        assert os.path.dirname(__file__) not in sys.path and "my_neighbour" in sys.modules
        return HALF


    @dataclass(frozen=True)
    class Line:
        slope: float = 1.0

        n_factors = 2
        factor_names = ("a", "b")

        def sample(self, n_rows, rng=0):
            return self.slope * np.random.default_rng(rng).normal(size=(n_rows, 2))


    @dataclass(frozen=True)
    class Doubled:
        def encode(self, factors, rng=0):
            return 2 * factors


    torus = Torus(2)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_things.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "my_neighbour.py").write_text("HALF = 0.5")
    (tmp_path / "broken_things.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    assert sys.path == before
    for name in ("my_things", "my_neighbour"):
        sys.modules.pop(name, None)


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_of_two_arrays_is_audited(n_jobs):
    result = run("audit", "my_things:always_half", "--budget", "0.02", "--seeds", "2", "--jobs", n_jobs, "--json")
    assert result.exit_code == 0, result.output
    assert "always_half" in result.output
    assert "AssertionError" not in result.output
    assert "ModuleNotFoundError" not in result.output


def test_python_code_does_not_search_the_current_folder():
    with pytest.raises(OptionError, match=r"cannot be imported \(ModuleNotFoundError"):
        imported("my_things:torus", "decoder")


def test_the_folder_is_not_searched_for_what_is_installed(folder):
    """An installed package looks for optional packages while it is imported; a file here must not take their place."""
    searched = []

    class Recorder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            searched.append((name, str(folder) in sys.path))

    sys.meta_path.insert(0, Recorder)
    sys.modules.pop("this", None)
    try:
        with own_modules_allowed():
            assert imported("this:d", "dictionary")["A"] == "N"
            assert imported("my_things:torus", "decoder")
    finally:
        sys.meta_path.remove(Recorder)
    assert ("this", False) in searched
    assert ("this", True) not in searched
    assert ("my_neighbour", True) in searched


def test_every_module_of_a_package_may_import_its_neighbours(folder):
    (folder / "my_package").mkdir()
    for name, text in {"__init__": "", "one": "half = 0.5", "two": "from my_other import whole"}.items():
        (folder / "my_package" / f"{name}.py").write_text(text)
    (folder / "my_other.py").write_text("whole = 1.0")
    try:
        with own_modules_allowed():
            found = [imported(name, "number") for name in ("my_package.one:half", "my_package.two:whole")]
    finally:
        for name in [name for name in sys.modules if name.startswith(("my_package", "my_other"))]:
            del sys.modules[name]
    assert found == [0.5, 1.0]


def test_a_sweep_of_own_classes_runs_in_processes(folder):
    (folder / "own.toml").write_text(
        'metrics = ["mcc", "my_things:mcc:correlation=spearman"]\nn_rows = 50\nn_seeds = 1\n'
        'encoders = ["my_things:Doubled", "PermutedAndScaled"]\n'
        '[[worlds]]\nclass = "my_things:Line"\nslope = [1.0, 2.0]\n'
    )
    result = run("sweep", "own.toml", "--jobs", 2)
    assert result.exit_code == 0, result.output
    table = pl.read_parquet(folder / "own" / "table.parquet")
    assert len(table) == 2 * 2 * 2
    assert table["value"].to_list() == pytest.approx([1.0] * 8)
    assert table["encoder"].unique(maintain_order=True).to_list() == ["Doubled", "PermutedAndScaled"]


def test_a_decoder_is_measured():
    result = run("geometry", "my_things:torus", "--samples", 5)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("audit", "nowhere:metric"), "The metric 'nowhere:metric' cannot be imported (ModuleNotFoundError"),
        (("audit", "broken_things:metric"), "cannot be imported (ZeroDivisionError: division by zero)"),
        (("audit", "my_things:always_hal"), "my_things has no 'always_hal', did you mean 'always_half'?"),
        (("audit", "my_things:"), "is not an importable path: write module:name"),
        (("geometry", "my_things:taurus"), "did you mean 'torus'?"),
        (("explain", "my_things:Line"), "is not a metric: declare it with @unweave.metric"),
    ],
)
def test_what_cannot_be_found_is_one_sentence(arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_a_class_that_is_no_world(folder):
    (folder / "bad.toml").write_text('metrics = ["mcc"]\nworlds = ["my_things:Doubled"]\nencoders = ["Mixed"]\n')
    result = run("sweep", "bad.toml")
    assert result.exit_code == 2
    assert "worlds, entry 1: 'my_things:Doubled' cannot be the world" in result.output


def test_names_may_have_dots():
    assert imported("os:path.join", "function").__name__ == "join"
    with pytest.raises(OptionError, match=r"The function 'os' is not an importable path"):
        imported("os", "function")
