"""Statements of paper 001 about its metrics (claims 137 to 151), on posteriors with known values."""

import math

import numpy as np
import pytest
from scipy.special import entr

from unweave import Evidence, Posterior
from unweave.estimators import MixtureSampling, QuantisedPosterior
from unweave.metrics import (
    indin_at_k,
    informativeness,
    jemmig,
    misjed,
    rmig,
    separability,
    sepin_at_k,
    three_way_information,
    windin,
    wsepin,
)
from unweave.metrics.rmig import SAMPLING, factor_gaps
from unweave.metrics.sampled_information import sampled_factors

LIMITS = (-4.0, 4.0)  # the grid of 001

RNG = np.random.default_rng(0)
N = 500
FACTORS = RNG.integers(0, [3, 6], size=(N, 2))
INFORMATIVE = np.column_stack([FACTORS[:, 0] - 1.0, FACTORS[:, 1] / 3 - 1 + 0.3 * FACTORS[:, 0], RNG.normal(size=N)])
MEAN, STD = INFORMATIVE, np.full((N, 3), 0.2)


def evidence(mean=MEAN, std=STD, factors=FACTORS):
    return Evidence(factors, Posterior(mean, std), kinds="categorical")


BASE = evidence()  # shared, because it memoises results


def with_noise(n_noise):
    """Insert codes whose posterior is the prior for every sample before, between and after the informative codes."""
    mean = np.insert(MEAN, [0, 2, 3][:n_noise], 0.0, axis=1)
    return mean, np.insert(STD, [0, 2, 3][:n_noise], 1.0, axis=1)


def test_grid_and_sampling_agree_on_information_of_samples_and_factors():
    """A.10, with 200 bins, posterior stds of at least two bin widths, and standard errors below .003."""
    grid, sampling = QuantisedPosterior(200, LIMITS), MixtureSampling(70_000)
    std = np.broadcast_to([0.08, 0.3, 1.0], MEAN.shape)
    case = evidence(MEAN, std)
    by_grid = np.array(list(informativeness(case, estimator=grid, normalise=False).per_code.values()))
    sampled = informativeness(case, estimator=sampling, normalise=False)
    errors = sampled.parts["standard_error_per_code"]
    assert errors.max() < 0.003
    assert (np.abs(np.array(list(sampled.per_code.values())) - by_grid) < 3 * errors).all()
    gap = rmig(case, estimator=sampling)
    assert gap.parts["standard_error"] < 0.003
    assert gap.raw == pytest.approx(rmig(case, estimator=grid).raw, abs=3 * gap.parts["standard_error"])
    joint = jemmig(case, estimator=sampling, grid=grid)
    rounding = (
        0.04 / 0.08
    ) ** 2 / 24  # an entropy on a grid exceeds that of A.10 by width^2 / 24 std^2; in mutual information this cancels
    allowed = 3 * joint.parts["standard_error"] + rounding / np.log(200)
    assert joint.raw == pytest.approx(jemmig(case, estimator=grid).raw, abs=allowed)


def test_sampled_joint_entropy_is_that_of_the_grid_plus_the_bin_width():
    """A.10 and claim 143, for JEMMIG in nats."""
    grid, sampling = QuantisedPosterior(200, LIMITS), MixtureSampling(20_000)
    differential, on_grid = (jemmig(BASE, estimator=e, normalise=False) for e in (sampling, grid))
    error = differential.parts["standard_error"]
    assert on_grid.raw == pytest.approx(differential.raw - np.log(8 / 200), abs=3 * error)


def test_gaussian_codes_have_their_closed_forms():
    """I(x, z_i) = 1/2 log(1 + 1/s^2), and the information of independent codes adds up if N is large enough."""
    mean = np.random.default_rng(1).normal(size=(2000, 2))
    case = Evidence(None, Posterior(mean, np.full_like(mean, 0.5)))
    expected = 0.5 * np.log(1 + 4)
    for estimator in (QuantisedPosterior(200, LIMITS), MixtureSampling(10_000)):
        score = informativeness(case, estimator=estimator, normalise=False)
        assert score.raw == pytest.approx(expected, abs=0.03)
    whole = informativeness(case, of="all", normalise=False)
    assert whole.raw == pytest.approx(2 * expected, abs=0.06)
    assert separability(case, normalise=False).raw == pytest.approx(0.0, abs=0.02)
    assert wsepin(case, normalise=False).raw == pytest.approx(expected, abs=0.04)


