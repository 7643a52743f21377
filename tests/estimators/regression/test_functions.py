"""Functions of factors and exact relations: degrees, polynomials, products of powers, and interpolation."""

import numpy as np
import pytest
from scipy.stats import norm

from unweave.estimators.regression import (
    GradedColumns,
    _variance_within,
    _without_worst,
    along_one_column,
    bounded,
    monomial_exponents,
    natural_spline,
    open_to_least_squares,
    orthonormal_columns,
    places,
    polynomial_sources,
    products,
    second_degree,
    unexplained_entropy,
    unexplained_variance,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 2, size=(60, 3))


@pytest.mark.parametrize(("degree", "width"), [(1, 2), (2, 2), (3, 2), (4, 4), (5, 4), (6, 6), (9, 6)])
def test_harmonics_of_an_angle_are_kept_whole(degree, width):
    waves = GradedColumns(np.arange(12.0).reshape(2, 6), 2)
    assert waves.up_to(degree).tolist() == waves.values[:, :width].tolist()
    assert waves.weights(degree).tolist() == waves.values[:, :width].tolist()


def test_numbers_have_one_column_for_each_degree_and_categories_all_of_theirs():
    number = GradedColumns(np.array([[0.0, 5.0, 6.0], [1.0, 7.0, 8.0]]), 1)
    assert number.up_to(2).tolist() == [[0.0, 5.0], [1.0, 7.0]]
    assert number.up_to(0).shape == (2, 1)
    assert number.weights(2) == pytest.approx(np.array([[0.0, 5.0], [2 * norm.cdf(1) - 1, 7.0]]))
    assert bounded(np.array([-9.0, 0.0, 9.0])) == pytest.approx([-1.0, 0.0, 1.0])
    category = GradedColumns(np.eye(3), 0)
    assert category.up_to(1).shape == (3, 3)
    assert category.weights(4).shape == (3, 0)
    assert places([number, category, number]) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert products(np.array([[2.0, 3.0]]), np.array([[5.0, 7.0]])).tolist() == [[10.0, 14.0, 15.0, 21.0]]


@pytest.mark.parametrize(
    ("target", "sources"),
    [
        (-X[:, 0], (0,)),
        (5 - 3 * X[:, 0] * X[:, 2], (0, 2)),
        (X[:, 1] ** 2 - X[:, 1], (1,)),
        (X[:, 0] * X[:, 1] * X[:, 2], ()),
        (X[:, 0] + 1e-2 * RNG.normal(size=60), ()),
    ],
    ids=["negative", "product", "square", "third degree", "noise"],
)
def test_polynomials_of_second_degree_name_their_variables(target, sources):
    assert polynomial_sources(X, target) == sources


@pytest.mark.parametrize(("n_rows", "expected"), [(20, (0,)), (19, ())])
def test_a_polynomial_needs_two_rows_for_each_of_its_terms(n_rows, expected):
    """Three variables have ten terms."""
    assert polynomial_sources(X[:n_rows], X[:n_rows, 0]) == expected
    assert second_degree(X[:1]).tolist() == [
        [*X[0], X[0, 0] ** 2, X[0, 0] * X[0, 1], X[0, 0] * X[0, 2], X[0, 1] ** 2, X[0, 1] * X[0, 2], X[0, 2] ** 2]
    ]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_products_of_powers_have_their_exponents_for_either_sign(sign):
    x = X * [1.0, -1.0, 1.0]
    found = monomial_exponents(x, sign * x[:, 1] ** 3 / np.sqrt(x[:, 2]))
    assert found == pytest.approx({1: 3.0, 2: -0.5})


def test_products_of_powers_must_have_the_sign_of_their_target():
    x = X[:, :2] * np.where(np.arange(60)[:, None] % [2, 3] == 0, -1.0, 1.0)
    assert monomial_exponents(x, x[:, 0] * x[:, 1]) == pytest.approx({0: 1.0, 1: 1.0})
    assert monomial_exponents(x, np.abs(x[:, 0] * x[:, 1])) == {}
    assert monomial_exponents(x, x[:, 0] ** 2 * x[:, 1]) == pytest.approx({0: 2.0, 1: 1.0})


def test_columns_with_a_zero_have_no_logarithm():
    x = X.copy()
    x[5, 0] = 0.0
    assert monomial_exponents(x, x[:, 1] * x[:, 2]) == pytest.approx({1: 1.0, 2: 1.0})
    assert monomial_exponents(x[:, :1], x[:, 1]) == {}
    assert monomial_exponents(x, x[:, 0]) == {}
    assert monomial_exponents(X, np.full(60, 3.0)) == {}
    assert monomial_exponents(X, np.exp(2e-4 * np.log(X[:, 0]))) == {}  # hardly varies
    assert monomial_exponents(X[:6], X[:6, 0]) == pytest.approx({0: 1.0})
    assert monomial_exponents(X[:5], X[:5, 0]) == {}


