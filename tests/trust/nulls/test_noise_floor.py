"""Noise floors: closed forms, exact p-values, row groups, and metrics that cannot be permuted."""

import functools
import itertools
import math

import numpy as np
import pytest
from made_up_metrics import made_up
from scipy import stats

from unweave import Evidence, OptionError, Posterior
from unweave.estimators.correlation import matched_correlation_by_chance
from unweave.metrics import (
    CATALOGUE,
    dci_size,
    factors_invariance,
    identification,
    irs,
    mcc,
    mig,
    nuisances_invariance,
    r2,
    t_mex,
)
from unweave.randomness import random_stream
from unweave.score import Score
from unweave.trust import noise_floor
from unweave.trust.budget import FEWEST_DRAWS, DrawPlan
from unweave.trust.floors import (
    _by_formula,
    _floor_of_draws,
    _limit,
    _notes_on_draws,
    _worse,
    draws_suffice,
    far_from_noise,
    may_use_some_rows,
    noise_floors,
    null_evidence,
    some_rows,
)
from unweave.trust.row_order import n_null_orders, null_order

RNG = np.random.default_rng(2)
FACTORS = RNG.normal(size=(120, 2))
NOISE = RNG.normal(size=(120, 4))
KNOWING = Evidence(FACTORS, FACTORS + 0.3 * NOISE[:, :2])
IGNORANT = Evidence(FACTORS, NOISE)


@made_up()
def inner_product(evidence):
    """Sum of products of the first factor and the first code."""
    return Score(float(evidence.factors[:, 0] @ evidence.codes[:, 0]))


@made_up(bounds=(0.0, math.inf), best=0.0)
def squared_distance(evidence):
    """Squared distance of the first factor and the first code: lower is better."""
    return Score(float(np.square(evidence.factors[:, 0] - evidence.codes[:, 0]).sum()))


def test_p_value_of_a_rank_statistic_is_that_of_all_orders():
    # five ranks and the identity: count all permutations whose inner product is at least as large
    code = np.array([1.0, 2.0, 3.0, 5.0, 4.0])
    here = float(np.arange(1, 6) @ code)
    as_large = sum(float(np.arange(1, 6) @ np.array(order)) >= here for order in itertools.permutations(code))
    found = noise_floor(inner_product, Evidence(np.arange(1.0, 6.0), code, kinds="continuous"), n_draws=2999)
    assert found.p_value == as_large / math.factorial(5)
    assert len(found.draws) == math.factorial(5) - 1
    # the mean of sum x_i y_pi(i) over all orders is n mean(x) mean(y), its variance (n-1) var(x) var(y)
    spread = math.sqrt(4 * 2.5 * 2.5)
    assert np.mean([here, *found.draws]) == pytest.approx(45)
    assert np.std([here, *found.draws]) == pytest.approx(spread)


@pytest.mark.parametrize("measure", [inner_product, squared_distance])
def test_p_value_counts_in_the_direction_of_better(measure):
    good, bad = Evidence(FACTORS, FACTORS), Evidence(FACTORS, -FACTORS)
    assert noise_floor(measure, good, n_draws=49).p_value == pytest.approx(1 / 50)
    assert noise_floor(measure, bad, n_draws=49).p_value == 1.0


def test_upper_is_what_few_nulls_reach():
    for measure in (inner_product, squared_distance):
        found = noise_floor(measure, IGNORANT, n_draws=99)
        draws = np.array(found.draws)
        better = draws < found.upper if measure.card.lower_is_better else draws > found.upper
        assert better.sum() == 5


def test_mcc_floor_agrees_with_its_formula():
    found = noise_floor(mcc, IGNORANT, n_draws=199)
    assert found.by_formula == matched_correlation_by_chance(120, 4, 2)
    assert abs(found.floor - found.by_formula) < 4 * found.spread * math.sqrt(1 / 199 + 1 / 32)
    assert found.calibrated == pytest.approx((found.raw - found.floor) / (1 - found.floor))


