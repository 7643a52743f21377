"""Intervals: the textbook standard error of a mean, groups that stay whole, and metrics without an interval."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from made_up_metrics import made_up
from scipy import stats

from unweave import Evidence, OptionError
from unweave.metrics import CATALOGUE, mcc, mig, r2
from unweave.score import Score
from unweave.trust import interval
from unweave.trust import intervals as subsampling
from unweave.trust.budget import DrawPlan
from unweave.trust.intervals import Parts, PartScores, interval_of_parts, intervals, part_scores, parts_of

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(200, 2))
EVIDENCE = Evidence(FACTORS, FACTORS + RNG.normal(size=(200, 2)))


@made_up()
def mean_code(evidence):
    """Mean of the first code, and of every code."""
    means = evidence.codes.mean(axis=0)
    return Score(float(means[0]), per_factor=dict(zip(evidence.factor_names, means.tolist(), strict=True)))


def test_standard_error_of_a_mean_is_the_textbook_one():
    textbook = EVIDENCE.codes[:, 0].std(ddof=1) / math.sqrt(200)
    found = interval(mean_code, EVIDENCE, n_parts=2000)
    assert found.standard_error == pytest.approx(textbook, rel=4 / math.sqrt(2 * 2000))
    assert found.upper - found.raw == pytest.approx(found.raw - found.lower)
    assert found.upper - found.raw == pytest.approx(1.96 * textbook, rel=0.1)
    assert found.per_factor["factor 0"] == pytest.approx((found.lower, found.upper))


def test_standard_error_of_a_mean_of_groups_is_that_of_group_means():
    groups = np.repeat(np.arange(40), 5)
    codes = np.random.default_rng(1).normal(size=40)[groups] + 0.1 * FACTORS[:, 0]
    evidence = Evidence(FACTORS[:, :1], codes, row_groups=groups)
    textbook = codes.reshape(40, 5).mean(axis=1).std(ddof=1) / math.sqrt(40)
    by_groups = interval(mean_code, evidence, n_parts=1000)
    assert by_groups.standard_error == pytest.approx(textbook, rel=4 / math.sqrt(2 * 1000))
    by_rows = interval(mean_code, Evidence(FACTORS[:, :1], codes), n_parts=1000)
    assert by_rows.standard_error < 0.6 * by_groups.standard_error


def test_groups_leave_whole_and_few_have_wide_quantiles():
    groups = np.repeat(np.arange(10), 20)
    parts = parts_of(Evidence(FACTORS, FACTORS, row_groups=groups), mcc.card, seed=0)
    left = parts.left_out(3)
    assert sorted(np.unique(groups[left], return_counts=True)[1]) == [20] * 2
    assert parts.quantile(0.9, 24) == pytest.approx(1.833, abs=1e-3)  # 9 degrees of freedom, of ten groups
    assert parts.quantile(0.9, 8) == pytest.approx(1.895, abs=1e-3)  # 7, of eight parts


def test_rows_that_stay_keep_their_side_of_every_split():
    fewer = EVIDENCE.leaving_out(np.arange(0, 200, 3))
    for seed in (0, 1):
        train, test = EVIDENCE.split(0.25, seed)
        fewer_train, fewer_test = fewer.split(0.25, seed)
        assert set(fewer.kept_rows[fewer_train]) == set(train) - set(range(0, 200, 3))
        assert set(fewer.kept_rows[fewer_test]) == set(test) - set(range(0, 200, 3))
        for whole, part in zip(EVIDENCE.folds(5, seed), fewer.folds(5, seed), strict=True):
            assert set(fewer.kept_rows[part[1]]) <= set(whole[1])


def test_parts_of_parts_and_permutations_keep_the_splits_too():
    twice = EVIDENCE.leaving_out(np.arange(50)).leaving_out(np.arange(20))
    assert set(twice.kept_rows[twice.split(0.25, 0)[1]]) == set(EVIDENCE.split(0.25, 0)[1]) - set(range(70))
    permuted = EVIDENCE.leaving_out(np.arange(50)).permuted(0)
    np.testing.assert_array_equal(permuted.split(0.25, 0)[0], EVIDENCE.leaving_out(np.arange(50)).split(0.25, 0)[0])


def test_a_split_that_would_lose_a_side_is_drawn_anew():
    whole = Evidence(FACTORS, FACTORS, row_groups=np.repeat(np.arange(10), 20))
    fewer = whole.leaving_out(whole.split(0.1, 0)[1])
    assert [rows.size for rows in fewer.split(0.1, 0)] == [160, 20]
    assert all(train.size and test.size for train, test in whole.leaving_out(np.arange(100)).folds(5, 0))


def test_rows_drawn_anew_are_split_anew():
    assert EVIDENCE.leaving_out(np.arange(50)).rows(np.arange(100)).split(0.25, 0)[1].size == 25


def test_parts_do_not_depend_on_company_or_plan():
    alone = interval(mig, EVIDENCE)
    assert intervals({"r2": r2, "mig": mig}, EVIDENCE, n_jobs=2)["mig"] == alone
    short = part_scores({"mig": mig}, EVIDENCE, plan=DrawPlan({}, {"mig": 9}, budget=3.0))["mig"]
    assert short.plan.standard_error(short.raw) == interval(mig, EVIDENCE, n_parts=9).standard_error
    assert dict(short.notes[0].quantities) == {"n_parts": 9, "of": 24, "seconds": 3.0}


def test_eight_halves_cover_as_often_as_stated():
    """Means of 100 normal numbers, in 4,000 worlds; the reach is that of Student's t with 7 degrees of freedom."""
    rng, parts = np.random.default_rng(9), Parts(EVIDENCE, n_units=100, n_out=50, seed=0)
    covered, n_worlds = 0, 4000
    for values in rng.normal(size=(n_worlds, 100)):
        halves = rng.permuted(np.tile(values, (8, 1)), axis=1)[:, :50].mean(axis=1)
        covered += abs(values.mean()) <= parts.quantile(0.95, 8) * parts.standard_error(halves)
    assert covered / n_worlds == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / n_worlds))


