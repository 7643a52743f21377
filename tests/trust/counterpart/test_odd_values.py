"""Codes that least squares and smooth functions do not follow: faults, dropped and shared values, jumps, subjects."""

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from unweave import Evidence, metric
from unweave.metrics import mcc, mig, r2
from unweave.responses.constraints import factor_constraints
from unweave.score import Score
from unweave.trust import NoiseFloor, Verdict, score_elsewhere
from unweave.trust.code_models import code_models
from unweave.trust.counterpart import Counterpart
from unweave.trust.reasons import with_floor
from unweave.trust.verdict_record import Level

MIXING = np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.6], [0.6, 0.0, 1.0]])


def correlated(n, d, rho, seed):
    rng = np.random.default_rng(seed)
    return np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, d)), rng


OTHER_SEEDS = [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4)]


@pytest.mark.parametrize("seed", [0, *OTHER_SEEDS])
def test_faults_are_told_from_codes_and_the_score_elsewhere_is_that_of_independent_factors(seed):
    z, rng = correlated(3000, 3, 0.6, seed)  # with fewer rows, the score of halves is extrapolated too
    faulty = rng.uniform(size=3000) < 0.02
    faults = 25 * rng.choice([-1, 1], size=(faulty.sum(), 3)) * rng.uniform(0.8, 1.2, size=(faulty.sum(), 3))

    def encoded(z):
        codes = z @ MIXING
        codes[faulty] = faults
        return codes

    found = code_models(Evidence(z, encoded(z)))
    assert (found.odd == faulty[:, None]).all()
    apart = rng.permuted(z, axis=0)
    for score in (mcc, r2):
        truth = score(Evidence(apart, encoded(apart))).value
        assert score_elsewhere(score, Evidence(z, encoded(z))) == pytest.approx(truth, abs=0.1)


@pytest.mark.parametrize("seed", [0, 1, *OTHER_SEEDS])
def test_values_that_factors_account_for_are_not_odd(seed):
    normal, rng = correlated(800, 3, 0.6, seed)
    heavy = student.ppf(norm.cdf(normal), 2)
    rectified = np.maximum(normal, -0.3)
    for z, codes in [
        (heavy, heavy),
        (heavy, heavy @ MIXING),
        (heavy, np.arcsinh(10 * heavy)),
        (rectified, rectified @ MIXING),
        (normal, np.maximum(normal @ MIXING, 0)),
        (normal, np.clip(normal, -1, 1)),
        (normal, np.round(2 * normal)),
        (normal, rng.normal(size=normal.shape)),
    ]:
        assert not code_models(Evidence(z, codes)).odd.any()


def test_dropped_values_are_odd_and_keep_their_rows():
    z, rng = correlated(1000, 3, 0.5, 0)
    kept = rng.uniform(size=z.shape) >= 0.2
    source = Counterpart.of(Evidence(z, (z @ MIXING) * kept))
    assert (source.responses.odd == ~kept).all()
    drawn = source.sample(0, same_codes=True, same_rows=True)
    assert ((drawn.codes == 0) == ~kept).all()


@pytest.mark.parametrize("encode", [lambda c: np.round(2 * c) / 2, lambda c: np.clip(c, -1, 1)])
def test_drawn_codes_share_values_as_the_given_ones_do(encode):
    z, rng = correlated(600, 3, 0.5, 1)
    codes = encode(z @ MIXING + 0.3 * rng.normal(size=z.shape))
    drawn = Counterpart.of(Evidence(z, codes)).sample(0, same_codes=True)
    for given, found in zip(codes.T, drawn.codes.T, strict=True):
        assert given.min() <= found.min()
        assert found.max() <= given.max()
        levels, counts = np.unique(given, return_counts=True)
        often = levels[counts > 30]
        shares = [[(each == level).mean() for level in often] for each in (given, found)]
        assert shares[1] == pytest.approx(shares[0], abs=0.08)