@pytest.mark.parametrize(
    ("measure", "evidence"),
    [
        (functools.partial(mcc, correlation="spearman"), IGNORANT),
        (mcc, Evidence(FACTORS, NOISE, row_groups=np.arange(120) // 4)),
        (mcc, Evidence(FACTORS, NOISE, kinds="circular")),
        (mig, IGNORANT),
    ],
    ids=["option", "groups", "circular", "no formula"],
)
def test_no_formula_where_it_does_not_hold(measure, evidence):
    assert math.isnan(noise_floor(measure, evidence, n_draws=3).by_formula)


@pytest.mark.parametrize("measure", [mcc, r2, mig], ids=lambda entry: entry.__name__)
def test_knowing_is_told_from_not_knowing(measure):
    knows = noise_floor(measure, KNOWING, n_draws=99)
    assert knows.p_value == knows.resolution == 0.01
    assert knows.calibrated > 5 * knows.spread
    assert noise_floor(measure, IGNORANT, n_draws=99).p_value > 0.05


def test_draws_depend_on_seed_and_index_alone():
    alone = noise_floor(mig, KNOWING, n_draws=12)
    together = noise_floors({"r2": r2, "mig": mig}, KNOWING, n_draws=30, n_jobs=2)["mig"]
    assert together.draws[:12] == alone.draws
    assert noise_floor(mig, KNOWING, n_draws=12, seed=1).draws != alone.draws


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_planned_draws_stop_when_they_are_decided(n_jobs):
    """Good codes after 10 draws, random codes when 4 draws have reached the score and there are 19."""
    plan = DrawPlan({"mcc": 99}, {"mcc": 0})
    knowing, ignorant = (
        noise_floors({"mcc": mcc}, data, plan=plan, n_jobs=n_jobs)["mcc"] for data in (KNOWING, IGNORANT)
    )
    assert knowing.p_value == knowing.resolution == 1 / 30
    assert knowing.draws == noise_floor(mcc, KNOWING, n_draws=len(knowing.draws)).draws
    assert len(knowing.draws) < FEWEST_DRAWS
    n = len(ignorant.draws)
    above = np.cumsum(np.array(ignorant.draws) >= ignorant.raw)
    precise = [np.std(ignorant.draws[:k], ddof=1) <= 0.01 * math.sqrt(k) for k in range(2, n + 1)]
    assert n == max(19, 1 + int(np.argmax(above >= 4)), 2 + precise.index(True)) < 99
    assert ignorant.p_value == pytest.approx((1 + above[-1]) / (1 + n))
    assert knowing.notes == ignorant.notes == ()


def test_a_budget_that_ends_before_the_draws_are_decided_is_said():
    short = noise_floors({"mcc": mcc}, KNOWING, plan=DrawPlan({"mcc": 9}, {"mcc": 0}, budget=7.0))["mcc"]
    assert dict(short.notes[0].quantities) == {"n_draws": 9, "of": 99, "seconds": 7.0}
    assert noise_floors({"mcc": mcc}, KNOWING, plan=DrawPlan({"mcc": 29}, {"mcc": 0}))["mcc"].notes == ()


def test_random_codes_are_above_noise_as_often_as_stated():
    """The rules on uniform p-values: 4 draws above, none of 29, or 99 draws (docs/trust.md)."""
    score, n_worlds = Score(0.0, bounds=(0.0, 100.0), best=100.0), 4000
    values = np.random.default_rng(5).random((n_worlds, 100))
    above = 0
    for raw, *draws in values.tolist():
        drawn = [Score(draw) for draw in draws]
        done = next((n for n in range(19, 99) if draws_suffice(score, raw, True, drawn[:n])), 99)
        above += (1 + sum(draw >= raw for draw in draws[:done])) / (1 + done) <= 0.05
    # by integration over p: P(at most 3 of 99) + P(0 of 29, 4 or more of the other 70), and .0004 for 4 of 99
    p = (np.arange(100_000) + 0.5) / 100_000
    exact = np.mean(stats.binom.cdf(3, 99, p) + (1 - p) ** 29 * stats.binom.sf(3, 70, p)) + 4 / 9900
    assert exact == pytest.approx(0.0482, abs=5e-5)
    assert above / n_worlds == pytest.approx(exact, abs=4 * math.sqrt(exact / n_worlds))


@pytest.mark.parametrize("null", ["normal", "exponential", "square"])
def test_random_codes_are_hardly_ever_far_from_noise(null):
    """A score beyond six draws by Student's t at 1e-5 adds at most .005 to the size, however skewed the null is."""
    rng, n_worlds = np.random.default_rng(6), 4000
    values = {
        "normal": rng.normal(size=(n_worlds, 7)),
        "exponential": rng.exponential(size=(n_worlds, 7)),
        "square": rng.chisquare(3, size=(n_worlds, 7)),
    }[null]
    score = Score(0.0, bounds=(0.0, 1.0), best=1.0)
    far = sum(far_from_noise(score, raw, list(map(Score, draws))) for raw, *draws in values.tolist())
    assert far / n_worlds <= 0.005
    assert far_from_noise(score, 0.9, list(map(Score, (0.3 + 0.02 * rng.normal(size=6)).tolist())))


def test_matched_codes_keep_marginals_and_lose_dependence():
    rng = np.random.default_rng(1)
    codes = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 3))
    null = null_evidence(Evidence(rng.normal(size=(500, 2)), codes), "matched", seed=0, index=0)
    np.testing.assert_array_equal(np.sort(null.codes, axis=0), np.sort(codes, axis=0))
    assert np.abs(np.corrcoef(null.codes.T) - np.eye(3)).max() < 0.15


