"""Correlation, tests of independence and of conditional independence: size, power, closed forms."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import beta, hypergeom, rankdata

from unweave.estimators import LinearCovariance, NonlinearCovariance, Pearson, Spearman
from unweave.estimators.correlation import (
    canonical_correlation,
    canonical_correlation_matrix,
    column_norms,
    correlation_p_value,
    curvature,
    held_out_correlation,
    independence_p_value,
    largest_correlations,
    multiple_correlation_matrix,
    orthonormal_basis,
)
from unweave.estimators.independence import (
    Regressors,
    corrected,
    covariance_p_values,
    lower_tail,
    pair_tests,
    upper_tail,
)
from unweave.estimators.regression import indicators
from unweave.estimators.sparse import sparse_correlation_matrix
from unweave.metrics.screening import columns_of_dense

LINEAR, NONLINEAR = LinearCovariance(), NonlinearCovariance()
N_DRAWS = 2000
N_WORLDS = 100


def gaussians(rng, n_rows, n_factors, rho):
    shared = rng.normal(size=(n_rows, 1))
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.normal(size=(n_rows, n_factors))


def p_values(test, codes, factors):
    return test.pairs(codes, [test.numeric(column) for column in factors.T]).p_value_matrix


def rejection_rate(test, code, n_rows, rho, tested, n_worlds=N_WORLDS, seed=0):
    """Share of rejections at level .05, over twenty codes with independent noise in each of ``n_worlds`` samples."""
    rng = np.random.default_rng(seed)
    rejected = []
    for _ in range(n_worlds):
        factors = gaussians(rng, n_rows, 3, rho)
        codes = code(factors[:, [0]], factors[:, [1]], rng.normal(size=(n_rows, N_DRAWS // N_WORLDS)))
        rejected.append(p_values(test, codes, factors)[:, tested] < 0.05)
    return float(np.mean(rejected))


NULLS = {
    "one factor": lambda a, b, e: a + e,
    "scale": lambda a, b, e: a + e * np.exp(a / 2),
    "even": lambda a, b, e: a**2 + e,
    "product": lambda a, b, e: a * b + e,
    "heavy": lambda a, b, e: np.sinh(a**3 + e),
}


# dependent factors are the harder case, so the others are marked as slow
RHOS = [pytest.param(0.0, marks=pytest.mark.slow), 0.7]


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("n_rows", [300, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("null", ["one factor", "scale", "even", "product"])
def test_linear_size(null, n_rows, rho):
    assert 0.035 <= rejection_rate(LINEAR, NULLS[null], n_rows, rho, tested=2) <= 0.065


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("null", NULLS)
def test_nonlinear_size(null, rho):
    assert 0.035 <= rejection_rate(NONLINEAR, NULLS[null], 300, rho, tested=2) <= 0.065


def test_one_huge_entry_makes_the_linear_test_silent_not_wrong():
    assert rejection_rate(LINEAR, NULLS["heavy"], 300, 0.0, tested=2) <= 0.065


@pytest.mark.parametrize("test", [LINEAR, NONLINEAR])
@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_power_on_a_linear_dependence(test, rho):
    assert rejection_rate(test, lambda a, b, e: b + 0.5 * a + e, 300, rho, tested=0, n_worlds=10) > 0.9


@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize(
    "code",
    [lambda a, b, e: a**2 + e, lambda a, b, e: np.cos(2 * a) + 0.5 * e, lambda a, b, e: a * b + 0.5 * e],
    ids=["square", "wave", "product"],
)
def test_nonlinear_power_where_the_linear_test_has_little(code, rho):
    assert rejection_rate(NONLINEAR, code, 500, rho, tested=0, n_worlds=10) > 0.9
    assert rejection_rate(LINEAR, code, 500, rho, tested=0, n_worlds=10) < 0.3


def test_same_as_a_loop_of_least_squares():
    rng = np.random.default_rng(0)
    factors = gaussians(rng, 120, 4, 0.5)
    codes = factors @ rng.normal(size=(4, 3)) + rng.normal(size=(120, 3))
    found = p_values(LINEAR, codes, factors)
    for i, j in np.ndindex(found.shape):
        others = np.column_stack([np.ones(120), np.delete(factors, j, axis=1)])
        hat = others @ np.linalg.pinv(others)
        e, x = codes[:, i] - hat @ codes[:, i], factors[:, j] - hat @ factors[:, j]
        unit = x / np.linalg.norm(x)
        statistic = (e @ unit) ** 2 / np.sum(np.square(e * unit) / (1 - np.diag(hat)))
        narrowing = np.clip(np.sum(unit**4 * e**4) / np.mean(e**2) ** 2, 1 / 120, 0.3)
        n_free = 120 - 4
        a = 1 / n_free
        total = a * (1 - a) * n_free**2 / (2 * (1 - narrowing)) - 1
        assert np.isclose(found[i, j], beta.sf(statistic / n_free, a * total, (1 - a) * total), rtol=1e-6, atol=1e-12)


def test_statistic_of_a_tiny_example():
    # the products are 1, 1, 1, -1 and so on, so g = 10 / sqrt(20), V = 20 / 20, and U = 5, which is at most 19
    x = np.ones((20, 1)) / np.sqrt(20)
    e = np.tile([1.0, 1.0, 1.0, -1.0], 5)[:, None]
    (p_value,), (power,) = covariance_p_values([e[:7], e[7:]], x, np.zeros(20), n_fitted=0)
    total = (1 / 19) * (18 / 19) * 19**2 / (2 * (1 - 1 / 20)) - 1
    assert power == 1
    assert np.isclose(p_value, beta.sf(5 / 19, total / 19, total * 18 / 19))


def test_residuals_without_a_group_are_those_of_a_smaller_regression():
    rng = np.random.default_rng(0)
    columns, values = rng.normal(size=(50, 6)), rng.normal(size=(50, 2))
    for group in ([0], [1, 4], [0, 2, 3, 5]):
        others = np.column_stack([np.ones(50), np.delete(columns, group, axis=1)])
        hat = others @ np.linalg.pinv(others)
        remaining = Regressors.of(columns).without(group)
        assert np.allclose(remaining.residuals(values), values - hat @ values, atol=1e-7)
        assert np.allclose(remaining.leverages, np.diag(hat), atol=1e-7)
        assert remaining.n_columns == others.shape[1] - 1


@pytest.mark.parametrize("test", [LINEAR, NONLINEAR])
def test_zero_residuals_are_independence(test):
    factors = np.random.default_rng(0).normal(size=(400, 3))
    copied = np.column_stack([factors, factors[:, 0]])
    exact = test.pairs(factors, [test.numeric(column) for column in factors.T])
    assert (np.diag(exact.p_value_matrix) < 1e-6).all()
    assert (exact.p_value_matrix[~np.eye(3, dtype=bool)] == 1).all()
    assert (exact.code_is_explained == ~np.eye(3, dtype=bool)).all()
    twice = test.pairs(factors, [test.numeric(column) for column in copied.T])
    assert twice.factor_is_explained.tolist() == [True, False, False, True]
    assert (twice.p_value_matrix[:, [0, 3]] == 1).all()


@pytest.mark.parametrize("test", [LINEAR, NONLINEAR])
def test_angles_and_categories(test):
    rng = np.random.default_rng(0)
    n_rows = 500
    angle, level, number = (
        rng.uniform(0, 2 * np.pi, n_rows),
        rng.integers(4, size=n_rows).astype(float),
        rng.normal(size=n_rows),
    )
    noise = rng.normal(size=(n_rows, 200))
    codes = (
        np.column_stack([np.sin(angle + 1), level == 2, number, np.zeros(n_rows)])[:, :, None] + 0.7 * noise[:, None, :]
    )
    columns = [test.circular(angle), indicators(level), test.numeric(number)]
    found = test.pairs(codes.reshape(n_rows, -1), columns).p_value_matrix.reshape(4, 200, 3) < 0.05
    rates = found.mean(axis=1)
    assert (np.diag(rates) > 0.9).all()
    assert (rates[~np.eye(4, 3, dtype=bool)] < 0.1).all()


def test_second_harmonic_needs_the_nonlinear_test():
    rng = np.random.default_rng(0)
    angle, other = rng.uniform(0, 2 * np.pi, 500), rng.normal(size=500)
    codes = np.cos(2 * angle)[:, None] + rng.normal(size=(500, 1))
    found = {type(t): t.pairs(codes, [t.circular(angle), t.numeric(other)]).p_value_matrix for t in (LINEAR, NONLINEAR)}
    assert found[NonlinearCovariance][0, 0] < 1e-6 < 0.01 < found[LinearCovariance][0, 0]


@pytest.mark.parametrize("test", [LINEAR, NONLINEAR])
def test_scale_shift_and_order_change_nothing(test):
    rng = np.random.default_rng(1)
    factors = gaussians(rng, 300, 3, 0.4)
    codes = factors @ rng.normal(size=(3, 2)) + rng.normal(size=(300, 2))
    found = p_values(test, codes, factors)
    rows = rng.permutation(300)
    assert np.allclose(found, p_values(test, codes[rows] * [1e8, -1e-8] + 3, factors[rows] * 1e5 - 1e5), atol=1e-7)
    assert np.allclose(found[:, [2, 0, 1]], p_values(test, codes, factors[:, [2, 0, 1]]), atol=1e-7)


def test_too_few_rows_give_nan():
    rng = np.random.default_rng(0)
    assert np.isnan(p_values(LINEAR, rng.normal(size=(40, 2)), rng.normal(size=(40, 35)))).all()


def test_few_rows_and_many_factors_keep_the_size():
    rng = np.random.default_rng(0)
    for test in (LINEAR, NONLINEAR):
        rates = [p_values(test, rng.normal(size=(100, 20)), rng.normal(size=(100, 20))) < 0.05 for _ in range(10)]
        assert 0.035 <= np.mean(rates) <= 0.065


def test_corrections():
    p = np.array([[0.001, 0.02], [np.nan, 0.04]])
    assert np.allclose(corrected(p, "holm"), [[0.003, 0.04], [np.nan, 0.04]], equal_nan=True)
    assert np.allclose(corrected(p, "benjamini-hochberg"), [[0.003, 0.03], [np.nan, 0.04]], equal_nan=True)
    assert corrected(p, "none") is p
    with pytest.raises(ValueError, match="holm"):
        corrected(p, "bonferroni")


ORTHOGONAL = np.linalg.qr(np.column_stack([np.ones(400), np.random.default_rng(3).normal(size=(400, 5))]))[0][:, 1:]


def against(functions):
    """Tests of two codes against these residual functions of a factor."""
    regressors = Regressors.of(ORTHOGONAL[:, 4:])
    codes = 20 * (ORTHOGONAL[:, [0, 1]] + ORTHOGONAL[:, [2, 3]])
    return pair_tests(codes, regressors, iter([(regressors.without([]), functions)]))


@pytest.mark.parametrize(("residual", "explained"), [(0.99e-6, True), (1.01e-6, False)])
def test_a_factor_is_explained_if_its_residual_is_below_a_millionth(residual, explained):
    found = against(20 * residual * ORTHOGONAL[:, :1])
    assert found.factor_is_explained.tolist() == [explained]
    assert found.p_value_matrix[0, 0] == (1.0 if explained else pytest.approx(0.0, abs=1e-6))


def test_a_function_that_adds_less_than_a_tenthousandth_is_no_direction():
    alone, both = against(ORTHOGONAL[:, :1]), against(ORTHOGONAL[:, :2])
    for size, expected in ((0.99e-4, alone), (1.01e-4, both)):
        found = against(ORTHOGONAL[:, :2] * [1.0, size])
        assert found.p_value_matrix == pytest.approx(expected.p_value_matrix)
    assert alone.p_value_matrix[1, 0] > 0.1 > both.p_value_matrix[1, 0]


@pytest.mark.parametrize(("n_fitted", "is_tested"), [(8, True), (9, False)])
def test_ten_degrees_of_freedom_must_remain(n_fitted, is_tested):
    x = np.tile([[1.0], [-1.0]], (10, 1)) / np.sqrt(20)
    found, power = covariance_p_values([3 * x + 1], x, np.zeros(20), n_fitted)
    assert np.isfinite(found[0]) == is_tested
    assert power == pytest.approx([np.square(3 * x + 1).mean()])


@pytest.mark.parametrize(
    ("errors", "x", "narrowing"),
    [
        (np.r_[3.0, np.ones(19)], np.ones(20), (81 + 19) / 400 / 1.4**2),
        (np.r_[20.0, np.ones(19)], np.ones(20), 0.3),  # at most
        (np.repeat([0.1, 1.0], 10), np.sqrt(np.repeat([2.0, 0.0], 10)), 0.05),  # at least 1 / n
    ],
)
def test_few_large_errors_narrow_the_distribution_within_limits(errors, x, narrowing):
    terms = (x / np.sqrt(20))[:, None]
    statistic = (errors @ terms)[0] ** 2 / np.square(errors * terms[:, 0]).sum()
    total = (1 / 19) * (18 / 19) * 19**2 / (2 * (1 - narrowing)) - 1
    expected = beta.sf(statistic / 19, total / 19, total * 18 / 19)
    assert covariance_p_values([errors[:, None]], terms, np.zeros(20), 0)[0] == pytest.approx([expected])


def test_a_row_weighs_at_most_twenty_times_and_at_least_once():
    x = np.ones((20, 1)) / np.sqrt(20)
    errors = np.random.default_rng(4).normal(size=(20, 1)) + 0.3

    def p_value(first):
        return covariance_p_values([errors], x, np.r_[first, np.full(19, 0.2)], 0)[0][0]

    assert p_value(0.999) == p_value(0.95) != p_value(0.94)
    assert p_value(-0.5) == p_value(0.0) != p_value(0.01)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_rounding_around_a_constant_is_no_direction(sign, n_columns):
    constant = sign * (1e8 + 1e-8 * RNG.normal(size=(500, n_columns)))
    assert np.ptp(constant) > 0  # rounding errors make the entries differ
    assert orthonormal_basis(constant).shape == (500, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_small_columns_far_from_zero_are_directions(sign):
    columns = sign * (1e3 + 1e-3 * RNG.normal(size=(500, 2)))
    basis = orthonormal_basis(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-10)


def test_spearman_is_pearson_of_mid_ranks():
    column = RNG.integers(0, 5, 200).astype(float)
    np.testing.assert_allclose(
        Spearman().column(column) - Spearman().column(column).mean(), rankdata(column) - rankdata(column).mean()
    )
    assert np.array_equal(Pearson().column(column), column)


@pytest.mark.parametrize("width", [1, 2])
def test_no_correlation_is_above_one_by_rounding(width):
    basis = orthonormal_basis(RNG.normal(size=(30, width)))
    above = basis * (1 + 1e-9)
    assert largest_correlations(above, [above, above[:, :0]]).tolist() == [1.0, 0.0]
    assert canonical_correlation_matrix([above, above]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    codes = basis[:, :1] * 7
    assert multiple_correlation_matrix([above], codes, *column_norms(codes)).tolist() == [[1.0]]
    assert sparse_correlation_matrix([above], columns_of_dense(codes)).tolist() == [[1.0]]


def test_an_empty_basis_has_no_canonical_correlation():
    basis = orthonormal_basis(RNG.normal(size=(30, 2)))
    found = canonical_correlation_matrix([basis, basis[:, :0]])
    assert np.isnan(found).tolist() == [[False, True], [True, True]]
    assert largest_correlations(basis[:, :0], [basis]).tolist() == [0.0]


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e9, -1e9])
def test_codes_far_from_zero_have_the_correlation_of_centred_ones(shift):
    code = RNG.normal(size=(50, 1))
    basis = orthonormal_basis(code + RNG.normal(size=(50, 1)))
    exact = np.abs(basis[:, 0] @ (code[:, 0] - code.mean())) / np.linalg.norm(code - code.mean())
    moved = code + shift
    found = multiple_correlation_matrix([basis], moved, *column_norms(moved))
    assert found[0, 0] == pytest.approx(exact, abs=1e-15 * max(abs(shift), 10))


def test_a_correlation_on_test_rows_has_the_sign_that_was_learned():
    x = RNG.normal(size=(60, 1))
    halves = x[:30], x[30:]
    assert held_out_correlation(halves, (-x[:30], -3 * x[30:] + 1)) == pytest.approx(1.0)
    assert held_out_correlation(halves, (-x[:30], x[30:])) == pytest.approx(-1.0)
    assert held_out_correlation(halves, (-x[:30], np.ones((30, 1)))) == 0.0


@pytest.mark.parametrize("n_rows", [50, 1000, 100_000])
def test_tails_are_those_of_scipy(n_rows):
    rng = np.random.default_rng(0)
    present = rng.integers(0, n_rows + 1, size=200)
    active = rng.integers(0, min(n_rows, 2000) + 1, size=200)
    lowest, highest = np.maximum(0, present + active - n_rows), np.minimum(present, active)
    near = np.round(present * active / n_rows + 3 * rng.normal(size=200) * np.sqrt(present * active / n_rows + 1))
    anywhere = lowest + np.floor(rng.random(200) * (highest - lowest + 1))
    for hits in (np.clip(near, lowest, highest), anywhere):
        above, below = hypergeom.sf(hits - 1, n_rows, present, active), hypergeom.cdf(hits, n_rows, present, active)
        np.testing.assert_allclose(upper_tail(hits, n_rows, present, active), above, rtol=1e-8, atol=1e-300)
        np.testing.assert_allclose(lower_tail(hits, n_rows, present, active), below, rtol=1e-8, atol=1e-300)


N = 80


def orthonormal(columns):
    return np.linalg.qr(columns - columns.mean(axis=0))[0]


@pytest.mark.parametrize("bend", [0.0, 0.3])
def test_curvature_has_the_p_value_of_nested_regressions(bend):
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    target = x + bend * x**2 + rng.normal(size=N)
    functions = orthonormal(np.column_stack([x**2, x**3, np.sin(3 * x)]))
    errors = []
    for design in (np.column_stack([np.ones(N), x]), np.column_stack([np.ones(N), x, functions])):
        fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
        errors.append(np.square(target - fitted).sum())
    freedom = N - 5
    expected = stats.f.sf((errors[0] - errors[1]) / 3 / (errors[1] / freedom), 3, freedom)
    share, p_value = curvature(x, functions, target)
    assert p_value == pytest.approx(expected, rel=1e-6)
    total = np.square(target - target.mean()).sum()
    adjusted = (errors[0] - errors[1] - errors[1] * 3 / freedom) / total
    assert share == pytest.approx(max(adjusted, 0.0), abs=1e-9)


def test_p_value_of_a_correlation_is_that_of_scipy():
    x, y = np.random.default_rng(1).normal(size=(2, N))
    expected = stats.pearsonr(x, x + 4 * y)
    assert correlation_p_value(expected.statistic, N) == pytest.approx(expected.pvalue)


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        x, y = rng.normal(size=(2, 400))
        found.append(
            independence_p_value(orthonormal(np.stack([x, x**2], 1)), orthonormal(np.stack([y, y**2, np.sin(y)], 1)))
        )
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_the_best_functions_of_independent_columns_correlate_little_after_chance_is_taken_off():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 1000))
    of_x, of_y = orthonormal(np.stack([x, x**2], 1)), orthonormal(np.stack([y, y**2], 1))
    assert canonical_correlation(of_x, of_y) < 0.05
    same = orthonormal(np.stack([x**2 + 0.1 * y, y], 1))
    assert canonical_correlation(of_x, same) > 0.95