def test_misjed_orders_informative_and_noisy_pairs():
    """Claim 137: .003 < 3.25 < 6.50 with 50 bins and unit Gaussians."""
    n = 100_000
    mean = np.random.default_rng(2).normal(size=(n, 4))
    mean[:, 2:] = 0.04  # all means in one bin
    std = np.where(np.arange(4) < 2, 1e-3, 1.0) * np.ones((n, 1))
    std[:, 2:] *= 1 + 1e-9 * mean[:, :2]  # uninformative, but not constant, which would be a dead code
    matrix = misjed(None, Posterior(mean, std), estimator=QuantisedPosterior(50, LIMITS), normalise=False).parts[
        "misjed_matrix"
    ]
    informative, mixed, noisy = matrix[0, 1], matrix[0, 2], matrix[2, 3]
    assert informative < 0.02
    assert mixed == pytest.approx(3.25, abs=0.02)
    assert noisy == pytest.approx(6.50, abs=0.02)


@pytest.mark.parametrize("shift", [0.0, 0.5, -17.3])
def test_misjed_of_noise_has_its_closed_form_wherever_the_codes_are(shift):
    """With all means in one bin it is 2 H(z) / 2 log B, with H(z) of a unit Gaussian on B = 101 bins of width 8 / B.

    With 100 bins an edge lies at the mean, the means of each code lie in two bins, and noise scores .71.
    """
    mean = shift + 1e-3 * np.random.default_rng(2).normal(size=(2000, 3))
    score = misjed(None, Posterior(mean, np.ones_like(mean)))
    entropy = 0.5 * np.log(2 * np.pi * np.e) + np.log(101 / 8)
    assert score.raw == pytest.approx(entropy / np.log(101), abs=1e-3)
    assert score.raw == pytest.approx(misjed.card.chance, abs=1e-3)


def test_misjed_on_the_fixed_grid_of_001_keeps_its_edge_at_zero():
    """For noise around 0 it is 2 log 2 nats lower, as in the published code; for shifted codes it is not."""
    mean = 1e-3 * np.random.default_rng(2).normal(size=(2000, 2))
    fixed = QuantisedPosterior(100, LIMITS)
    at_zero, beside = (misjed(None, Posterior(mean + s, np.ones_like(mean)), estimator=fixed).raw for s in (0, 0.04))
    assert beside - at_zero == pytest.approx(2 * np.log(2) / (2 * np.log(100)), abs=1e-3)


def test_separated_information_at_the_limit_says_both_figures():
    """SEPIN and INDIN compare I(x, z) with I(x, z_not_i); both are log N if the other codes identify the sample."""
    mean = np.random.default_rng(3).normal(size=(200, 4))
    for metric in (sepin_at_k, wsepin, indin_at_k, windin):
        sharp = metric(None, Posterior(mean, np.full_like(mean, 1e-3)), estimator=MixtureSampling(200))
        carried = 3 * np.log(1 / 1e-3)  # about 1/2 log(1 + 1e6) for each of three codes
        note = next(caveat for caveat in sharp.caveats if caveat.kind == "separated_information_at_limit")
        assert note.quantities["carried"] == pytest.approx(carried, abs=0.5)
        assert f"log N = {np.log(200):.1f}" in str(note)
        assert f"{note.quantities['carried']:.1f} nats" in str(note)
        wide = metric(None, Posterior(mean, np.full_like(mean, 1.0)), estimator=MixtureSampling(200))
        assert not any(caveat.kind == "separated_information_at_limit" for caveat in wide.caveats)


def test_misjed_can_fall_below_zero_and_stays_below_its_upper_bound():
    """Claims 138 and 139: means spread evenly over the grid have more entropy than posteriors cut at its ends."""
    grid = QuantisedPosterior(10, LIMITS)
    axis = np.linspace(-4, 4, 11)[:-1] + 0.4
    mean = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    score = misjed(None, Posterior(mean, np.full_like(mean, 0.4)), estimator=grid, normalise=False)
    assert -0.02 < score.raw <= 2 * np.log(10)
    pushed = misjed(None, Posterior(mean, np.full_like(mean, 1.5)), estimator=grid, normalise=False)
    assert pushed.raw < 0
    assert misjed(None, Posterior(mean, np.full_like(mean, 1.5)), estimator=grid).value == 0  # value is within bounds