def test_matched_posteriors_keep_mean_and_spread_together():
    posterior = Posterior(NOISE, 1 + NOISE**2, categories={"shape": np.full((120, 2), 0.5)})
    null = null_evidence(Evidence(FACTORS, posterior), "matched", seed=0, index=0).posterior
    np.testing.assert_allclose(null.std, 1 + null.mean**2)
    assert null.names == posterior.names


def test_constant_codes_score_what_nothing_scores():
    found = noise_floor(mcc, KNOWING, kind="constant")
    assert found.floor == pytest.approx(0, abs=1e-12)
    assert math.isnan(found.p_value)
    assert found.calibrated == pytest.approx(found.raw)
    posterior = Evidence(FACTORS, Posterior(NOISE, np.ones((120, 4))))
    assert noise_floor(CATALOGUE["rmig"], posterior, kind="constant").floor == pytest.approx(0, abs=1e-9)


def test_permutation_keeps_row_groups_whole():
    groups = np.repeat(np.arange(30), 4)
    evidence = Evidence(np.column_stack([groups, np.arange(120)]), NOISE, row_groups=groups, kinds="continuous")
    null = null_evidence(evidence, "permutation", seed=0, index=3)
    laid = null.factors.reshape(30, 4, 2)
    assert (laid[:, :, 0] == laid[:, :1, 0]).all()
    assert (np.diff(laid[:, :, 1], axis=1) == 1).all()
    assert not np.array_equal(laid[:, 0, 0], np.arange(30))


def test_few_groups_have_few_orders():
    evidence = Evidence(FACTORS, FACTORS, row_groups=np.repeat(np.arange(3), 40))
    found = noise_floor(mcc, evidence, n_draws=99)
    assert found.p_value == found.resolution == pytest.approx(1 / 6)
    assert any("6 ways" in str(note) for note in found.notes)


