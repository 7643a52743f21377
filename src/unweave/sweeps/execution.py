"""`run`: compute the cells of a sweep that a folder does not hold yet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

from unweave.evidence import EvidenceError
from unweave.progress import progress_bar
from unweave.sweeps.keys import row_keys
from unweave.sweeps.protocol import Measurement, problem_of
from unweave.sweeps.store import Store
from unweave.sweeps.sweep import RESULT_COLUMNS, Cell, Sweep
from unweave.sweeps.threads import one_thread

if TYPE_CHECKING:
    import polars as pl


CELLS_IN_CLUSTER = 1000


class SweepStopped(EvidenceError):
    """A sweep that could not go on; the message says why, and where the finished cells are."""


def run(
    sweep: Sweep,
    folder: str | Path,
    *,
    n_jobs: int = 1,
    cluster: str | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Compute what the folder does not hold yet, and return the table.

    Every cell is written when it is finished. A run that was killed goes on where it was; a finished one only reads.
    The numbers do not depend on the number of workers nor on where they are.

    Parameters
    ----------
    sweep : Sweep
        What to compute.
    folder : path
        Where results are kept; one sweep a folder. Changed or added cells and metrics are computed, the others are
        not. ``table.parquet`` in it is what is returned.
    n_jobs : int
        Processes; -1 for one per core.
    cluster : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, whose workers compute instead.
    progress : bool
        Show a bar with the time left on a terminal.

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
    >>> sweep = grid("one", worlds=[Circuit()], encoders=[PermutedAndScaled()], metrics=["mcc"], n_rows=100, seeds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = run(sweep, folder)
    >>> table["value"].round(3).to_list()
    [1.0, 1.0]
    """
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise EvidenceError(f"n_jobs={n_jobs!r} is not a number of processes: use 1 or more, or -1 for all cores.")
    keys = [row_keys(cell) for cell in sweep.cells]
    with Store(folder, sweep.name) as store:
        tasks = _missing(sweep, keys, store.results)
        n_results = len({key for of_cell in keys for key in of_cell.values()})
        if tasks:
            store.write_manifest(len(sweep.cells), n_results, finished=False)
        n_before = len(sweep.cells) - len(tasks)
        with progress_bar(len(sweep.cells), progress, n_before, "cells") as bar:
            try:
                for number, results in _computed(tasks, n_jobs, cluster):
                    _refuse_other_versions(tasks[number], results)
                    store.add(results)
                    bar.advance()
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_where_it_is(store, n_results)) from None
            except SweepStopped as error:
                raise SweepStopped(f"{error} {_where_it_is(store, n_results)}") from error
        table = _table(sweep, keys, store.results)
        store.finish(table)
        final = all(store.results[key].final for of_cell in keys for key in of_cell.values())
        store.write_manifest(len(sweep.cells), n_results, finished=final)
    return table


def _missing(sweep: Sweep, keys: list[dict[str, str]], results: dict[str, Measurement]) -> list[Cell]:
    """Cells with the metrics that have no result yet; of cells with the same content, the first."""
    tasks, known = [], set(results)
    for cell, of_cell in zip(sweep.cells, keys, strict=True):
        missing = [label for label, key in of_cell.items() if key not in known]
        # one label for each key: two labels may stand for one and the same metric
        wanted = {of_cell[label]: label for label in reversed(missing)}
        if wanted:
            tasks.append(cell.only([label for label in missing if wanted[of_cell[label]] == label]))
            known.update(wanted)
    return tasks


def _computed(tasks: list[Cell], n_jobs: int, cluster: str | None) -> Iterator[tuple[int, dict[str, Measurement]]]:
    """Number and results of every task, in the order in which they are finished."""
    if not tasks:
        return
    with ExitStack() as stack:
        if cluster is not None:
            stack.enter_context(_on_cluster(cluster))
        elif n_jobs != 1:
            stack.enter_context(joblib.parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1))
        else:
            stack.enter_context(joblib.parallel_config("sequential", n_jobs=1))
        # one cell at a time, so that it is written when finished; workers that join a cluster later find some left
        ahead = "2*n_jobs" if cluster is None else CELLS_IN_CLUSTER
        parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=ahead)
        calls = (joblib.delayed(compute)(number, cell) for number, cell in enumerate(tasks))
        try:
            with closing(parallel(calls)) as found:
                yield from found
        except Exception as error:
            raise SweepStopped(_why_it_stopped(error)) from error