def test_wsepin_is_weighted_informativeness_less_separability():
    """Claim 151, for encoders whose codes are independent given the sample."""
    case = BASE
    weights = wsepin(case, normalise=False).parts["weights"]
    told = informativeness(case, estimator=MixtureSampling(), normalise=False).per_code
    shared = separability(case, normalise=False).per_code
    expected = weights @ (np.array(list(told.values())) - np.array(list(shared.values())))
    assert wsepin(case, normalise=False).raw == pytest.approx(expected, abs=1e-9)


def test_independence_and_separation_differ_only_within_the_posterior():
    correlated = np.array([[0.09, 0.08, 0.0], [0.08, 0.09, 0.0], [0.0, 0.0, 0.09]])
    case = Evidence(FACTORS, Posterior(MEAN, covariance=correlated), kinds="categorical")
    shared = -0.5 * np.log(1 - (0.08 / 0.09) ** 2)  # I(z_0, z_1 | x)
    separated, independent = (metric(case, normalise=False).per_code for metric in (wsepin, windin))
    gaps = [separated[name] - independent[name] for name in separated]
    np.testing.assert_allclose(gaps, [shared, shared, 0.0], atol=1e-9)
    assert windin(BASE, normalise=False).raw == wsepin(BASE, normalise=False).raw


@pytest.mark.parametrize("n_noise", [1, 3])
@pytest.mark.parametrize("normalise", [True, False])
def test_codes_that_are_the_prior_change_nothing(n_noise, normalise):
    noisy = evidence(*with_noise(n_noise))
    for metric in (rmig, jemmig):
        assert metric(noisy, normalise=normalise).raw == pytest.approx(metric(BASE, normalise=normalise).raw, abs=1e-9)
    for metric in (wsepin, windin, sepin_at_k, indin_at_k):
        found, expected = metric(noisy, normalise=normalise).raw, metric(BASE, normalise=normalise).raw
        assert found == pytest.approx(expected, abs=1e-6)


def test_information_of_all_codes_does_not_fall_as_noisy_codes_are_added():
    """Claim 150: the published code has a lower bound of 1e-8 for densities, and loses information with more codes."""
    rng = np.random.default_rng(3)
    mean, std = MEAN, STD
    options = {"of": "all", "normalise": False, "sampling": MixtureSampling(3000)}
    told = [informativeness(evidence(mean, std), **options).raw]
    for _ in range(3):
        mean = np.column_stack([mean, 0.02 * rng.normal(size=(N, 2))])
        std = np.column_stack([std, np.ones((N, 2))])
        told.append(informativeness(evidence(mean, std), **options).raw)
    assert (np.diff(told) > -1e-3).all()
    added = informativeness(evidence(*with_noise(3)), **options).raw
    assert added == pytest.approx(told[0], abs=1e-9)


def test_rmig_is_low_with_few_bins_and_stable_above_200():
    """Claim 141, A.4."""
    case = evidence(std=np.full((N, 3), 0.1))
    values = [rmig(case, estimator=QuantisedPosterior(bins, LIMITS)).raw for bins in (3, 100, 200, 400)]
    assert values[0] < values[1] - 0.1
    assert values[2] == pytest.approx(values[3], abs=0.01)


def test_jemmig_grows_with_the_bins_only_once_these_are_fine():
    """Claim 142: with more bins it first falls, then rises by their logarithm; if normalised, it stays below 1."""
    case = evidence(std=np.full((N, 3), 0.1))
    raw = [jemmig(case, estimator=QuantisedPosterior(bins, LIMITS), normalise=False).raw for bins in (3, 20, 100, 200)]
    assert raw[0] > raw[1] < raw[2] < raw[3]
    assert raw[3] - raw[2] == pytest.approx(np.log(2), abs=0.05)
    normalised = [jemmig(case, estimator=QuantisedPosterior(bins, LIMITS)).raw for bins in (100, 200, 800)]
    assert 0 <= normalised[0] < normalised[1] < normalised[2] <= 1  # claims 140 and 145


def test_one_code_and_one_factor():
    lone = Evidence(FACTORS[:, 0], Posterior(MEAN[:, :1], STD[:, :1]), kinds="categorical")
    score = rmig(lone)
    assert score.raw > 0.9
    assert any("one code" in str(caveat) for caveat in score.caveats)
    assert np.isnan(misjed(lone).raw)
    assert wsepin(lone, normalise=False).raw == pytest.approx(
        informativeness(lone, estimator=MixtureSampling(), normalise=False).raw, abs=1e-9
    )


