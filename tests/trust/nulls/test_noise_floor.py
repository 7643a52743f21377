"""Noise floors: closed forms, exact p-values, row groups, and metrics that cannot be permuted."""

import functools
import itertools
import math
import types

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence, EvidenceError, Posterior
from unweave.estimators.matching import matched_correlation_by_chance
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
from unweave.score import Score
from unweave.trust.nulls.noise_floor import _by_formula, noise_floor, noise_floors
from unweave.trust.nulls.null_encoders import unknowing

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
    exact = as_large / math.factorial(5)
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 2999)
    # the mean of sum x_i y_pi(i) over all orders is n mean(x) mean(y), its variance (n-1) var(x) var(y)
    spread = math.sqrt(4 * 2.5 * 2.5)
    assert abs(np.mean(found.draws) - 45) < 4 * spread / math.sqrt(2999)
    assert abs(found.spread - spread) < 0.3


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


def test_an_exhausted_budget_leaves_the_fewest_draws_and_says_so():
    found = noise_floor(mcc, KNOWING, n_draws=99, budget=0.0)
    assert len(found.draws) == 19
    assert found.resolution == 0.05
    assert any("19 of 99" in str(note) for note in found.notes)
    assert found.draws == noise_floor(mcc, KNOWING, n_draws=19).draws


def test_a_slow_metric_leaves_the_fast_one_its_draws(monkeypatch):
    """Each of two metrics has half of 32 seconds, and what the fast metric does not need goes to the slow one."""
    seconds = [0.0]
    monkeypatch.setattr("unweave.trust.repeated_scoring.time", types.SimpleNamespace(perf_counter=lambda: seconds[0]))

    @made_up()
    def slow(evidence):
        """A metric that takes one second."""
        seconds[0] += 1.0
        return Score(float(evidence.factors[0, 0]))

    @made_up()
    def fast(evidence):
        """A metric that takes a sixty-fourth of a second."""
        seconds[0] += 1 / 64
        return Score(float(evidence.factors[0, 0]))

    found = noise_floors({"slow": slow, "fast": fast}, KNOWING, n_draws=128, budget=32.0)
    assert len(found["fast"].draws) == 128
    assert len(found["slow"].draws) == 32 - 128 // 64


def test_matched_codes_keep_marginals_and_lose_dependence():
    rng = np.random.default_rng(1)
    codes = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 3))
    null = unknowing(Evidence(rng.normal(size=(500, 2)), codes), "matched", seed=0, index=0)
    np.testing.assert_array_equal(np.sort(null.codes, axis=0), np.sort(codes, axis=0))
    assert np.abs(np.corrcoef(null.codes.T) - np.eye(3)).max() < 0.15


def test_matched_posteriors_keep_mean_and_spread_together():
    posterior = Posterior(NOISE, 1 + NOISE**2, categories={"shape": np.full((120, 2), 0.5)})
    null = unknowing(Evidence(FACTORS, posterior), "matched", seed=0, index=0).posterior
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
    null = unknowing(evidence, "permutation", seed=0, index=3)
    laid = null.factors.reshape(30, 4, 2)
    assert (laid[:, :, 0] == laid[:, :1, 0]).all()
    assert (np.diff(laid[:, :, 1], axis=1) == 1).all()
    assert not np.array_equal(laid[:, 0, 0], np.arange(30))


def test_few_groups_have_few_orders():
    evidence = Evidence(FACTORS, FACTORS, row_groups=np.repeat(np.arange(4), 30))
    found = noise_floor(mcc, evidence, n_draws=99)
    assert found.resolution == pytest.approx(1 / 24)
    assert found.p_value >= found.resolution
    assert any("24 ways" in str(note) for note in found.notes)


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
    null = unknowing(Evidence(light, NOISE, nuisances=light, kinds="continuous"), "permutation", seed=0, index=0)
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
    with pytest.raises(EvidenceError, match="n_draws=0"):
        noise_floor(mcc, KNOWING, n_draws=0)
    with pytest.raises(ValueError, match="kind='bootstrap'"):
        noise_floor(mcc, KNOWING, kind="bootstrap")
    with pytest.raises(EvidenceError, match="not a metric"):
        noise_floor(len, KNOWING)


def test_a_score_of_0_beside_a_floor_of_0_is_calibrated_0():
    """The raw identification score of a mixing is below 0 and that of noise is not, but both are clipped to 0."""
    angle = 0.8
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    factors = np.random.default_rng(0).normal(size=(200, 2))
    found = noise_floor(identification, Evidence(factors, factors @ turn), n_draws=19)
    assert found.raw < -0.05
    assert found.draws == (0.0,) * 19
    assert found.floor == 0.0
    assert abs(found.calibrated) < 0.05


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
        ({"budget": math.nan}, "budget=nan"),
    ],
)
def test_what_is_no_option_is_refused_in_one_sentence(options, named):
    with pytest.raises(EvidenceError, match=named):
        noise_floor(mcc, KNOWING, **options)


def test_some_rows_give_the_floor_and_the_test_of_these_rows():
    rng = np.random.default_rng(0)
    factors, codes = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 6))
    evidence = Evidence(factors, codes)
    found = noise_floor(mcc, evidence, n_draws=39, n_rows=100, seed=3)
    rows = np.sort(np.random.default_rng(3).permutation(2000)[:100])
    alone = noise_floor(mcc, Evidence(factors[rows], codes[rows]), n_draws=39, seed=3)
    assert found.draws == pytest.approx(alone.draws)
    assert (found.floor, found.p_value) == pytest.approx((alone.floor, alone.p_value))
    assert found.raw == mcc(evidence).raw
    assert (found.n_rows, alone.n_rows) == (100, None)
    assert "nulls_of_some_rows" in [note.kind for note in found.notes]
    with pytest.raises(EvidenceError, match="n_rows=1 is not a valid number of rows"):
        noise_floor(mcc, evidence, n_rows=1)


def test_a_sampler_with_constant_codes_keeps_its_factors():
    from unweave.trust.nulls.null_encoders import ConstantCodes

    def sampler(fixed, n_rows, rng):
        return rng.normal(size=(n_rows, 2)), rng.normal(size=(n_rows, 3))

    factors, codes = ConstantCodes(sampler, (1.0, -2.0))({}, 5, np.random.default_rng(3))
    assert factors.tolist() == np.random.default_rng(3).normal(size=(5, 2)).tolist()
    assert codes.tolist() == [[1.0, -2.0]] * 5
