"""Dependence of two columns: the F test of nested regressions, and values under independence."""

import numpy as np
import pytest
from scipy import stats

from unweave.estimators.correlation import canonical_correlation, correlation_p_value, curvature, independence_p_value

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
