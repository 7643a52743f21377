"""Options in words, files that can be written, and how commands end."""

import io
import json
import math
import signal
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from click.testing import CliRunner
from rich.rule import Rule
from rich.text import Text
from scipy.stats import spearmanr

from unweave import FileError, InputError, Score
from unweave.cli import main
from unweave.cli.demos import scene_encoders
from unweave.cli.score import _distinct_labels
from unweave.cli.terminal import (
    check_page,
    check_picture,
    check_writable,
    image_shape_in,
    kinds_in,
    names_in,
    one_sentence_errors,
    print_wide,
    resumable,
    show,
)
from unweave.synthetic.encoders import Mixed, Noise


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (None, None),
        ("", None),
        ("ordinal", "ordinal"),
        ("ordinal, circular:360", ["ordinal", "circular:360"]),
        ("x=ordinal", {"x": "ordinal"}),
        ("x = ordinal,y=circular:360", {"x": "ordinal", "y": "circular:360"}),
        ("a=b=ordinal", {"a=b": "ordinal"}),
        ("x=ordinal,circular", {"x": "ordinal", "": "circular"}),
    ],
)
def test_kinds_for_all_for_each_or_by_name(text, kinds):
    assert kinds_in(text) == kinds


def test_names_are_separated_by_commas():
    assert names_in(" a, b c,,d ") == ["a", "b c", "d"]
    assert names_in(None) == names_in(" , ") == []


@pytest.mark.parametrize("text", ["1,28,20", " 3, 1 ,64", "1,1,1"])
def test_shapes_of_images(text):
    assert image_shape_in(None, None, text) == tuple(map(int, text.split(",")))
    assert image_shape_in(None, None, None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,28", "is not three whole numbers"),
        ("1,28,28,1", "is not three whole numbers"),
        ("1,28,0", "is not three whole numbers"),
        ("1,-2,28", "is not three whole numbers"),
        ("1,a,28", "is not three whole numbers"),
        ("2,28,28", "2 channels cannot be drawn"),
        ("4,28,28", "4 channels cannot be drawn"),
    ],
)
def test_shapes_that_no_image_has(text, message):
    with pytest.raises(click.BadParameter, match=message):
        image_shape_in(None, None, text)


def test_files_that_cannot_be_written(tmp_path):
    given = tmp_path / "codes.npz"
    given.write_bytes(b"")
    check_writable(None, tmp_path / "new.html", given, inputs=[None, tmp_path / "other.npz"])
    for path, problem in (
        (given, "it is one of the files that are read"),
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "page.html", "there is no folder"),
    ):
        with pytest.raises(FileError, match=f"cannot be written: {problem}"):
            check_writable(path, inputs=[given])


def test_pictures_and_pages_end_as_they_should(tmp_path):
    check_picture(None)
    check_page(None)
    for ending in ("png", "pdf", "svg"):
        check_picture(tmp_path / f"a.{ending}")
    for ending in ("html", "htm"):
        check_page(tmp_path / f"a.{ending}")
    with pytest.raises(FileError, match=r"does not end in \.png, \.pdf or \.svg"):
        check_picture(tmp_path / "a.html")
    with pytest.raises(FileError, match=r"does not end in \.html"):
        check_page(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        (KeyboardInterrupt(), "Interrupted: run the same command again to continue from the last checkpoint.\n"),
        (KeyboardInterrupt("Stopped after 3 steps."), "Stopped after 3 steps.\n"),
    ],
)
def test_an_interruption_is_one_sentence(capsys, stopped, said):
    with pytest.raises(SystemExit) as ended, resumable():
        raise stopped
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", said)


def test_being_terminated_is_one_sentence(capsys):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, resumable("Nothing was written."):
        signal.raise_signal(signal.SIGTERM)
    assert (ended.value.code, capsys.readouterr()) == (143, ("", "Nothing was written.\n"))
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("The rows\n do not pair up."), "Error: The rows do not pair up.\n"),
        (ModuleNotFoundError("none", name="matplotlib"), "This needs matplotlib, which is not installed"),
    ],
)
def test_bad_input_is_one_sentence(capsys, error, said):
    with pytest.raises(SystemExit) as ended, one_sentence_errors():
        raise error
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyError("a"), ModuleNotFoundError("none", name="nowhere")])
def test_other_errors_keep_their_traceback(error):
    with pytest.raises(type(error)), one_sentence_errors():
        raise error


def test_representations_are_named_by_their_files(capsys):
    assert _distinct_labels((Path("a/x.npz"), Path("b/y.npz"))) == ["x", "y"]
    assert _distinct_labels((Path("a/x.npz"), Path("b/x.npz"))) == ["a", "b"]
    with pytest.raises(SystemExit):
        _distinct_labels((Path("a/x.npz"), Path("a/x.npz")))
    assert "A file is named twice" in capsys.readouterr().err


