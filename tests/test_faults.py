"""Full or broken disks and killed processes: one sentence, nothing half-written, the same results afterwards."""

import errno
import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from unweave import FileError, encode
from unweave.auditing import Grid, audit_all
from unweave.datasets import small_sprites
from unweave.sweeps import grid, run
from unweave.synthetic.encoders import Mixed
from unweave.synthetic.worlds import Circuit

SMALL = Grid(n_factors=(5,), n_rows=100, rhos=(0, 0.9), ratios=(2,), splits=(2,), mixed_shares=(), null_ratios=(0.1,))


def swept(folder):
    sweep = grid("s", worlds=[Circuit()], encoders=[Mixed()], metrics=["mcc", "r2"], n_rows=50, n_seeds=2)
    return run(sweep, folder / "swept").rows()


def encoded(folder):
    out = folder / "codes.npz"
    codes = encode(
        lambda images: images.reshape(len(images), -1)[:, :3], small_sprites(), out=out, rows=50, batch_size=20
    )
    with np.load(out) as content:
        assert np.array_equal(content["codes"], codes.means)
    return codes.means.tolist()


def audited(folder):
    options = {"grid": SMALL, "n_seeds": 2, "budget": None, "adversary": False, "further": False}
    [found] = audit_all(["mcc"], **options, store=folder / "cells.jsonl")
    return [result.measured for result in found.results]


def trained(folder):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from unweave.models import MLP, TrainingSettings, train

    images = (np.random.default_rng(0).random((20, 4, 4)) > 0.5).astype(float)
    settings = TrainingSettings(n_steps=200, batch_size=2, checkpoint_every=100)
    fleet = train(images, ["vae", "beta_vae"], n_codes=2, trunk=MLP((4,)), settings=settings, folder=folder / "runs")
    return [model.encode(images).mean.tolist() for model in fleet]


def whole(folder):
    """Whether every file of a folder is complete."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".unfinished")
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        elif path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None


@pytest.mark.parametrize(("call", "problem"), [("fsync", errno.EIO), ("replace", errno.ENOSPC)])
@pytest.mark.parametrize("compute", [swept, encoded, audited, trained])
@pytest.mark.filterwarnings("ignore:.*lines that cannot be read")
def test_any_write_may_fail(tmp_path, monkeypatch, compute, problem, call):
    """The first, second, third ... write fails; the run after it gives what an undisturbed run gives."""
    expected, plain = compute(tmp_path / "undisturbed"), getattr(os, call)
    n_faults = 0
    for at in (*range(5), 9, 10_000):
        folder, calls = tmp_path / str(at), iter(range(10**6))
        folder.mkdir()

        def faulty(*given, at=at, calls=calls):
            if next(calls) == at:
                raise OSError(problem, os.strerror(problem))
            return plain(*given)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, faulty)
            try:
                assert compute(folder) == expected
            except FileError as error:
                n_faults += 1
                assert os.strerror(problem) in str(error)
                assert "\n" not in str(error)
        whole(folder)
        assert compute(folder) == expected
    assert n_faults or (call, compute) == ("replace", audited)  # which appends to one file


@pytest.mark.parametrize("name", ["swept", "encoded", "audited", "trained"])
@pytest.mark.filterwarnings("ignore:.*lines that cannot be read")
def test_a_killed_process_is_continued(tmp_path, name):
    compute, killed = globals()[name], tmp_path / "killed"
    killed.mkdir()
    # the process kills itself at its n-th fsync, at which data are written but not yet under their name
    script = (
        "import os, pathlib, signal, sys\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "import test_faults\n"
        "plain, left = os.fsync, [int(sys.argv[1])]\n"
        "def fsync(file):\n"
        "    left[0] -= 1\n"
        "    os.kill(os.getpid(), signal.SIGKILL) if left[0] < 0 else plain(file)\n"
        "os.fsync = fsync\n"
        f"test_faults.{name}(pathlib.Path({str(killed)!r}))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    ended = [subprocess.run([*command, str(n_before)], check=False).returncode for n_before in (1, 4)]
    assert -signal.SIGKILL in ended
    assert compute(killed) == compute(tmp_path / "undisturbed")
