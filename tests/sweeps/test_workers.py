"""How work is given to processes and to a cluster, with stand-ins and a clock that moves only when somebody waits."""

import itertools
import os
from concurrent.futures import BrokenExecutor, Future
from types import SimpleNamespace

import pytest

from unweave.sweeps import SweepStopped
from unweave.sweeps import execution as workers
from unweave.sweeps.execution import Lost

START = 100.0  # seconds on the clock


class Clock:
    """Seconds that pass by waiting."""

    def __init__(self, step=None):
        self.now, self.step, self.waits = START, step, []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.waits.append(seconds)
        assert len(self.waits) < 100, "it waits forever"
        self.now += self.step or seconds


class Machine:
    """Processes on a machine with a clock; a task is the seconds it takes and its result, or an error each time."""

    def __init__(self):
        self.clock, self.processes, self.ends = Clock(), [], {}

    def started(self, compute, task, in_full):
        self.processes.append(Process(self, in_full))
        return self.processes[-1]

    def wait(self, running, timeout, return_when):
        soonest = min(self.ends[future] for future in running)
        self.clock.sleep(soonest - self.clock.now if timeout is None else min(timeout, soonest - self.clock.now))
        for future in running:
            if self.ends[future] <= self.clock.now and not future.done():
                failed = isinstance(future.answer, Exception)
                future.set_exception(future.answer) if failed else future.set_result(future.answer)
        return {future for future in running if future.done()}, None


class Process:
    def __init__(self, machine, in_full):
        self.machine, self.in_full, self.shut = machine, in_full, None

    def submit(self, compute, task):
        assert self.shut is None
        future = Future()
        seconds, answers = task
        future.answer = compute(next(answers))
        self.machine.ends[future] = self.machine.clock.now + seconds
        return future

    def shutdown(self, *, wait, kill_workers):
        self.shut = (wait, kill_workers)


def task(seconds, *answers):
    return seconds, iter(answers)


@pytest.fixture
def machine(monkeypatch):
    found = Machine()
    monkeypatch.setattr(workers, "_started_process", found.started)
    monkeypatch.setattr(workers, "wait", found.wait)
    monkeypatch.setattr(workers, "time", found.clock)
    return found


def computed(machine, tasks, n_jobs, time_limit=None):
    """Seconds after the start, number and result of every task in the order of their ends."""
    found = workers.in_processes(lambda answer: answer, tasks, n_jobs, time_limit)
    return [(round(machine.clock.now - START, 6), *each) for each in found]


def test_processes_are_used_again_and_ended_together(machine):
    tasks = [task(3, "a"), task(1, "b"), task(1, "c"), task(2, "d")]
    assert computed(machine, tasks, 2) == [(1, 1, "b"), (2, 2, "c"), (3, 0, "a"), (4, 3, "d")]
    assert [(process.in_full, process.shut) for process in machine.processes] == [(False, (True, True))] * 2


def test_there_are_no_more_processes_than_tasks(machine):
    assert computed(machine, [task(1, "a")], 3) == [(1, 0, "a")]
    assert len(machine.processes) == 1


def test_a_task_that_ends_its_process_is_tried_once_more(machine):
    broken = BrokenExecutor("killed")
    tasks = [task(1, broken, "a"), task(1, broken, broken), task(1, "c")]
    lost = Lost("Its process ended 2 times (a crash, killed, or out of memory).")
    assert computed(machine, tasks, 1) == [(3, 2, "c"), (4, 0, "a"), (5, 1, lost)]
    assert [process.shut for process in machine.processes] == [(False, True)] * 3


def test_a_task_is_stopped_at_its_own_limit(machine):
    """The second task of the second process has begun later, and is stopped later."""
    tasks = [task(9, "a"), task(0.1, "b"), task(9, "c"), task(0.3, "d")]
    lost = Lost("It was stopped after the time limit of 0.3 seconds.")
    found = computed(machine, tasks, 2, time_limit=0.3)
    assert found == [(0.1, 1, "b"), (0.3, 0, lost), (0.4, 2, lost), (0.6, 3, "d")]
    assert [process.in_full for process in machine.processes] == [True] * len(machine.processes)
    assert [process.shut for process in machine.processes] == [(False, True), (False, True), (True, True)]


def test_processes_end_with_a_sweep_that_is_given_up(machine):
    found = workers.in_processes(lambda answer: answer, [task(1, "a"), task(5, "b")], 2, None)
    assert next(found) == (0, "a")
    found.close()
    assert [process.shut for process in machine.processes] == [(True, True)] * 2


