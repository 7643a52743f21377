"""The progress bar of a sweep: how many cells are done, and how long the rest will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(n_cells: int, n_before: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """A function to call after each cell; on a terminal a bar with the time left, elsewhere nothing."""
    if not wanted or n_before == n_cells or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("cells"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("so far"),
        TimeElapsedColumn(),
    )
    # cells of earlier runs are not counted in the speed: the bar starts from them
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task("", total=n_cells, completed=n_before)
        yield lambda: bar.advance(task)
