"""The plan of draws: from sizes alone, within the budget, the same on every machine."""

import time

import numpy as np
import pytest

from unweave import Posterior, evaluate
from unweave.metrics import CATALOGUE
from unweave.trust.budget.costs import DataSizes, Work, table
from unweave.trust.budget.draw_plan import ALL, LADDER, PLANNED_SHARE, Planned, Prices, draw_plan

PAIRING = {"factors", "codes", "posterior", "nuisances"}


def test_every_metric_of_codes_has_a_cost():
    assert [name for name, entry in CATALOGUE.items() if set(entry.card.needs) <= PAIRING and name not in table()] == []


@pytest.mark.parametrize("budget", [0.0, 1.0, 5.0, 30.0, 300.0])
@pytest.mark.parametrize("n_rows", [500, 10_000, 100_000])
def test_what_is_planned_fits(budget, n_rows):
    sizes = DataSizes(n_rows, 10, 5)
    works = dict(table())
    plan = draw_plan(works, sizes, budget)
    by_work = {works[label].name: (works[label], planned) for label, planned in plan.items()}
    seconds = sum(Prices.of(work, sizes).seconds(planned) for work, planned in by_work.values())
    assert seconds <= PLANNED_SHARE * budget
    assert plan == draw_plan(works, sizes, budget)


def test_more_seconds_never_give_less():
    sizes, works = DataSizes(2000, 10, 5), {"one": Work("one", {"n": 1e-4})}
    steps = [LADDER.index(draw_plan(works, sizes, budget)["one"]) for budget in (0, 2, 5, 10, 30, 100)]
    assert steps == sorted(steps)
    assert draw_plan(works, sizes, 1e6)["one"] == ALL
    assert draw_plan(works, sizes, 0.0)["one"] == Planned()


def test_the_same_call_gives_the_same_numbers_and_zero_leaves_all_out_by_name():
    factors = np.random.default_rng(0).normal(size=(200, 2))
    once, again = (evaluate(factors, factors, metrics=["mcc", "mig"], budget=3) for _ in range(2))
    assert [row.noise_floor for row in once.rows] == [row.noise_floor for row in again.rows]
    assert [row.interval for row in once.rows] == [row.interval for row in again.rows]
    bare = evaluate(factors, factors, metrics=["mcc", "mig"], budget=0)
    assert all(row.noise_floor.reason.kind == "no_nulls_in_budget" for row in bare.rows)
    assert any("did not fit into the time budget of 0 s" in note for note in bare.notes)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 50_000, 70_000, 100_000])
@pytest.mark.parametrize("posterior", [False, True])
def test_the_budget_is_a_promise(n_rows, posterior):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, 5))
    codes = np.concatenate([factors + 0.3 * rng.normal(size=(n_rows, 5)), rng.normal(size=(n_rows, 5))], axis=1)
    given = Posterior(codes, rng.uniform(0.1, 0.3, size=codes.shape)) if posterior else codes
    start = time.process_time()
    evaluate(factors, given, quick=True)
    bare = time.process_time() - start
    for budget in (0.0, 10.0, 30.0):
        start = time.process_time()
        evaluate(factors, given, budget=budget)
        # with no budget there is still the diagnosis, about a second
        assert time.process_time() - start <= 1.2 * (budget + bare) + 1.5