def test_a_posterior_that_is_the_same_for_every_sample_is_undefined_not_zero():
    collapsed = Evidence(FACTORS, Posterior(np.zeros((N, 2)), np.ones((N, 2))))
    for metric in (informativeness, separability, misjed):
        score = metric(collapsed)
        assert np.isnan(score.raw)
        assert any("undefined" in str(caveat) for caveat in score.caveats)


def test_joint_vae_mixes_a_categorical_code_with_gaussian_ones():
    table = 0.94 * np.eye(3)[FACTORS[:, 0]] + 0.02
    case = Evidence(FACTORS, Posterior(MEAN[:, 1:], STD[:, 1:], categories={"shape": table}), kinds="categorical")
    joint = np.eye(3) * 0.94 + 0.02
    counts = np.bincount(FACTORS[:, 0]) / N
    expected = (counts[:, None] * joint * np.log(joint / (counts @ joint))).sum()
    exact = informativeness(case, normalise=False).per_code["shape"]
    assert exact == pytest.approx(expected, abs=1e-6)
    sampled = informativeness(case, estimator=MixtureSampling(), normalise=False)
    assert sampled.per_code["shape"] == pytest.approx(expected, abs=3 * sampled.parts["standard_error_per_code"][2])
    for metric in (rmig, jemmig, misjed, wsepin, windin, separability, sepin_at_k):
        assert np.isfinite(metric(case).raw)
    assert rmig(case, estimator=MixtureSampling(4000)).raw == pytest.approx(rmig(case).raw, abs=0.03)


@pytest.mark.parametrize("metric", [rmig, jemmig])
def test_the_error_of_a_mean_over_factors_is_that_of_independent_draws(metric):
    """It is the square root of the sum of squared errors, divided by d."""
    parts = metric(BASE, estimator=MixtureSampling(1000)).parts
    per_factor = parts["standard_error_per_factor"]
    assert per_factor.shape == (2,)
    assert (per_factor > 0).all()
    assert parts["standard_error"] == pytest.approx(np.sqrt(np.square(per_factor).sum()) / 2)


def test_a_lone_code_is_the_best_also_where_luck_gives_it_less_than_nothing():
    rng = np.random.default_rng(3)
    labels, mean = rng.integers(0, 3, (120, 1)), 0.01 * rng.normal(size=(120, 1))
    found = factor_gaps(Evidence(labels, Posterior(mean, np.ones((120, 1)))), SAMPLING)
    assert found.information[0, 0] < 0
    assert found.best.tolist() == [0]
    assert 0.5 < jemmig(labels, Posterior(mean, np.ones((120, 1)))).raw < 1


@pytest.mark.parametrize("most_rows", [20, 60, 500])
def test_all_codes_are_divided_by_the_most_that_the_rows_used_can_tell(most_rows):
    rng = np.random.default_rng(0)
    posterior = Posterior(rng.normal(size=(60, 2)), np.full((60, 2), 0.3))
    sampling = MixtureSampling(200, most_rows=most_rows)
    given = {"of": "all", "sampling": sampling}
    nats = informativeness(None, posterior, normalise=False, **given).raw
    assert nats > 1.0
    assert informativeness(None, posterior, **given).raw == pytest.approx(nats / np.log(min(60, most_rows)))


def test_a_factor_with_two_values_has_sampled_information_and_one_with_one_value_has_none():
    sides = np.arange(60) % 2
    mean = np.column_stack([10.0 * sides, np.zeros(60)])
    evidence = Evidence({"side": sides, "still": np.ones(60)}, Posterior(mean, np.ones((60, 2))))
    found = sampled_factors(evidence, MixtureSampling(400))
    assert found.single[:, 0] == pytest.approx([np.log(2), 0.0], abs=1e-4)
    assert found.whole[0] == pytest.approx(np.log(2), abs=1e-4)
    assert np.isnan(found.single[:, 1]).all()


DRAWS = MixtureSampling(4000)


def gaussian(rho, n_rows=2000, seed=0):
    """Means with sample variance 1 and sample correlation rho, both exact."""
    drawn = np.random.default_rng(seed).normal(size=(n_rows, 2))
    drawn = (drawn - drawn.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(drawn.T, bias=True))).T
    return drawn @ np.linalg.cholesky([[1, rho], [rho, 1]]).T


