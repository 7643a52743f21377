"""The progress bar: on the terminal of errors alone, so that it never gets into what a command prints."""

import sys

import pytest

from unweave.progress import progress_bar


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
    with progress_bar(3, wanted, n_before) as progress:
        progress.step("first")
    assert capsys.readouterr() == ("", "")


def test_what_is_soon_done_shows_no_bar(monkeypatch, capsys):
    as_a_terminal(monkeypatch)
    with progress_bar(3, wanted=True) as progress:
        progress.step("first")
    assert capsys.readouterr() == ("", "")
