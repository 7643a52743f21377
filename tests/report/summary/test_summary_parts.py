"""Parts of the summary at their limits: numbers of the data, bars and verdicts."""

import math

import numpy as np
import pytest

from unweave.report import summary as diagnosis_summary
from unweave.report import summary as factor_bars
from unweave.report.summary import Detail, summarised_matrix, trusted_scores
from unweave.score import ShownMatrix
from unweave.trust.verdict_record import Level


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("effective_dimension", 2.5, "2.5 of 4"),
        ("nuisance_share", 0.126, "13 %"),
        ("rows_per_code", 1234.0, "1,234"),
        ("rows_per_code", 1234.5, "1,234"),
        ("rows_per_code", 99.94, "99.9"),
        ("rows_per_code", 100.4, "100"),
        ("rows_per_code", 9.999, "10.00"),
        ("rows_per_code", 10.01, "10.0"),
        ("largest_correlation", 0.126, "0.13"),
        ("n_rows", 12000, "12,000"),
    ],
)
def test_numbers_of_the_data_are_as_long_as_they_need_to_be(key, value, text):
    assert diagnosis_summary._text(key, value, {"n_factors": 4}) == text


@pytest.mark.parametrize(("per_code", "text"), [(9.96, "10.0 rows"), (10.0, "10 rows"), (1234.4, "1,234 rows")])
def test_rows_per_code_are_counted(per_code, text):
    sizes = {"n_rows": 20, "n_codes": 2, "n_factors": 1, "rows_per_code": per_code}
    assert f"which is {text} per code" in diagnosis_summary._sentences_of_sizes(sizes)[0]
    assert diagnosis_summary._sentences_of_sizes(sizes | {"rows_per_code": None}) == []


@pytest.mark.parametrize("n", [3, 4])
def test_the_largest_values_of_a_chart_are_shown(n):
    found = diagnosis_summary._chart("A", {"x": None, **{f"z{k}": k / 10 for k in range(n)}}, Detail(bars=3))
    assert [bar["name"] for bar in found["bars"]] == [f"z{k}" for k in reversed(range(n))][:3]
    assert found["sentence"] == ("" if n == 3 else "Only the 3 largest of 4 values are shown.")
    assert diagnosis_summary._chart("A", {"x": None}, Detail()) is None


@pytest.mark.parametrize(
    ("lower_is_better", "value", "within"),
    [(False, 0.2, True), (False, 0.21, False), (True, 0.1, True), (True, 0.09, False), (False, math.nan, None)],
)
def test_the_edge_of_the_noise_is_noise(lower_is_better, value, within):
    cell = {"per_factor": {"z": value}, "floor": {"per_factor": {"z": [0.15, 0.1, 0.2]}}, "interval": None}
    assert factor_bars._bar("z", cell, lower_is_better)["within_noise"] is within


@pytest.mark.parametrize(
    ("n", "at_most", "shown"),
    [(5, 5, [0, 1, 2, 3, 4]), (6, 5, [5, 4, 1, 0]), (6, 4, [5, 4, 1, 0]), (7, 6, [6, 5, 4, 2, 1, 0])],
)
def test_of_many_bars_the_highest_and_the_lowest_are_shown(n, at_most, shown):
    names = [f"z{k}" for k in range(n)]
    found, sentence = factor_bars._shown(names, {name: k / 10 for k, name in enumerate(names)}, at_most)
    assert found == [f"z{k}" for k in shown]
    half = at_most // 2
    said = f"Only the {half} highest and {half} lowest of {n} factors are shown."
    assert sentence == ("" if n <= at_most else said)


def judged(label, level, problem=None):
    verdict = {"level": level, "reasons": []} if level else None
    cell = {"verdict": verdict, "at_noise_level": False, "problem": problem, "value": None if problem else 0.5}
    return {"label": label, "cells": [cell]}


def test_scores_are_counted_by_verdict_from_best_to_worst():
    levels = [Level.DO_NOT_USE, Level.NO_VERDICT, Level.CAUTION]
    metrics = [*(judged("mcc", level) for level in levels), judged("mig", None, problem="It failed.")]
    assert trusted_scores(metrics) == (
        "Of 3 scores, none can be trusted on these data, 1 with caution, 1 could not be checked and 1 should not be "
        "used. 1 score could not be computed."
    )
    assert trusted_scores([judged("mig", None), judged("r2", None)]) == (
        "2 scores, without verdicts: these are bare scores."
    )


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "as_table"), [(4, 9, True), (4, 10, False), (5, 8, True), (41, 1, False), (40, 1, True)]
)
def test_a_matrix_is_a_table_up_to_its_cells_and_columns(n_rows, n_columns, as_table):
    shown = ShownMatrix("a_matrix", "A")
    names = [f"c{i}" for i in range(n_rows)], [f"z{j}" for j in range(n_columns)]
    found = summarised_matrix(shown, np.zeros((n_rows, n_columns)), *names, Detail(table_cells=40, table_columns=9))
    assert found["as_table"] is as_table
    assert ("rows_per_block" in found) is not as_table
