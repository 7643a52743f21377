"""The page of a comparison of settings says what its table for a paper says."""

import dataclasses
import re

import numpy as np
import pytest

from unweave import compare
from unweave.evaluation import Evaluation
from unweave.findings import Finding
from unweave.report.answer import answer_of, compared_answer
from unweave.trust import Verdict
from unweave.trust.verdict_record import Level

RNG = np.random.default_rng(5)
Z = RNG.normal(size=(300, 3))


@pytest.fixture(scope="module")
def runs():
    """Two settings with three seeds; mcc of a run of each has caution, and one of a is noise."""
    codes = {
        f"{name} seed {k}": Z + noise * RNG.normal(size=Z.shape)
        for name, noise in (("a", 1), ("b", 0.5))
        for k in range(3)
    }
    codes["a seed 1"] = RNG.normal(size=Z.shape)
    found = compare(Z, codes, metrics=["identification", "mcc"], budget=10, progress=False)
    doubted = {("a seed 0", "mcc"), ("b seed 2", "mcc")}
    rows = tuple(
        dataclasses.replace(row, verdict=Verdict(Level.CAUTION)) if (row.representation, row.label) in doubted else row
        for row in found.rows
    )
    return Evaluation(rows, found.data)


def test_a_setting_has_the_mark_of_the_worst_of_its_seeds_as_in_latex(runs):
    levels = {group: runs.grouped().score("mcc", group).level for group in "ab"}
    assert levels == {"a": Level.NOISE, "b": Level.CAUTION}
    lines = re.findall(r'<tr class="of-seeds">.*?</tr>', runs.to_html(), re.DOTALL)
    by_name = {re.search(r'data-sort="(\w)"', line)[1]: line for line in lines if "mcc: mean" in line}
    cells = {name: re.search(r'<td[^>]*title="mcc: mean.*?</td>', line, re.DOTALL)[0] for name, line in by_name.items()}
    assert "°" in cells["a"]
    assert "caution" not in cells["a"]
    assert "caution" in cells["b"]
    assert "°" not in cells["b"]
    of_latex = {line[0]: line for line in runs.grouped().to_latex().splitlines() if re.match(r"[ab] &", line)}
    assert r"\circ" in of_latex["a"]
    assert r"\dagger" in of_latex["b"]


def test_what_is_for_the_paper_is_the_table_of_the_settings(runs):
    writing = runs.to_summary()["writing"]
    assert writing["latex"] == runs.grouped().to_latex()
    assert "seed 1" not in writing["latex"]
    assert "over 3 training seeds" in writing["methods"]
    assert "Welch" in writing["methods"]


def test_no_advice_is_about_one_seed(runs):
    steps = compared_answer(runs).next_steps
    assert not any("seed " in step for step in steps)


def test_a_larger_budget_is_the_advice_where_the_budget_was_too_small(runs):
    """Not that the data do not show what would help."""
    short = Finding("fewer_nulls", n_draws=9, of=199, seconds=1.0)
    rows = tuple(
        dataclasses.replace(row, noise_floor=dataclasses.replace(row.noise_floor, notes=(short,)))
        if row.label == "mcc"
        else row
        for row in runs.rows
    )
    for steps in (
        compared_answer(Evaluation(rows, runs.data)).next_steps,
        answer_of(Evaluation(rows, runs.data), "b seed 0").next_steps,
    ):
        assert steps[0] == "Pass a larger budget: mcc was not checked in full."
        assert not any("do not show what would help" in step for step in steps)