@pytest.mark.parametrize("encode", [lambda z, w: z * np.sign(w), lambda z, w: np.where(w > 0, z, -1 - z)])
@pytest.mark.parametrize("d", [2, 5])
def test_neighbours_tell_codes_with_jumps(encode, d):
    z, _ = correlated(2000, d, 0.5, 2)
    codes = encode(z, np.roll(z, -1, axis=1))
    found = code_models(Evidence(z, codes))
    assert all({j, (j + 1) % d} <= set(near) for j, near in enumerate(found.near))
    apart = np.random.default_rng(3).permuted(z, axis=0)
    truth = mig(apart, encode(apart, np.roll(apart, -1, axis=1))).value
    assert score_elsewhere(mig, Evidence(z, codes)) == pytest.approx(truth, abs=0.1)


def test_noise_needs_no_neighbours():
    z, rng = correlated(1000, 4, 0.5, 4)
    for codes in (z + rng.normal(size=z.shape), z @ np.ones((4, 2)) + rng.normal(size=(1000, 2)), z**2 + z):
        assert not any(code_models(Evidence(z, codes)).near)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_particular_to_a_subject_is_noise_elsewhere(seed):
    """Half of each code is a random number of the subject, which 100 subjects would else give away."""
    people, rng = correlated(100, 2, 0.3, seed)
    who = np.arange(2000) % 100
    codes = (people + rng.normal(size=people.shape))[who] + 0.1 * rng.normal(size=(2000, 2))
    apart = rng.normal(size=(2000, 2))
    truth = mig(apart, apart + rng.normal(size=apart.shape)).value
    assert score_elsewhere(mig, Evidence(people[who], codes)) == pytest.approx(truth, abs=0.1)


@pytest.mark.parametrize(("lowest", "level"), [(-0.5, Level.TRUST), (0.0, Level.DO_NOT_USE)])
def test_below_noise_is_a_statement_of_a_metric_that_can_be_negative(lowest, level):
    value = -0.25 if lowest < 0 else 0.2
    noise = 0.0 if lowest < 0 else 0.6
    floor = NoiseFloor(
        "metric", "permutation", value, floor=noise, p_value=0.9, calibrated=(value - noise) / (1 - noise)
    )
    found = with_floor(Verdict(Level.TRUST), Score(value, bounds=(lowest, 1.0), best=1.0), floor)
    assert (found.level, found.reasons[0].finding.kind) == (level, "below_noise")


@pytest.mark.parametrize("seed", range(3))
def test_a_list_of_levels_is_no_function(seed):
    """In a grid that is turned by 30 degrees, each value of one factor occurs with one value of the other only."""
    rng = np.random.default_rng(seed)
    grid = np.column_stack([rng.integers(0, 12, 600) / 3.5, rng.integers(0, 5, 600) / 1.4])
    turn = np.array([[3**0.5, 1.0], [-1.0, 3**0.5]]) / 2
    assert not factor_constraints(Evidence(grid @ turn, grid)).constraints
    levels = rng.integers(0, 60, 600) / 20 - 1.5
    assert factor_constraints(Evidence(np.column_stack([levels, levels**2]), grid)).determined == ("factor 1",)


@pytest.mark.parametrize("n_rows", [500, 1000, 1500])
def test_a_metric_that_needs_more_rows_is_noticed(n_rows):
    """A score of 1 - 12 / sqrt(n) goes on to rise, here up to three times the rows, from 1,000 to 3,000."""

    @metric(
        measures="modularity",
        equivalence="any",
        min_rows=2,
        chance=0.0,
        cost="none",
        fails_when="never",
        reference="ours",
    )
    def slow(evidence):
        """Rises with the number of rows."""
        return Score(1 - 12 / evidence.n_rows**0.5)

    z = np.random.default_rng(0).normal(size=(n_rows, 2))
    expected = 1 - 12 / np.clip(3 * n_rows, 1000, 3000) ** 0.5
    assert score_elsewhere(slow, Evidence(z, z)) == pytest.approx(expected, abs=1e-6)
