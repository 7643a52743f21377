"""The plan of draws depends only on sizes, stays within the budget and is the same on every machine."""

import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence, Posterior, evaluate
from unweave.metrics import CATALOGUE
from unweave.trust import budget as planning
from unweave.trust.budget import (
    ALL,
    ESSENTIAL,
    LADDER,
    PLANNED_SHARE,
    SOME_ROWS,
    TERMS,
    Allowance,
    DataSizes,
    Planned,
    Prices,
    Work,
    draw_plan,
    rows_for_draws,
    seconds_of_diagnosis,
    table,
    work_of,
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


def test_terms_of_costs_are_products_of_sizes():
    found = {name: term(DataSizes(3000, 7, 2)) for name, term in TERMS.items()}
    assert found == {
        "1": 1.0, "n": 3000, "m d": 14, "n m": 21_000, "n d": 6000, "k d": 2000, "n m d": 42_000,
        "n m^2": 147_000, "m^2 d": 98,
    }  # fmt: skip
    assert TERMS["k d"](DataSizes(300, 7, 2)) == 600


@pytest.mark.parametrize(
    ("work", "share", "seconds"),
    [
        (Work("it", {"1": 2.0, "n": 0.01}), 0.5, 3.001),
        (Work("it", {"1": 2.0}, {"1": 4.0}), 0.0, 2.001),
        (Work("it", {"1": 2.0}, {"1": 4.0}), 0.25, 2.501),
        (Work("it", {"1": 2.0, "n": 0.01}, {"n": 0.05}), 1.0, 5.001),
        (Work("it", {"n": 0.01}, most_rows=50.0), 0.0, 0.501),
    ],
)
def test_classes_have_their_share_of_the_seconds(work, share, seconds):
    assert work.seconds(DataSizes(100, 10, 5, share)) == pytest.approx(seconds)


def test_sizes_of_an_evidence():
    evidence = Evidence({"a": np.arange(8) % 2, "b": np.arange(8.0)}, np.ones((8, 3)), kinds={"a": "categorical"})
    assert DataSizes.of(evidence) == DataSizes(8, 3, 2, 0.5)
    assert DataSizes.of(evidence, 5) == DataSizes(5, 3, 2, 0.5)
    assert DataSizes.of(Evidence(codes=np.ones((8, 3)))) == DataSizes(8, 3, 0, 0.0)


@pytest.mark.parametrize(("taken", "seconds"), [(3.9, 4.0), (4.1, 16.0), (0.26, 1.0), (0.24, 0.25), (0.0, 4.0**-4)])
def test_measured_seconds_are_rounded_up_to_a_power_of_four(taken, seconds):
    sizes = DataSizes(1000, 10, 5)

    @made_up()
    def mine(evidence):
        """A metric that is not in the table."""

    found = work_of(mine, taken, sizes)
    assert found.seconds(sizes) == pytest.approx(seconds + 1e-3)
    assert found.seconds(DataSizes(2000, 10, 5)) == pytest.approx(2 * seconds + 1e-3)
    assert work_of(mine, taken, DataSizes(0, 1, 1)).numbers == {"n": pytest.approx(seconds)}


def test_other_options_cost_what_the_table_says_at_least():
    sizes = DataSizes(50_000, 10, 5)
    known = table()["mig"]
    found = work_of(partial(CATALOGUE["mig"], estimator="other"), 1e-9, sizes)
    assert found.seconds(sizes) == pytest.approx(known.seconds(sizes))
    assert found.name == "mig (estimator=other)"
    assert work_of(partial(CATALOGUE["mig"], rng=3), 1e-9, sizes) is known


@pytest.mark.parametrize(
    ("n_rows", "used", "fixed", "rows"),
    [
        # rows of a permutation, of a part, and of the seven data sets of a counterpart
        (600, None, False, (600, 300, 1000)),
        (600, 200, False, (200, 200, 1000)),
        (600, 200, True, (200, 300, 1000)),
        (600, 900, False, (600, 300, 1000)),
        (3000, 2000, False, (2000, 1500, 3000)),
        (9000, None, False, (9000, 4500, 5000)),
    ],
)
def test_prices_are_those_of_the_rows_that_are_used(n_rows, used, fixed, rows):
    work = Work("it", {"n": 1.0}, fixed_rows=fixed)
    found = Prices.of(work, DataSizes(n_rows, 10, 5), used)
    draw, part, trial = rows
    assert (found.draw, found.part, found.trial) == pytest.approx((draw + 1e-3, part + 1e-3, 7 * (trial + 1e-3)))
    assert found.seconds(Planned(2, 3, True)) == pytest.approx(2 * found.draw + 3 * found.part + found.trial)
    assert found.seconds(Planned(2, 3, False)) == pytest.approx(2 * found.draw + 3 * found.part)


@pytest.mark.parametrize(("n_factors", "seconds"), [(0, 0.3), (5, 0.8), (40, 4.3), (41, 4.3)])
def test_the_diagnosis_takes_a_tenth_of_a_second_for_a_factor(n_factors, seconds):
    assert seconds_of_diagnosis(DataSizes(100, 3, n_factors)) == pytest.approx(seconds)


@pytest.mark.parametrize(("budget", "left"), [(10.0, 9.0 - 0.8), (1.0, 0.25), (0.0, 0.0)])
def test_draws_have_what_the_diagnosis_leaves_and_a_quarter_at_least(budget, left):
    assert planning._for_draws(DataSizes(100, 3, 5), budget) == pytest.approx(left)


@pytest.mark.parametrize(
    ("seconds", "now", "top", "step"),
    [
        (8.0, 0, 8, 1),
        (7.9, 0, 8, 0),
        (28.0, 0, 8, 3),
        (28.0, 0, 2, 2),
        (1.0, 3, 8, 3),
        (224.0, 0, 8, 8),
        (224.0, 0, 7, 7),
    ],
)
def test_the_highest_step_is_the_last_that_fits(seconds, now, top, step):
    """Every draw, every part and all trials together take a second."""
    assert planning._highest(Prices(1.0, 1.0, 1.0), seconds, now, top) == step


def test_all_rows_are_used_if_the_essentials_cost_exactly_the_share():
    work, sizes = Work("it", {"1": 1.0 - 1e-3}), DataSizes(5000, 10, 0)
    essentials = Prices.of(work, sizes).seconds(LADDER[ESSENTIAL])
    assert rows_for_draws({"it": work}, sizes, (essentials + 0.3) / 0.9 + 1e-9) == {"it": 5000}
    assert rows_for_draws({"it": work}, sizes, (essentials + 0.3) / 0.9 - 1e-3) == {"it": 3000}
    assert rows_for_draws({"it": work}, DataSizes(2000, 10, 0), 0.0) == {"it": 2000}


def test_the_clock_stops_at_one_and_a_half_times_the_budget(monkeypatch):
    planned = {"a": Planned(19, 8, True), "b": Planned(0, 12, False)}
    found = Allowance(planned, seconds=10.0, stated=12.0, rows={"a": 5}, rows_of_parts={"b": 6}, started=100.0)
    for now, late in ((100.0, False), (114.9, False), (115.0, True), (120.0, True)):
        monkeypatch.setattr("unweave.trust.budget.time", SimpleNamespace(process_time=lambda now=now: now))
        assert found.used_up() is late
        assert found.untried == (("a", "b") if late else ("b",))
        assert found.draws.stop() is found.parts.stop() is late
    assert (found.draws.counts, found.parts.counts) == ({"a": 19, "b": 0}, {"a": 8, "b": 12})
    assert (found.draws.rows, found.parts.rows) == ({"a": 5}, {"b": 6})
    assert (found.draws.seconds, found.parts.seconds) == (12.0, 12.0)