def test_level_widens_and_bounds_clip():
    narrow, wide = (interval(mcc, EVIDENCE, level=level) for level in (0.5, 0.99))
    assert wide.lower < narrow.lower < narrow.raw < narrow.upper < wide.upper
    sure = interval(r2, Evidence(FACTORS, FACTORS @ [[1.0, 1.0], [0.0, 1.0]]))
    assert sure.clipped[1] <= 1.0
    noise = interval(r2, Evidence(FACTORS, RNG.normal(size=(200, 2))))
    assert noise.lower < 0 == noise.clipped[0]


def test_a_metric_that_needs_many_rows_leaves_fewer_out():
    @made_up(min_rows=150)
    def demanding(evidence):
        """Mean of the first code, of many rows."""
        return Score(float(evidence.codes[:, 0].mean()))

    parts = parts_of(EVIDENCE, demanding.card, seed=0)
    assert isinstance(parts, Parts)
    assert parts.n_out == 50
    textbook = EVIDENCE.codes[:, 0].std(ddof=1) / math.sqrt(200)
    assert interval(demanding, EVIDENCE, n_parts=500).standard_error == pytest.approx(textbook, rel=0.13)
    assert "pass at least 167" in str(interval(demanding, EVIDENCE.rows(np.arange(155))).reason)


def test_no_interval_where_there_is_none():
    assert "decoder" in str(interval(CATALOGUE["total_entropy"], Evidence(decoder=RNG.normal(size=(20, 4, 2)))).reason)
    few = Evidence(FACTORS, FACTORS, row_groups=np.repeat(np.arange(4), 50))
    assert "at least 5 row groups" in str(interval(mcc, few).reason)
    assert "needs nuisances" in str(interval(CATALOGUE["nuisances_invariance"], EVIDENCE).reason)
    assert not interval(mcc, few).defined


def test_undefined_on_parts_is_undefined():
    @made_up()
    def fragile(evidence):
        """Undefined without the first row."""
        return Score(1.0 if 0 in evidence.kept_rows else math.nan)

    found = interval(fragile, EVIDENCE)
    assert not found.defined
    assert "of 24 parts" in str(found.reason)


def test_options_and_seeds_come_with_a_partial():
    assert interval(functools.partial(r2, rng=1), EVIDENCE).raw != interval(r2, EVIDENCE).raw


@pytest.mark.parametrize("level", [0, 1, 95])
def test_levels_are_checked(level):
    with pytest.raises(OptionError, match="is not a level"):
        interval(mcc, EVIDENCE, level=level)


