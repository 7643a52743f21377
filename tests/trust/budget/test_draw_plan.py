"""The plan of draws depends only on sizes, stays within the budget and is the same on every machine."""

import time
from functools import partial

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence, Posterior, compare, evaluate
from unweave.metrics import CATALOGUE
from unweave.trust import budget as planning
from unweave.trust.budget import (
    FEWEST_DRAWS,
    FEWEST_PARTS,
    N_DRAWS,
    N_PARTS,
    PAIRED_PARTS,
    ROWS_OF_DRAWS,
    SOME_ROWS,
    TERMS,
    DataSizes,
    Work,
    draw_plan,
    seconds_of_diagnosis,
    table,
    work_of,
)

PAIRING = {"factors", "codes", "posterior", "nuisances"}
BUDGETS = [0.0, 1.0, 3.0, 8.0, 15.0, 30.0, np.inf]


def of_size(n_rows, n_codes=10, n_factors=5):
    return Evidence(np.ones((n_rows, n_factors)), np.ones((n_rows, n_codes)), kinds="continuous")


def test_every_metric_of_codes_has_a_cost():
    assert [name for name, entry in CATALOGUE.items() if set(entry.card.needs) <= PAIRING and name not in table()] == []


def test_a_ladder_costs_what_its_codes_cost_and_not_what_the_screened_codes_would():
    works, few, all_codes = {"identification": work_of(CATALOGUE["identification"])}, of_size(600), of_size(1000, 500)
    given = [
        [sum(draw_plan(works, few, budget, of_ladder=of_ladder).n_draws.values()) for budget in range(1, 60, 3)]
        for of_ladder in (None, few, all_codes)
    ]
    assert given[0] == given[1]
    assert sum(given[2]) < sum(given[0])


@pytest.mark.parametrize("budget", BUDGETS[:-1])
@pytest.mark.parametrize("n_rows", [500, 10_000, 100_000])
def test_what_is_planned_fits(budget, n_rows):
    evidence, works = of_size(n_rows), dict(table())
    plan = draw_plan(works, evidence, budget, tried=[evidence.rows(np.arange(500))] * 7)
    assert sum(plan.seconds.values()) <= budget + 1e-9
    each = {work.name: (label, work) for label, work in works.items()}.values()
    draws = [
        plan.n_draws[label] * work.seconds_of_permutation(DataSizes(n_rows, 10, 5), plan.rows[label])
        for label, work in each
    ]
    assert plan.seconds["draws"] == pytest.approx(sum(draws))


def test_more_seconds_never_give_less_and_rows_do_not_depend_on_them():
    works = {"one": Work("one", {"n": 1e-4}), "two": Work("two", {"1": 0.05})}
    plans = [draw_plan(works, of_size(2000), budget, compared=True) for budget in BUDGETS]
    for label in works:
        assert sorted(plan.n_draws[label] for plan in plans) == [plan.n_draws[label] for plan in plans]
        assert sorted(plan.n_parts[label] for plan in plans) == [plan.n_parts[label] for plan in plans]
    assert (plans[0].untried, plans[-1].untried) == (("one", "two"), ())
    assert plans[-1].n_draws == dict.fromkeys(works, N_DRAWS)
    assert plans[-1].n_parts == plans[0].most_parts == dict.fromkeys(works, PAIRED_PARTS)
    assert len({str((plan.rows, plan.rows_of_parts)) for plan in plans}) == 1


@pytest.mark.parametrize(("compared", "of_dear"), [(False, FEWEST_PARTS), (True, PAIRED_PARTS)])
def test_dear_metrics_have_fewer_parts(compared, of_dear):
    works = {"dear": Work("dear", {"n": 1e-5}), "cheap": Work("cheap", {"n": 8e-6})}
    plan = draw_plan(works, of_size(2000), np.inf, compared=compared)
    assert plan.n_parts == {"dear": of_dear, "cheap": N_PARTS}


