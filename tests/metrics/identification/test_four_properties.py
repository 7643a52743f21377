"""The four properties of 003, with the thresholds that define them, and the rank correlation with mixing and noise."""

import numpy as np
import pytest

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
from unweave.synthetic.worlds import Correlated, Independent, OneFactorConstraint, TwoFactorConstraint

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
