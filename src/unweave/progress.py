"""The progress bar for terminals and notebooks: it appears after two seconds and disappears at the end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from unweave.randomness import import_without_drawing

SECONDS_BEFORE_SHOWN = 2.0


class Progress:
    """Reports finished steps: calls ``show`` with a text and the number of steps finished since the previous call.

    Steps may have different weights, such as their expected seconds.
    """

    def __init__(self, show: Callable[[str, float], None]) -> None:
        self._show_below, self._begun, self._results = show, 0.0, ""

    def _show(self, text: str, done: float) -> None:
        self._show_below(f"{self._results}\n{text}" if self._results and text else text, done)

    def results(self, lines: str) -> None:
        """Show first results above the texts of all steps that follow.

        >>> progress = Progress(lambda text, done: print(text))
        >>> progress.results("mcc 0.83")
        >>> progress.step("noise floors")
        mcc 0.83
        noise floors
        """
        self._results = lines

    def advance(self, n_steps: int = 1, text: str = "") -> None:
        """Report that this many more steps are finished."""
        self._show(text, n_steps)

    def step(self, text: str, weight: float = 1) -> None:
        """Begin the next step; the step before it counts as finished."""
        self._show(text, self._begun)
        self._begun = weight

    def counted_step(self, text: str, weight: float = 1) -> Callable[[int, int], None]:
        """Begin a step of many draws; call the returned function with the number of each draw and their total.

        >>> progress = Progress(lambda text, done: print(done, text))
        >>> watch = progress.counted_step("noise floors", weight=10)
        0.0 noise floors
        >>> watch(1, 5), watch(3, 5)
        0.0 noise floors: draw 1 of 5
        4.0 noise floors: draw 3 of 5
        (None, None)
        >>> progress.step("verdicts")
        6.0 verdicts
        """
        self.step(text, weight)

        def watch(number: int, of: int) -> None:
            left = weight * (1 - (number - 1) / of)
            self._show(f"{text}: draw {number} of {of}", self._begun - left)
            self._begun = left

        return watch


@contextmanager
def progress_bar(
    n_steps: float, wanted: bool, n_before: int = 0, what: str = "", in_seconds: bool = False
) -> Iterator[Progress]:
    """Progress over ``n_steps`` steps, shown if ``wanted``, after two seconds, on a terminal or in a notebook.

    ``n_before`` steps of an earlier run are not counted in the speed. ``what`` is shown until a step has a text. With
    ``in_seconds`` the bar shows a percentage instead of the number of steps.
    """
    shell = sys.modules.get("IPython")
    notebook = shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
    if not wanted or n_before >= n_steps or not (notebook or sys.stderr.isatty()):
        yield Progress(lambda _text, _done: None)
        return
    import_without_drawing("rich.style")
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.markup import escape

    columns = (
        "{task.description}",
        rich_progress.BarColumn(),
        rich_progress.TaskProgressColumn() if in_seconds else rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        "left",
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True, force_jupyter=False, quiet=notebook)
    bar = rich_progress.Progress(*columns, console=console, transient=True, speed_estimate_period=120)
    task = bar.add_task(what, total=n_steps, completed=n_before)
    line = _NotebookLine() if notebook else None
    show_it = bar.start if line is None else line.start
    later = threading.Timer(SECONDS_BEFORE_SHOWN, show_it)
    later.daemon = True
    if SECONDS_BEFORE_SHOWN:
        later.start()
    else:
        show_it()

    def show(text: str, done: float) -> None:
        bar.update(task, description=escape(text) or None, advance=done)
        if line is not None:
            line.write(text, bar.tasks[0].percentage, bar.tasks[0].time_remaining)

    try:
        yield Progress(show)
    finally:
        later.cancel()
        bar.stop()
        if line is not None:
            line.clear()


class _NotebookLine:
    """A line of text below the cell that is updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._started = False

    def start(self) -> None:
        """Show the texts that are written from now on."""
        self._started = True

    def write(self, text: str, percentage: float, seconds_left: float | None) -> None:
        """Replace the line."""
        if not self._started:
            return
        from IPython.display import display

        left = "" if seconds_left is None else f", {seconds_left:.0f} s left"
        content = {"text/plain": f"{percentage:.0f} % {text}{left}"}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
