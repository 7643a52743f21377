"""The progress bar of a training: steps done of all models, and how long the rest will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(n_steps: int, n_before: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps that were done; on a terminal a bar, elsewhere nothing."""
    if not wanted or n_before == n_steps or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %, left"),
        TimeRemainingColumn(),
        TextColumn("so far"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=120) as bar:
        # steps of earlier runs are not counted in the speed: the bar starts from them
        task = bar.add_task("", total=n_steps, completed=n_before)
        yield lambda done: bar.advance(task, done)