@pytest.mark.parametrize("n_rows", [500, 2000, 10_000, 50_000])
def test_the_panel_has_floors_and_intervals_within_thirty_seconds(n_rows):
    works = {name: table()[name] for name in ("identification", "mcc", "r2", "dci_completeness", "mig", "rmig")}
    plan = draw_plan(works, of_size(n_rows), 30.0)
    assert min(plan.n_draws.values()) >= FEWEST_DRAWS
    assert min(plan.n_parts.values()) >= FEWEST_PARTS
    assert plan.rows["mcc"] == n_rows
    assert plan.rows["dci_completeness"] in (n_rows, ROWS_OF_DRAWS)


def test_cheap_metrics_come_first_and_data_sets_of_verdicts_count():
    """29 draws and 6 parts of the cheap metric take 35 seconds, and 10 data sets 10 more."""
    works = {"dear": Work("dear", {"1": 2.0}), "cheap": Work("cheap", {"1": 1.0 - 1e-3})}
    evidence = of_size(1000)
    plan = draw_plan(works, evidence, 35.0 + 4.0, some_rows=False)  # the scores take 3 seconds, the diagnosis 0.8
    assert (plan.n_draws, plan.n_parts) == ({"dear": 0, "cheap": 29}, {"dear": 0, "cheap": 6})
    assert plan.untried == ("dear",)
    assert draw_plan(works, evidence, 39.0, tried=[evidence] * 10).untried == ("dear", "cheap")
    plan = draw_plan({"cheap": works["cheap"]}, evidence, 1.8 + 99 + 9.5)
    assert (plan.n_draws, plan.n_parts) == ({"cheap": 99}, {"cheap": 6})
    plan = draw_plan({"cheap": works["cheap"]}, evidence, 1.8 + 99 + 9.5, compared=True)
    assert (plan.n_draws, plan.n_parts) == ({"cheap": 99}, {"cheap": 9})


def test_few_rows_are_for_dear_draws_and_only_where_they_may_be():
    works = {"dear": Work("dear", {"n": 2e-5}), "fixed": Work("fixed", {"n": 2e-5}, fixed_rows=True)}
    works["cheap"] = Work("cheap", {"n": 2e-5}, share_of_permutation=0.1)
    rows = {"dear": ROWS_OF_DRAWS, "fixed": ROWS_OF_DRAWS, "cheap": 9000}
    plan = draw_plan(works, of_size(9000), 30.0)
    assert (plan.rows, plan.rows_of_parts) == (rows, {"dear": SOME_ROWS, "fixed": 9000, "cheap": SOME_ROWS})
    plan = draw_plan(works, of_size(9000), 30.0, some_rows=False, parts_of_some_rows=False)
    assert plan.rows == plan.rows_of_parts == dict.fromkeys(works, 9000)
    wide = {"wide": Work("wide", {"m d": 1e-3}, share_of_permutation=0.1)}
    assert draw_plan(wide, of_size(9000), 30.0).rows_of_parts == {"wide": 9000}
    plan = draw_plan(wide, of_size(9000), 30.0, n_codes=100)
    assert (plan.rows, plan.rows_of_parts) == ({"wide": 9000}, {"wide": SOME_ROWS})


def test_draws_of_some_rows_say_so(monkeypatch):
    for name in ("SOME_ROWS", "ROWS_OF_DRAWS"):
        monkeypatch.setattr(planning, name, 300)
    factors = np.random.default_rng(0).normal(size=(1000, 2))
    monkeypatch.setitem(table(), "mig", Work("slow", {"n": 2e-4}))
    evaluation = evaluate(factors, factors + 1.0, metrics=["mig", "mcc"], budget=20)
    floors = {row.label: row.noise_floor for row in evaluation.rows}
    intervals = {row.label: row.interval for row in evaluation.rows}
    assert floors["mig"].n_rows == 300
    assert floors["mcc"].n_rows is None
    assert [note.kind for note in intervals["mig"].notes] == ["parts_of_some_rows"]
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
    assert {row.level for row in bare.rows} == {"not checked"}
    assert any("did not fit into the time budget of 0 s" in note for note in bare.notes)