def test_groups_of_copies_are_not_taken_for_samples():
    # ten samples, each repeated twelve times: permutations of rows would find unrelated factors significant
    rng = np.random.default_rng(5)
    factors, codes = np.repeat(rng.normal(size=(10, 1)), 12, axis=0), np.repeat(rng.normal(size=(10, 3)), 12, axis=0)
    groups = np.repeat(np.arange(10), 12)
    by_rows = noise_floor(mcc, Evidence(factors, codes, kinds="continuous"), n_draws=99)
    by_groups = noise_floor(mcc, Evidence(factors, codes, kinds="continuous", row_groups=groups), n_draws=99)
    assert by_rows.p_value > 0.05  # equal rows stay together even without row groups
    assert by_groups.p_value > 0.05


@pytest.mark.parametrize("name", ["total_entropy", "informativeness", "wsepin"])
@pytest.mark.parametrize("kind", ["permutation", "matched", "constant"])
def test_metrics_that_pair_nothing_say_so(name, kind):
    found = noise_floor(CATALOGUE[name], KNOWING, kind=kind)
    assert not found.defined
    assert name in str(found.reason)


def test_a_metric_that_refuses_the_evidence_says_why():
    found = noise_floor(nuisances_invariance, KNOWING)
    assert "needs nuisances" in str(found.reason)


def test_nothing_to_calibrate_where_noise_is_as_good_as_the_best():
    found = noise_floor(factors_invariance, Evidence(FACTORS, NOISE), n_draws=3)
    assert math.isnan(found.calibrated)
    assert any("within .01 of the best" in str(note) for note in found.notes)


def test_a_metric_that_does_not_look_is_never_significant():
    found = noise_floor(dci_size, KNOWING, n_draws=19)
    assert found.p_value == 1.0
    assert any("the same" in str(note) for note in found.notes)


def test_nats_have_no_best():
    posterior = Evidence(FACTORS, Posterior(FACTORS, np.full((120, 2), 0.1)))
    found = noise_floor(functools.partial(CATALOGUE["rmig"], normalise=False), posterior, n_draws=9)
    assert found.raw > found.upper
    assert math.isnan(found.calibrated)


def test_undefined_nulls_count_as_better():
    @made_up()
    def unsteady(evidence):
        """1 for the true pairing; otherwise undefined if the first factor is negative, and 0 if it is not."""
        here = evidence.factors[0, 0]
        return Score(math.nan if here < 0 and here != FACTORS[0, 0] else float(here == FACTORS[0, 0]))

    found = noise_floor(unsteady, KNOWING, n_draws=99)
    n_undefined = int(np.isnan(found.draws).sum())
    assert 20 < n_undefined < 80
    assert found.p_value == (1 + n_undefined + found.draws.count(1.0)) / 100
    assert any("no score" in str(note) for note in found.notes)


def test_nuisances_move_with_the_factors():
    light = np.arange(120.0)
    null = null_evidence(Evidence(light, NOISE, nuisances=light, kinds="continuous"), "permutation", seed=0, index=0)
    np.testing.assert_array_equal(null.nuisances, null.factors)


@pytest.mark.parametrize("kind", ["permutation", "matched"])
def test_with_a_sampler_nulls_draw_codes_that_do_not_know_what_is_held(kind):
    def sampler(fixed, n_rows, rng):
        factors = rng.normal(size=(n_rows, 2))
        for name, value in fixed.items():
            factors[:, int(name[-1])] = value
        return factors, factors + 0.05 * rng.normal(size=(n_rows, 2))

    evidence = Evidence(FACTORS, FACTORS + 0.05 * NOISE[:, :2], sampler=sampler)
    found = noise_floor(irs, evidence, kind=kind, n_draws=4)
    assert found.raw > 0.8 > 0.3 > max(found.draws)
    assert len(set(found.draws)) == 4


def test_per_factor_floors():
    found = noise_floor(r2, KNOWING, n_draws=19)
    assert set(found.per_factor_floor) == set(KNOWING.factor_names)
    assert np.mean(list(found.per_factor_floor.values())) == pytest.approx(np.mean(found.draws))
    assert all(found.per_factor_upper[name] >= floor for name, floor in found.per_factor_floor.items())


