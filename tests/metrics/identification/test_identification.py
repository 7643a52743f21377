"""identification against closed forms: squared loadings, the chance level of random mixings, and scores of 0 or 1."""

import itertools

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.findings import Finding
from unweave.metrics import identification
from unweave.metrics.identification import luck, n_distinct, recovery_of_mixings
from unweave.responses.factor_bases import factor_bases, fold_of_rows
from unweave.responses.responses import MODELS, local_fit
from unweave.synthetic.encoders import Distributed, Dropped, PartlyMixed, PermutedAndScaled
from unweave.synthetic.worlds import Circuit, Correlated, Independent, OneFactorConstraint, TwoFactorConstraint

FACTORS = Independent(4).sample(400, rng=0)
MORE = Independent(4).sample(600, rng=0)  # where the tolerance is close to the standard error
ROTATION = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]


def part(score, name):
    return float(score.parts[name])


def test_a_permutation_on_other_scales_gets_all():
    score = identification(MORE, MORE[:, [2, 0, 3, 1]] * [1.0, -2.0, 0.1, 30.0])
    assert score.value == pytest.approx(1, abs=2e-3)  # .9987 to 1 over samples of 600 rows
    assert score.parts["chosen_matrix"].tolist() == np.eye(4)[[2, 0, 3, 1]].tolist()
    assert score.parts["free_factors"].tolist() == [1, 1, 1, 1]
    assert not score.caveats


def test_monotone_maps_of_codes_and_of_factors_change_nothing():
    codes = MORE @ (0.85 * np.eye(4) + 0.15 * ROTATION)
    bent_factors = np.column_stack([np.exp(MORE[:, 0]), MORE[:, 1] ** 3, MORE[:, 2:]])
    raw = identification(MORE, codes).raw
    assert 0.3 < raw < 0.99
    assert identification(MORE, np.sinh(3 * codes) + 5).raw == pytest.approx(raw, abs=1e-12)
    # the rows that a factor is set to are chosen by the correlations of its values: up to .004 over samples
    assert identification(bent_factors, codes).raw == pytest.approx(raw, abs=0.005)


def test_purity_of_a_linear_map_is_its_squared_loading():
    score = identification(Independent(4).sample(2000, rng=0), Independent(4).sample(2000, rng=0) @ ROTATION.T)
    assert score.parts["purity_matrix"] == pytest.approx(ROTATION**2, abs=0.03)
    assert set(score.parts["model_per_code"]) == {MODELS.index("linear")}


def test_noise_counts_against_purity():
    noise = np.random.default_rng(2).normal(size=MORE.shape)
    purity = identification(MORE, MORE + noise).parts["purity_matrix"]
    assert np.diag(purity) == pytest.approx(np.full(4, 0.5), abs=0.12)  # four times the spread over samples


def test_a_rotation_is_chance_and_lossless():
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    score = identification(MORE[:, :2], MORE[:, :2] @ turn)
    assert score.value == 0
    # the upper decile of max(cos^2, sin^2): 90 % of the angles are further than 4.5 degrees from an axis
    assert part(score, "luck_level") == pytest.approx(np.cos(np.deg2rad(0.1 * 45)) ** 2, abs=0.002)
    assert score.parts["recovery"] == pytest.approx([0.64, 0.64], abs=0.04)
    assert score.parts["affine_recovery"].min() > 0.97


@pytest.mark.parametrize(("n_rows", "n_codes"), [(100, 100), (400, 30)])
def test_noise_knows_nothing(n_rows, n_codes):
    score = identification(FACTORS[:n_rows], np.random.default_rng(3).uniform(size=(n_rows, n_codes)))
    assert score.value == 0
    assert score.raw == 0
    assert score.parts["affine_recovery"].tolist() == [0, 0, 0, 0]
    assert Finding("codes_uninformative_here") in score.caveats


def test_a_dropped_factor_costs_its_share_whatever_the_correlation():
    for rho in (0.0, 0.9):
        factors = Correlated(4, rho).sample(400, rng=1)
        score = identification(factors, Dropped((2,)).encode(factors, rng=0))
        assert score.raw == pytest.approx(3 / 4, abs=0.01)
        assert score.per_factor["factor 2"] == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(("world", "redundant"), [(OneFactorConstraint(4), 1), (TwoFactorConstraint(4), 2)])
def test_a_determined_factor_may_be_dropped(world, redundant):
    factors = world.sample(500, rng=0)
    for encoder in (PermutedAndScaled(), Dropped((redundant,))):
        score = identification(factors, encoder.encode(factors, rng=0))
        assert score.value == pytest.approx(1, abs=0.01)
        assert part(score, "effective_dimension") == 3


