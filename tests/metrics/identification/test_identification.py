"""identification against closed forms: squared loadings, the chance of a random mixing, and what has to be 0 or 1."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.findings import Finding
from unweave.metrics import identification
from unweave.metrics.identification.chance import chance_level, n_distinct, recovery_of_mixings
from unweave.responses.code_responses import MODELS
from unweave.responses.factor_bases import factor_bases, fold_of_rows
from unweave.responses.one_factor import local_fit
from unweave.synthetic.encoders import Distributed, Dropped, PartlyMixed, PermutedAndScaled
from unweave.synthetic.worlds import Circuit, Correlated, Independent, OneFactorConstraint, TwoFactorConstraint

FACTORS = Independent(4).sample(600, rng=0)
ROTATION = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]


def part(score, name):
    return float(score.parts[name])


def test_a_permutation_on_other_scales_gets_all():
    score = identification(FACTORS, FACTORS[:, [2, 0, 3, 1]] * [1.0, -2.0, 0.1, 30.0])
    assert score.value == pytest.approx(1, abs=1e-3)
    assert score.parts["chosen_matrix"].tolist() == np.eye(4)[[2, 0, 3, 1]].tolist()
    assert score.parts["free_factors"].tolist() == [1, 1, 1, 1]
    assert not score.caveats


def test_monotone_maps_of_codes_and_of_factors_change_nothing():
    codes = FACTORS @ (0.7 * np.eye(4) + 0.3 * ROTATION)
    bent_factors = np.column_stack([np.exp(FACTORS[:, 0]), FACTORS[:, 1] ** 3, FACTORS[:, 2:]])
    raw = identification(FACTORS, codes).raw
    assert 0.3 < raw < 0.99
    assert identification(FACTORS, np.sinh(3 * codes) + 5).raw == pytest.approx(raw, abs=1e-12)
    assert identification(bent_factors, codes).raw == pytest.approx(raw, abs=1e-12)


def test_purity_of_a_linear_map_is_its_squared_loading():
    score = identification(Independent(4).sample(2000, rng=0), Independent(4).sample(2000, rng=0) @ ROTATION.T)
    assert score.parts["purity_matrix"] == pytest.approx(ROTATION**2, abs=0.03)
    assert set(score.parts["model_per_code"]) == {MODELS.index("linear")}


def test_noise_counts_against_purity():
    noise = np.random.default_rng(2).normal(size=FACTORS.shape)
    purity = identification(FACTORS, FACTORS + noise).parts["purity_matrix"]
    assert np.diag(purity) == pytest.approx(np.full(4, 0.5), abs=0.08)


def test_a_rotation_is_chance_and_lossless():
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    score = identification(FACTORS[:, :2], FACTORS[:, :2] @ turn)
    assert score.value == 0
    assert part(score, "chance_level") == pytest.approx(0.5 + 1 / np.pi, abs=0.01)  # mean of max(cos^2, sin^2)
    assert list(score.per_factor.values()) == pytest.approx([0.64, 0.64], abs=0.04)
    assert score.parts["affine_recovery"].min() > 0.97


@pytest.mark.parametrize(("n_rows", "n_codes"), [(100, 100), (600, 30)])
def test_noise_knows_nothing(n_rows, n_codes):
    score = identification(FACTORS[:n_rows], np.random.default_rng(3).uniform(size=(n_rows, n_codes)))
    assert score.value == 0
    assert score.raw == pytest.approx(-1 / 3)  # nothing recovered, against the 1 / d of one random code
    assert score.parts["affine_recovery"].tolist() == [0, 0, 0, 0]
    assert Finding("codes_uninformative_here") in score.caveats


def test_a_dropped_factor_costs_its_share_whatever_the_correlation():
    expected = (3 / 4 - chance_level(3, 4)) / (1 - chance_level(3, 4))
    for rho in (0.0, 0.9):
        factors = Correlated(4, rho).sample(600, rng=1)
        score = identification(factors, Dropped((2,)).encode(factors, rng=0))
        assert score.raw == pytest.approx(expected, abs=0.01)
        assert score.per_factor["factor 2"] == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(("world", "redundant"), [(OneFactorConstraint(4), 1), (TwoFactorConstraint(4), 2)])
def test_a_determined_factor_may_be_dropped(world, redundant):
    factors = world.sample(1000, rng=0)
    for encoder in (PermutedAndScaled(), Dropped((redundant,))):
        score = identification(factors, encoder.encode(factors, rng=0))
        assert score.value == pytest.approx(1, abs=0.01)
        assert part(score, "effective_dimension") == 3


@pytest.mark.parametrize(("kept", "whole"), [((0, 2), True), ((2, 3), True), ((0, 1), False)])
def test_two_quantities_of_the_circuit_are_all_of_it(kept, whole):
    """Temperature and current, or current and voltage; temperature and resistance are the same."""
    factors = Circuit().sample(1000, rng=0)
    score = identification(factors, factors[:, list(kept)])
    assert part(score, "effective_dimension") == 2
    assert (score.value > 0.99) == whole


@pytest.mark.parametrize("k", [2, 5])
def test_several_codes_of_one_factor_are_read_together(k):
    factors = Independent(3, "truncated").sample(600, rng=0)
    score = identification(factors, Distributed(k).encode(factors, rng=0))
    assert score.value > 0.95
    assert part(score, "distinct_codes") == pytest.approx(3, abs=0.1)


def test_copies_and_noise_codes_change_little():
    codes = PartlyMixed(0.2).encode(FACTORS, rng=0)
    noise = np.random.default_rng(4).normal(size=(600, 12))
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
        factors = Correlated(4, rho).sample(600, rng=1)
        caveats = identification(factors, factors @ ROTATION).caveats
        assert any("extrapolated" in str(caveat) for caveat in caveats) == said


def test_row_groups_stay_whole():
    """Codes that only name the group know nothing of a factor that is constant in groups and random between them."""
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


def test_chance_of_known_mixings():
    assert chance_level(1, 7) == pytest.approx(1 / 7)
    assert chance_level(5, 1) == 0
    assert recovery_of_mixings(np.eye(3)[None])[0].tolist() == [1, 1, 1]
    # two codes of purity .8 that span the plane give both factors back: s = sqrt(.8)
    plane = np.sqrt([[[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]]]) * [[[1, 1], [1, 1], [1, -1]]]
    assert recovery_of_mixings(plane)[0, 0] == pytest.approx(np.sqrt(0.8))
    levels = [chance_level(m, 5) for m in (2, 5, 9.5, 20, 50, 200)]
    assert levels == sorted(levels)


def test_directions_are_counted_once():
    rng = np.random.default_rng(8)
    directions = rng.normal(size=(6, 5))
    z = rng.normal(size=(500, 5))
    purity = directions**2 / (directions**2).sum(axis=1, keepdims=True)
    assert n_distinct(z @ directions.T, purity) == pytest.approx(6, abs=0.2)
    twice = np.hstack([z @ directions.T, -(z @ directions.T)])
    assert n_distinct(twice, np.vstack([purity, purity])) == pytest.approx(6, abs=0.2)


@pytest.mark.parametrize("share", [0.97, 0.98])
def test_a_factor_that_the_other_explains_but_for_some_hundredths_is_free(share):
    """Correlation, however high, is no function: a code for one of two such factors identifies one of them."""
    factors = Correlated(2, rho=np.sqrt(share)).sample(1000, rng=0)
    assert identification(factors, factors).parts["free_factors"].tolist() == [1, 1]
    assert identification(factors, factors[:, :1]).value < 0.75
