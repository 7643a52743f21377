"""Running the cells of a sweep in processes or on a cluster, with results in a folder."""

from __future__ import annotations

import io
import math
import multiprocessing
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import closing
from dataclasses import astuple
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
from joblib.externals.loky.process_executor import ProcessPoolExecutor

from unweave.errors import InputError, OptionError, UnweaveError
from unweave.files.formats import polars_for
from unweave.findings import Finding
from unweave.own_modules import OwnModules, own_modules
from unweave.progress import progress_bar
from unweave.store import Store
from unweave.sweeps.sweep import LIBRARIES, RESULT_COLUMNS, Cell, Measurement, Sweep, row_keys, unmeasured
from unweave.threads import one_thread
from unweave.trust.scoring import result_or_reason

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "unweave.sweep/2"
TRIES = 2
IDLE_SECONDS = 10.0  # after which a process without work ends
WATCH_SECONDS = 0.5
CELLS_IN_CLUSTER = 1000
CONNECT_SECONDS = 10
NO_WORKERS_SECONDS = 30.0
Compute = Callable[[Any], Any]  # from a task to its result


class SweepStopped(UnweaveError):
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
    compute: Compute,
    tasks: Sequence[Any],
    n_jobs: int,
    time_limit: float | None,
    idle: list[ProcessPoolExecutor] | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Compute tasks in processes; yield the number and the result (or `Lost`) of each task when it is finished.

    Processes without work are left in ``idle`` for the next call; without it, all processes are ended.
    """
    own, idle = idle is None, [] if idle is None else idle
    waiting = deque((number, 1) for number in range(len(tasks)))
    running: dict[Future[Any], _Running] = {}
    n_processes = min(joblib.effective_n_jobs(n_jobs), len(tasks))
    try:
        while waiting or running:
            while waiting and len(running) < n_processes:
                number, n_tries = waiting.popleft()
                process = idle.pop() if idle else _started_process(compute, tasks[number], bool(time_limit))
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
        for process in [*(idle if own else ()), *(entry.process for entry in running.values())]:
            process.shutdown(wait=True, kill_workers=True)


def _started_process(compute: Compute, task: Any, in_full: bool) -> ProcessPoolExecutor:
    """A new process; with ``in_full``, it has finished its imports, so that these do not count against a time limit."""
    of_process = (os.getpid(), own_modules())
    process = ProcessPoolExecutor(max_workers=1, timeout=IDLE_SECONDS, initializer=_end_with, initargs=of_process)
    if in_full:
        wait([process.submit(_do_nothing, compute, task)])
    return process


def _end_with(client: int, _modules: OwnModules | None) -> None:
    """End this process when the one that started it is gone, because a killed process cannot end its workers itself."""

    def watch() -> None:
        while os.getppid() == client:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    if hasattr(os, "getppid"):
        threading.Thread(target=watch, daemon=True).start()


def _do_nothing(*_items: Any) -> None:
    """Do nothing; calling this in a worker shows that its arguments can be unpickled there."""


_OF_WORKER: list[ProcessPoolExecutor] = []  # processes of a Dask worker that wait for its next task


def _within_time_limit(time_limit: float, compute: Compute, task: Any) -> Any:
    """The result of a task, or `Lost` after the time limit; the task has a process of its own, which can be ended."""
    settings = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    daemon = settings.pop("daemon", None)  # workers of Dask are daemons, which may not start processes
    try:
        return next(in_processes(compute, [task], 1, time_limit, _OF_WORKER))[1]
    finally:
        if daemon is not None:
            settings["daemon"] = daemon


def on_cluster(
    compute: Compute, tasks: Sequence[Any], address: str, time_limit: float | None = None
) -> Generator[tuple[int, Any], None, None]:
    """Compute tasks on the workers of a Dask scheduler, which limits how many workers a task may crash."""
    compute = compute if time_limit is None else partial(_within_time_limit, time_limit, compute)
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


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise OptionError("A cluster needs the package distributed: install unweave[cluster].") from None
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address!r} ({' '.join(str(error).split())}): check the address."
        ) from None


def check_n_processes(n_jobs: object) -> None:
    """Raise an `OptionError` for what is not a number of processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise OptionError(f"n_jobs={n_jobs!r} is not a number of processes: use 1 or more, or -1 for all cores.")


