"""identification against closed forms: squared loadings, the chance level of random mixings, and scores of 0 or 1."""

import itertools

import numpy as np
import pytest

import unweave
from unweave import Evidence, Posterior
from unweave.findings import Finding
from unweave.metrics import identification
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Dropped,
    Elementwise,
    Mixed,
    Noise,
    PartlyMixed,
    PermutedAndScaled,
    WithCopies,
    WithMixedExtras,
    WithNoiseCodes,
)
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
    # codes without ranks are one of three views, so that the score is not exactly the same
    assert identification(MORE, np.sinh(3 * codes) + 5).raw == pytest.approx(raw, abs=0.02)
    assert identification(bent_factors, codes).raw == pytest.approx(raw, abs=0.02)


def test_noise_counts_against_purity():
    noise = np.random.default_rng(2).normal(size=MORE.shape)
    purity = identification(MORE, MORE + noise).parts["purity_matrix"]
    assert np.diag(purity) == pytest.approx(np.full(4, 0.5), abs=0.12)  # four times the spread over samples


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


def test_copies_and_noise_codes_change_little():
    codes = PartlyMixed(0.2).encode(FACTORS, rng=0)
    noise = np.random.default_rng(4).normal(size=(400, 12))
    raw = identification(FACTORS, codes).raw
    for more in (np.hstack([codes, -codes]), np.hstack([codes, noise])):
        assert identification(FACTORS, more).raw == pytest.approx(raw, abs=0.001)
    bent = np.hstack([codes, -codes, np.exp(codes)])  # luck also mixes the functions of a factor: .31 instead of .39
    assert identification(FACTORS, bent).raw == pytest.approx(raw, abs=0.03)


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


def test_row_groups_stay_whole():
    """Codes that only identify the group do not predict a factor that is constant within groups in held-out groups."""
    groups = np.repeat(np.arange(60), 10)
    rng = np.random.default_rng(6)
    factors, codes = rng.normal(size=(2, 60, 2))[:, groups]
    codes = codes + 1e-3 * rng.normal(size=codes.shape)
    evidence = Evidence(factors, codes, row_groups=groups, kinds="continuous")
    assert identification(evidence).value < 0.1
    # without groups, repeated factors are found and kept together as well
    assert np.nanmax(identification(factors, codes, kinds="continuous").parts["purity_matrix"]) < 0.1


def haar(n_factors, n_codes, rng):
    return np.linalg.qr(rng.normal(size=(max(n_codes, n_factors), n_factors)))[0][:n_codes]


@pytest.mark.parametrize("kind", ["ordinal", "categorical"])
def test_codes_of_classes_are_pure(kind):
    rng = np.random.default_rng(13)
    classes = rng.integers(0, 4, size=(300, 3))
    one_hot = np.hstack([(classes[:, [j]] == np.arange(4)) * 1.0 for j in range(3)])
    thermometer = np.hstack([(classes[:, [j]] > np.arange(3)) * 1.0 for j in range(3)])
    permuted = np.column_stack([rng.permutation(4)[classes[:, j]] for j in range(3)])
    for codes in (one_hot, thermometer, permuted, np.exp(classes), permuted + 0.1 * rng.normal(size=classes.shape)):
        assert float(identification(classes, codes, kinds=kind)) >= 0.95


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
        assert np.isfinite(score.raw)
    defined = np.array(values)[np.isfinite(values)]
    assert not defined.size or defined.mean() <= 0.1


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
    assert score.value < 0
    assert part(score, "effective_dimension") == 2


def test_turning_costs_more_the_further():
    turned = []
    for degrees in (0, 20, 45):
        cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        pair = np.array([[cos, -sin], [sin, cos]])
        turned.append(identification(FACTORS, FACTORS @ np.kron(np.eye(2), pair)).raw)
    assert turned[0] == pytest.approx(1, abs=0.01)
    assert all(before > after for before, after in itertools.pairwise(turned))


