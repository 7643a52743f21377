"""Size and power of the conditional independence tests, and agreement with plain least squares."""

import numpy as np
import pytest
from scipy.stats import beta

from unweave.estimators import LinearCovariance, NonlinearCovariance
from unweave.estimators.independence import Regressors, corrected, covariance_p_values, pair_tests
from unweave.estimators.regression import indicators

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