def test_count_metrics_are_calibrated_downwards():
    found = noise_floor(t_mex, KNOWING, n_draws=19)
    assert found.p_value == 0.05
    assert found.calibrated == pytest.approx((found.floor - found.raw) / found.floor)


def test_an_option_may_turn_the_direction():
    found = noise_floor(functools.partial(t_mex, score="alignment"), KNOWING, n_draws=19)
    assert found.raw == 1.0
    assert found.p_value == 0.05
    assert found.calibrated == 1.0


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="n_draws=0"):
        noise_floor(mcc, KNOWING, n_draws=0)
    with pytest.raises(ValueError, match="kind='bootstrap'"):
        noise_floor(mcc, KNOWING, kind="bootstrap")
    with pytest.raises(OptionError, match="not a metric"):
        noise_floor(len, KNOWING)


def test_a_mixing_worse_than_luck_is_below_the_floor():
    """The identification score of a mixing is below 0, that of noise is 0, and no score is clipped."""
    angle = 0.8
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    factors = np.random.default_rng(0).normal(size=(200, 2))
    found = noise_floor(identification, Evidence(factors, factors @ turn), n_draws=19)
    assert found.raw < -0.05
    assert found.draws == (0.0,) * 19
    assert found.floor == 0.0
    assert found.calibrated == pytest.approx(found.raw)


@pytest.mark.parametrize(("factors", "codes"), [(FACTORS, np.zeros((120, 3))), (np.ones((120, 2)), NOISE)])
def test_where_nothing_varies_there_is_no_formula(factors, codes):
    assert math.isnan(_by_formula(mcc, Evidence(factors, codes)))


def test_codes_that_are_all_dead_have_a_floor():
    found = noise_floor(mcc, Evidence(FACTORS, np.zeros((120, 3))), n_draws=19)
    assert (found.floor, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "nonsense"}, "kind='nonsense'"),
        ({"n_draws": 5.5}, "n_draws=5.5"),
        ({"n_draws": 0}, "n_draws=0"),
        ({"n_draws": True}, "n_draws=True"),
        ({"seed": "x"}, "seed='x'"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_what_is_no_option_is_refused_in_one_sentence(options, named):
    with pytest.raises(OptionError, match=named):
        noise_floor(mcc, KNOWING, **options)


def test_some_rows_give_the_floor_and_the_test_of_these_rows():
    rng = np.random.default_rng(0)
    factors, codes = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 6))
    evidence = Evidence(factors, codes)
    found = noise_floor(mcc, evidence, n_draws=39, n_rows=100, seed=3)
    rows = np.sort(random_stream(3, "rows of null draws").permutation(2000)[:100])
    alone = noise_floor(mcc, Evidence(factors[rows], codes[rows]), n_draws=39, seed=3)
    assert found.draws == pytest.approx(alone.draws)
    assert (found.floor, found.p_value) == pytest.approx((alone.floor, alone.p_value))
    assert found.raw == mcc(evidence).raw
    assert (found.n_rows, alone.n_rows) == (100, None)
    assert "nulls_of_some_rows" in [note.kind for note in found.notes]
    with pytest.raises(OptionError, match="n_rows=1 is not a valid number of rows"):
        noise_floor(mcc, evidence, n_rows=1)


def test_a_sampler_with_constant_codes_keeps_its_factors():
    from unweave.trust.floors import ConstantCodes

    def sampler(fixed, n_rows, rng):
        return rng.normal(size=(n_rows, 2)), rng.normal(size=(n_rows, 3))

    factors, codes = ConstantCodes(sampler, (1.0, -2.0))({}, 5, np.random.default_rng(3))
    assert factors.tolist() == np.random.default_rng(3).normal(size=(5, 2)).tolist()
    assert codes.tolist() == [[1.0, -2.0]] * 5


