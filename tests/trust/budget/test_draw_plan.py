"""The plan of draws depends only on sizes, stays within the budget and is the same on every machine."""

import time

import numpy as np
import pytest

from unweave import Posterior, evaluate
from unweave.metrics import CATALOGUE
from unweave.trust.budget import draw_plan as planning
from unweave.trust.budget.costs import DataSizes, Work, table
from unweave.trust.budget.draw_plan import (
    ALL,
    ESSENTIAL,
    LADDER,
    PLANNED_SHARE,
    SOME_ROWS,
    Planned,
    Prices,
    draw_plan,
    rows_for_draws,
)

PAIRING = {"factors", "codes", "posterior", "nuisances"}


def test_every_metric_of_codes_has_a_cost():
    assert [name for name, entry in CATALOGUE.items() if set(entry.card.needs) <= PAIRING and name not in table()] == []


@pytest.mark.parametrize("budget", [0.0, 1.0, 5.0, 30.0, 300.0])
@pytest.mark.parametrize("n_rows", [500, 10_000, 100_000])
def test_what_is_planned_fits(budget, n_rows):
    sizes = DataSizes(n_rows, 10, 5)
    works = dict(table())
    rows = rows_for_draws(works, sizes, budget)
    plan = draw_plan(works, sizes, budget, rows=rows)
    by_work = {works[label].name: (works[label], rows[label], planned) for label, planned in plan.items()}
    seconds = sum(Prices.of(work, sizes, n).seconds(planned) for work, n, planned in by_work.values())
    assert seconds <= PLANNED_SHARE * budget
    assert plan == draw_plan(works, sizes, budget, rows=rows)


def test_more_seconds_never_give_less():
    sizes, works = DataSizes(2000, 10, 5), {"one": Work("one", {"n": 1e-4})}
    steps = [LADDER.index(draw_plan(works, sizes, budget)["one"]) for budget in (0, 2, 5, 10, 30, 100)]
    assert steps == sorted(steps)
    assert draw_plan(works, sizes, 1e6)["one"] == ALL
    assert draw_plan(works, sizes, 0.0)["one"] == Planned()


@pytest.mark.parametrize("n_rows", [500, 2000, 10_000, 50_000])
def test_the_panel_has_floors_and_intervals_within_thirty_seconds(n_rows):
    sizes = DataSizes(n_rows, 10, 5)
    works = {name: table()[name] for name in ("identification", "mcc", "r2", "dci_completeness", "mig", "rmig")}
    rows = rows_for_draws(works, sizes, 30.0)
    plan = draw_plan(works, sizes, 30.0 - sum(work.seconds(sizes) for work in works.values()), rows=rows, tried=[])
    assert all(LADDER.index(planned) >= ESSENTIAL for planned in plan.values())
    assert rows["mcc"] == n_rows
    assert rows["dci_completeness"] == (n_rows if n_rows <= 2000 else SOME_ROWS)


def test_main_metrics_come_first_and_data_sets_of_verdicts_count():
    sizes = DataSizes(1000, 10, 5)
    works = {name: Work(name, {"1": 1.0}) for name in ("a", "b", "c")}
    plan = draw_plan(works, sizes, 14.0, main=("c",), tried=[])  # 10.4 seconds: 8 parts of one metric
    assert [plan[name].n_parts for name in works] == [0, 0, 8]
    one = {"c": works["c"]}
    assert draw_plan(one, sizes, 40.0, tried=[])["c"] == Planned(19, 8, True)
    assert draw_plan(one, sizes, 40.0, tried=[sizes] * 10)["c"] == Planned(0, 8, True)


def test_a_permutation_may_cost_less_than_a_score():
    sizes, work = DataSizes(1000, 10, 5), Work("one", {"1": 1.0}, share_of_permutation=0.25)
    prices = Prices.of(work, sizes)
    assert prices.draw == pytest.approx(0.251)
    assert prices.part == pytest.approx(1.001)


def test_draws_of_some_rows_say_so(monkeypatch):
    monkeypatch.setattr(planning, "SOME_ROWS", 300)
    factors = np.random.default_rng(0).normal(size=(1000, 2))
    work = table()["mig"]
    monkeypatch.setitem(table(), "mig", Work("slow", {"n": 1e-3, **work.numbers}))
    evaluation = evaluate(factors, factors + 1.0, metrics=["mig", "mcc"], budget=20)
    floors = {row.label: row.noise_floor for row in evaluation.rows}
    intervals = {row.label: row.interval for row in evaluation.rows}
    assert floors["mig"].n_rows == 300
    assert floors["mcc"].n_rows is None
    assert [note.kind for note in intervals["mig"].notes] == ["fewer_parts", "parts_of_some_rows"]
    assert not intervals["mcc"].notes
    assert "To save time, the noise floor comes from 300 of 1,000 rows" in str(evaluation.notes)
    in_groups = evaluate(factors, factors, metrics=["mig"], budget=20, row_groups=np.arange(1000) // 20)
    assert in_groups.rows[0].noise_floor.n_rows is None


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
        # the diagnosis, about a second, is always computed
        assert time.process_time() - start <= 1.2 * (budget + bare) + 1.5
