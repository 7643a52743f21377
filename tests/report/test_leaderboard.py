"""Models by questions, from a folder of saved evaluations."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import FileError, compare, evaluate
from unweave.cli import main
from unweave.report.leaderboard import LADDER, BoardScore, _best, leaderboard
from unweave.trust.verdict_record import Level


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(400, 2))
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    where = tmp_path_factory.mktemp("board")
    (where / "runs").mkdir()
    options = {"metrics": ["identification", "r2"], "factor_names": ["size", "hue"], "budget": 3}
    evaluate(factors, factors, **options).save(where / "runs" / "own.json")
    compare(factors, {"turned": factors @ turn, "noise": rng.normal(size=(400, 2))}, **options).save(where / "two.json")
    evaluate(factors, factors, metrics=["r2"], quick=True, factor_names=["pitch", "loudness"]).save(
        where / "tones.json"
    )
    (where / "other.json").write_text("{}")
    return where


def test_models_with_the_same_factors_share_a_board_in_the_order_of_the_ladder(folder):
    found = leaderboard(folder)
    assert [board.factors for board in found.boards] == [("size", "hue"), ("pitch", "loudness")]
    assert [each.model for each in found.boards[0].standings] == ["runs/own", "two: turned", "two: noise"]
    assert [each.cells[LADDER].best for each in found.boards[0].standings] == [True, False, False]
    assert list(found.skipped) == ["other.json"]


def test_cells_are_those_of_the_evaluation(folder):
    noise = leaderboard(folder).boards[0].standings[2].cells
    assert noise["Are the factors readable?"].level is Level.NOISE
    own = leaderboard(folder).boards[0].standings[0].cells["Are the factors readable?"]
    assert own.value == pytest.approx(1)
    assert own.level is Level.TRUST
    assert own.low <= own.value <= own.high


def cells(*numbers, level=Level.TRUST):
    return [BoardScore("mcc", value, value - reach, value + reach, level=level) for value, reach in numbers]


def test_the_best_is_marked_with_what_ties_only_where_something_differs():
    assert _best(cells((0.9, 0.05), (0.88, 0.05), (0.5, 0.05))) == [True, True, False]
    assert _best(cells((0.9, 0.05), (0.88, 0.05))) == [False, False]  # nothing differs
    assert _best([*cells((0.9, 0.05), (0.5, 0.05)), BoardScore("mcc", 0.95)]) == [False] * 3  # not tested
    assert _best([*cells((0.8, 0.05), (0.5, 0.05)), *cells((0.9, 0.01), level=Level.NOISE)]) == [True, False, False]
    # Holm over four rivals: a gap of 2.2 standard errors is significant alone (p = .028) and not among four
    gap = 2.2 * math.hypot(0.02, 0.02) / 1.959964
    assert _best(cells((0.9, 0.02), (0.9 - gap, 0.02))) == [True, False]
    assert _best(cells((0.9, 0.02), *[(0.9 - gap, 0.02)] * 4, (0.1, 0.02))) == [True] * 5 + [False]


def test_frame_markdown_page_and_command_say_the_same(folder, tmp_path):
    found = leaderboard(folder)
    frame = found.to_frame().filter(question=LADDER)
    value = found.boards[0].standings[0].cells[LADDER].value
    assert frame["value"][0] == value
    shown = f"{value:.2f}*"
    page = found.to_html(tmp_path / "page.html")
    assert shown in found.to_markdown()
    assert shown in str(found)
    assert f"<b>{shown}" in page
    assert (tmp_path / "page.html").read_text() == page
    assert "<script" not in page
    ran = CliRunner().invoke(main, ["leaderboard", str(folder), "--json"])
    assert json.loads(ran.output)["boards"][0]["standings"][0]["cells"][LADDER]["value"] == pytest.approx(value)
    ran = CliRunner().invoke(main, ["leaderboard", str(folder), "--markdown", str(tmp_path / "board.md")])
    assert shown in ran.output
    assert (tmp_path / "board.md").read_text() == found.to_markdown()


def test_hostile_names_are_text(tmp_path):
    z = np.arange(60.0).reshape(30, 2) % 7
    evaluate(z, z, metrics=["r2"], quick=True, factor_names=["<b>|a", "b"]).save(tmp_path / "<i>.json")
    found = leaderboard(tmp_path)
    assert "<i>" not in found.to_html()
    assert "<b>|a" not in found.to_html()
    assert len({line.count(" | ") for line in found.to_markdown().splitlines() if line.startswith("|")}) == 1


@pytest.mark.parametrize("make", ["nothing", "empty", "other"])
def test_a_folder_without_evaluations(tmp_path, make):
    folder = tmp_path / "folder"
    if make != "nothing":
        folder.mkdir()
    if make == "other":
        (folder / "a.json").write_text("[]")
    with pytest.raises(FileError, match=r"Evaluation\.save"):
        leaderboard(folder)


def test_evaluations_that_answer_no_question_are_left_out(tmp_path):
    columns = np.random.default_rng(0).normal(size=(60, 2))
    evaluate(columns, columns, metrics=["mcc"], quick=True).save(tmp_path / "one.json")
    with pytest.raises(FileError, match=r"has no evaluation .It answers no question"):
        leaderboard(tmp_path)
