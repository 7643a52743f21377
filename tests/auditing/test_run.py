"""Audits of metrics with known marks."""

import dataclasses
import itertools
import math
import types
import zlib

import numpy as np
import pytest

import unweave
from unweave import OptionError
from unweave.auditing import Audit, Grid, audit, audit_all, text_table
from unweave.auditing import run as everything
from unweave.auditing.measurement import Case, further_points
from unweave.metrics import CATALOGUE


def evaluated(expression, **names):
    """The value of an expression that was copied from an audit, with data that are drawn again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "evidence", Case.evidence.__wrapped__)
        return eval(expression, {name: getattr(everything, name) for name in everything.__all__} | names)


@pytest.fixture(scope="module")
def audits(small):
    return {
        found.metric: found
        for found in audit_all(["mcc", "r2", "mig"], grid=small, n_seeds=3, budget=None, further=False)
    }


def test_a_constant_ignores_everything(small):
    found = audit(lambda factors, codes: 0.5, grid=small, n_seeds=2, further=False)
    assert found.ticks == "✓✗✓✗"
    assert found["P4"].number == 0.5
    assert found.promises == ()
    assert found.red_team.product == 0.5  # noise has a mixing share of 1 and the same score
    assert found.red_team.mixing_share == 1


def test_an_oracle_has_four_ticks(small):
    """A metric with the ideal score of every map: 1 if factors are identified, less if some are lost, 0 for noise."""
    truth = {}
    for point in small.points():
        free = point.case.world.effective_dimension
        if point.name == "P2":
            ideal = 1 - max(point.x, 0) / free
        elif point.series == "E4":
            ideal = 1 - 1 / free
        else:
            ideal = 1.0 if point.series in ("E1", "E2", "E5", "E6", "E8") else 0.6 if "mixed" in point.series else 0.0
        for seed in range(2):
            truth[point.case.evidence(seed).codes.tobytes()] = ideal
    found = audit(lambda factors, codes: truth.get(codes.tobytes(), 0.0), grid=small, n_seeds=2, further=False)
    assert found.ticks == "✓✓✓✓"
    assert found.red_team.product == 0


def test_correlation_between_factors_flatters_mcc_and_not_r2(audits):
    assert audits["mcc"]["P1"].verdict == "violated"
    assert audits["mcc"]["P1"].where == "E3, rho 0 to 0.97, d = 10"
    linear = [row for row in audits["r2"]["P1"].measured if row.label.startswith(("E1", "E3"))]
    assert all(row.interval[1] < 0.05 for row in linear)
    bent = next(row for row in audits["r2"]["P1"].measured if row.label.startswith("E2"))
    assert bent.interval[0] > 0.1  # codes of correlated factors improve a linear readout of nonlinear codes


def test_marks_of_known_metrics(audits):
    assert audits["mcc"].ticks == "✗✗✗✗"
    assert audits["r2"]["P4"].verdict == "satisfied"
    assert audits["r2"]["P2"].verdict == "partly"  # a linear readout cannot predict the product of two factors
    assert (audits["mig"]["P1"].verdict, audits["mig"]["P3"].verdict) == ("violated", "violated")
    assert audits["mig"]["P4"].verdict == "satisfied"


def test_cards_are_checked(audits):
    kept = {promise.encoder: promise for promise in audits["mcc"].promises}
    assert kept["E1"].promised
    assert kept["E1"].full_marks
    assert not kept["E2"].promised
    assert not kept["E2"].full_marks
    assert kept["E9"].kept
    assert all(promise.kept for found in audits.values() for promise in found.promises)


@pytest.mark.parametrize("name", ["P1", "P2", "P3", "P4"])
def test_worst_cases_can_be_pasted(audits, name):
    for found in audits.values():
        case = found[name].worst_case
        assert evaluated(case.expression) == pytest.approx(case.number, abs=1e-12)


def test_the_worst_case_of_a_function_calls_it_metric(small):
    def half_correlation(factors, codes):
        return 4 * unweave.metrics.mcc(factors, codes).value

    found = audit(half_correlation, scale=(0.0, 8.0), grid=small, n_seeds=2, adversary=False, further=False)
    case = found["P1"].worst_case
    assert "scale=(0, 8)" in case.expression
    assert evaluated(case.expression, metric=half_correlation) == pytest.approx(case.number)


def test_the_adversary_can_be_pasted_and_finds_what_r2_cannot_see(audits):
    for found in audits.values():
        assert evaluated(found.red_team.expression) == pytest.approx(found.red_team.product, abs=1e-12)
        assert found.red_team.product == pytest.approx(found.red_team.score * found.red_team.mixing_share)
    assert audits["r2"].red_team.product > 0.5  # a metric of affine recovery has the best score for any mixing
    assert audits["mig"].red_team.product < 0.15


def test_alone_or_together_in_one_process_or_two(small):
    settings = {"grid": dataclasses.replace(small, n_rows=100), "n_seeds": 2, "adversary": False, "further": False}
    together, _ = audit_all(["mcc", "r2"], budget=None, **settings)
    alone = audit("mcc", budget=None, n_jobs=2, **settings)
    assert alone.results == together.results
    assert alone.curves == together.curves


def test_json_and_back(audits):
    for found in audits.values():
        assert Audit.from_json(found.to_json()) == found


def test_prints_as_a_table(audits):
    text = str(audits["mcc"])
    assert "✗ P1 violated" in text
    assert "not part of the verdict" in text
    assert "best score stated for maps up to permutation and scale" in text
    assert "from unweave.auditing.run import *" in text
    assert max(map(len, text.splitlines())) <= 140


def test_a_row_of_the_table_names_the_promises_that_are_broken(audits):
    found = audits["mcc"]
    lines = text_table([found]).splitlines()
    assert lines[-1].rstrip().endswith("kept")
    first, *others = found.promises  # E1, which the card promises
    broken = dataclasses.replace(first, score=0.5, full_marks=False)
    lines = text_table([dataclasses.replace(found, promises=(broken, *others))]).splitlines()
    assert lines[-1].rstrip().endswith(f"broken: {first.encoder} scores .50")


def test_what_does_not_fit_in_the_budget_is_said(small, monkeypatch):
    # a clock that is read before and after a cell, and advances by one second each time
    clock = types.SimpleNamespace(process_time=itertools.count().__next__)
    monkeypatch.setattr("unweave.auditing.measurement.time", clock)
    found = audit("mcc", grid=small, budget=10.0, n_seeds=2)
    assert "?" in found.ticks
    undecided = next(result for result in found.results if result.verdict == "undecided")
    assert undecided.missing
    assert "not measured within the budget" in str(found)


def test_a_violation_is_known_before_all_is_measured(small, monkeypatch):
    """The most informative cells come first: a few of them show that a constant violates P4; the rest is undecided."""
    calls = []

    def constant(factors, codes):
        calls.append(codes.shape)
        return 0.5

    # a clock that is read before and after a cell, and advances by one second each time
    clock = types.SimpleNamespace(process_time=itertools.count().__next__)
    monkeypatch.setattr("unweave.auditing.measurement.time", clock)
    assert audit(constant, grid=small, n_seeds=2, budget=0.0, adversary=False).ticks == "????"
    assert not calls  # no cell fits into a budget of 0
    found = audit(constant, grid=small, n_seeds=2, budget=40.0, adversary=False)
    assert found["P4"].verdict == "violated"
    assert "?" in found.ticks
    n_calls = len(calls)
    assert audit(constant, grid=small, n_seeds=2, budget=None, adversary=False).ticks == "✓✗✓✗"
    assert 0 < n_calls < (len(calls) - n_calls) / 2


def test_errors_and_nan_are_results(small):
    def moody(factors, codes):
        if codes.shape[1] > 40:
            raise ValueError("too many codes")
        return math.nan if len(factors) == 100 else 1.0

    found = audit(moody, grid=small, n_seeds=2, adversary=False, further=False)
    assert found["P4"].verdict == "violated"  # the cells that could be measured have a score of 1
    assert any("ValueError: too many codes" in str(problem) for problem in found.problems)
    assert any("undefined (nan)" in str(problem) for problem in found.problems)
    assert any("m/d 5" in missing for missing in found["P3"].missing)


def test_a_stopped_run_goes_on(small, tmp_path):
    cells, calls = tmp_path / "cells.jsonl", []

    def counted(factors, codes):
        calls.append(1)
        return float(np.clip(codes.std(), 0, 1))

    first = audit_all([counted], grid=small, n_seeds=2, adversary=False, further=False, store=cells)[0]
    n_calls = len(calls)
    lines = cells.read_text().splitlines()
    cells.write_text("\n".join(lines[: len(lines) // 2])[:-3])  # as if killed while writing a line
    with pytest.warns(UserWarning, match="has 1 lines that cannot be read"):
        again = audit_all([counted], grid=small, n_seeds=2, adversary=False, further=False, store=cells)[0]
    assert again == first
    assert n_calls < len(calls) < 2 * n_calls
    with pytest.warns(UserWarning, match="has 1 lines that cannot be read"):
        assert audit_all([counted], grid=small, n_seeds=2, adversary=False, further=False, store=cells)[0] == first
    assert len(calls) < 2 * n_calls


def test_one_seed_is_too_few():
    with pytest.raises(OptionError, match="n_seeds=1 is not allowed: use a whole number from 2"):
        audit("mcc", n_seeds=1)


@pytest.mark.slow
def test_the_whole_audit_of_three_metrics():
    found = {one.metric: one for one in audit_all(["mcc", "r2", "mig"], budget=None)}
    assert found["mcc"].ticks == "✗✗✗✗"
    assert found["r2"].ticks == "✗✗✗✓"
    assert found["mig"].ticks == "✗~✗✓"
    assert not any(result.missing for one in found.values() for result in one.results)
    assert set(found) <= set(CATALOGUE)
    assert found["mcc"].grid["n_factors"] == list(Grid().n_factors)


def test_what_scatters_gets_more_seeds(small):
    """A constant with noise of standard deviation .03: two seeds give wide intervals, which more seeds narrow."""

    def scattering(factors, codes):
        return 0.5 + 0.03 * np.random.default_rng(zlib.crc32(codes.tobytes())).normal()

    found = audit(scattering, grid=small, n_seeds=2, adversary=False, further=False)
    assert 2 < max(row.n_seeds for row in found["P3"].measured) <= 16
    assert found["P3"].verdict != "violated"
    assert found["P4"].verdict == "violated"


def test_what_stays_undecided_has_twice_four_and_eight_times_the_seeds(monkeypatch):
    from types import SimpleNamespace

    from unweave.auditing import run

    asked = []

    def measure(cases, seeds):
        asked.append((cases, seeds))
        return {case: [[seed, -seed] for seed in seeds] for case in cases}

    monkeypatch.setattr(run, "_undecided_cases", lambda points, own: ["case"] if "case" in own else [])
    bench = SimpleNamespace(subjects=[0, 1], measure=measure)
    settled = run._outcomes_with_more_seeds(bench, [], {"case": [[7, 8], [9, 10]]}, 2)
    assert asked == [(["case"], range(4)), (["case"], range(8)), (["case"], range(16))]
    assert settled == [{"case": list(range(16))}, {"case": [-k for k in range(16)]}]
    asked.clear()
    assert run._outcomes_with_more_seeds(bench, [], {"other": [[7, 8]]}, 2) == [{"other": [7]}, {"other": [8]}]
    assert asked == []


def test_the_budget_is_shared_by_points_card_further_questions_and_the_adversary(monkeypatch):
    from unweave.auditing import run

    asked = []

    def measured(bench, points, seeds):
        asked.append((bench.budget, "points", len(points), seeds))
        return {}

    def settled(bench, points, found, seeds):
        return [{} for _ in bench.subjects]

    def measure(bench, cases, seeds):
        asked.append((bench.budget, "cases", len(cases), seeds))
        return {}

    def red_team(bench):
        asked.append((bench.budget, "adversary"))
        return [None] * len(bench.subjects)

    for name, value in (("_measured_points", measured), ("_outcomes_with_more_seeds", settled), ("red_team", red_team)):
        monkeypatch.setattr(run, name, value)
    monkeypatch.setattr(run.Bench, "measure", measure)
    grid = Grid(n_factors=(5,))
    own = audit_all(["mcc", lambda factors, codes: 0.5], grid=grid, n_seeds=3, budget=100.0)
    assert [(one.metric, one.ticks, one.n_seeds) for one in own] == [("mcc", "????", 3), ("<lambda>", "????", 3)]
    n_further = len(dict.fromkeys(point.case for point in further_points()))
    assert asked == [
        (pytest.approx(65.0), "points", len(grid.points()), range(3)),
        (pytest.approx(75.0), "cases", 4, range(2)),
        (pytest.approx(85.0), "cases", n_further, range(3)),
        (100.0, "adversary"),
    ]
    asked.clear()
    audit(lambda factors, codes: 0.5, further=False, adversary=False, budget=None)
    assert asked == [
        (None, "points", len(Grid().points()), range(5)),
        (None, "cases", 0, range(2)),
        (None, "cases", 0, range(5)),
    ]


def test_points_of_a_property_that_all_violate_are_measured_last(monkeypatch):
    from unweave.auditing import run

    class Place:
        """A point of a property with its turn."""

        def __init__(self, name, turn):
            self.name, self.turn, self.case = name, turn, (name, turn)

    points = [Place("P1", 0), Place("P4", 0), Place("P1", 1), Place("P4", 1), Place("P4", 2), Place("P1", 3)]
    asked = []

    def measure(cases, seeds):
        asked.append(cases)
        return {case: [[0]] for case in cases}

    monkeypatch.setattr(run, "_violated_by_all", lambda name, bench, points, found: name == "P4" and bool(found))
    found = run._measured_points(types.SimpleNamespace(measure=measure), points, range(2))
    assert asked == [[("P1", 0), ("P4", 0)], [("P1", 1)], [("P1", 3)], [("P4", 1)], [("P4", 2)]]
    assert set(found) == {point.case for point in points}


@pytest.mark.parametrize(("levels", "all_violate"), [((0.5, 0.5), True), ((0.5, 0.0), False), ((0.0, 0.5), False)])
def test_a_property_is_settled_if_every_subject_violates_it(small, levels, all_violate):
    from unweave.auditing.run import _undecided_cases, _violated_by_all
    from unweave.sweeps import Measurement

    points = small.points()
    found = {point.case: [[Measurement("", level, level, None, 0.0) for level in levels]] * 2 for point in points}
    bench = types.SimpleNamespace(subjects=[0, 1])
    assert _violated_by_all("P4", bench, points, found) is all_violate
    # scores of .04 and .06 leave the verdict on nulls open, and more seeds of these cells may decide it
    wide = {
        point.case: [Measurement("", 0.04 + 0.02 * seed * (point.name == "P4"), 0.0, None, 0.0) for seed in range(2)]
        for point in points
    }
    nulls = {point.case for point in points if point.name == "P4"}
    assert set(_undecided_cases(points, wide)) == nulls
    assert _undecided_cases(points, {case: row for case, row in wide.items() if case not in list(nulls)[:1]}) == []


def test_json_is_text_without_escapes_and_without_nan():
    found = Audit("mine", 1, seconds=math.nan)
    assert "––––" in found.to_json()  # noqa: RUF001
    assert "NaN" not in found.to_json()