@pytest.mark.parametrize(("kept", "whole"), [((0, 2), True), ((2, 3), True), ((0, 1), False)])
def test_two_quantities_of_the_circuit_are_all_of_it(kept, whole):
    """Temperature and current, or current and voltage; temperature and resistance determine each other."""
    factors = Circuit().sample(500, rng=0)
    score = identification(factors, factors[:, list(kept)])
    assert part(score, "effective_dimension") == 2
    assert (score.value > 0.99) == whole


@pytest.mark.parametrize("k", [2, 5])
def test_several_codes_of_one_factor_are_read_together(k):
    factors = Independent(3, "truncated").sample(400, rng=0)
    score = identification(factors, Distributed(k).encode(factors, rng=0))
    assert score.value > 0.95
    assert part(score, "distinct_codes") == pytest.approx(3, abs=0.1)


def test_copies_and_noise_codes_change_little():
    codes = PartlyMixed(0.2).encode(FACTORS, rng=0)
    noise = np.random.default_rng(4).normal(size=(400, 12))
    raw = identification(FACTORS, codes).raw
    for more in (np.hstack([codes, -codes, np.exp(codes)]), np.hstack([codes, noise])):
        assert identification(FACTORS, more).raw == pytest.approx(raw, abs=0.01)


def test_factors_of_every_kind():
    rng = np.random.default_rng(5)
    shape, size = rng.integers(0, 4, 600), rng.integers(0, 6, 600)
    angle, x = rng.uniform(0, 360, 600), rng.normal(size=600)
    turn = np.deg2rad(angle)
    codes = np.column_stack([shape + 0.1 * rng.normal(size=600), np.exp(size), np.cos(turn), np.sin(turn), -x])
    factors = {"shape": [f"shape {k}" for k in shape], "size": size, "angle": angle, "x": x}
    kinds = {"angle": "circular:360", "size": "ordinal"}
    assert float(identification(factors, codes, kinds=kinds)) > 0.95
    mixed = np.column_stack([codes[:, 0] + 3 * x, codes[:, 1:4], x - codes[:, 0]])
    worse = identification(factors, mixed, kinds=kinds).per_factor
    assert worse["shape"] < 0.8
    assert worse["x"] < 0.9
    assert min(worse["size"], worse["angle"]) > 0.95


def test_mixing_outside_the_data_is_said():
    for rho, said in ((0.0, False), (0.97, True)):
        factors = Correlated(4, rho).sample(400, rng=1)
        caveats = identification(factors, factors @ ROTATION).caveats
        assert any("extrapolated" in str(caveat) for caveat in caveats) == said


def test_row_groups_stay_whole():
    """Codes that only identify the group do not predict a factor that is constant within groups in held-out groups."""
    groups = np.repeat(np.arange(60), 10)
    rng = np.random.default_rng(6)
    factors, codes = rng.normal(size=(2, 60, 2))[:, groups]
    codes = codes + 1e-3 * rng.normal(size=codes.shape)
    evidence = Evidence(factors, codes, row_groups=groups, kinds="continuous")
    fold = fold_of_rows(evidence, 5, seed=0)
    assert all(np.unique(fold[groups == k]).size == 1 for k in range(60))
    assert identification(evidence).value < 0.1
    assert np.nanmax(identification(factors, codes, kinds="continuous").parts["purity_matrix"]) > 0.9


def test_noise_around_a_function_with_jumps():
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(4000, 1))
    codes = np.floor(2 * factors) % 2 + np.sqrt(0.05) * rng.normal(size=factors.shape)
    evidence = Evidence(factors, codes)
    fit = local_fit(factor_bases(evidence)[0], codes, fold_of_rows(evidence, 5, 0))
    assert fit.noise == pytest.approx([0.05], rel=0.08)


def test_luck_of_known_mixings():
    assert luck(5, 1).quantile == 0
    assert recovery_of_mixings(np.eye(3)[None])[0].tolist() == [1, 1, 1]
    # two codes of purity .8 that span the plane recover both factors: s = sqrt(.8)
    plane = np.sqrt([[[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]]]) * [[[1, 1], [1, 1], [1, -1]]]
    assert recovery_of_mixings(plane)[0, 0] == pytest.approx(np.sqrt(0.8))
    levels = [luck(m, 5).quantile for m in (2, 5, 9.5, 20)]
    assert levels == sorted(levels)
    # a code counts as pure within asin(sqrt(.001)) = 1.8 degrees of one of two axes, and then so does the other code
    assert luck(2, 2).passing == pytest.approx(np.rad2deg(np.arcsin(np.sqrt(0.001))) / 45, abs=0.01)
    assert luck(2, 2).beyond(np.ones(1), np.ones(1)) == pytest.approx([1])
    # if the chance level is low, noise of .1 costs as much as mixing of .1; if it is high, noise costs less
    assert luck(5, 10).beyond(np.array([0.9, 0.9]), np.array([0.9, 1.0])) == pytest.approx(
        1 - 0.1 / (1 - luck(5, 10).quantile), abs=1e-9
    )
    assert luck(2, 2).beyond(np.array([0.9]), np.array([1.0])) == pytest.approx(0.6)


