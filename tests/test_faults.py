"""Full or broken disks and killed processes: one sentence, nothing half-written, the same results afterwards."""

import builtins
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from unweave import FileError, UnweaveError, encode, evaluate, probe
from unweave.auditing import Grid, audit_all
from unweave.datasets import small_sprites
from unweave.report.figures.geometry import save
from unweave.report.html import write_pages
from unweave.report.leaderboard import leaderboard
from unweave.sweeps import grid, run
from unweave.synthetic.encoders import Mixed
from unweave.synthetic.worlds import Circuit

SMALL = Grid(n_factors=(5,), n_rows=50, rhos=(0, 0.9), ratios=(2,), splits=(2,), mixed_shares=(), null_ratios=(0.1,))


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
    fleet = train(images, "vae", n_seeds=2, n_codes=2, trunk=MLP((4,)), settings=settings, folder=folder / "runs")
    return [model.encode(images).mean.tolist() for model in fleet]


def reproduced(folder):
    """A figure with its sweep, its table and its claims, and a table of a toy."""
    pytest.importorskip("matplotlib")
    experiment = pytest.importorskip("unweave_papers.experiment")
    small = experiment.Options(folder / "figure", metrics=("MCC-P",), n_seeds=2, protocol="authors")
    wrote = [str(line) for line in experiment.reproduced("003", "fig24", small) if isinstance(line, str)]
    wrote += [str(line) for line in experiment.reproduced("002", "tab1", experiment.Options(folder / "toy")) if line]
    tables = sorted(folder.rglob("*.csv")) + sorted(folder.rglob("*-claims.json"))
    assert len(wrote) >= 3
    return [path.read_text() for path in tables]


def claims_checked(folder):
    """Claims of closed forms: outcomes and figures, without their seconds."""
    ledger = pytest.importorskip("unweave_papers.ledger")
    from unweave_papers.experiment import Options

    cheap = [
        claim for claim in ledger.claims_of("002") if claim.is_computed and not claim.needs and claim.seconds < 0.2
    ]
    found = list(ledger.check(cheap[:4], Options(folder / "out")))
    assert len(found) == 4
    return [(entry.claim.name, entry.outcome, entry.found) for entry in found]


def claims_recorded(folder):
    ledger = pytest.importorskip("unweave_papers.ledger")
    experiment = pytest.importorskip("unweave_papers.experiment")
    shutil.copytree(ledger.FOLDER / "claims", folder / "claims", dirs_exist_ok=True)
    (folder / "recorded").mkdir(parents=True, exist_ok=True)
    home, ledger.FOLDER = ledger.FOLDER, folder
    try:
        found = {1: ledger.ClaimEvidence(("holds",), {"a": experiment.MeasuredFigure(0.5)})}
        return json.loads(ledger.record("002", found, {1: 1.0}).read_bytes())
    finally:
        ledger.FOLDER = home
        ledger.claims_of.cache_clear()


def shown(folder):
    """The files of an evaluation, its pages, a leaderboard and a picture of probes."""
    pytest.importorskip("matplotlib")
    factors = np.random.default_rng(0).normal(size=(60, 2))
    found = evaluate(factors, factors, metrics=["r2"], quick=True)
    (folder / "models").mkdir(exist_ok=True)
    found.save(folder / "models" / "evaluation.json")
    write_pages(found, folder / "page.html", folder / "page.md", folder / "summary.json")
    leaderboard(folder / "models").to_html(folder / "board.html")
    save(probe(factors, factors, probes=["linear"]).plot(), folder / "probe.png")
    assert (folder / "page.html").read_text().rstrip().endswith("</html>")  # the page itself states its seconds
    return [(folder / name).read_text() for name in ("page.md", "board.html")]


COMPUTE = {
    each.__name__: each
    for each in (swept, encoded, audited, trained, reproduced, claims_checked, claims_recorded, shown)
}


