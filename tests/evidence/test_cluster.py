"""The pass over all rows on the workers of a Dask cluster."""

import json
import os
import signal
import socket
import sys
import time
from types import SimpleNamespace

import cloudpickle
import numpy as np
import polars
import pytest
from click.testing import CliRunner

from unweave import Evidence, InputError
from unweave.cli import main
from unweave.evidence import blocks as on_cluster
from unweave.evidence.blocks import ArrayPart, RowBlocks
from unweave.files.formats import parquet_blocks
from unweave.metrics import mcc, mig

distributed = pytest.importorskip("distributed")
# workers cannot import this module: its functions are sent as they are, and so is a class of the module __main__
cloudpickle.register_pickle_by_value(sys.modules[__name__])

FACTORS = np.random.default_rng(0).normal(size=(1600, 2))
CODES = FACTORS + 0.3 * np.random.default_rng(1).normal(size=(1600, 2))


class DeadlyPart(ArrayPart):
    """A part that kills the first worker that reads it."""

    __module__ = "__main__"
    mark = ""

    def blocks(self):
        if self.mark and not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from ArrayPart.blocks(self)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=None
    ) as started:
        yield started


def test_two_workers_give_the_numbers_of_one_process(cluster, tmp_path):
    for k, rows in enumerate(np.array_split(np.arange(1600), 4)):
        table = {f"factor {j}": FACTORS[rows, j] for j in range(2)} | {f"code {j}": CODES[rows, j] for j in range(2)}
        polars.DataFrame(table).write_parquet(tmp_path / f"{k}.parquet")
    here, there = (
        Evidence(parquet_blocks(tmp_path, sample_rows=200, cluster=address))
        for address in (None, cluster.scheduler_address)
    )
    assert here.fingerprint == there.fingerprint
    assert (mcc(there).raw, mig(there).raw) == (mcc(here).raw, mig(here).raw)


def test_text_that_one_worker_alone_has_seen(cluster):
    words = np.array(["heart", "square"])[(FACTORS[:, 0] > 0).astype(int)].astype(object)
    words[500], words[700:702], words[1300] = "oval", "star", "line"  # not among the planning rows
    factors = np.column_stack([words, FACTORS[:, 1].astype(object)])
    parts = [ArrayPart(factors, CODES, start, start + 400) for start in range(0, 1600, 400)]
    here, there = (
        Evidence(
            RowBlocks(parts, ("shape", "size"), ("c", "d"), sample_rows=1600, planning_rows=96, cluster=address),
            kinds={"size": "continuous"},
        )
        for address in (None, cluster.scheduler_address)
    )
    known = Evidence({"shape": words, "size": FACTORS[:, 1]}, CODES)
    for evidence in (here, there):
        assert mcc(evidence).raw == pytest.approx(mcc(known).raw, abs=1e-12)
        shapes = [evidence.factor_levels[0][int(place)] for place in evidence.factors[:, 0]]
        assert shapes == words.tolist()


def test_the_command_line_on_a_cluster(cluster, tmp_path, monkeypatch):
    for k, rows in enumerate(np.array_split(np.arange(1600), 4)):
        table = {f"factor {j}": FACTORS[rows, j] for j in range(2)} | {f"code {j}": CODES[rows, j] for j in range(2)}
        polars.DataFrame(table).write_parquet(tmp_path / f"{k}.parquet")
    words = ["score", str(tmp_path), "--metrics", "mcc,mig", "--quick", "--json", "--cluster"]
    ran = CliRunner().invoke(main, [*words, cluster.scheduler_address])
    assert ran.exit_code == 0, ran.output
    scores = {row["label"]: row["score"]["raw"] for row in json.loads(ran.stdout)["rows"]}
    assert scores == {"mcc": mcc(parquet_blocks(tmp_path)).raw, "mig": mig(parquet_blocks(tmp_path)).raw}
    monkeypatch.setattr(on_cluster, "SECONDS_TO_CONNECT", 0.3)
    lonely = CliRunner().invoke(main, [*words, "tcp://127.0.0.1:9"])
    assert lonely.exit_code != 0
    assert "There is no cluster at tcp://127.0.0.1:9" in lonely.output