@pytest.mark.parametrize(
    ("downwards", "raw", "values", "worse"),
    [
        (False, 0.5, [0.1, 0.5, 0.6], [True, False, False]),
        (True, 0.5, [0.1, 0.5, 0.6], [False, False, True]),
        (False, 0.5, [0.1, math.nan, 0.3], [True, False, True]),
        # what differs by rounding alone is equal: 1e-12 of the score, or of 1 for scores below 1
        (False, 0.5, [0.5 - 1.5e-12, 0.5 - 0.9e-12], [True, False]),
        (False, 100.0, [100 - 1.5e-10, 100 - 0.9e-10], [True, False]),
        (True, 100.0, [100 + 1.5e-10, 100 + 0.9e-10], [True, False]),
        (True, 0.0, [1e-12, 0.0], [False, False]),
    ],
)
def test_what_differs_by_rounding_or_has_no_score_is_not_worse(downwards, raw, values, worse):
    assert _worse(downwards, raw, np.array(values)).tolist() == worse


def summary(values, value=0.5, metric=inner_product, evidence=KNOWING, kind="permutation", **options):
    """The floor that follows from scores of null draws between -1 and 1."""
    score = Score(value, bounds=(-1.0, 1.0), best=1.0, **options)
    drawn = [each if each is None or isinstance(each, Score) else Score(each) for each in values]
    return _floor_of_draws(metric, evidence, kind, score, value, drawn, kind != "constant")


def test_a_floor_is_the_mean_of_what_is_shown_and_the_spread_is_that_of_all_draws():
    found = summary([-3.0, 0.0, None, 0.5])
    assert found.floor == (-1.0 + 0.0 + 0.5) / 3
    assert found.spread == pytest.approx(np.std([-3.0, 0.0, 0.5], ddof=1))
    assert found.upper == pytest.approx(np.quantile([-3.0, 0.0, 0.5], 0.95))
    assert found.calibrated == pytest.approx((0.5 + 1 / 6) / (1 + 1 / 6))
    assert found.draws == pytest.approx((-3.0, 0.0, math.nan, 0.5), nan_ok=True)
    assert [(note.kind, dict(note.quantities)) for note in found.notes] == [
        ("nulls_without_score", {"n_draws": 1, "of": 4})
    ]


@pytest.mark.parametrize(
    ("values", "spread"), [([0.25], math.nan), ([0.25, 0.75], pytest.approx(0.125**0.5)), ([None, 0.25], math.nan)]
)
def test_a_spread_needs_two_draws(values, spread):
    assert summary(values).spread == pytest.approx(spread, nan_ok=True)


def test_draws_without_any_score_say_so():
    found = summary([None, None, None])
    assert not found.defined
    assert (found.reason.kind, found.raw) == ("nulls_undefined", 0.5)
    assert [note.kind for note in found.notes] == ["nulls_without_score"]


@pytest.mark.parametrize(("floor", "near"), [(0.992, True), (0.98, False), (-1.0, False)])
def test_a_floor_within_a_hundredth_of_the_best_is_not_calibrated(floor, near):
    found = summary([floor] * 3, value=0.995)
    assert ("floor_near_best" in [note.kind for note in found.notes]) is near
    assert math.isnan(found.calibrated) is near


@pytest.mark.parametrize(
    ("values", "equal"), [([0.5, 0.5], True), ([0.5, 0.4], False), ([0.4, 0.4], False), ([-0.5, -0.5], False)]
)
def test_draws_that_all_equal_the_score_are_said(values, equal):
    found = summary(values)
    assert ("nulls_equal_score" in [note.kind for note in found.notes]) is equal