def test_every_factor_is_said_to_be_identified_or_why_not():
    rng = np.random.default_rng(18)
    x, y, size, shade, noise = rng.normal(size=(5, 500))
    factors = {"x": x, "y": y, "size": size, "shade": shade, "area": size**2}
    codes = {"a": np.exp(x), "b": y + 0.8 * noise, "c": size + shade}
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


def test_scales_of_codes_do_not_matter():
    """A code with a small scale counts fully, with a caveat, because only a posterior shows whether it is collapsed."""
    codes = PartlyMixed(0.2).encode(FACTORS, rng=0)
    score, small = identification(FACTORS, codes), identification(FACTORS, codes * [1.0, 1.0, 1e-4, 1.0])
    assert small.raw == pytest.approx(score.raw, abs=1e-9)
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


def test_the_score_is_the_mean_of_the_free_factors_and_of_the_ladder():
    factors = np.random.default_rng(23).normal(size=(600, 4))
    turn = np.eye(4)
    turn[2:, 2:] = [[0.8, 0.6], [-0.6, 0.8]]
    score = identification(factors, factors @ turn)
    assert score.value == pytest.approx(np.mean(list(score.per_factor.values())), abs=1e-12)
    assert score.value == unweave.ladder(factors, factors @ turn, quick=True).own_codes
    assert [number > 0.95 for number in score.per_factor.values()] == [True, True, False, False]


def test_random_mixings_score_0_on_average_and_private_noise_its_share():
    values = []
    for seed in range(12):
        rng = np.random.default_rng([24, seed])
        factors = rng.normal(size=(400, 4))
        values.append(identification(factors, factors @ haar(4, 4, rng).T).raw)
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(len(values)) + 0.02
    rng = np.random.default_rng(25)
    factors = rng.normal(size=(2000, 4))
    noisy = factors + np.sqrt(0.4 / 0.6) * rng.normal(size=factors.shape)
    assert identification(factors, noisy).value == pytest.approx(0.6, abs=0.02)
    wide = identification(factors, factors @ haar(4, 4, rng).T @ np.kron(np.eye(2), [[1, 1], [-1, 1]])).raw
    assert -0.5 <= wide <= 1


N_ROWS, SEEDS = 1000, range(5)
# mixings with another number of codes are other random draws, whose single scores range from 0 to .25 at d = 5: the
# difference of two means over five draws has a standard error of .03, over forty of .01
SEEDS_OF_MIXINGS = range(40)
SATISFIED = 0.05
RHOS = (0.0, 0.3, 0.6, 0.9, 0.97)
RATIOS = (1.5, 2.0, 3.0, 5.0, 10.0)
KS = (2, 3, 5, 10)
SHARES_OF_ROWS = (0.05, 0.1, 0.2, 0.5, 1.0)
sizes = pytest.mark.parametrize("d", [5, 10])


def mean_value(world, encoder, n_rows=N_ROWS, seeds=SEEDS):
    """Mean score over seeds, each of which determines the factors and the map."""
    values = []
    for seed in seeds:
        factors = world.sample(n_rows, rng=1000 + seed)
        values.append(float(identification(factors, encoder.encode(factors, rng=seed))))
    return float(np.mean(values))


def over_correlation(d, encoder, **options):
    return [mean_value(Correlated(d, rho), encoder, **options) for rho in RHOS]


def over_drops(world, order, **options):
    """Mean scores with 0, 1, 2 and 3 factors dropped, in the given order."""
    encoders = [PermutedAndScaled(), *(Dropped(tuple(order[:k])) for k in (1, 2, 3))]
    return [mean_value(world, encoder, **options) for encoder in encoders]


def over_ratios(d, encoder, base, **options):
    return [mean_value(Independent(d), map_, **options) for map_ in (base, *(encoder(ratio) for ratio in RATIOS))]


def over_intervals(d, marginal, **options):
    return [mean_value(Independent(d, marginal), Distributed(k), **options) for k in KS]