def compute(number: int, cell: Cell) -> tuple[int, dict[str, Measurement]]:
    """Results of one cell by key: what a worker does."""
    keys = row_keys(cell)
    # nothing inside a cell starts workers of its own, and no library more than one thread
    with joblib.parallel_config("threading", n_jobs=1), one_thread():
        try:
            found = cell.protocol.scores(cell.world, cell.encoder, cell.n_rows, cell.seed, cell.metric_by_label)
        except Exception as error:  # world, encoder or evidence: the other cells go on
            problem, final = problem_of(error)
            found = [Measurement(label, math.nan, math.nan, problem, math.nan, final) for label in keys]
    by_label = {entry.metric: entry for entry in found}
    if by_label.keys() != keys.keys():
        raise SweepStopped(
            f"{type(cell.protocol).__name__} gave {', '.join(by_label)} where {', '.join(keys)} were asked for."
        )
    return number, {key: by_label[label] for label, key in keys.items()}


@contextmanager
def _on_cluster(address: str) -> Iterator[None]:
    try:
        from distributed import Client
    except ImportError:
        raise EvidenceError("A cluster needs the package distributed: install unweave[cluster].") from None
    try:
        client = Client(address, timeout=10, set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise EvidenceError(f"No Dask scheduler answers at {address!r}: {' '.join(str(error).split())}") from None
    with client, joblib.parallel_config("dask", client=client) as config:
        # joblib computes in this process, not in the cluster, when there is only one core at the start
        cores = config["backend"].effective_n_jobs
        config["backend"].effective_n_jobs = lambda n_jobs: max(cores(n_jobs), 2)
        yield


def _refuse_other_versions(task: Cell, results: Iterable[str]) -> None:
    """A worker with another library, metric version or default gives another key: its numbers belong elsewhere."""
    if set(row_keys(task).values()) != set(results):
        raise SweepStopped(
            "A worker computes with other versions of unweave, numpy, scipy or scikit-learn than this process: "
            "install the same everywhere."
        )


def _why_it_stopped(error: Exception) -> str:
    if isinstance(error, SweepStopped):
        return str(error)
    if type(error).__name__ in ("TerminatedWorkerError", "KilledWorker", "BrokenProcessPool"):
        return "A worker process died in the middle of a cell (killed, or out of memory)."
    if isinstance(error, TimeoutError):
        return "The cluster has no workers: start some with `dask worker ADDRESS`."
    return f"A cell could not be computed: {type(error).__name__}: {' '.join(str(error).split())}."


def _where_it_is(store: Store, n_results: int) -> str:
    return f"What is finished, of {n_results} results, is kept in {store.folder}: run the same again to go on."


def _table(sweep: Sweep, keys: list[dict[str, str]], results: dict[str, Measurement]) -> pl.DataFrame:
    """One row for each cell and metric, in the order of the sweep; no times, which differ from run to run."""
    import polars as pl

    columns = [cell.columns for cell in sweep.cells]
    names = list(dict.fromkeys(name for entry in columns for name in entry))
    names = [name for name in names if name not in ("n_rows", "seed")] + ["n_rows", "seed"]
    rows = [
        (*(entry.get(name) for name in names), label, found.value, found.raw, found.problem)
        for entry, of_cell in zip(columns, keys, strict=True)
        for label, found in ((label, results[key]) for label, key in of_cell.items())
    ]
    by_column = zip([*names, *RESULT_COLUMNS], zip(*rows, strict=True), strict=True)
    numbers: dict[str, Any] = {"value": pl.Float64, "raw": pl.Float64, "problem": pl.String}
    return pl.DataFrame([pl.Series(name, values, numbers.get(name), strict=False) for name, values in by_column])
