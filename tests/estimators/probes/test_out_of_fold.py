"""Out-of-fold predictions of least squares and kernel ridge regression, compared with separate fits."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

from unweave.estimators.probes import least_squares, out_of_fold_kernel_ridge, out_of_fold_least_squares
from unweave.estimators.regression import interaction_kernel, natural_spline, orthonormal_columns

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 4)), RNG.normal(size=(60, 3))
fold_of_row = RNG.permutation(60) % 5


def test_least_squares_by_downdates_is_a_fit_without_the_fold():
    predicted = out_of_fold_least_squares(X, Y, fold_of_row, 0.0)
    for k in range(5):
        refit = LinearRegression().fit(X[fold_of_row != k], Y[fold_of_row != k])
        assert np.allclose(predicted[fold_of_row == k], refit.predict(X[fold_of_row == k]))


def test_a_penalty_is_per_row_of_the_other_folds():
    predicted = out_of_fold_least_squares(X[:50], Y[:50], np.arange(50) // 20, 0.3)
    for k, n_train in enumerate((30, 30, 40)):
        train, test = (np.flatnonzero((np.arange(50) // 20 == k) == choice) for choice in (False, True))
        refit = Ridge(alpha=0.3 * n_train).fit(X[train], Y[train])
        assert np.allclose(predicted[test], refit.predict(X[test]))


def test_least_squares_on_all_rows():
    refit = LinearRegression().fit(X, Y)
    assert np.allclose(least_squares(X, Y, 0.0), np.vstack([refit.intercept_, refit.coef_.T]))


def test_dependent_columns_do_no_harm():
    doubled = np.hstack([X, X])
    assert np.allclose(
        out_of_fold_least_squares(doubled, Y, fold_of_row), out_of_fold_least_squares(X, Y, fold_of_row), atol=1e-4
    )


def test_kernel_ridge_is_a_fit_without_the_fold():
    blocks = [X[:, :1], X[:, 1:2], X[:, 2:]]
    for name in ("pairs", "joint"):
        kernel = interaction_kernel(blocks, blocks, name)
        (predicted,) = out_of_fold_kernel_ridge(kernel, Y, fold_of_row, (0.1,))
        for k in range(5):
            train, test = np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k)
            inner = kernel[np.ix_(train, train)]
            mean = Y[train].mean(axis=0)
            refit = KernelRidge(alpha=0.1 * inner.trace() / len(inner), kernel="precomputed")
            expected = mean + refit.fit(inner, Y[train] - mean).predict(kernel[np.ix_(test, train)])
            assert np.allclose(predicted[test], expected)


def test_kernel_of_pairs_by_hand():
    one, two = X[:, :1], X[:, 1:2]
    single = [a @ a.T + np.exp(-0.5 * (a - a.T) ** 2) for a in (one, two)]
    expected = (single[0] + single[1]) / 4 + single[0] * single[1] / 2
    assert np.allclose(interaction_kernel([one, two], [one, two], "pairs"), expected)


def test_splines_go_on_as_lines():
    column = np.linspace(-3, 3, 601)
    basis = natural_spline(column, 6)
    assert basis.shape == (601, 6)
    assert np.allclose(np.diff(basis[column > 2.9], n=2, axis=0), 0, atol=1e-9)
    orthonormal = orthonormal_columns(basis)
    assert np.allclose(orthonormal.T @ orthonormal / 601, np.eye(6))