def over_additions(d, t, **options):
    """Mean scores of a partly mixed map: alone, with nine copies of every code, and with as many noise codes."""
    base = PartlyMixed(t)
    maps = (base, WithCopies(base, times=10), WithNoiseCodes(base, added=9 * d))
    return [mean_value(Independent(d), map_, **options) for map_ in maps]


def over_nulls(d, n_rows, **options):
    return [mean_value(Independent(d), Noise(round(q * n_rows)), n_rows, **options) for q in SHARES_OF_ROWS]


@pytest.mark.slow
@sizes
@pytest.mark.parametrize("encoder", [PermutedAndScaled(), Elementwise(), Mixed(), Dropped((0,))], ids=repr)
def test_correlation_changes_nothing(d, encoder):
    assert np.ptp(over_correlation(d, encoder)) <= SATISFIED


@pytest.mark.slow
@sizes
@pytest.mark.parametrize(
    ("world", "order", "redundant"),
    [(Independent, (1, 0, 2), 0), (OneFactorConstraint, (1, 0, 2), 1), (TwoFactorConstraint, (2, 0, 1), 1)],
)
def test_only_degrees_of_freedom_count(d, world, order, redundant):
    """Dropping the redundant factor first does not change the score; each further factor costs 1 / (free factors)."""
    values = over_drops(world(d), order)
    free = d - redundant
    assert values[0] - values[redundant] <= SATISFIED
    for lost, value in enumerate(values[redundant:]):
        assert values[0] - value == pytest.approx(lost / free, abs=SATISFIED)


@pytest.mark.slow
@sizes
@pytest.mark.parametrize(
    ("encoder", "base", "seeds"),
    [
        (Copied, PermutedAndScaled(), SEEDS),
        (WithMixedExtras, Elementwise(), SEEDS),
        (lambda ratio: Mixed(ratio=ratio), Mixed(), SEEDS_OF_MIXINGS),
    ],
    ids=["E5", "E6", "E7"],
)
def test_more_codes_change_nothing(d, encoder, base, seeds):
    first, *others = over_ratios(d, encoder, base, seeds=seeds)
    assert np.abs(np.subtract(others, first)).max() <= SATISFIED


@pytest.mark.slow
@sizes
@pytest.mark.parametrize("marginal", ["truncated", "uniform"])
def test_several_codes_of_one_factor_are_read_together(d, marginal):
    assert min(over_intervals(d, marginal)) >= 0.95


@pytest.mark.slow
@sizes
@pytest.mark.parametrize("t", [0.15, 0.25])
def test_copies_and_noise_codes_are_harmless(d, t):
    first, *others = over_additions(d, t)
    assert np.abs(np.subtract(others, first)).max() <= SATISFIED


@pytest.mark.slow
@sizes
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_noise_gets_nothing(d, n_rows):
    assert max(over_nulls(d, n_rows)) <= SATISFIED


@pytest.mark.parametrize("levels", [0, 4])
def test_the_score_falls_with_mixing_and_with_noise(levels):
    """A metric that satisfies the properties by being constant fails this test."""
    rng = np.random.default_rng(77)
    factors = rng.normal(size=(500, 4)) if not levels else rng.integers(0, levels, size=(500, 4)) - (levels - 1) / 2
    noise = rng.normal(size=factors.shape) * factors.std(axis=0)
    turned, noisy = [], []
    for angle in np.deg2rad([0, 10, 20, 30, 40]):
        turn = np.kron(np.eye(2), [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        turned.append(identification(factors, np.exp(factors @ turn / 2)).raw)
    for share in (0.05, 0.2, 0.4, 0.6, 0.8):
        noisy.append(identification(factors, np.sqrt(1 - share) * factors + np.sqrt(share) * noise).raw)
    assert turned == sorted(turned, reverse=True)
    assert noisy == sorted(noisy, reverse=True)
    assert noisy == pytest.approx([0.95, 0.8, 0.6, 0.4, 0.2], abs=0.06)