def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path, monkeypatch):
    parts = [ArrayPart(FACTORS, CODES, start, start + 400) for start in range(0, 1600, 400)]
    deadly = DeadlyPart(FACTORS, CODES, 800, 1200)
    object.__setattr__(deadly, "mark", str(tmp_path / "killed"))
    # the planning rows are read in this process, which must not be killed
    monkeypatch.setattr(DeadlyPart, "some", ArrayPart.some)
    names = (("a", "b"), ("c", "d"))
    settings = {"sample_rows": 100, "planning_rows": 800}
    known = Evidence(RowBlocks(parts, *names, **settings))
    lossy = [*parts[:2], deadly, parts[3]]
    found = Evidence(RowBlocks(lossy, *names, **settings, cluster=cluster.scheduler_address))
    assert os.path.exists(tmp_path / "killed")
    assert found.fingerprint == known.fingerprint


def test_a_cluster_that_is_not_there_or_goes_away(tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    parts = [ArrayPart(FACTORS, CODES, 0, 1600)]
    with monkeypatch.context() as impatient:
        impatient.setattr(on_cluster, "SECONDS_TO_CONNECT", 0.3)
        with pytest.raises(InputError, match="There is no cluster at tcp"):
            Evidence(RowBlocks(parts, ("a", "b"), ("c", "d"), cluster=address))
    monkeypatch.setattr("unweave.evidence.blocks.SECONDS_WITHOUT_WORKERS", 0.2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty:
        start = time.monotonic()
        with pytest.raises(InputError, match="has no workers: start some with `dask worker tcp"):
            Evidence(RowBlocks(parts, ("a", "b"), ("c", "d"), cluster=empty.scheduler_address))
        assert time.monotonic() - start < 30


class FetchedTooLate:
    """A future whose result was computed and then lost with the last worker."""

    status = "pending"

    def result(self, timeout):
        time.sleep(timeout)
        raise TimeoutError


class WithoutWorkers:
    def scheduler_info(self):
        return {"workers": {}}


def test_a_result_that_is_lost_with_the_last_worker_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(on_cluster, "SECONDS_WITHOUT_WORKERS", 0.1)
    monkeypatch.setattr(on_cluster, "SECONDS_BETWEEN_LOOKS", 0.05)
    with pytest.raises(InputError, match="has no workers: start some"):
        on_cluster._result(WithoutWorkers(), FetchedTooLate(), "tcp://127.0.0.1:9")
    late = FetchedTooLate()
    late.status = "error"
    with pytest.raises(TimeoutError):
        on_cluster._result(WithoutWorkers(), late, "tcp://127.0.0.1:9")


class Clock:
    """Seconds that pass when somebody waits for a result."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Answer:
    """A future that is ready after some looks."""

    def __init__(self, clock, number, n_looks=0):
        self.clock, self.number, self.n_looks, self.status, self.released = clock, number, n_looks, "pending", False

    def result(self, timeout):
        if not self.n_looks:
            return self.number
        self.n_looks -= 1
        self.clock.now += timeout
        raise TimeoutError

    def release(self):
        self.released = True


@pytest.fixture
def stand_in(monkeypatch):
    """A client whose futures are ready at once, and what it was asked for."""
    asked = SimpleNamespace(opened=[], submitted=[], closed=[], error=None)

    class Client:
        def __init__(self, address, **options):
            asked.opened.append((address, options))

        def submit(self, task, **options):
            if asked.error:
                raise asked.error
            asked.submitted.append((Answer(None, task()), options))
            return asked.submitted[-1][0]

        def close(self, timeout):
            asked.closed.append(timeout)

    monkeypatch.setattr(distributed, "Client", Client)
    return asked


def test_tasks_are_tried_again_and_results_come_in_their_order(stand_in):
    tasks = [lambda k=k: 10 * k for k in range(3)]
    assert list(on_cluster.computed_on("tcp://here:1", tasks)) == [0, 10, 20]
    assert stand_in.opened == [("tcp://here:1", {"timeout": 10, "set_as_default": False})]
    assert [options for _, options in stand_in.submitted] == [{"pure": False, "retries": 2}] * 3
    assert all(future.released for future, _ in stand_in.submitted)
    assert stand_in.closed == [5]


def test_a_cluster_that_is_lost_is_closed_and_named(stand_in):
    stand_in.error = OSError("gone")
    with pytest.raises(InputError, match=r"at tcp://here:1 was lost before all rows were read \(OSError"):
        list(on_cluster.computed_on("tcp://here:1", [int]))
    assert stand_in.closed == [5]