def test_the_encoders_of_the_demonstration_are_what_their_names_say():
    factors, codes = scene_encoders(200)
    columns = np.column_stack(list(factors.values()))
    assert {name: table.shape[1] for name, table in codes.items()} == {
        "one code each": 4,
        "rotated": 4,
        "without hue": 3,
        "noise": 4,
    }
    ranks = np.abs(spearmanr(columns, codes["one code each"]).statistic[:4, 4:])
    assert ranks.max(axis=1) == pytest.approx(1.0)  # permuted, and every curve increases
    kept = np.abs(np.corrcoef(columns, codes["without hue"], rowvar=False)[:4, 4:]).max(axis=1)
    assert kept[[0, 2, 3]] == pytest.approx(1.0)
    assert kept[1] < 0.3
    assert codes["rotated"] == pytest.approx(Mixed().encode(columns, 3))
    assert np.array_equal(codes["noise"], Noise(4).encode(columns, 3))


class Terminal(io.StringIO):
    """A terminal of 40 columns that is written to."""

    def isatty(self):
        return True


class Wide:
    """An evaluation with a line that is longer than the terminal."""

    def __init__(self, *scores):
        self.rows = [SimpleNamespace(score=score, problem="It failed.") for score in scores]
        self.data = SimpleNamespace(notes=())

    def __rich_console__(self, console, options):
        yield Text("1" * 60, no_wrap=True, overflow="ignore")
        yield "2 codes"

    def __str__(self):
        return "as text"

    def to_json(self):
        return "as data"


def test_an_evaluation_on_a_terminal_is_neither_cut_nor_coloured(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(Wide(0.5), as_json=False)
    assert terminal.getvalue() == "1" * 60 + "\n2 codes\n"


def test_an_evaluation_is_printed_as_text_or_data_and_fails_without_scores(capsys):
    show(Wide(None, 0.5), as_json=False)
    show(Wide(0.5, None), as_json=True)
    assert capsys.readouterr().out == "as text\nas data\n"
    with pytest.raises(SystemExit) as ended:
        show(Wide(None, None), as_json=False)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "Error: No metric could be computed: It failed.\n"


def test_tables_have_140_columns_and_numbers_no_colours(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_wide("3 codes")
    print_wide(Rule(style=""))
    assert capsys.readouterr().out == "3 codes\n" + "─" * 140 + "\n"


def test_the_list_of_metrics_has_100_columns_and_whole_names(monkeypatch):
    card = SimpleNamespace(name="n" * 60, measures="explicitness", summary="1 and 2 " * 30)
    monkeypatch.setattr("unweave.metrics.CATALOGUE", {"n": SimpleNamespace(card=card)})
    monkeypatch.setenv("FORCE_COLOR", "1")
    printed = CliRunner().invoke(main, ["metrics"]).stdout
    assert "1 and 2" in printed  # numbers are not coloured
    lines = [Text.from_ansi(line).plain for line in printed.splitlines()[:-1]]
    assert max(map(len, lines)) == 100
    assert [line[:63] for line in lines if "nnn" in line] == ["   " + "n" * 60]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("unweave.evaluation.concepts.concept_report", ["score", "both.npz", "--metrics", "concepts", "--json"]),
        ("unweave.metrics.concepts.dictionary_matching", ["dictionaries", "a.npy", "a.npy", "--json"]),
        ("unweave.evaluation.unlabelled.unlabelled", ["unlabelled", "both.npz", "--json"]),
    ],
)
def test_json_is_strict(tmp_path, monkeypatch, function, arguments):
    monkeypatch.chdir(tmp_path)
    table = np.random.default_rng(0).integers(0, 2, size=(30, 2))
    np.savez("both.npz", factors=table, codes=table)
    np.save("a.npy", table)
    numbers = dict.fromkeys(("first", "second", "cosines"), np.zeros(2))
    found = SimpleNamespace(to_dict=lambda: {"a": math.nan}, mean_cosine=math.nan, chance=0.0, **numbers)
    monkeypatch.setattr(function, lambda *_, **__: found)
    ended = CliRunner().invoke(main, arguments)
    if ended.exit_code == 0:
        assert json.loads(ended.stdout)["mean_cosine"] is None
        return
    assert isinstance(ended.exception, ValueError), ended.output
    assert "not JSON compliant" in str(ended.exception)


def test_a_score_is_strict_json(monkeypatch):
    monkeypatch.setattr(Score, "to_dict", lambda self: {"value": math.nan})
    with pytest.raises(ValueError, match="not JSON compliant"):
        Score(0.5).to_json()