def whole(folder):
    """Whether every file of a folder is complete."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".unfinished")
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        elif path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None


class Faulty(io.FileIO):
    """A file whose n-th write over all files fails, after a part of it was written if the disk is full."""

    n_writes, fails_at, problem = 0, -1, 0

    def write(self, content):
        Faulty.n_writes += 1
        if Faulty.n_writes - 1 == Faulty.fails_at:
            if Faulty.problem == errno.ENOSPC:
                super().write(bytes(content)[: len(content) // 2])
            raise OSError(Faulty.problem, os.strerror(Faulty.problem))
        return super().write(content)


def faulty_open(plain):
    def opened(file, mode="r", buffering=-1, *rest, **named):
        if "b" not in mode or not set(mode) & set("wxa"):
            return plain(file, mode, buffering, *rest, **named)
        raw = Faulty(file, mode.replace("b", ""), opener=named.get("opener"))
        return raw if buffering == 0 else io.BufferedWriter(raw)

    return opened


WRITE, FSYNC, REPLACE = "write", "fsync", "replace"


@pytest.fixture
def fault(monkeypatch):
    """Let the n-th call of fsync or replace, or the n-th write of any file, fail; answers the calls of each kind."""

    def run(compute, folder, call, problem, at):
        n_calls = {FSYNC: 0, REPLACE: 0}

        def faulty(name, plain):
            def called(*given):
                n_calls[name] += 1
                if name == call and n_calls[name] - 1 == at:
                    raise OSError(problem, os.strerror(problem))
                return plain(*given)

            return called

        with monkeypatch.context() as patch:
            Faulty.n_writes, Faulty.fails_at, Faulty.problem = 0, at if call == WRITE else -1, problem
            for module in (builtins, io):
                patch.setattr(module, "open", faulty_open(open))
            for name in n_calls:
                patch.setattr(os, name, faulty(name, getattr(os, name)))
            try:
                found = compute(folder)
            except FileError as error:
                assert os.strerror(problem) in str(error)
                assert "\n" not in str(error)
                found = error
        return found, {WRITE: Faulty.n_writes, **n_calls}

    return run


# a disk that is full at any write, other faults at the first, the middle and the last call
FAULTS = ((WRITE, errno.ENOSPC, 6), (WRITE, errno.EIO, 3), (FSYNC, errno.EIO, 3), (REPLACE, errno.ENOSPC, 3))


@pytest.mark.parametrize("name", COMPUTE)
@pytest.mark.filterwarnings("ignore:.*lines that cannot be read")
@pytest.mark.filterwarnings("ignore:.*cannot be read, and is written again")
def test_any_write_may_fail(tmp_path, fault, name):
    """Writes fail in turn, some of many; the run after it gives what an undisturbed run gives."""
    compute = COMPUTE[name]
    (tmp_path / "undisturbed").mkdir()
    expected, n_calls = fault(compute, tmp_path / "undisturbed", "", 0, at=-1)
    appends = name in ("audited", "claims_checked")  # to one file
    assert all(n_calls[call] or (appends and call == REPLACE) for call in n_calls)
    for call, problem, n_places in FAULTS:
        places = sorted(set(np.linspace(0, n_calls[call] - 1, n_places).astype(int).tolist())) if n_calls[call] else []
        n_faults = 0
        for at in places:
            folder = tmp_path / f"{call}-{problem}-{at}"
            folder.mkdir()
            found, _ = fault(compute, folder, call, problem, at)
            n_faults += isinstance(found, FileError)
            assert isinstance(found, FileError) or found == expected, folder.name
            whole(folder)
            assert compute(folder) == expected, folder.name
        assert n_faults or not places


@pytest.mark.parametrize("name", ["swept", "encoded", "audited", "trained", "reproduced"])
@pytest.mark.filterwarnings("ignore:.*cannot be read")
def test_any_file_that_is_read_may_be_cut_off(tmp_path, name):
    """A run that finds a file cut off gives the same results, or says in one sentence what to delete."""
    compute, done = COMPUTE[name], tmp_path / "done"
    done.mkdir()
    expected = compute(done)
    files = [path for path in sorted(done.rglob("*")) if path.is_file() and path.name not in ("lock", "owner")]
    n_same = 0
    for path in files[:: max(1, len(files) // 5)]:
        for share in (0.0, 0.99):
            folder = tmp_path / "cut"
            shutil.copytree(done, folder)
            there = folder / path.relative_to(done)
            there.write_bytes(there.read_bytes()[: int(share * there.stat().st_size)])
            try:
                assert compute(folder) == expected
                n_same += 1
            except UnweaveError as error:
                assert str(error).endswith(".")
                assert "\n" not in str(error)
                assert str(folder) in str(error)
            shutil.rmtree(folder)
    assert n_same or name == "trained"  # a damaged model is never trained again without being asked


# a process that kills itself at its n-th fsync, at which data are written but not yet under their name; the libraries
# are imported once, and each of these processes is a fork of the one that has them
KILLED = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
import matplotlib.pyplot, test_faults, unweave.models, unweave_papers.experiment, unweave_papers.ledger
plain = os.fsync
for folder in map(pathlib.Path, sys.argv[2:]):
    for n_before in (1, 4):
        child = os.fork()
        if not child:
            left = [n_before]
            def fsync(file):
                left[0] -= 1
                os.kill(os.getpid(), signal.SIGKILL) if left[0] < 0 else plain(file)
            os.fsync = fsync
            test_faults.COMPUTE[folder.name](folder)
            os._exit(0)
        print(folder.name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.filterwarnings("ignore:.*lines that cannot be read")
def test_a_killed_process_is_continued(tmp_path):
    for package in ("matplotlib", "torch", "unweave_papers"):
        pytest.importorskip(package)
    folders = [tmp_path / name for name in COMPUTE]
    for folder in (*folders, tmp_path / "undisturbed"):
        folder.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", KILLED, os.path.dirname(__file__), *map(str, folders)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    ended = [line.split() for line in done.stdout.splitlines()]
    assert {name for name, code in ended if int(code) == -signal.SIGKILL} == set(COMPUTE), done.stderr
    assert {int(code) for _, code in ended} <= {0, -signal.SIGKILL}, done.stderr
    for folder in folders:
        compute, undisturbed = COMPUTE[folder.name], tmp_path / "undisturbed" / folder.name
        undisturbed.mkdir()
        assert compute(folder) == compute(undisturbed), folder.name
