"""The progress bar of everything that takes long; on a terminal only, and gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Progress:
    """Steps that are done, shown by a function of a text and of how many steps more are done."""

    def __init__(self, show: Callable[[str, int], None]) -> None:
        self._show, self._n_begun = show, 0

    def advance(self, n_steps: int = 1, text: str = "") -> None:
        """So many steps more are done."""
        self._show(text, n_steps)

    def step(self, text: str) -> None:
        """Begin the next step; those begun before are done."""
        self._show(text, min(self._n_begun, 1))
        self._n_begun += 1

    def counted_step(self, text: str, fewest: int) -> Callable[[int, int], None]:
        """Begin a step of many draws, whose number has to be told: it may end early, after the fewest at least.

        >>> progress = Progress(lambda text, done: print(done, text))
        >>> watch = progress.counted_step("noise floors", 19)
        0 noise floors
        >>> watch(3, 199)
        0 noise floors: draw 3 of 199, or of 19 if time is short
        >>> progress.step("verdicts")
        1 verdicts
        """
        self.step(text)

        def watch(number: int, of: int) -> None:
            short = f", or of {fewest} if time is short" if number <= fewest < of else ""
            self._show(f"{text}: draw {number} of {of}{short}", 0)

        return watch


@contextmanager
def progress_bar(n_steps: int, wanted: bool, n_before: int = 0, what: str = "") -> Iterator[Progress]:
    """Progress of so many steps, which nobody sees unless it is wanted and there is a terminal.

    Steps of an earlier run, ``n_before``, are not counted in the speed. ``what`` is shown until a step has a text.
    """
    if not wanted or n_before >= n_steps or not sys.stderr.isatty():
        yield Progress(lambda _text, _done: None)
        return
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.markup import escape

    columns = (
        "{task.description}",
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        "left",
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with rich_progress.Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task(what, total=n_steps, completed=n_before)
        yield Progress(lambda text, done: bar.update(task, description=escape(text) or None, advance=done))
