"""score, compare and report write pages; files that cannot be read or written lead to an error of one sentence."""

import json
import os

import numpy as np
import pytest
from click.testing import CliRunner

from unweave.cli import main

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(80, 2))


@pytest.fixture
def data(tmp_path):
    np.savez(tmp_path / "one.npz", factors=FACTORS, codes=FACTORS[:, ::-1])
    np.savez(tmp_path / "two.npz", factors=FACTORS, codes=RNG.normal(size=(80, 3)))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_score_writes_the_pages_and_still_prints_the_table(data):
    pages = [data / "a.html", data / "a.md", data / "a.json"]
    result = run(
        "score", data / "one.npz", "--metrics", "mcc", "--html", pages[0], "--markdown", pages[1], "--summary", pages[2]
    )
    assert result.exit_code == 0
    assert "1.000" in result.output
    assert all(f"wrote {page}" in result.stderr for page in pages)
    assert pages[0].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert pages[1].read_text(encoding="utf-8").startswith("# ")
    assert json.loads(pages[2].read_text(encoding="utf-8"))["schema"] == "unweave.report/3"


def test_compare_writes_a_page_of_all(data):
    result = run(
        "compare", data / "one.npz", data / "two.npz", "--metrics", "mcc", "--summary", data / "a.json", "--json"
    )
    assert result.exit_code == 0
    summary = json.loads((data / "a.json").read_text(encoding="utf-8"))
    assert [cell["representation"] for cell in summary["metrics"][0]["cells"]] == ["one", "two"]
    json.loads(result.stdout)  # messages about files are not part of the JSON


def test_report_of_a_saved_evaluation_is_that_of_the_evaluation(data):
    saved = run("score", data / "one.npz", "--metrics", "mcc,mig", "--json", "--summary", data / "a.json")
    (data / "saved.json").write_text(saved.stdout, encoding="utf-8")
    assert run("report", data / "saved.json", "--summary", data / "b.json", "--html", data / "b.html").exit_code == 0
    direct, again = (json.loads((data / name).read_text(encoding="utf-8")) for name in ("a.json", "b.json"))
    assert direct == again
    assert (data / "b.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["report", "none.json"], "There is no report to write: name a file with --html"),
        (["report", "none.json", "--html", "a.html"], "none.json cannot be read: No such file"),
        (["report", "one.npz", "--html", "a.html"], "one.npz cannot be read: it is not text"),
        (
            ["score", "one.npz", "--metrics", "mcc", "--html", "no/such/a.html"],
            "a.html cannot be written: there is no folder",
        ),
    ],
)
def test_errors_are_one_sentence(data, monkeypatch, arguments, sentence):
    monkeypatch.chdir(data)
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", ["--html", "--markdown", "--summary"])
@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("target", ["no/such/page", "."])
def test_files_that_cannot_be_written_are_refused_before_computing(data, monkeypatch, command, option, target):
    monkeypatch.chdir(data)
    monkeypatch.setattr("unweave.evaluation.loop._row", lambda *_: pytest.fail("something was computed"))
    result = run(command, "one.npz", "--metrics", "mcc", option, target)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "cannot be written" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_without_permission_is_refused_and_kept(data, monkeypatch):
    (data / "kept.html").write_text("kept")
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)  # root may write everywhere
    result = run("score", data / "one.npz", "--metrics", "mcc", "--html", data / "kept.html")
    assert result.exit_code == 2
    assert "kept.html cannot be written: permission denied; name another file." in result.stderr
    assert (data / "kept.html").read_text() == "kept"