def test_directions_are_counted_once():
    rng = np.random.default_rng(8)
    z = rng.normal(size=(500, 5))
    codes = z @ rng.normal(size=(5, 6))
    assert n_distinct(codes, np.full(6, -1)) == pytest.approx(6, abs=0.2)
    assert n_distinct(np.hstack([codes, -codes]), np.full(12, -1)) == pytest.approx(6, abs=0.2)
    assert n_distinct(np.hstack([np.sin(z[:, :1]), np.cos(z[:, :1]), codes]), np.array([0, 0, *[-1] * 6])) > 6.8


def haar(n_factors, n_codes, rng):
    return np.linalg.qr(rng.normal(size=(max(n_codes, n_factors), n_factors)))[0][:n_codes]


@pytest.mark.parametrize(("n_factors", "n_levels"), [(3, 2), (3, 5), (5, 3)])
def test_a_rotation_of_levels_is_a_mixing(n_factors, n_levels):
    """Every combination of levels has its own code value, so a look-up table would predict all factors."""
    values = []
    for seed in range(2):
        rng = np.random.default_rng([12, seed])
        factors = rng.integers(0, n_levels, size=(500, n_factors))
        values.append(float(identification(factors, factors @ haar(n_factors, n_factors, rng).T, kinds="ordinal")))
    assert np.mean(values) <= 0.1


@pytest.mark.parametrize("kind", ["ordinal", "categorical"])
def test_codes_of_classes_are_pure(kind):
    rng = np.random.default_rng(13)
    classes = rng.integers(0, 4, size=(300, 3))
    one_hot = np.hstack([(classes[:, [j]] == np.arange(4)) * 1.0 for j in range(3)])
    thermometer = np.hstack([(classes[:, [j]] > np.arange(3)) * 1.0 for j in range(3)])
    permuted = np.column_stack([rng.permutation(4)[classes[:, j]] for j in range(3)])
    for codes in (one_hot, thermometer, permuted, np.exp(classes), permuted + 0.1 * rng.normal(size=classes.shape)):
        assert float(identification(classes, codes, kinds=kind)) >= 0.95


@pytest.mark.parametrize("shuffled", [False, True])
def test_two_factors_hashed_into_one_code_are_mixed(shuffled):
    rng = np.random.default_rng(14)
    factors = rng.integers(0, 5, size=(500, 2))
    codes = 5 * factors[:, 0] + factors[:, 1]
    codes = rng.permutation(25)[codes] if shuffled else codes
    assert float(identification(factors, codes[:, None], kinds="ordinal")) <= 0.1


def redundant(z):
    """Functions of free factors, including many-to-one functions that a spline of ranks does not detect."""
    one, two, three = z[:, 0], z[:, 1], z[:, 2]
    return {
        "square": one**2, "absolute": np.abs(one), "rectified": np.maximum(one, 0), "sine": np.sin(3 * one),
        "cosine": np.cos(2 * one), "remainder": one % 1, "step": (one > 0) * 1.0, "floor": np.floor(2 * one),
        "ratio": one / two, "angle": np.arctan2(one, two), "order": (one > two) * 1.0, "norm": np.hypot(one, two),
        "exclusive or": ((one > 0) ^ (two > 0)) * 1.0, "triple product": one * two * three,
        "product and sum": one * two + three, "larger": np.maximum(one, two), "sum": one + two + three,
    }  # fmt: skip


