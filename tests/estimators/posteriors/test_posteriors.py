"""Densities of mixtures and information of Gaussian codes."""

import joblib
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from unweave.estimators import GaussianInformation
from unweave.estimators import mixture as mixture_density
from unweave.estimators.mixture import Components, groups_of, log_ratios
from unweave.estimators.posteriors import Sampled, SampleInformation, gaussian_information

RNG = np.random.default_rng(0)
N, M = 700, 40
MEAN, STD = RNG.normal(size=(N, 3)), RNG.uniform(0.1, 1.0, size=(N, 3))
TABLE = RNG.dirichlet(np.ones(4), N)
ROWS = RNG.integers(N, size=M)
EVERYTHING = [(np.arange(M), np.arange(N))]


def streams(n):
    return [np.random.default_rng(k) for k in range(n)]


def by_definition(log_density, rows, inside):
    return log_density[np.arange(len(rows)), rows] - logsumexp(log_density[:, inside], axis=1) + np.log(len(inside))


@pytest.mark.parametrize("groups", [groups_of(4), ((0,), (0, 3), (3,), (1, 2))])
def test_independent_and_categorical_codes(groups):
    components = Components(MEAN, STD, None, (np.log(TABLE),))
    draws = components.draw(ROWS, streams(4))
    halves = [(np.arange(20), np.arange(N)), (np.arange(20, M), np.arange(0, N, 3))]
    found = log_ratios(components, draws, ROWS, groups, halves)
    for k, group in enumerate(groups):
        log_density = np.zeros((M, N))
        for i in group:
            if i < 3:
                log_density -= 0.5 * ((draws[:, i, None] - MEAN[:, i]) / STD[:, i]) ** 2 + np.log(STD[:, i])
            else:
                log_density += np.log(TABLE)[:, draws[:, 3].astype(int)].T
        for members, inside in halves:
            expected = by_definition(log_density[members], ROWS[members], inside)
            np.testing.assert_allclose(found[members, k], expected, atol=1e-10)


def test_correlated_codes():
    roots = RNG.normal(size=(N, 3, 3))
    covariance = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(3)
    components = Components(MEAN, np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)), covariance)
    draws = components.draw(ROWS, streams(3))[:5]
    groups = groups_of(3)
    found = log_ratios(components, draws, ROWS[:5], groups, [(np.arange(5), np.arange(N))])
    for k, group in enumerate(groups):
        pick = np.ix_(group, group)
        columns = [
            multivariate_normal(MEAN[n, list(group)], covariance[n][pick]).logpdf(draws[:, group]) for n in range(N)
        ]
        np.testing.assert_allclose(found[:, k], by_definition(np.array(columns).T, ROWS[:5], np.arange(N)), atol=1e-9)


def test_draws_have_the_posterior_covariance():
    covariance = np.array([[1.0, 0.8], [0.8, 2.0]])
    components = Components(np.zeros((1, 2)), np.ones((1, 2)), covariance[None])
    draws = components.draw(np.zeros(100_000, dtype=int), streams(2))
    np.testing.assert_allclose(np.cov(draws, rowvar=False), covariance, atol=0.03)


def test_categories_are_drawn_with_their_probabilities():
    components = Components(np.empty((1, 0)), np.empty((1, 0)), None, (np.log([[0.5, 0.3, 0.2]]),))
    draws = components.draw(np.zeros(100_000, dtype=int), streams(1))
    np.testing.assert_allclose(np.bincount(draws[:, 0].astype(int)) / 100_000, [0.5, 0.3, 0.2], atol=0.01)


def test_codes_that_are_added_leave_the_draws_of_the_others():
    few, many = Components(MEAN, STD), Components(np.hstack([MEAN, MEAN]), np.hstack([STD, STD]))
    np.testing.assert_array_equal(few.draw(ROWS, streams(3)), many.draw(ROWS, streams(6))[:, :3])


def test_narrow_posteriors_near_a_draw_do_not_overflow():
    """A component far narrower than the one a draw came from has a density a thousand nats higher."""
    mean, std = np.zeros((2, 200)), np.ones((2, 200))
    std[1] = 1e-3
    mean[1] = Components(mean[:1], std[:1]).draw(np.zeros(1, dtype=int), streams(200))[0]
    components = Components(mean, std)
    draws = components.draw(np.zeros(1, dtype=int), streams(200))
    found = log_ratios(components, draws, np.zeros(1, dtype=int), [tuple(range(200))], [(np.arange(1), np.arange(2))])
    own = -0.5 * (draws[0] ** 2).sum()
    expected = own - (200 * np.log(1e3) - np.log(2))
    assert found[0, 0] == pytest.approx(expected, abs=1e-6)


def test_expanding_the_square_is_not_trusted_with_very_narrow_posteriors(monkeypatch):
    components = Components(10 + MEAN, np.full_like(MEAN, 1e-6))
    draws = components.draw(ROWS, streams(3))
    exact = log_ratios(components, draws, ROWS, [(0,), (0, 1, 2)], EVERYTHING)
    np.testing.assert_allclose(exact, np.log(N), atol=1e-9)
    monkeypatch.setattr(mixture_density, "LARGEST_ROUNDING", np.inf)
    expanded = log_ratios(components, draws, ROWS, [(0,), (0, 1, 2)], EVERYTHING)
    assert np.abs(expanded - np.log(N)).max() > 1e-4


