"""The progress bar of an audit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(n_cases: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """A function to call after each case; on a terminal a bar, elsewhere nothing."""
    if not wanted or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("cases", total=n_cases)
        yield lambda: bar.advance(task)
