"""Runs that are killed with SIGKILL at random moments and continued give the table of an undisturbed run."""

import contextlib
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import tiny_cells

from unweave.sweeps import run

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


@pytest.fixture(scope="module")
def started():
    """Start a run in a process of its own, which is forked from one that has imported the package once for all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["unweave.sweeps"])
    processes = []

    def start(*arguments):
        processes.append(context.Process(target=tiny_cells.run_alone, args=arguments))
        processes[-1].start()
        return processes[-1]

    yield start
    for process in processes:
        process.kill()


def n_lines(results):
    return results.read_bytes().count(b"\n") if results.exists() else 0


def killed_on_the_way(process, results, n_more):
    """Kill a run some time after it has written the results of ``n_more`` further cells."""
    n_before = n_lines(results)
    deadline = time.monotonic() + 120
    while n_lines(results) < n_before + n_more:
        assert process.is_alive(), "it ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.01))
    os.kill(process.pid, signal.SIGKILL)
    process.join(10)
    assert process.exitcode == -signal.SIGKILL
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # together with its workers
    return n_lines(results)


@pytest.mark.parametrize(
    ("n_cells", "n_jobs", "n_kills"),
    [(60, 1, 2), pytest.param(2000, 1, 3, marks=pytest.mark.slow), pytest.param(2000, 2, 3, marks=pytest.mark.slow)],
)
def test_killed_on_the_way(started, tmp_path, n_cells, n_jobs, n_kills):
    folder = tmp_path / "killed"
    n_done = [0]
    for _ in range(n_kills):
        n_more = random.randrange(1, n_cells // 6)
        n_done.append(killed_on_the_way(started(n_cells, folder, n_jobs, 0.002), folder / "results.jsonl", n_more))
    assert (np.diff([*n_done, n_cells]) > 0).all()
    assert not (folder / "table.parquet").exists()
    sweep = tiny_cells.many(n_cells, pause=0.002)
    resumed, whole = run(sweep, folder, n_jobs=n_jobs), run(sweep, tmp_path / "whole")
    assert (folder / "table.parquet").read_bytes() == (tmp_path / "whole" / "table.parquet").read_bytes()
    assert resumed.height == whole.height == 2 * n_cells
    assert (folder / "manifest.json").read_bytes() == (tmp_path / "whole" / "manifest.json").read_bytes()


def running(pid):
    """Whether a process is running; a zombie process does not count."""
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_workers_end_with_a_client_that_was_killed(started, tmp_path):
    """They also end during a cell, which would take ten minutes here."""
    record = tmp_path / "pids"
    client = started(2, tmp_path / "killed", 2, 600.0, str(record))
    deadline = time.monotonic() + 60
    while not record.exists() or len(workers := record.read_text(encoding="utf-8").split()) < 2:
        assert client.is_alive(), "it ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert all(map(running, workers))
    os.kill(client.pid, signal.SIGKILL)
    client.join(10)
    deadline = time.monotonic() + 30
    while any(map(running, workers)):
        assert time.monotonic() < deadline, "its workers outlive it"
        time.sleep(0.05)