@pytest.mark.parametrize("groups", [groups_of(3), ((0, 1, 2),)])
def test_results_do_not_depend_on_the_number_of_threads(groups):
    components = Components(MEAN, STD)
    rows = RNG.integers(N, size=600)
    draws = components.draw(rows, streams(3))
    results = []
    for n_jobs in (1, 3):
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            results.append(log_ratios(components, draws, rows, groups, [(np.arange(600), np.arange(N))]))
    assert (results[0] == results[1]).all()


def test_narrow_posteriors_with_categories_group_by_group():
    """Sums of log densities of single codes equal the log density of a group, also if a category never occurs."""
    rng = np.random.default_rng(0)
    tables = np.column_stack([rng.dirichlet(np.ones(2), size=400), np.zeros(400)])
    with np.errstate(divide="ignore"):
        components = Components(
            rng.normal(size=(400, 3)), 10 ** rng.uniform(-7, -0.5, size=(400, 3)), log_tables=(np.log(tables),)
        )
    rows = rng.permutation(400)[:60]
    draws = components.draw(rows, [np.random.default_rng(k) for k in range(4)])
    assert components.rounding(draws) > 1e-6
    groups = groups_of(4)
    found = log_ratios(components, draws, rows, groups, [(np.arange(60), np.arange(400))])
    for k, group in enumerate(groups):
        density = components.log_density(draws, group)
        own = density[np.arange(60), rows]
        np.testing.assert_allclose(found[:, k], own - logsumexp(density, axis=1) + np.log(400), atol=1e-9)


def test_rounding_grows_with_the_square_of_the_distance_in_standard_deviations():
    """The centre is 2, and the draw that is furthest from it is 8 of the smallest standard deviations away."""
    components = Components(np.array([[0.0], [4.0]]), np.array([[1.0], [2.0]]))
    assert components.rounding(np.array([[-6.0], [3.0]])) == pytest.approx(64 * np.finfo(float).eps)
    both = Components(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([[1.0, 0.5], [2.0, 1.0]]))
    assert both.rounding(np.array([[-6.0, 0.0], [3.0, 3.0]])) == pytest.approx((64 + 36) * np.finfo(float).eps)
    assert Components(np.empty((2, 0)), np.empty((2, 0))).rounding(np.empty((2, 0))) == 0.0
    correlated = Components(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1, 1)))
    assert correlated.rounding(np.array([[5.0]])) == 0.0


def test_information_is_a_difference_of_entropies():
    root = np.random.default_rng(0).normal(size=(5, 5))
    covariance = root @ root.T
    first, second = [0, 3], [1, 2, 4]
    entropies = [multivariate_normal(cov=covariance[np.ix_(k, k)]).entropy() for k in (first, second, range(5))]
    by_entropies = entropies[0] + entropies[1] - entropies[2]
    assert gaussian_information(covariance, first, second) == pytest.approx(by_entropies)
    assert gaussian_information(covariance, first, []) == gaussian_information(covariance, [], second) == 0


def test_more_codes_tell_no_less():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(500, 2))
    codes = factors @ rng.normal(size=(2, 4)) + rng.normal(size=(500, 4))
    single, rest, whole = GaussianInformation().information(factors, codes, 0.1 * np.eye(4))
    assert (single <= whole + 1e-12).all()
    assert (rest <= whole + 1e-12).all()


RATIOS = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 4.0], [4.0, 8.0], [9.0, 3.0]])
TWO = Sampled(RATIOS, np.array([0, 0, 1, 1, 1]), np.array([0.25, 0.75]))
ONE = Sampled(RATIOS, np.zeros(5, dtype=int), np.ones(1))


def test_strata_count_with_their_shares():
    """Means 2 and 5 with variances 2 and 13 of the first column, and 0 and 5 with 0 and 7 of the second one."""
    assert TWO.mean(RATIOS) == pytest.approx([0.25 * 2 + 0.75 * 5, 0.75 * 5])
    assert TWO.mean(RATIOS[:, 0]) == pytest.approx(4.25)
    variances = np.array([0.25**2 * 2 / 2 + 0.75**2 * 13 / 3, 0.75**2 * 7 / 3])
    assert TWO.standard_error(RATIOS) == pytest.approx(np.sqrt(variances))
    assert TWO.standard_error(RATIOS[:, 0]) == pytest.approx(np.sqrt(variances[0]))
    single = Sampled(RATIOS[:1], np.zeros(1, dtype=int), np.ones(1))
    assert single.standard_error(RATIOS[:1]).tolist() == [0.0, 0.0]


def test_shares_of_codes_have_the_error_of_their_ratios():
    information = SampleInformation(ONE.mean(RATIOS), ONE)
    divisors = np.array([2.0, 5.0])
    assert information.shares(divisors) == pytest.approx(RATIOS.mean(axis=0) / divisors)
    shares = RATIOS / divisors
    both = information.standard_errors(divisors, np.array([True, True]))
    assert both["standard_error_per_code"] == pytest.approx(shares.std(axis=0, ddof=1) / np.sqrt(5))
    assert both["standard_error"] == pytest.approx(shares.mean(axis=1).std(ddof=1) / np.sqrt(5))
    first = information.standard_errors(divisors, np.array([True, False]))
    assert first["standard_error"] == pytest.approx(both["standard_error_per_code"][0])
    assert information.standard_errors(divisors, np.array([False, False]))["standard_error"] == 0.0
    exact = SampleInformation(np.array([1.0, 2.0]))
    assert exact.shares(divisors).tolist() == [0.5, 0.4]
    assert exact.standard_errors(divisors, np.array([True, True])) == {}
