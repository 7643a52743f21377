"""Cells and sentences of tables that depend on a threshold, on both sides of it."""

import math

import pytest

from unweave import Unlabelled
from unweave.auditing.run import _short
from unweave.evaluation.results import GroupedScore
from unweave.evaluation.unlabelled import RunFacts, RunPair
from unweave.report import html
from unweave.report import tables as grouped_table
from unweave.report import tables as runs
from unweave.report import tables as unlabelled_table
from unweave.report.markdown import _fenced
from unweave.report.summary import _domain


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (10.5, "total_entropy", "10.500"),
        (-0.25, "mcc", "-.250"),
        (0.25, "mcc", ".250"),
        (1.0, "mcc", "1.000"),
        (0.25, "kl", "0.2"),
        (12.34, "active_codes", "12.3"),
        (math.nan, "mcc", "-"),
    ],
)
def test_numbers_of_runs(value, column, text):
    assert runs._run_number(value, column) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, ".50"), (-0.5, "-.50"), (0.004, "0"), (-0.004, "0"), (1.25, "1.25"), (10.5, "10.50"), (math.inf, "∞"),
     (-math.inf, "-∞"), (math.nan, "nan")],
)  # fmt: skip
def test_numbers_of_audits(number, text):
    assert _short(number) == text


def test_a_setting_of_one_seed_has_no_spread():
    def cell(mean, std, letters=""):
        return grouped_table._cell(GroupedScore("a", (mean,), mean, std, math.nan, math.nan, letters))

    assert cell(0.5, math.nan) == "0.500"
    assert cell(0.5, 0.25, "ab") == "0.500 ± 0.250 ab"
    assert cell(math.nan, math.nan) == grouped_table.fixed(None)


def pair(matched, linear=0.0, chance=0.1, name="b"):
    return RunPair("a", name, matched, chance, linear, 0.5, {})


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (pair(0.91), "learned the same codes"),
        (pair(0.9, linear=0.91), "agree up to a linear map"),
        (pair(0.9, linear=0.9), "agree partly"),
        (pair(0.149), "no more in common than unrelated codes"),
        (pair(0.151), "agree partly"),
        (pair(math.nan), "no active code"),
    ],
)
def test_agreement_of_runs_is_put_into_words(found, words):
    assert words in unlabelled_table._meaning((found,))


@pytest.mark.parametrize("n_pairs", [15, 16, 30])
def test_of_many_pairs_of_runs_the_best_and_the_worst_are_shown(n_pairs):
    pairs = tuple(pair(0.2 + 0.01 * k, name=f"run{k}") for k in range(n_pairs))
    text = str(Unlabelled(100, {"a": RunFacts(3, 2, math.inf)}, pairs))
    shown = [word for word in text.replace(",", " ").split() if word.startswith("run") and word[3:].isdigit()]
    order = [f"run{k}" for k in reversed(range(n_pairs))]
    assert shown == (order if n_pairs == 15 else [*order[:7], *order[-7:]])
    assert ("not shown" in text) == (n_pairs > 15)
    if n_pairs > 15:
        assert f"{n_pairs - 14} pairs with intermediate agreement" in text
    assert " inf " in text


def test_dots_of_a_pair_are_within_their_box():
    many = [k / 20 for k in range(21)]
    assert html._dots({"x": many, "y": [1.0] * 21}) == "".join(f"M{90 * x:.0f} 0h0" for x in many)
    few = [float(dot.split()[0]) for dot in html._dots({"x": [0.0, 1.0] * 50, "y": [0.5] * 100}).split("M")[1:]]
    assert len(set(few)) > 10  # dots of few values do not hide each other
    assert max(few[::2]) <= 11 < 79 <= min(few[1::2]) <= max(few) <= 90


def cell(value, floor=None, interval=None, **per_factor):
    return {"value": value, "floor": floor, "interval": interval, "per_factor": per_factor}


@pytest.mark.parametrize(
    ("cells", "bounds", "ends"),
    [
        ([cell(0.4)], (0.0, 1.0), [0.0, 1.0]),
        ([cell(0.4), cell(3.0)], (0.0, math.inf), [0.0, 3.0]),
        ([cell(2.0, {"low": -1.0, "high": 1.0}, {"low": 1.5, "high": 4.0})], (-math.inf, math.inf), [-1.0, 4.0]),
        ([cell(2.0, a=-3.0, b=math.inf, c=5.0)], (-math.inf, math.inf), [-3.0, 5.0]),
        ([cell(None)], (0.0, math.inf), [0.0, 1.0]),
        ([cell(0.2)], (0.2, math.inf), [0.2, 1.2]),
        ([cell(-2.0)], (-math.inf, math.inf), [-2.0, 0.0]),
    ],
)
def test_ends_of_an_axis(cells, bounds, ends):
    assert _domain(cells, bounds) == ends


@pytest.mark.parametrize(("text", "fence"), [("a", "```"), ("a ``` b", "````"), ("`` `````", "``````")])
def test_a_fence_is_longer_than_what_it_fences(text, fence):
    assert _fenced("json", text) == f"{fence}json\n{text}\n{fence}"