def worlds():
    """Good, mixed, half-known and random codes, also of correlated factors and of few rows."""
    rng = np.random.default_rng(8)
    for n_rows, rho in ((60, 0.0), (150, 0.8), (400, 0.0)):
        factors = rng.normal(size=(n_rows, 3)) @ np.linalg.cholesky(rho + (1 - rho) * np.eye(3)).T
        for codes in (factors, factors @ rng.normal(size=(3, 3)), rng.normal(size=(n_rows, 4))):
            yield factors, codes + 0.3 * rng.normal(size=codes.shape)


@pytest.mark.parametrize("world", [k if k % 4 == 0 else pytest.param(k, marks=pytest.mark.slow) for k in range(9)])
def test_a_verdict_does_not_change_with_the_budget_nor_in_a_comparison(world, monkeypatch):
    """Metrics that seem dear, so that small budgets leave some out."""
    factors, codes = list(worlds())[world]
    for name, seconds in (("mcc", 1e-3), ("r2", 0.02), ("mig", 0.1), ("modularity", 0.3)):
        monkeypatch.setitem(table(), name, Work(name, {"1": seconds}))
    options = {"metrics": ["mcc", "r2", "mig", "modularity"], "progress": False}
    found = {budget: evaluate(factors, codes, budget=budget, **options) for budget in (0.0, 3.0, 8.0, np.inf)}
    last = {row.label: row for row in found[np.inf].rows}
    assert not any(row.level == "not checked" for row in last.values())
    for evaluation in found.values():
        for row in evaluation.rows:
            assert row.level in ("not checked", last[row.label].level)
            if row.level != "not checked":
                assert same(row, last[row.label])
    n_checked = [sum(row.level != "not checked" for row in evaluation.rows) for evaluation in found.values()]
    assert n_checked == sorted(n_checked)
    assert n_checked[0] == 0
    assert len(set(n_checked)) > 2
    both = compare(factors, {"it": codes, "other": np.hstack([codes, codes])}, budget=np.inf, **options)
    assert all(same(row, last[row.label]) for row in both.rows if row.representation == "it")


def same(row, other):
    """Whether level, findings and floor are equal; the advice names other metrics, which may be left out."""
    findings = [[reason.finding for reason in each.verdict.reasons] for each in (row, other)]
    return row.level == other.level and findings[0] == findings[1] and row.noise_floor == other.noise_floor


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
    assert DataSizes.of(Evidence(codes=np.ones((8, 3)))) == DataSizes(8, 3, 0, 0.0)


def test_metrics_that_are_not_in_the_table_count_as_a_tenth_of_a_second():
    @made_up()
    def mine(evidence):
        """A metric that is not in the table."""

    assert work_of(mine).seconds(DataSizes(1000, 10, 5)) == pytest.approx(0.101)
    assert work_of(mine).seconds(DataSizes(2000, 10, 5)) == pytest.approx(0.201)


def test_other_options_cost_what_the_table_says():
    sizes, known = DataSizes(50_000, 10, 5), table()["mig"]
    found = work_of(partial(CATALOGUE["mig"], estimator="other"))
    assert found.seconds(sizes) == known.seconds(sizes)
    assert found.name == "mig (estimator=other)"
    assert work_of(partial(CATALOGUE["mig"], rng=3)) is known


@pytest.mark.parametrize(("n_factors", "seconds"), [(1, 0.4), (5, 0.8), (40, 4.3), (41, 4.3)])
def test_the_diagnosis_takes_a_tenth_of_a_second_for_a_factor(n_factors, seconds):
    assert seconds_of_diagnosis(of_size(100, 3, n_factors)) == pytest.approx(seconds)