@pytest.mark.parametrize("name", redundant(FACTORS))
def test_functions_of_free_factors_cost_nothing(name):
    z = np.random.default_rng(21).normal(size=(500, 4))
    score = identification(np.column_stack([z, redundant(z)[name]]), np.sinh(z[:, ::-1]))
    assert score.value >= 0.99
    assert part(score, "effective_dimension") == 4


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [1000, 10_000])
@pytest.mark.parametrize("n_factors", [3, 5])
def test_rotations_of_levels_get_next_to_nothing(n_rows, n_factors):
    """Two to six levels, eight draws each; a single draw near the axes scores more, as for continuous factors."""
    values = []
    for n_levels in range(2, 7):
        for seed in range(8):
            rng = np.random.default_rng([200 + seed, n_rows, n_factors, n_levels])
            factors = rng.integers(0, n_levels, size=(n_rows, n_factors))
            codes = factors @ haar(n_factors, n_factors, rng).T
            values.append(float(identification(factors, codes, kinds="ordinal")))
    assert np.mean(values) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("n_factors", [2, 3, 4, 5])
@pytest.mark.parametrize("ratio", [1, 2, 5, 10, 25])
def test_random_mixings_get_next_to_nothing_or_no_score(n_factors, ratio):
    values = []
    for seed in range(8):
        rng = np.random.default_rng([300 + seed, n_factors, ratio])
        factors = rng.normal(size=(1000, n_factors))
        score = identification(factors, factors @ haar(n_factors, ratio * n_factors, rng).T)
        values.append(score.value)
        assert np.isfinite(score.raw) or score.caveats[-1].kind == "mixing_passes_for_pure"
    defined = np.array(values)[np.isfinite(values)]
    assert not defined.size or defined.mean() <= 0.1


def test_many_random_codes_of_few_factors_tell_nothing():
    rng = np.random.default_rng(15)
    factors = rng.normal(size=(600, 2))
    # one code lies within 1.8 degrees of an axis and counts as pure; all others have random directions
    angles = np.deg2rad([1.0, *rng.uniform(5, 85, size=19)])
    score = identification(factors, factors @ np.array([np.cos(angles), np.sin(angles)]))
    assert np.isnan(score.raw)
    assert score.caveats[0].kind == "mixing_passes_for_pure"
    factors = rng.normal(size=(600, 3))
    assert float(identification(factors, factors @ haar(3, 30, rng).T)) <= 0.1


def lumpy(rng):
    shape = (400, 3)
    normal = rng.normal(size=shape)
    levels = rng.integers(0, 4, size=shape)
    yield normal * (rng.random(shape) < 0.5), 1e-6
    yield np.sign(normal) + 0.05 * rng.normal(size=shape), 0.1
    yield levels + 0.02 * normal, 0.02


def test_noise_within_lumps_is_as_little_as_it_is():
    """Ranks would separate values that lie close together."""
    rng = np.random.default_rng(16)
    for factors, noise in lumpy(rng):
        codes = factors + noise * rng.normal(size=factors.shape)
        assert float(identification(factors, codes, kinds="continuous")) >= 0.95


@pytest.mark.parametrize("own", [0.009, 0.015])
def test_nearly_equal_factors_are_two(own):
    """A rotation of two factors is mixed even if the factors are almost perfectly correlated."""
    x, y = np.random.default_rng(17).normal(size=(2, 500))
    factors = np.column_stack([x, np.sqrt(1 - own) * x + np.sqrt(own) * y])
    score = identification(factors, factors @ np.array([[1.0, 1.0], [-1.0, 1.0]]))
    assert score.value == 0
    assert part(score, "effective_dimension") == 2


def test_turning_costs_more_the_further():
    turned = []
    for degrees in (0, 10, 20, 30, 45):
        cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        pair = np.array([[cos, -sin], [sin, cos]])
        turned.append(identification(FACTORS, FACTORS @ np.kron(np.eye(2), pair)).raw)
    assert turned[0] == pytest.approx(1, abs=0.01)
    assert all(before > after for before, after in itertools.pairwise(turned))


