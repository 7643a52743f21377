"""Intervals of factors with heavy tails say that they are too narrow."""

import numpy as np
import pytest

from unweave import Evidence, evaluate
from unweave.estimators.correlation import tail_index
from unweave.metrics import mcc
from unweave.trust import interval


def said(factors, codes):
    return any(note.kind == "heavy_tails" for note in interval(mcc, Evidence(factors, codes), n_parts=2).notes)


@pytest.mark.parametrize("n_rows", [200, 500, 2000])
def test_heavy_tails_are_said_and_normal_ones_are_not(n_rows):
    drawn = [np.random.default_rng([5, seed]) for seed in range(20)]
    heavy = [said(rng.standard_t(2, size=(n_rows, 2)), rng.normal(size=(n_rows, 2))) for rng in drawn]
    in_codes = [said(rng.normal(size=(n_rows, 2)), rng.standard_t(2, size=(n_rows, 2))) for rng in drawn]
    plain = [said(rng.normal(size=(n_rows, 3)), rng.uniform(size=(n_rows, 3))) for rng in drawn]
    classes = [said(rng.integers(0, 4, size=(n_rows, 2)), rng.integers(0, 9, size=(n_rows, 2))) for rng in drawn]
    assert min(np.mean(heavy), np.mean(in_codes)) >= 0.95
    assert max(np.mean(plain), np.mean(classes)) <= 0.05


@pytest.mark.parametrize("n_rows", [200, 2000])
def test_every_row_of_an_evaluation_says_it(n_rows):
    """Whatever the metric; the page, the terminal and Markdown say it once for all."""
    rng = np.random.default_rng([6, n_rows])
    factors = rng.standard_t(2, size=(n_rows, 2))
    codes = factors + 0.5 * rng.normal(size=factors.shape)
    found = evaluate(factors, codes, metrics=["mcc", "r2", "sap", "mig", "irs"], budget=5.0, progress=False)
    assert len(found.rows) == 5
    assert all("heavy_tails" in [note.kind for note in row.interval.notes] for row in found.rows)
    for shown in (str(found), found.to_markdown(), found.to_html()):
        assert "heavy tails" in shown


def test_the_tail_index_of_pareto_columns_is_theirs():
    """Hill's estimate has a standard error of the index over the root of the number of values, here 1,000."""
    for index in (1.5, 2.0, 5.0):
        column = np.random.default_rng(0).pareto(index, size=20_000) + 1
        assert tail_index(np.r_[column, -column]) == pytest.approx(index, rel=0.12)