@pytest.mark.parametrize(("rho", "std"), [(0.0, 0.5), (0.6, 0.5), (0.95, 0.3), (-0.8, 1.0)])
def test_closed_form_of_gaussian_means(rho, std):
    """The draws have correlation r = rho / (1 + std^2), so I = -1/2 log(1 - r^2); I(z_i, z_j | x) is 0."""
    mean = gaussian(rho)
    score = three_way_information(None, Posterior(mean, np.full_like(mean, std)), estimator=DRAWS, normalise=False)
    drawn = rho / (1 + std**2)
    # a finite sample is a mixture of Gaussians and not Gaussian, which changes the value by .02 at 2,000 rows
    assert score.raw == pytest.approx(
        -0.5 * math.log(1 - drawn**2), abs=0.02 + 3 * float(score.parts["standard_error"])
    )


def test_correlation_given_the_sample_alone_is_negative():
    """Independent means and correlated posteriors: I(z_i, z_j) - I(z_i, z_j | x) in closed form."""
    mean, std, within = gaussian(0.0), 0.5, 0.9
    block = std**2 * np.array([[1, within], [within, 1]])
    posterior = Posterior(mean, covariance=np.tile(block, (len(mean), 1, 1)))
    score = three_way_information(None, posterior, estimator=DRAWS, normalise=False)
    drawn = within * std**2 / (1 + std**2)
    expected = -0.5 * math.log(1 - drawn**2) + 0.5 * math.log(1 - within**2)
    assert score.raw == pytest.approx(expected, abs=0.02 + 3 * float(score.parts["standard_error"]))
    assert score.raw < -0.5
    assert three_way_information(None, posterior, estimator=DRAWS).value == 0


def test_masses_on_a_grid_of_two_codes():
    """An independent estimate: mutual information of the table 1/N sum_n Q(s | x_n) Q(t | x_n), 200 bins per code."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(1500, 1))
    mean = np.tanh(shared + 0.5 * rng.normal(size=(1500, 2))) + np.array([0.0, 3.0])  # strongly non-Gaussian
    std = rng.uniform(0.1, 0.4, size=mean.shape)
    grid = QuantisedPosterior(bins=200)
    tables = [grid.masses(mean[:, i], std[:, i]).astype(float) for i in range(2)]
    joint = tables[0] @ tables[1].T / len(mean)
    on_grid = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()
    score = three_way_information(None, Posterior(mean, std), estimator=DRAWS, normalise=False)
    assert score.raw == pytest.approx(on_grid, abs=0.01 + 3 * float(score.parts["standard_error"]))


def test_two_codes_have_the_separability_of_each_from_the_other():
    mean = gaussian(0.7)
    posterior = Posterior(mean, np.full_like(mean, 0.5))
    pair, each = (m(None, posterior, estimator=DRAWS, normalise=False) for m in (three_way_information, separability))
    assert pair.raw == pytest.approx(each.raw, abs=1e-9)


def test_pairs_and_their_matrix():
    """A copy shares all information and an independent code none; the matrix is symmetric."""
    mean = gaussian(0.0)
    mean = np.column_stack([mean, mean[:, 0]])
    score = three_way_information(None, Posterior(mean, np.full_like(mean, 0.5)), estimator=DRAWS)
    matrix = score.parts["three_way_matrix"]
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.isnan(np.diagonal(matrix)).all()
    assert matrix[0, 2] > 0.1
    assert abs(matrix[0, 1]) < 0.02
    assert score.raw == pytest.approx(np.nanmean(matrix))


def test_sharp_pairs_and_lone_codes_are_undefined():
    mean = np.random.default_rng(0).normal(size=(200, 3))
    sharp = three_way_information(None, Posterior(mean, np.full_like(mean, 1e-3)), estimator=DRAWS)
    assert math.isnan(sharp.raw)
    assert "3 of 3 pairs of codes identify every sample" in str(sharp.caveats[0])
    std = np.full_like(mean, 1e-3)
    std[:, 2] = 1.0
    some = three_way_information(None, Posterior(mean, std * [1, 300, 1]), estimator=DRAWS)
    assert np.isfinite(some.raw)
    lone = three_way_information(None, Posterior(mean[:, :1], std[:, :1]), estimator=DRAWS)
    assert math.isnan(lone.raw)
    assert lone.caveats