def test_the_value_is_the_share_of_the_factors_that_are_identified():
    """Mixed factors do not lower the score of identified ones."""
    rng = np.random.default_rng(22)
    factors = rng.normal(size=(500, 6))
    for n_found in (2, 4):
        turn = np.eye(6)
        turn[n_found:, n_found:] = np.kron(np.eye(3 - n_found // 2), [[1.0, 1.0], [-1.0, 1.0]])
        score = identification(factors, factors @ turn.T)
        assert score.value == pytest.approx(n_found / 6, abs=0.003)
        assert score.value == pytest.approx(np.mean(np.clip(list(score.per_factor.values()), 0, 1)), abs=1e-9)
    size, hue, tilt = factors[:, 0], rng.uniform(size=500), rng.uniform(size=500)
    third = identification(np.column_stack([size, hue, tilt]), np.column_stack([size**3, hue + tilt, hue - tilt]))
    assert third.value == pytest.approx(1 / 3, abs=0.003)


def test_a_third_direction_of_two_free_factors_takes_nothing_away():
    """All four quantities of a circuit as codes: two are free, and the voltage is a function of both."""
    factors = Circuit().sample(500, rng=1)
    score = identification(factors, factors)
    assert score.value > 0.99
    assert part(score, "distinct_codes") == pytest.approx(3, abs=0.2)


def test_codes_that_are_all_mixed_are_known_to_be():
    """One of five codes of two factors may look pure by chance, but none of these codes does."""
    factors = np.random.default_rng(23).normal(size=(600, 2))
    angles = np.deg2rad([20, 35, 50, 65, -30])
    assert luck(5, 2).passing > 0.08
    score = identification(factors, factors @ np.array([np.cos(angles), np.sin(angles)]))
    assert score.value == 0
    assert score.raw < 0


def test_every_factor_is_said_to_be_identified_or_why_not():
    rng = np.random.default_rng(18)
    x, y, size, shade, noise = rng.normal(size=(5, 500))
    factors = {"x": x, "y": y, "size": size, "shade": shade, "area": size**2}
    codes = {"a": np.exp(x), "b": y + 0.4 * noise, "c": size + shade}
    said = {finding.factors[0]: finding for finding in identification(factors, codes).findings}
    assert said["x"].kind == "factor_identified"
    assert said["x"].codes == ("a",)
    assert (said["y"].kind, said["y"].quantities["reason"]) == ("factor_partly_identified", "noisy")
    assert said["size"].quantities["reason"] == "mixed"
    assert said["size"].factors == ("size", "shade")
    assert said["area"].kind == "factor_determined"
    assert str(said["x"]) == "x is identified (1.00) by a."
    folded = identification({"x": x, "y": y}, {"a": x**2, "b": y}).findings[0]
    assert folded.quantities["reason"] == "folded"
    absent = identification({"x": x, "y": y, "size": size}, {"b": y, "c": size}).findings[0]
    assert (absent.kind, absent.quantities["reason"]) == ("factor_not_identified", "absent")


def test_collapsed_codes_are_no_directions():
    """Collapsed codes do not count as distinct codes, on which the chance level depends."""
    rng = np.random.default_rng(19)
    still = 0.05 * rng.normal(size=(400, 6))
    mean, std = (
        np.hstack([FACTORS, still + FACTORS[:, :1] * 0.02]),
        np.hstack([0.1 * np.ones((400, 4)), np.ones((400, 6))]),
    )
    assert part(identification(FACTORS, Posterior(mean, std)), "distinct_codes") == 4


def test_scales_of_codes_do_not_matter():
    """A code with a small scale counts fully, with a caveat, because only a posterior shows whether it is collapsed."""
    codes = PartlyMixed(0.2).encode(FACTORS, rng=0)
    score, small = identification(FACTORS, codes), identification(FACTORS, codes * [1.0, 1.0, 1e-4, 1.0])
    assert small.raw == score.raw
    assert not score.caveats
    assert small.caveats == (Finding("codes_narrow", codes=["code 2"]),)
    spread = np.full(codes.shape, 1e-6)
    assert not identification(FACTORS, Posterior(codes * [1.0, 1.0, 1e-4, 1.0], spread)).caveats


def test_signs_of_codes_do_not_matter():
    """Cases: continuous factors with noise, a partial mixing of discrete factors, and angles in two codes each."""
    rng = np.random.default_rng(20)
    levels = rng.integers(0, 4, size=(300, 3))
    angle = rng.uniform(-3, 3, size=(300, 2))
    factors = FACTORS[:300]
    data = [
        (factors, PartlyMixed(0.3).encode(factors, rng=0) + 0.2 * rng.normal(size=factors.shape)),
        (levels, levels @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3)))),
        (angle, np.hstack([np.sin(angle), np.cos(angle)])),
    ]
    for factors, codes in data:
        raw = identification(factors, codes).raw
        for i in range(3):
            signs = np.where(np.arange(codes.shape[1]) == i, -1.0, 1.0)
            assert identification(factors, codes * signs).raw == pytest.approx(raw, abs=0.005)


def test_a_determined_factor_is_not_named_in_place_of_a_mixed_one():
    """Every code of a mixed circuit depends on its voltage: no factor is absent, and the free ones are mixed."""
    factors = Circuit().sample(500, rng=0)
    mixing = np.random.default_rng(4).normal(size=(4, 4))
    score = identification(factors, (factors - factors.mean(axis=0)) / factors.std(axis=0) @ mixing)
    reasons = [finding.quantities.get("reason") for finding in score.findings]
    assert "absent" not in reasons
    assert reasons.count("mixed") == 2
