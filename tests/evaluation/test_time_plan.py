"""How the budget is divided: what scores cost is subtracted once, and the plan costs what its draws cost."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.evaluation import choose as time_plan
from unweave.evaluation.choose import Scored, TimeShare, expected_seconds, time_shares
from unweave.metrics import dci_completeness, dci_disentanglement, mcc
from unweave.trust.budget import DataSizes, Prices, Work, draw_plan, rows_for_draws, table

Z = np.random.default_rng(0).normal(size=(4000, 12))
NARROW, WIDE = Evidence(Z[:, :2], Z[:, 2:4]), Evidence(Z[:, :2], Z[:, 2:])
CHOSEN = {"mcc": mcc, "dci_completeness": dci_completeness, "dci_disentanglement": dci_disentanglement}
SCORED = Scored({label: SimpleNamespace(seconds=0.0, score=0.5) for label in CHOSEN}, CHOSEN)


def seconds(label, evidence):
    return table()[label].seconds(DataSizes.of(evidence))


def test_a_score_that_others_have_paid_for_takes_a_millisecond():
    labels = ["dci_completeness", "mine", "dci_disentanglement", "mcc", "mine"]
    expected = [seconds("dci_completeness", NARROW), 0.1, 1e-3, seconds("mcc", NARROW), 0.1]
    assert expected_seconds(labels, NARROW) == expected


@pytest.mark.parametrize("budget", [1e-3, 1e4])
def test_scores_are_paid_first_and_half_of_the_budget_remains(budget):
    evidences = {"narrow": NARROW, "wide": WIDE}
    found = time_shares({"narrow": SCORED, "wide": SCORED}, evidences, budget)
    paid = sum(seconds(label, evidence) for label in ("mcc", "dci_completeness") for evidence in evidences.values())
    each = max(budget - paid, budget / 2) / 2
    assert [(share.seconds, share.stated) for share in found.values()] == [(pytest.approx(each), budget)] * 2
    assert (each == budget / 4) == (budget < 1)


@pytest.mark.parametrize("free", ["both", "narrow", "wide", "none"])
def test_all_representations_use_the_fewest_rows_that_any_needs(monkeypatch, free):
    evidences = {"wide": WIDE, "narrow": NARROW}
    allowed = {"both": (WIDE, NARROW), "narrow": (NARROW,), "wide": (WIDE,), "none": ()}[free]
    monkeypatch.setattr(time_plan, "may_use_some_rows", lambda evidence: any(evidence is each for each in allowed))
    budget = 8 * seconds("dci_completeness", WIDE)
    found = time_shares({"narrow": SCORED, "wide": SCORED}, evidences, budget)
    alone = [rows_for_draws(share.works, share.sizes, share.seconds) for share in found.values()]
    fewest = {label: min(rows[label] for rows in alone) for label in CHOSEN}
    expected = fewest if free == "both" else dict.fromkeys(CHOSEN, 4000)
    assert min(fewest.values()) == 3000
    assert [share.rows for share in found.values()] == [expected] * 2


WORKS = {
    "one": Work("shared", {"n": 1e-6}, share_of_permutation=0.5),
    "two": Work("shared", {"n": 1e-6}, share_of_permutation=0.5),
    "fixed": Work("other", {"n": 2e-6, "m d": 1e-4}, fixed_rows=True),
}


@pytest.mark.parametrize("steps", [None, SimpleNamespace(evidences=[NARROW, NARROW])])
def test_the_seconds_of_a_plan_are_those_of_its_draws_parts_and_trials(steps):
    sizes, rows = DataSizes(4000, 10, 5), {"one": 3000, "two": 3000, "fixed": 4000}
    share = TimeShare(WORKS, sizes, 60.0, 90.0, rows)
    plan = share.plan(steps, 7.0)
    tried = [DataSizes.of(NARROW)] * 2 if steps else []
    planned = draw_plan(WORKS, sizes, 60.0, rows=rows, tried=tried, main=time_plan.MAIN)
    prices = {label: Prices.of(WORKS[label], sizes, rows[label], tried) for label in ("one", "fixed")}
    assert plan.allowance.planned == planned
    assert (plan.allowance.seconds, plan.allowance.stated, plan.allowance.started) == (60.0, 90.0, 7.0)
    assert (plan.allowance.rows, plan.allowance.rows_of_parts) == (rows, {"one": 3000, "two": 3000})
    assert planned["one"].n_draws > 1 < planned["one"].n_parts
    for found, number, price in [
        (plan.seconds_of_draws, "n_draws", "draw"),
        (plan.seconds_of_parts, "n_parts", "part"),
        (plan.seconds_of_trials, "tried", "trial"),
    ]:
        expected = sum(getattr(planned[label], number) * getattr(each, price) for label, each in prices.items())
        assert found == pytest.approx(expected)
    assert (plan.seconds_of_trials > 0) == (steps is not None)


def test_the_main_metrics_are_the_first_of_each_question():
    assert time_plan.MAIN[:2] == ("identification", "r2")
    assert "mcc" not in time_plan.MAIN
