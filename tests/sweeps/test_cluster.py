"""A sweep on a Dask cluster of real processes gives the same table, even if a worker is killed during the run."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
from tiny_cells import Arithmetic, Gaussian, Raising, Same, first, many

from unweave import InputError, OptionError
from unweave.sweeps import Cell, Sweep, SweepStopped, run

pytest.importorskip("distributed", reason="needs unweave[cluster]")


@contextmanager
def process(*arguments):
    """A process of the dask command and a queue of its output lines; the process is killed at the end."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    running = subprocess.Popen(
        [sys.executable, "-m", *arguments], stderr=subprocess.PIPE, text=True, env=environment, cwd="/"
    )
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in running.stderr], daemon=True).start()
    try:
        yield running, lines
    finally:
        running.kill()
        running.wait(10)


def awaited(lines, pattern):
    """The first match of the pattern in the next lines, within a minute."""
    deadline = time.monotonic() + 60
    while True:
        found = re.search(pattern, lines.get(timeout=max(0, deadline - time.monotonic())))
        if found:
            return found[0]


@contextmanager
def cluster(n_workers, folder, nanny="--no-nanny"):
    """Address and worker processes of a cluster on the loopback interface."""
    with ExitStack() as stack:
        scheduler = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        _, lines = stack.enter_context(process(*scheduler))
        address = awaited(lines, r"tcp://127\.0\.0\.1:\d+")
        options = ("--nthreads", "1", nanny, "--no-dashboard", "--local-directory", str(folder))
        started = [
            stack.enter_context(process("distributed.cli.dask_worker", address, *options)) for _ in range(n_workers)
        ]
        for _, lines in started:
            awaited(lines, "Registered to")
        yield address, [worker for worker, _ in started]


@pytest.mark.slow
def test_one_worker_is_killed_in_the_middle(tmp_path):
    record = tmp_path / "record"
    sweep = many(120, pause=0.02, record=str(record))
    expected = run(sweep, tmp_path / "here")
    record.unlink()

    with cluster(2, tmp_path / "workers") as (address, workers):

        def kill_one():
            while not record.exists() or len(record.read_text().split()) < 40:
                time.sleep(0.005)
            os.kill(workers[0].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        table = run(sweep, tmp_path / "there", cluster=address)
        killer.join(1)
        assert workers[0].poll() == -signal.SIGKILL
        assert workers[1].poll() is None
    ran_in = record.read_text().split()
    assert set(ran_in) == {str(worker.pid) for worker in workers}  # nothing was computed in this process
    assert table.equals(expected)
    files = [(tmp_path / place / "table.parquet").read_bytes() for place in ("here", "there")]
    assert files[0] == files[1]


@pytest.mark.slow
def test_a_single_worker_computes(tmp_path):
    record = tmp_path / "record"
    with cluster(1, tmp_path / "workers") as (address, [worker]):
        run(many(3, record=str(record)), tmp_path / "out", cluster=address)
        assert set(record.read_text().split()) == {str(worker.pid)}


@pytest.mark.slow
def test_a_cell_that_ends_its_worker_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    deadly = Cell(Gaussian(), Raising("exit", str(tmp_path / "never")), 20, 0, (first,))
    with cluster(2, tmp_path / "workers") as (address, _):
        table = run(Sweep("deadly", (deadly, *many(5).cells)), tmp_path / "out", cluster=address)
    assert table["problem"][0].startswith("It ended its worker too often")
    assert table.height == 1 + 5 * 2


@pytest.mark.slow
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_cell_that_hangs_on_a_cluster_is_stopped_at_the_limit(tmp_path, nanny):
    """One worker with one thread: the cells after the hanging one are computed by the same worker."""
    slow = Cell(Gaussian(), Same(), 10, 1, (first,), Arithmetic(pause=600))
    quick = [Cell(Gaussian(), Same(), 10, seed, (first,), Arithmetic()) for seed in (2, 3)]
    sweep = Sweep("hangs", (slow, *quick))
    with cluster(1, tmp_path / "workers", nanny) as (address, _):
        table = run(sweep, tmp_path / "out", cluster=address, time_limit=1.5)
    assert table["problem"].to_list() == ["It was stopped after the time limit of 1.5 seconds.", None, None]


@pytest.mark.slow
def test_a_cluster_without_workers_is_said(tmp_path):
    with cluster(0, tmp_path / "workers") as (address, _), pytest.raises(SweepStopped, match="no workers"):
        run(many(1), tmp_path / "out", cluster=address)


def test_no_scheduler_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("unweave.sweeps.execution.CONNECT_SECONDS", 0.3)
    with pytest.raises(InputError, match="No Dask scheduler answers at 'nowhere'"):
        run(many(1), tmp_path, cluster="nowhere")


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r"install unweave\[cluster\]"):
        run(many(1), tmp_path, cluster="tcp://127.0.0.1:1")
