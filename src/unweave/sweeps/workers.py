"""Workers that compute cells: processes of this machine, or a Dask cluster.

Every cell has its own process while it runs. A cell that ends its process (a segmentation fault, out of memory) or
exceeds the time limit can therefore be identified and given up, and other cells are not affected. The start of a
process does not count against the time limit.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from typing import Any, NamedTuple

import joblib
from joblib.externals.loky.process_executor import ProcessPoolExecutor

from unweave.evidence import EvidenceError
from unweave.own_modules import OwnModules, own_modules

TRIES = 2
IDLE_SECONDS = 10.0  # after which a process without work ends
WATCH_SECONDS = 0.5
CELLS_IN_CLUSTER = 1000
CONNECT_SECONDS = 10
NO_WORKERS_SECONDS = 30.0

Compute = Callable[[Any], Any]  # from a task to its result


class SweepStopped(EvidenceError):
    """Raised if a sweep cannot continue; the message says why, and where the finished cells are."""


class Lost(NamedTuple):
    """The result of a task that was given up, with the reason."""

    reason: str


class _Running(NamedTuple):
    number: int
    n_tries: int
    process: ProcessPoolExecutor
    deadline: float


def in_processes(
    compute: Compute, tasks: Sequence[Any], n_jobs: int, time_limit: float | None
) -> Generator[tuple[int, Any], None, None]:
    """Compute tasks in processes; yield the number and the result (or `Lost`) of each task when it is finished."""
    waiting = deque((number, 1) for number in range(len(tasks)))
    idle: list[ProcessPoolExecutor] = []
    running: dict[Future[Any], _Running] = {}
    n_processes = min(joblib.effective_n_jobs(n_jobs), len(tasks))
    try:
        while waiting or running:
            while waiting and len(running) < n_processes:
                number, n_tries = waiting.popleft()
                process = idle.pop() if idle else _started(compute, tasks[number], bool(time_limit))
                deadline = time.monotonic() + time_limit if time_limit else float("inf")
                running[process.submit(compute, tasks[number])] = _Running(number, n_tries, process, deadline)
            soonest = min(entry.deadline for entry in running.values())
            patience = max(0.0, soonest - time.monotonic()) if time_limit else None
            done, _ = wait(running, timeout=patience, return_when=FIRST_COMPLETED)
            late = {future for future, entry in running.items() if entry.deadline <= time.monotonic()} - done
            for future in [*done, *late]:
                number, n_tries, process, _ = running.pop(future)
                if future in late:
                    process.shutdown(wait=False, kill_workers=True)
                    yield number, Lost(f"It was stopped after the time limit of {time_limit:g} seconds.")
                elif isinstance(future.exception(), BrokenExecutor):
                    process.shutdown(wait=False, kill_workers=True)
                    if n_tries < TRIES:
                        waiting.append((number, n_tries + 1))
                    else:
                        yield number, Lost(f"Its process ended {TRIES} times (a crash, killed, or out of memory).")
                else:
                    idle.append(process)
                    yield number, future.result()
    finally:
        for process in [*idle, *(entry.process for entry in running.values())]:
            process.shutdown(wait=True, kill_workers=True)


def _started(compute: Compute, task: Any, in_full: bool) -> ProcessPoolExecutor:
    """A new process; with ``in_full``, it has finished its imports, so that these do not count against a time limit."""
    of_process = (os.getpid(), own_modules())
    process = ProcessPoolExecutor(max_workers=1, timeout=IDLE_SECONDS, initializer=_end_with, initargs=of_process)
    if in_full:
        wait([process.submit(_received, compute, task)])
    return process


def _end_with(client: int, _modules: OwnModules | None) -> None:
    """End this process when the one that started it is gone, because a killed process cannot end its workers itself."""

    def watch() -> None:
        while os.getppid() == client:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    if hasattr(os, "getppid"):
        threading.Thread(target=watch, daemon=True).start()


def _received(*_items: Any) -> None:
    """Do nothing; calling this in a worker shows that its arguments can be unpickled there."""


def on_cluster(compute: Compute, tasks: Sequence[Any], address: str) -> Generator[tuple[int, Any], None, None]:
    """Compute tasks on the workers of a Dask scheduler, which limits how many workers a task may crash."""
    with _client(address) as client:
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        waiting = iter(enumerate(tasks))
        number_of: dict[Any, int] = {}
        finished: Any = as_completed(loop=client.loop)  # type: ignore[no-untyped-call, unused-ignore]
        with_workers = time.monotonic()
        while True:
            # tasks are not all sent at once, so that workers that join later get some of them
            while len(number_of) < CELLS_IN_CLUSTER and (task := next(waiting, None)) is not None:
                future = client.submit(compute, task[1], pure=False)
                number_of[future.key] = task[0]
                finished.add(future)
            if not number_of:
                return
            for future in finished.next_batch(block=False):
                with_workers, number = time.monotonic(), number_of.pop(future.key)
                error = future.exception()
                killed = isinstance(error, KilledWorker)
                yield number, Lost(f"It ended its worker too often: {error}") if killed else future.result()
            if not finished.has_ready():
                time.sleep(0.02)
            if client.scheduler_info()["workers"]:
                with_workers = time.monotonic()
            elif time.monotonic() - with_workers > NO_WORKERS_SECONDS:
                raise SweepStopped("The cluster has no workers: start some with `dask worker ADDRESS`.")


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise EvidenceError("A cluster needs the package distributed: install unweave[cluster].") from None
    try:
        client = Client(  # type: ignore[no-untyped-call, unused-ignore]
            address, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise EvidenceError(f"No Dask scheduler answers at {address!r}: {' '.join(str(error).split())}") from None
    with client:
        yield client
