"""The progress bar is written to stderr only, so that it is never part of a command's output."""

import sys
import threading
import types

import pytest
from rich import console as rich_console
from rich import progress as rich_progress

from unweave.progress import Progress, progress_bar


def as_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")


def test_the_bar_is_not_part_of_the_output(monkeypatch, capsys):
    as_a_terminal(monkeypatch)
    monkeypatch.setattr("unweave.progress.SECONDS_BEFORE_SHOWN", 0)
    with progress_bar(3, wanted=True, what="cells") as progress:
        progress.advance(text="noise [floors]")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "noise [floors]" in printed.err
    assert "1/3" in printed.err


@pytest.mark.parametrize(("wanted", "n_before"), [(False, 0), (True, 3)])
def test_nothing_is_shown_where_nobody_asked_or_nothing_is_left(monkeypatch, capsys, wanted, n_before):
    as_a_terminal(monkeypatch)
    monkeypatch.setattr("unweave.progress.SECONDS_BEFORE_SHOWN", 0)
    with progress_bar(3, wanted, n_before) as progress:
        progress.step("first")
    assert capsys.readouterr() == ("", "")


def test_what_is_soon_done_shows_no_bar(monkeypatch, capsys):
    as_a_terminal(monkeypatch)
    with progress_bar(3, wanted=True) as progress:
        progress.step("first")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("in_notebook", [False, True])
def test_the_bar_goes_at_the_end_and_counts_two_minutes_for_its_speed(monkeypatch, request, in_notebook):
    if in_notebook:
        request.getfixturevalue("notebook")
    as_a_terminal(monkeypatch)
    made = {}

    def noted(name):
        kind = getattr(rich_console if name == "Console" else rich_progress, name)

        def make(*parts, **options):
            made[name] = options
            return kind(*parts, **options)

        return make

    monkeypatch.setattr(rich_progress, "Progress", noted("Progress"))
    monkeypatch.setattr(rich_console, "Console", noted("Console"))
    with progress_bar(3, wanted=True):
        pass
    assert made["Console"] == {"stderr": True, "force_jupyter": False, "quiet": in_notebook}
    del made["Progress"]["console"]
    assert made["Progress"] == {"transient": True, "speed_estimate_period": 120}


def test_steps_that_were_begun_are_done_with_their_weight():
    shown = []
    progress = Progress(lambda text, done: shown.append((text, done)))
    progress.step("first")
    progress.step("second", weight=5)
    progress.step("third")
    progress.advance()
    progress.advance(3, "more")
    assert shown == [("first", 0.0), ("second", 1), ("third", 5), ("", 1), ("more", 3)]


def test_the_bar_waits_for_two_seconds_and_never_keeps_the_process(monkeypatch):
    timers = []

    class Timer:
        daemon = False

        def __init__(self, seconds, function):
            self.seconds, self.events = seconds, []
            timers.append(self)

        def start(self):
            self.events.append("start")

        def cancel(self):
            self.events.append("cancel")

    as_a_terminal(monkeypatch)
    monkeypatch.setattr(threading, "Timer", Timer)
    with progress_bar(3, wanted=True):
        pass
    assert [(timer.seconds, timer.daemon, timer.events) for timer in timers] == [(2.0, True, ["start", "cancel"])]


def test_steps_in_seconds_are_a_percentage(monkeypatch, capsys):
    as_a_terminal(monkeypatch)
    monkeypatch.setattr("unweave.progress.SECONDS_BEFORE_SHOWN", 0)
    with progress_bar(8, wanted=True, in_seconds=True, n_before=2, what="floors") as progress:
        progress.advance(4)
    printed = capsys.readouterr().err
    assert "floors" in printed
    assert "75%" in printed
    assert "6/8" not in printed


@pytest.fixture
def notebook(monkeypatch):
    """A replacement of IPython in a notebook that records everything it displays."""
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append((content["text/plain"], raw, "updated"))

    def display(content, raw, display_id):
        shown.append((content["text/plain"], raw, display_id))
        return Handle()

    shell = type("ZMQInteractiveShell", (), {})()
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: shell
    displays = types.ModuleType("IPython.display")
    displays.display = display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return shown


def test_a_notebook_has_one_line_that_changes_and_goes(monkeypatch, notebook, capsys):
    monkeypatch.setattr("unweave.progress.SECONDS_BEFORE_SHOWN", 0)
    with progress_bar(4, wanted=True) as progress:
        progress.advance(1, "floors")
        progress.advance(1, "verdicts")
    first, second, last = notebook
    assert first[0].startswith("25 % floors")
    assert first[1:] == (True, True)
    assert second[0].startswith("50 % verdicts")
    assert second[1:] == (True, "updated")
    assert last == ("", True, "updated")
    assert capsys.readouterr() == ("", "")


def test_a_notebook_shows_nothing_of_what_is_soon_done(notebook):
    with progress_bar(4, wanted=True) as progress:
        progress.advance(1, "floors")
    assert notebook == []
