"""No command runs Python files of the current folder, unless one of them is named as module:name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unweave import evaluate
from unweave.cli import main

# optional packages of our libraries, our libraries, and modules that every process of joblib imports when it starts
PLANTED = """
    lz4 numexpr bottleneck sksparse cupy jax ndonnx sparse pyamg snappy brotli cramjam psutil pyarrow fsspec h5py zarr
    matplotlib torch tensorflow zuko nflows distributed dask pandas IPython wandb numpy scipy sklearn joblib polars
    click rich filelock threadpoolctl cloudpickle safetensors jinja2 multiprocessing pickle json statistics ast inspect
"""
EVERY_COMMAND = {
    "score": "score data.npz --quick --metrics mcc,r2 --html page.html",
    "compare": "compare data.npz other.npz --quick --metrics mcc",
    "probe": "probe data.npz --probes linear",
    "leaderboard": "leaderboard .",
    "report": "report saved.json --markdown page.md",
    "metrics": "metrics",
    "explain": "explain mcc",
    "audit": "audit mcc --budget 0.02 --seeds 2",
    "sweep": "sweep small.toml --time-limit 200",
    "reproduce": "reproduce 003",
    "claims": "claims 003:44",
    "checklist": "checklist missing.npz",
    "geometry": "geometry jacobians.npy",
    "dictionaries": "dictionaries one.npy two.npy",
    "unlabelled": "unlabelled data.npz",
    "train": "train beta_vae small_sprites --out runs --steps 1 --no-pictures",
    "encode": "encode runs --rows 20",
    "demo": "demo --rows 0",
    "mcp": "mcp missing",
}
RUN_ALL = """
import json, sys
from click.testing import CliRunner
from unweave.cli import main

if __name__ == "__main__":
    for name, text in json.loads(sys.argv[1]).items():
        before = list(sys.path)
        result = CliRunner().invoke(main, text.split())
        crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not crashed and sys.path == before, (name, result.output, result.exception)
        print(name, result.exit_code, open("executed").read().split())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of data in which somebody planted Python files."""
    folder = tmp_path_factory.mktemp("downloads")
    for name in PLANTED.split():
        note = f"open({str(folder / 'executed')!r}, 'a').write('{name} ')\nraise ImportError('planted')\n"
        (folder / f"{name}.py").write_text(note)
    (folder / "executed").write_text("")
    rows = np.random.default_rng(7).normal(size=(60, 2))
    for name in ("data", "other"):
        np.savez(folder / f"{name}.npz", factors=rows, codes=rows)
    for name, array in {"jacobians": np.ones((3, 2, 2)), "one": rows, "two": rows}.items():
        np.save(folder / f"{name}.npy", array)
    evaluate(rows, rows, metrics=["mcc"], quick=True).save(folder / "saved.json")
    (folder / "small.toml").write_text(
        'metrics = ["mcc"]\nn_rows = 50\nn_seeds = 1\nworlds = ["Independent"]\nencoders = ["PermutedAndScaled"]\n'
    )
    scripts = folder.parent / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "run_all.py").write_text(RUN_ALL)
    return folder


def finished(folder, *command):
    """The output of a command in the folder, with the import path of an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path.endswith("src"))
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "executed").read_text() == ""
    return done.stdout


def test_every_command(folder):
    assert set(EVERY_COMMAND) == set(main.list_commands(None))
    output = finished(folder, sys.executable, folder.parent / "scripts" / "run_all.py", json.dumps(EVERY_COMMAND))
    codes = {line.split()[0]: int(line.split()[1]) for line in output.splitlines()}
    # these end with a sentence about their arguments, because a complete run would take too long here
    assert {name for name, code in codes.items() if code} == {"checklist", "demo", "leaderboard", "mcp"}, output


@pytest.mark.parametrize(
    "start", [[Path(sys.executable).with_name("unweave")], [sys.executable, "-m", "unweave"]], ids=["script", "module"]
)
def test_a_command_as_a_process(folder, start):
    if not Path(start[0]).exists():
        pytest.skip("the script unweave is not installed here")
    assert "mcc" in finished(folder, *start, "explain", "mcc")


def test_the_files_would_be_executed_if_the_folder_were_on_the_path(folder):
    (folder / "executed").write_text("")
    try:
        subprocess.run([sys.executable, "-c", "import lz4"], cwd=folder, capture_output=True, check=False)
        assert (folder / "executed").read_text() == "lz4 "
    finally:
        (folder / "executed").write_text("")