def test_floors_of_factors_are_means_of_the_draws_that_have_them():
    drawn = [
        Score(0.1, per_factor={"a": 0.25, "b": math.nan, "c": 0.5}),
        None,
        Score(0.2, per_factor={"a": 0.75, "b": math.nan}),
        Score(0.3, per_factor={"a": math.nan, "b": math.nan, "d": 1.0}),
    ]
    found = summary(drawn, per_factor={"a": 0.5, "b": 0.5, "c": 0.5, "d": math.nan})
    assert found.per_factor_floor == {"a": 0.5, "c": 0.5}
    # two factors share a level of 5 %, and two draws cannot show the quantile of 97.5 %
    beyond = 0.5 + stats.t.isf(0.025, 1) * np.std([0.25, 0.75], ddof=1) * math.sqrt(1.5)
    assert found.per_factor_upper == pytest.approx({"a": beyond, "c": 0.5})


@pytest.mark.parametrize("kind", ["permutation", "matched", "constant"])
@pytest.mark.parametrize(("n_groups", "n_orders"), [(2, 2), (3, 6), (4, 24), (5, 120), (6, math.inf)])
def test_few_row_groups_have_all_their_orders(n_groups, n_orders, kind):
    """Three groups have six orders, so that a p-value is a sixth at least."""
    groups = np.repeat(np.arange(n_groups), 4)
    evidence = Evidence(FACTORS[: groups.size], FACTORS[: groups.size], row_groups=groups)
    found = noise_floor(inner_product, evidence, n_draws=130, kind=kind)
    said = [dict(note.quantities) for note in found.notes if note.kind == "few_orders"]
    expected = {"n_groups": n_groups, "n_orders": n_orders, "smallest": 1 / n_orders}
    assert said == [expected] * (n_groups < 4 and kind != "constant")
    assert n_null_orders(evidence) == n_orders
    if kind == "permutation" and n_groups < 6:
        orders = {null_order(evidence, RNG, index).tobytes() for index in range(n_orders - 1)}
        assert len(orders | {np.arange(groups.size).tobytes()}) == 1 + len(found.draws) == n_orders
        assert found.p_value == found.resolution == 1 / n_orders