def test_what_a_line_leaves_is_predicted_without_the_row_itself():
    """Leave-one-out errors of a mean are n / (n - 1) times those of the mean of all rows."""
    target = np.array([0.0, 0.0, 4.0, 4.0])
    assert open_to_least_squares(np.empty((4, 0)), target) == pytest.approx((4 / 3) ** 2)
    assert open_to_least_squares(np.ones((4, 1)), target) == pytest.approx((4 / 3) ** 2)  # depends on the constant
    assert open_to_least_squares(X[:4, :1], np.ones(4)) == 1.0


def test_interpolation_uses_the_neighbours_on_both_sides_and_one_at_the_ends():
    at, targets = np.array([0.0, 1.0, 4.0, 4.0, 4.0]), np.array([[0.0], [10.0], [20.0], [30.0], [40.0]])
    order = np.array([3, 0, 4, 1, 2])
    placed = np.empty_like(targets)
    placed[order] = targets
    found = along_one_column(order, at, placed)
    # at 1, a quarter of the way from 0 to 4; the third row lies at the end of its interval, and the fourth on a tie
    assert found[order][:, 0].tolist() == [10.0, 5.0, 30.0, 30.0, 30.0]


def test_the_worst_rows_are_dropped_and_the_mean_is_rescaled():
    """Of 100 squares the two largest are dropped, and 98 % of a normal variable have a variance of 0.878."""
    squares = np.arange(100.0)[:, None]
    cut = norm.ppf(0.99)
    exact = 1 - 2 * cut * norm.pdf(cut) / 0.98
    assert _variance_within(0.98) == pytest.approx(exact)
    assert _variance_within(1.0) == 1.0
    assert _without_worst(squares[::-1], 0.02)[0] == pytest.approx(np.arange(98).mean() / exact)
    assert _without_worst(squares[:49], 0.02)[0] == 24.0
    targets = np.column_stack([np.tile([0.0, 2.0], 20), np.tile([0.0, 0.0, 4.0, 4.0], 10)])
    assert unexplained_variance(targets, targets + np.array([1.0, 3.0])) == pytest.approx((1 + 9) / (1 + 4))


@pytest.mark.parametrize(
    ("labels", "predicted", "expected"),
    [
        ([0, 0, 0, 1], [0, 0, 0, 0], 1.0),
        ([0, 0, 1, 1], [0, 0, 1, 0], 0.6887218755),  # 3/4 h(1/3) nats of log 2
        ([0, 0, 0, 0], [0, 0, 0, 0], np.nan),
        ([0, 0, 1, 2], [0, 0, 2, 1], 1.0),  # given by the prediction, but always wrong beside the most common label
        ([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 2, 1], 2 / 3),
    ],
)
def test_labels_are_unexplained_by_their_entropy_and_at_least_by_their_errors(labels, predicted, expected):
    found = unexplained_entropy(np.array(labels), np.array(predicted), 3)
    assert found == pytest.approx(expected, nan_ok=True)


def test_splines_have_their_knots_at_quantiles():
    """Of 101 numbers with knots at 2, 50 and 98, the second function is the difference of two pieces."""
    column = np.arange(101.0)
    found = natural_spline(column, 2)
    cubes = [np.maximum(column - knot, 0) ** 3 for knot in (2, 50, 98)]
    pieces = [(cubes[0] - cubes[2]) / 96, (cubes[1] - cubes[2]) / 48]
    assert found == pytest.approx(np.column_stack([column, pieces[0] - pieces[1]]))
    assert natural_spline(column, 1).tolist() == column[:, None].tolist()
    assert natural_spline(np.repeat([0.0, 1.0], [51, 50]), 6).shape == (101, 1)
    assert natural_spline(np.repeat([0.0, 1.0, 2.0], 50), 6).shape == (150, 2)


@pytest.mark.parametrize(("size", "rank"), [(2e-8, 2), (0.5e-8, 1), (0.0, 1)])
def test_columns_that_are_rounding_beside_others_are_no_functions(size, rank):
    columns = np.linalg.qr(np.column_stack([np.ones(20), RNG.normal(size=(20, 2))]))[0][:, 1:]
    found = orthonormal_columns(columns * [1.0, size])
    assert found.shape == (20, rank)
    assert found.T @ found / 20 == pytest.approx(np.eye(rank))
