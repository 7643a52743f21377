"""Intervals: the textbook standard error of a mean, groups that stay whole, and metrics without an interval."""

import functools
import math

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence, EvidenceError
from unweave.metrics import CATALOGUE, mcc, mig, r2
from unweave.score import Score
from unweave.trust.repeated_scoring import Quota
from unweave.trust.sampling import subsampling
from unweave.trust.sampling.intervals import interval, intervals
from unweave.trust.sampling.subsampling import Parts, part_scores, parts_of

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
    assert sorted(np.unique(groups[left], return_counts=True)[1]) == [20] * 5
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


def test_parts_do_not_depend_on_company_or_budget():
    alone = interval(mig, EVIDENCE)
    assert intervals({"r2": r2, "mig": mig}, EVIDENCE, n_jobs=2)["mig"] == alone
    short = interval(mig, EVIDENCE, budget=0.0)
    assert short.n_parts == 8
    assert short.standard_error == interval(mig, EVIDENCE, n_parts=8).standard_error
    assert any("8 of 24" in str(note) for note in short.notes)


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
    with pytest.raises(EvidenceError, match="is not a level"):
        interval(mcc, EVIDENCE, level=level)


def test_parts_of_few_rows_have_the_standard_error_of_all_rows():
    """The standard error of a correlation r is (1 - r^2) / sqrt(n)."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(4000, 1))
    evidence = Evidence(factors, factors + rng.normal(size=(4000, 1)))
    quota = Quota({"mcc": 200}, math.inf, rows={"mcc": 400})
    found = part_scores({"mcc": mcc}, evidence, n_parts=200, quota=quota)["mcc"]
    assert found.plan.n_units - found.plan.n_out == 400
    assert found.plan.standard_error(found.raw) == pytest.approx(0.5 / math.sqrt(4000), rel=0.2)
    assert [note.kind for note in found.notes] == ["parts_of_some_rows"]


@pytest.mark.parametrize(("block", "said"), [(1, []), (2, [2]), (7, [7])])
def test_blocks_of_two_rows_or_more_are_said(block, said, monkeypatch):
    monkeypatch.setattr(subsampling, "block_length", lambda evidence: block)
    plan = Parts(Evidence(np.arange(60.0), np.arange(60.0)), n_units=60, n_out=12, seed=0)
    notes = subsampling._notes(plan, 5, 5, None)
    assert [note.quantities["n_rows"] for note in notes if note.kind == "parts_of_blocks"] == said
    assert subsampling._notes(plan, 4, 5, 3.0)[0].kind == "fewer_parts"


@pytest.mark.parametrize(("n_groups", "said"), [(19, True), (20, False)])
def test_few_row_groups_are_said(n_groups, said):
    column = np.arange(3.0 * n_groups)
    evidence = Evidence(column, column, row_groups=np.repeat(np.arange(n_groups), 3))
    notes = subsampling._notes(Parts(evidence, n_units=n_groups, n_out=4, seed=0), 5, 5, None)
    assert ("few_groups" in [note.kind for note in notes]) is said