def test_groups_of_unequal_size_are_said():
    groups = np.r_[0, np.arange(119) // 7]
    notes = _notes_on_draws(Evidence(FACTORS, FACTORS, row_groups=groups), "permutation", [Score(0.0)] * 9)
    assert [note.kind for note in notes] == ["groups_of_unequal_size"]


@pytest.mark.parametrize(
    ("factors", "codes", "kinds", "sizes"),
    [
        (FACTORS, NOISE, None, (4, 2)),
        (np.column_stack([FACTORS, np.ones(120)]), np.column_stack([NOISE, np.ones((120, 2))]), None, (4, 2)),
        (FACTORS, NOISE, ["continuous", "circular"], None),
    ],
)
def test_the_formula_is_that_of_columns_that_vary(factors, codes, kinds, sizes):
    found = _by_formula(functools.partial(mcc), Evidence(factors, codes, **({"kinds": kinds} if kinds else {})))
    expected = matched_correlation_by_chance(120, *sizes) if sizes else math.nan
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("options", [{"n_draws": 1}, {"seed": 0}, {"n_rows": 2}, {"n_draws": np.int64(2)}])
def test_the_smallest_options_are_taken(options):
    assert noise_floor(inner_product, KNOWING, **{"n_draws": 2} | options).defined
    with pytest.raises(OptionError, match="n_rows=True"):
        noise_floor(inner_product, KNOWING, n_rows=True)


def test_a_metric_without_planned_draws_has_no_floor_and_others_have_theirs():
    metrics = {"none": inner_product, "two": squared_distance}
    found = noise_floors(metrics, KNOWING, plan=DrawPlan({"none": 0, "two": 2}, {}, budget=7.0))
    assert dict(found["none"].reason.quantities) == {"seconds": 7.0}
    assert len(found["two"].draws) == 2
    some = noise_floors(metrics, KNOWING, plan=DrawPlan({"none": 2, "two": 2}, {}, rows={"two": 30}))
    assert (some["none"].n_rows, some["two"].n_rows) == (None, 30)


def test_constant_codes_are_the_means_and_a_constant_posterior_is_the_prior():
    (null,) = {null_evidence(KNOWING, "constant", seed=k, index=0).codes[7].tobytes() for k in range(2)}
    assert np.frombuffer(null) == pytest.approx(KNOWING.codes.mean(axis=0))
    shapes = np.random.default_rng(0).dirichlet([1, 1, 1], size=120)
    posterior = Posterior(NOISE, 1 + NOISE**2, categories={"shape": shapes})
    prior = null_evidence(Evidence(FACTORS, posterior), "constant", seed=0, index=0).posterior
    assert prior.mean[5] == pytest.approx(NOISE.mean(axis=0))
    assert prior.std[9] == pytest.approx(np.sqrt(np.square(1 + NOISE**2).mean(axis=0) + NOISE.var(axis=0)))
    assert prior.categories["shape"][3] == pytest.approx(shapes.mean(axis=0))
    alone = Posterior(categories={"shape": shapes})
    for kind in ("constant", "matched"):
        null = null_evidence(Evidence(FACTORS, alone), kind, seed=0, index=0).posterior
        assert null.categories["shape"].mean(axis=0) == pytest.approx(shapes.mean(axis=0))


def test_samplers_of_nulls_shuffle_columns_and_keep_the_mean():
    def sampler(fixed, n_rows, rng):
        factors = rng.normal(size=(n_rows, 2))
        return factors, np.column_stack([np.arange(n_rows), np.arange(n_rows)]).astype(float)

    evidence = Evidence(FACTORS, FACTORS, sampler=sampler)
    still = null_evidence(evidence, "constant", seed=0, index=0).sampler
    assert still({}, 3, np.random.default_rng(0))[1] == pytest.approx(np.tile(FACTORS.mean(axis=0), (3, 1)))
    apart = null_evidence(evidence, "matched", seed=0, index=0).sampler
    _, codes = apart({}, 50, np.random.default_rng(0))
    assert sorted(codes[:, 0]) == sorted(codes[:, 1]) == list(range(50))
    assert codes[:, 0].tolist() != codes[:, 1].tolist()
    assert null_evidence(KNOWING, "matched", seed=0, index=0).sampler is None
    assert null_evidence(KNOWING, "constant", seed=0, index=0).sampler is None


def test_some_rows_may_replace_all_rows_that_are_exchangeable():
    def sampler(fixed, n_rows, rng):
        return FACTORS[:n_rows], FACTORS[:n_rows]

    walk = np.random.default_rng(0).normal(size=(120, 2)).cumsum(axis=0)
    assert may_use_some_rows(KNOWING)
    assert not may_use_some_rows(Evidence(FACTORS, FACTORS, sampler=sampler))
    assert not may_use_some_rows(Evidence(FACTORS, FACTORS, row_groups=np.arange(120)))
    assert not may_use_some_rows(Evidence(walk, walk))
    assert some_rows(KNOWING, 120, 0) is KNOWING
    assert some_rows(KNOWING, 119, 0).n_rows == 119


@pytest.mark.parametrize("n_factors", [1, 4, 10])
def test_the_limits_of_factors_have_one_level_for_all_together(n_factors):
    """29 draws cannot resolve a tenth of 5 %; with the largest of them, 30 % of ten factors would be above."""
    rng, exceeded = np.random.default_rng(0), 0
    for _ in range(400):
        drawn, observed = rng.normal(size=(29, n_factors)), rng.normal(size=n_factors)
        limits = [_limit(column, 0.05 / n_factors, 1.0) for column in drawn.T]
        assert [-_limit(-column, 0.05 / n_factors, 0.0) for column in drawn.T] == pytest.approx(limits)
        exceeded += bool((observed > limits).any())
    assert 0.02 <= exceeded / 400 <= 0.12  # the quantile of 29 draws is exceeded by 8 %