@pytest.mark.parametrize("in_full", [False, True])
def test_a_process_has_one_worker_and_may_have_finished_its_imports(monkeypatch, in_full):
    made = []

    class Executor:
        def __init__(self, **options):
            self.options, self.given = options, []
            made.append(self)

        def submit(self, *given):
            self.given.append(given)
            future = Future()
            future.set_result(None)
            return future

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Executor)
    assert workers._started_process(len, "task", in_full) is made[0]
    pid = {"initializer": workers._end_with, "initargs": (os.getpid(), None)}
    assert made[0].options == {"max_workers": 1, "timeout": 10.0, **pid}
    assert made[0].given == [(workers._do_nothing, len, "task")] * in_full


def test_a_worker_looks_twice_a_second_whether_its_client_is_there(monkeypatch):
    parents, exits, threads, clock = iter([7, 7, 1]), [], [], Clock()

    def thread(target, daemon):
        threads.append(daemon)
        return SimpleNamespace(start=target)

    monkeypatch.setattr(workers, "os", SimpleNamespace(getppid=lambda: next(parents), _exit=exits.append))
    monkeypatch.setattr(workers, "threading", SimpleNamespace(Thread=thread))
    monkeypatch.setattr(workers, "time", clock)
    workers._end_with(7, None)
    assert (exits, threads, clock.waits) == ([1], [True], [0.5, 0.5])


class Cluster:
    """A client of a cluster, and the queue of its results: every second look finds one, until workers are gone."""

    loop = "loop"

    def __init__(self, n_answers):
        self.n_answers, self.opened, self.keys = n_answers, [], itertools.count()
        self.unfinished, self.largest, self.pure, self.looks = [], 0, [], 0

    def __call__(self, address, **options):
        self.opened.append((address, options))
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.opened.append("closed")

    def submit(self, compute, task, *, pure):
        answer = task if isinstance(task, Exception) else compute(task)
        error = answer if isinstance(answer, Exception) else None
        self.pure.append(pure)
        return SimpleNamespace(key=next(self.keys), exception=lambda: error, result=lambda: answer)

    def add(self, future):
        self.unfinished.append(future)
        self.largest = max(self.largest, len(self.unfinished))

    def next_batch(self, *, block):
        assert not block
        self.looks += 1
        if self.looks % 2 or not self.n_answers:
            return []
        self.n_answers -= 1
        return [self.unfinished.pop(0)]

    def has_ready(self):
        return False

    def scheduler_info(self):
        return {"workers": {"one": {}} if self.n_answers else {}}


@pytest.fixture
def on_cluster(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs unweave[cluster]")

    def of(n_answers, step=None):
        cluster, clock = Cluster(n_answers), Clock(step)
        monkeypatch.setattr(distributed, "Client", cluster)
        monkeypatch.setattr(distributed, "as_completed", lambda loop: cluster)
        monkeypatch.setattr(workers, "time", clock)
        return cluster, clock

    return of


def test_tasks_are_sent_to_a_cluster_as_others_are_done(on_cluster, monkeypatch):
    from distributed.scheduler import KilledWorker

    killed = KilledWorker("task", SimpleNamespace(address="tcp://there:1"), 3)
    monkeypatch.setattr(workers, "CELLS_IN_CLUSTER", 2)
    cluster, clock = on_cluster(9)
    found = list(workers.on_cluster(lambda task: 10 * task, [1, 2, killed, 4], "tcp://here:1"))
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert [result for _, result in found if not isinstance(result, Lost)] == [10, 20, 40]
    assert found[2][1].reason.startswith("It ended its worker too often: ")
    assert (cluster.largest, set(cluster.pure)) == (2, {False})
    assert cluster.opened == [("tcp://here:1", {"timeout": 10, "set_as_default": False}), "closed"]
    assert set(clock.waits) == {0.02}


def test_half_a_minute_without_workers_is_too_long(on_cluster):
    """The last result comes after 20 seconds; workers that are there 30 seconds later would be in time."""
    _, clock = on_cluster(1, step=10.0)
    found = workers.on_cluster(lambda task: task, ["a", "b"], "tcp://here:1")
    assert next(found) == (0, "a")
    last = clock.now
    with pytest.raises(SweepStopped, match="The cluster has no workers: start some with `dask worker ADDRESS`"):
        next(found)
    assert clock.now - last == 40.0


def test_workers_that_are_busy_may_take_their_time(on_cluster):
    cluster, clock = on_cluster(2, step=60.0)
    assert list(workers.on_cluster(lambda task: task, ["a"], "tcp://here:1")) == [(0, "a")]
    assert clock.now > START + workers.NO_WORKERS_SECONDS
    assert cluster.opened[-1] == "closed"
