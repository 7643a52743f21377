"""Intervals of factors with heavy tails say that they are too narrow."""

import numpy as np
import pytest

from unweave import Evidence, evaluate
from unweave.estimators.correlation import tail_index
from unweave.metrics import CATALOGUE, mcc
from unweave.report.answer import answer_of
from unweave.trust import interval
from unweave.trust.intervals import CODES_BY_RANKS, FACTORS_BY_RANKS


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
def test_every_row_with_such_an_interval_says_it(n_rows):
    """Not that of mig, which uses ranks alone; the page, the terminal and Markdown say it once for all."""
    rng = np.random.default_rng([6, n_rows])
    factors = rng.standard_t(2, size=(n_rows, 2))
    codes = factors + 0.5 * rng.normal(size=factors.shape)
    found = evaluate(factors, codes, metrics=["mcc", "r2", "sap", "mig", "irs"], budget=5.0, progress=False)
    assert len(found.rows) == 5
    says = {row.label: "heavy_tails" in [note.kind for note in row.interval.notes] for row in found.rows}
    assert says == {"mcc": True, "r2": True, "sap": True, "mig": False, "irs": True}
    for shown in (str(found), found.to_markdown(), found.to_html()):
        assert "eavy tails" in shown


def test_the_tail_index_of_pareto_columns_is_theirs():
    """Hill's estimate has a standard error of the index over the root of the number of values, here 1,000."""
    for index in (1.5, 2.0, 5.0):
        column = np.random.default_rng(0).pareto(index, size=20_000) + 1
        assert tail_index(np.r_[column, -column]) == pytest.approx(index, rel=0.12)


@pytest.mark.parametrize("name", sorted(FACTORS_BY_RANKS | CODES_BY_RANKS | {"mcc", "r2", "sap"}))
def test_metrics_without_the_note_do_not_change_with_tails(name):
    """A monotone map that takes the tails away leaves the score of metrics that use ranks as it is."""
    rng = np.random.default_rng(9)
    factors = rng.standard_t(2, size=(300, 3))
    codes = factors + 0.3 * rng.standard_t(2, size=(300, 3))
    light_factors, light_codes = (np.sign(x) * np.abs(x) ** 0.3 for x in (factors, codes))
    metric = CATALOGUE[name]
    if "target" in metric.card.needs or "environments" in metric.card.needs:
        pytest.skip("needs more than factors and codes")
    as_given, of_factors, of_codes = (
        float(metric(Evidence(*data))) for data in ((factors, codes), (light_factors, codes), (factors, light_codes))
    )
    assert (abs(of_factors - as_given) < 1e-9) == (name in FACTORS_BY_RANKS)
    assert (abs(of_codes - as_given) < 1e-9) == (name in CODES_BY_RANKS)


def test_the_line_the_report_and_the_page_name_the_column_and_no_other_metric():
    """A trusted score whose interval is too narrow says so in its own line."""
    rng = np.random.default_rng(11)
    factors = {"size": rng.standard_t(2, size=600), "hue": rng.uniform(size=600)}
    codes = np.column_stack([np.tanh(factors["size"]), factors["hue"]]) + 0.1 * rng.normal(size=(600, 2))
    found = evaluate(factors, codes, metrics=["r2", "mig"], budget=10.0, progress=False)
    assert found.row("r2", "codes").heavy_tails == ("size",)
    assert found.row("mig", "codes").heavy_tails == ()
    lines = {line.metric: line for line in answer_of(found).questions}
    assert "interval too narrow" in lines["r2"].part
    sentence = "The interval of r2 is too narrow, because size has heavy tails."
    assert sentence in answer_of(found).report
    assert sentence in found.to_summary()["trusted"]
    assert "No known problem" not in found.to_html()
    table = str(found).split("All metrics that were computed")[1]
    assert [line.split()[0] for line in table.splitlines() if ", too narrow" in line] == ["r2"]