def test_parts_of_few_rows_have_the_standard_error_of_all_rows():
    """The standard error of a correlation r is (1 - r^2) / sqrt(n)."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(4000, 1))
    evidence = Evidence(factors, factors + rng.normal(size=(4000, 1)))
    plan = DrawPlan({}, {"mcc": 200}, rows_of_parts={"mcc": 400})
    found = part_scores({"mcc": mcc}, evidence, n_parts=200, plan=plan)["mcc"]
    assert found.plan.n_units - found.plan.n_out == 400
    assert found.plan.standard_error(found.raw) == pytest.approx(0.5 / math.sqrt(4000), rel=0.2)
    assert [note.kind for note in found.notes] == ["parts_of_some_rows"]


@pytest.mark.parametrize(("block", "said"), [(1, []), (2, [2]), (7, [7])])
def test_blocks_of_two_rows_or_more_are_said(block, said, monkeypatch):
    monkeypatch.setattr(subsampling, "block_length", lambda evidence: block)
    plan = Parts(Evidence(np.arange(60.0), np.arange(60.0)), n_units=60, n_out=12, seed=0)
    notes = subsampling._notes(plan, "it")
    assert [note.quantities["n_rows"] for note in notes if note.kind == "parts_of_blocks"] == said


@pytest.mark.parametrize(("n_groups", "said"), [(19, True), (20, False)])
def test_few_row_groups_are_said(n_groups, said):
    column = np.arange(3.0 * n_groups)
    evidence = Evidence(column, column, row_groups=np.repeat(np.arange(n_groups), 3))
    notes = subsampling._notes(Parts(evidence, n_units=n_groups, n_out=4, seed=0), "it")
    assert ("few_groups" in [note.kind for note in notes]) is said


def card_for(min_rows):
    return dataclasses.replace(mcc.card, min_rows=min_rows)


@pytest.mark.parametrize(
    ("n_rows", "min_rows", "most_rows", "n_out"),
    [
        (100, 2, None, 50),
        (101, 2, None, 50),
        (100, 60, None, 40),
        (100, 90, None, 9),
        (100, 2, 20, 80),
        (100, 2, 60, 50),
        (5, 2, None, 2),
        (10, 9, None, 1),
    ],
)
def test_half_of_the_rows_are_left_out_or_what_the_metric_and_the_budget_allow(n_rows, min_rows, most_rows, n_out):
    """A metric of 90 rows has parts from 100 rows on, as the reason of 99 rows says."""
    column = np.random.default_rng(0).normal(size=n_rows)
    parts = parts_of(Evidence(column, column), card_for(min_rows), 3, most_rows)
    assert (parts.n_units, parts.n_out, parts.seed) == (n_rows, n_out, 3)
    assert parts.factor == (n_rows - n_out) / n_out
    assert parts.part(0).n_rows == n_rows - n_out
    assert parts.left_out(0).tolist() != parts.left_out(1).tolist() or n_rows < 20


@pytest.mark.parametrize(
    ("n_rows", "min_rows", "kind", "quantities"),
    [
        (4, 2, "too_few_units", {"n_units": 4, "needed": 5, "units": "rows"}),
        (99, 90, "too_few_rows_for_parts", {"metric": "mcc", "min_rows": 90, "n_rows": 99, "needed": 100}),
    ],
)
def test_too_few_rows_for_parts_say_how_many_are_needed(n_rows, min_rows, kind, quantities):
    column = np.random.default_rng(0).normal(size=n_rows)
    reason = parts_of(Evidence(column, column), card_for(min_rows), 0)
    assert (reason.kind, dict(reason.quantities)) == (kind, quantities)
    nothing = Evidence(decoder=np.ones((20, 4, 2)))
    assert parts_of(nothing, card_for(2), 0).quantities["n_units"] == 0


def test_quantiles_are_those_of_student():
    parts = Parts(EVIDENCE, n_units=10, n_out=5, seed=0)
    assert parts.quantile(0.8, 24) == pytest.approx(stats.t.ppf(0.9, 9))
    assert parts.quantile(0.8, 4) == pytest.approx(stats.t.ppf(0.9, 3))


@pytest.mark.parametrize(("n_out", "said"), [(102, False), (103, True)])
def test_parts_of_fewer_than_half_of_the_rows_are_said(n_out, said):
    """98 of 200 rows are 49 %."""
    notes = subsampling._notes(Parts(EVIDENCE, n_units=200, n_out=n_out, seed=0), "it")
    kinds = [(note.kind, dict(note.quantities)) for note in notes]
    assert kinds == [("parts_of_some_rows", {"n_rows": 200 - n_out, "of": 200})] * said
    grouped = Evidence(FACTORS, FACTORS, row_groups=np.arange(200))
    assert subsampling._notes(Parts(grouped, n_units=200, n_out=n_out, seed=0), "it") == []


def test_two_parts_are_enough_and_a_plan_of_fewer_says_so():
    found = part_scores({"it": mean_code}, EVIDENCE, n_parts=2)["it"]
    assert len(found.raw) == 2
    with pytest.raises(OptionError, match="n_parts=1"):
        part_scores({"it": mean_code}, EVIDENCE, n_parts=1)
    none = part_scores({"it": mean_code, "two": mcc}, EVIDENCE, plan=DrawPlan({}, {"it": 1, "two": 2}, budget=5.0))
    assert (none["it"].kind, dict(none["it"].quantities)) == ("no_parts_in_budget", {"seconds": 5.0})
    assert len(none["two"].raw) == 2


def test_an_interval_follows_from_the_scores_of_parts():
    plan = Parts(EVIDENCE, n_units=200, n_out=50, seed=0)
    score = Score(0.5, bounds=(0.0, 0.6), per_factor={"a": 0.4, "b": 0.3, "c": math.nan})
    parts = ({"a": 0.1, "c": 0.1}, {"a": 0.3, "b": 0.3, "c": 0.1}, {"a": 0.5, "b": 0.3, "c": 0.1})
    found = interval_of_parts("it", PartScores(plan, score, (0.4, 0.6, 0.8), parts, ()), 0.9)
    half = stats.t.ppf(0.95, 2) * math.sqrt(3 * 0.04)
    assert (found.lower, found.upper, found.standard_error) == pytest.approx((0.5 - half, 0.5 + half, math.sqrt(0.12)))
    assert found.clipped == (0.0, 0.6)
    assert list(found.per_factor) == ["a"]
    assert found.per_factor["a"] == pytest.approx((0.4 - half, 0.4 + half))
    assert (found.n_parts, found.level, found.raw) == (3, 0.9, 0.5)
    undefined = interval_of_parts("it", PartScores(plan, Score(math.nan), (0.4, 0.6), ({}, {}), ()), 0.9)
    assert (undefined.reason.kind, undefined.defined) == ("score_undefined", False)


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.5, 0.9])
def test_intervals_of_twenty_groups_cover_the_expected_score(alike):
    """Rows of a group share a part of factors and noise; the expected score is the mean over fresh data."""

    def drawn(seed):
        rng, group = np.random.default_rng([7, seed]), np.repeat(np.arange(20), 25)

        def clustered():
            return alike * rng.normal(size=(20, 3))[group] + np.sqrt(1 - alike**2) * rng.normal(size=(500, 3))

        z = clustered()
        return z, z + 0.5 * clustered(), group

    expected = np.mean([mig(*drawn(1000 + seed)[:2]).raw for seed in range(400)])
    found = [interval(mig, Evidence(z, c, row_groups=g)) for z, c, g in map(drawn, range(200))]
    assert np.mean([each.lower <= expected <= each.upper for each in found]) >= 0.92


def test_parts_leave_out_a_fifth_of_the_groups_and_half_of_the_rows():
    z = np.random.default_rng(0).normal(size=(200, 2))
    for groups, share in ((None, 0.5), (np.arange(200) % 20, 0.2)):
        parts = parts_of(Evidence(z, z, row_groups=groups), mig.card, seed=0)
        assert parts.n_out == share * parts.n_units
        assert parts.left_out(0).size == share * 200


def test_the_error_of_a_score_of_some_rows_is_that_of_their_number():
    """A mean over 400 of 800 rows has the textbook error of 400; halves of all 800 rows would give that of 800."""
    codes = np.random.default_rng(1).normal(size=(800, 1))

    @made_up()
    def mean_of_400(evidence):
        chosen = np.random.default_rng(evidence.n_rows).permutation(evidence.n_rows)[:400]
        return Score(float(evidence.codes[chosen].mean()))

    plan = DrawPlan({}, {"mean": 500}, rows_scored={"mean": 400})
    found = part_scores({"mean": mean_of_400}, Evidence(codes**3, codes), n_parts=500, plan=plan)["mean"]
    assert interval_of_parts("mean", found, 0.95).standard_error == pytest.approx(1 / math.sqrt(400), rel=0.15)