def _refuse_wrong(sweep: object, folder: object, n_jobs: object, time_limit: object) -> None:
    check_n_processes(n_jobs)
    if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
        raise OptionError(f"time_limit={time_limit!r} is not a limit: use a number of seconds above 0.")
    if not isinstance(sweep, Sweep):
        raise OptionError("This is not a sweep: make one with unweave.sweeps.grid.")
    if not isinstance(folder, (str, Path)):
        raise OptionError(f"A folder of type {type(folder).__name__} is no path: name a folder.")


def run(
    sweep: Sweep,
    folder: str | Path,
    *,
    n_jobs: int = 1,
    cluster: str | None = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Compute the cells that the folder does not contain yet, and return the table.

    Every cell is written when it is finished, so that a run that was killed can be continued. The results do not depend
    on the number of workers or on where they run. With several processes, a cell that crashes its process twice or
    exceeds the time limit is nan with the reason; other cells continue, and the next run tries this one again.

    Parameters
    ----------
    sweep : Sweep
        The cells to compute.
    folder : path
        Folder for the results of one sweep. Only changed or added cells and metrics are computed. The returned table is
        also written there as ``table.parquet``.
    n_jobs : int
        Number of processes; -1 for one per core.
    cluster : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, whose workers compute the cells.
    time_limit : float, optional
        Largest number of seconds for a cell. With a limit, cells run in separate processes even if ``n_jobs=1``, and
        workers of a cluster start a process for each cell.
    progress : bool
        Show a bar with the time left, on terminals and in notebooks, after two seconds.

    Returns
    -------
    polars.DataFrame
        One row for each cell and metric in the order of the sweep: labels, ``n_rows``, ``seed``, ``metric``,
        ``value``, ``raw`` and ``problem``, which says why a value is nan.

    Examples
    --------
    >>> import tempfile
    >>> from unweave.sweeps import grid
    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Circuit
    >>> sweep = grid("one", worlds=[Circuit()], encoders=[PermutedAndScaled()], metrics=["mcc"], n_rows=100, n_seeds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = run(sweep, folder)
    >>> table["value"].round(3).to_list()
    [1.0, 1.0]
    """
    _refuse_wrong(sweep, folder, n_jobs, time_limit)
    polars_for("The table of a sweep")  # before anything is computed
    keys = [row_keys(cell) for cell in sweep.cells]
    n_results = len(set[str]().union(*(of_cell.values() for of_cell in keys)))
    versions = {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
    facts = {"cells": len(sweep.cells), "results": n_results, "versions": versions}
    with Store(folder, {"schema": SCHEMA, "sweep": sweep.name}) as store:
        by_key = {key: Measurement(*entry) for key, entry in store.results.by_key.items()}
        tasks = _missing(sweep, keys, by_key)
        if tasks:
            store.describe(**facts, finished=False)
        n_before = len(sweep.cells) - len(tasks)
        with progress_bar(len(sweep.cells), progress, n_before, "cells") as bar:
            try:
                for number, results in computed_tasks(tasks, n_jobs, cluster, time_limit):
                    _refuse_other_versions(tasks[number], results)
                    by_key |= results
                    # results that are not final are used for this table only
                    store.results.add({key: astuple(entry)[:-1] for key, entry in results.items() if entry.final})
                    bar.advance()
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_where_it_is(store, n_results)) from None
            except SweepStopped as error:
                raise SweepStopped(f"{error} {_where_it_is(store, n_results)}") from error
        table = _table(sweep, keys, by_key)
        content = io.BytesIO()
        table.write_parquet(content)
        store.write("table.parquet", content.getvalue())
        final = all(by_key[key].final for of_cell in keys for key in of_cell.values())
        store.describe(**facts, finished=final)
    return table


def _missing(sweep: Sweep, keys: list[dict[str, str]], results: dict[str, Measurement]) -> list[Cell]:
    """Cells with the metrics that have no result yet; of several cells with the same content, only the first."""
    tasks, known = [], set(results)
    for cell, of_cell in zip(sweep.cells, keys, strict=True):
        missing = [label for label, key in of_cell.items() if key not in known]
        # one label for each key, because two labels may stand for the same metric
        wanted = {of_cell[label]: label for label in reversed(missing)}
        if wanted:
            tasks.append(cell.only([label for label in missing if wanted[of_cell[label]] == label]))
            known.update(wanted)
    return tasks


def computed_tasks(
    tasks: Sequence[Cell],
    n_jobs: int,
    cluster: str | None = None,
    time_limit: float | None = None,
    idle: list[ProcessPoolExecutor] | None = None,
) -> Iterator[tuple[int, dict[str, Measurement]]]:
    """Compute tasks; yield the number and the results of each task when it is finished."""
    results: Generator[tuple[int, Any], None, None]
    if not tasks:
        return
    if cluster is not None:
        results = on_cluster(compute, tasks, cluster, time_limit)
    elif n_jobs == 1 and time_limit is None:
        results = ((number, compute(cell)) for number, cell in enumerate(tasks))
    else:
        results = in_processes(compute, tasks, n_jobs, time_limit, idle)
    try:
        with closing(results):
            for number, result in results:
                if isinstance(result, Lost):  # the next run tries the cell again
                    lost = partial(Measurement, value=math.nan, raw=math.nan, problem=result.reason, final=False)
                    result = {key: lost(label) for label, key in row_keys(tasks[number]).items()}
                yield number, result
    except UnweaveError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise SweepStopped(f"A cell could not be computed: {reason}.") from error


def compute(cell: Cell) -> dict[str, Measurement]:
    """Compute one cell, and return its results by key; this is the function that workers run."""
    keys = row_keys(cell)
    # inside a cell, no workers are started and every library uses one thread
    with joblib.parallel_config("threading", n_jobs=1), one_thread():
        # an error of the world, the encoder or the evidence must not stop other cells
        scores = result_or_reason(
            lambda: cell.protocol.scores(cell.world, cell.encoder, cell.n_rows, cell.seed, cell.metric_by_label), "cell"
        )
    if isinstance(scores, Finding):
        return {key: unmeasured(label, scores) for label, key in keys.items()}
    by_label = {entry.metric: entry for entry in scores}
    if by_label.keys() != keys.keys():
        raise SweepStopped(
            f"{type(cell.protocol).__name__} returned scores of {', '.join(by_label)} in place of {', '.join(keys)}."
        )
    return {key: by_label[label] for label, key in keys.items()}


def _refuse_other_versions(task: Cell, results: Iterable[str]) -> None:
    """Refuse results of a worker whose libraries, metric versions or defaults differ, which changes the keys."""
    if set(row_keys(task).values()) != set(results):
        raise SweepStopped(
            "A worker and this process use different versions of unweave, numpy, scipy or scikit-learn: install the "
            "same versions everywhere."
        )


def _where_it_is(store: Store, n_results: int) -> str:
    return f"Finished results (of {n_results}) are stored in {store.folder}: run the same sweep again to continue."


def _table(sweep: Sweep, keys: list[dict[str, str]], results: dict[str, Measurement]) -> pl.DataFrame:
    """One row for each cell and metric, in the order of the sweep; without times, which would differ between runs."""
    import polars as pl

    columns = [cell.columns for cell in sweep.cells]
    names = list(dict.fromkeys(name for entry in columns for name in entry))
    names = [name for name in names if name not in ("n_rows", "seed")] + ["n_rows", "seed"]
    rows = [
        (*(entry.get(name) for name in names), label, measurement.value, measurement.raw, measurement.problem)
        for entry, of_cell in zip(columns, keys, strict=True)
        for label, measurement in ((label, results[key]) for label, key in of_cell.items())
    ]
    by_column = zip([*names, *RESULT_COLUMNS], zip(*rows, strict=True), strict=True)
    numbers: dict[str, Any] = {"value": pl.Float64, "raw": pl.Float64, "problem": pl.String}
    return pl.DataFrame([pl.Series(name, values, numbers.get(name), strict=False) for name, values in by_column])
