"""`run`: compute the cells of a sweep that a folder does not contain yet."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

from unweave.evidence import EvidenceError
from unweave.progress import progress_bar
from unweave.sweeps.keys import row_keys
from unweave.sweeps.protocol import Measurement, problem_of
from unweave.sweeps.store import Store
from unweave.sweeps.sweep import RESULT_COLUMNS, Cell, Sweep
from unweave.sweeps.workers import Lost, SweepStopped, in_processes, on_cluster
from unweave.threads import one_thread

if TYPE_CHECKING:
    import polars as pl


def run(
    sweep: Sweep,
    folder: str | Path,
    *,
    n_jobs: int = 1,
    cluster: str | None = None,
    time_limit: float | None = None,
    progress: bool = False,
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
        Largest number of seconds for a cell. With a limit, cells run in separate processes even if ``n_jobs=1``.
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
    if time_limit is not None and (cluster is not None or not time_limit > 0):
        raise EvidenceError(
            f"time_limit={time_limit!r} is not a limit: use a number of seconds above 0, and None on a cluster."
        )
    keys = [row_keys(cell) for cell in sweep.cells]
    with Store(folder, sweep.name) as store:
        tasks = _missing(sweep, keys, store.results)
        n_results = len({key for of_cell in keys for key in of_cell.values()})
        if tasks:
            store.write_manifest(len(sweep.cells), n_results, finished=False)
        n_before = len(sweep.cells) - len(tasks)
        with progress_bar(len(sweep.cells), progress, n_before, "cells") as bar:
            try:
                for number, results in _computed(tasks, n_jobs, cluster, time_limit):
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


def _computed(
    tasks: list[Cell], n_jobs: int, cluster: str | None, time_limit: float | None
) -> Iterator[tuple[int, dict[str, Measurement]]]:
    """Compute tasks; yield the number and the results of each task when it is finished."""
    found: Generator[tuple[int, Any], None, None]
    if not tasks:
        return
    if cluster is not None:
        found = on_cluster(compute, tasks, cluster)
    elif n_jobs == 1 and time_limit is None:
        found = ((number, compute(cell)) for number, cell in enumerate(tasks))
    else:
        found = in_processes(compute, tasks, n_jobs, time_limit)
    try:
        with closing(found):
            for number, result in found:
                yield number, _failed(tasks[number], result.reason) if isinstance(result, Lost) else result
    except EvidenceError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise SweepStopped(f"A cell could not be computed: {reason}.") from error


def compute(cell: Cell) -> dict[str, Measurement]:
    """Compute one cell, and return its results by key; this is the function that workers run."""
    keys = row_keys(cell)
    # inside a cell, no workers are started and every library uses one thread
    with joblib.parallel_config("threading", n_jobs=1), one_thread():
        try:
            found = cell.protocol.scores(cell.world, cell.encoder, cell.n_rows, cell.seed, cell.metric_by_label)
        except Exception as error:  # an error of the world, the encoder or the evidence must not stop other cells
            return _failed(cell, *problem_of(error))
    by_label = {entry.metric: entry for entry in found}
    if by_label.keys() != keys.keys():
        raise SweepStopped(
            f"{type(cell.protocol).__name__} returned scores of {', '.join(by_label)} in place of {', '.join(keys)}."
        )
    return {key: by_label[label] for label, key in keys.items()}


def _failed(cell: Cell, problem: str, final: bool = False) -> dict[str, Measurement]:
    """Results of a cell that failed: nan with the problem; if it is not final, the next run tries the cell again."""
    keys = row_keys(cell)
    return {key: Measurement(label, math.nan, math.nan, problem, math.nan, final) for label, key in keys.items()}


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
        (*(entry.get(name) for name in names), label, found.value, found.raw, found.problem)
        for entry, of_cell in zip(columns, keys, strict=True)
        for label, found in ((label, results[key]) for label, key in of_cell.items())
    ]
    by_column = zip([*names, *RESULT_COLUMNS], zip(*rows, strict=True), strict=True)
    numbers: dict[str, Any] = {"value": pl.Float64, "raw": pl.Float64, "problem": pl.String}
    return pl.DataFrame([pl.Series(name, values, numbers.get(name), strict=False) for name, values in by_column])
