"""The generalised covariance measure of two sets of residuals, and its p-value.

    U = g' V^-1 g,   g = sum_t e_t x_t,   V = sum_t e_t^2 x_t x_t' / (1 - h_t)

where e is the residual of a code and x (q columns) the residual of functions of a factor, both regressed on functions
of the other factors, and h are the leverages of this regression. Under conditional independence, g is a sum of terms
with mean zero, whatever the scale of e in every row (Shah and Peters 2020; fixed weights as in Scheidegger, Hoerrmann
and Buehlmann 2022). Under random signs of the terms, U has mean q and variance 2 (q - sum_t a_t^2) with
a_t = e_t^2 x_t' V^-1 x_t. The p-values come from the Beta distribution on [0, N] with these moments, where N is the
number of rows minus the fitted columns and the intercept. For normal terms this is Hotelling's distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from unweave.arrays import FloatArray
from unweave.estimators.dependence.partial_residuals import Regressors, Remaining

NO_RESIDUAL = 1e-6
SAME_DIRECTION = 1e-4
FEWEST_ROWS_OVER = 10
MOST_NARROWED = 0.3
LEAST_FREEDOM = 0.05
ENTRIES_IN_CACHE = 2**18


@dataclass(frozen=True)
class PairTests:
    """p-values of all pairs (codes x factors), and the codes and factors that the other factors explain completely.

    ``code_is_explained`` (codes x factors) marks codes that have no residual after regression on all factors but this
    one. ``factor_is_explained`` (factors) marks factors that have no residual after regression on the other factors.
    """

    p_value_matrix: FloatArray
    code_is_explained: NDArray[np.bool_]
    factor_is_explained: NDArray[np.bool_]


def pair_tests(codes: FloatArray, regressors: Regressors, tested: Iterator[tuple[Remaining, FloatArray]]) -> PairTests:
    """Test all codes against the residual functions of one factor after another.

    ``tested`` yields, for every factor, the regression on the other factors and the residuals of functions of the
    factor.
    """
    n_rows, n_codes = codes.shape
    p_values, code_is_explained, factor_is_explained = [], [], []
    residuals = regressors.residuals(codes)
    rows = _row_blocks(n_rows, n_codes)
    for remaining, functions in tested:
        left, spread, _ = np.linalg.svd(functions, full_matrices=False)
        terms = left[:, spread > max(SAME_DIRECTION * spread[0], NO_RESIDUAL * np.sqrt(n_rows))]
        loads = remaining.duals.T @ codes
        errors = (residuals[block] + remaining.left_out[block] @ loads for block in rows)
        per_code, power = covariance_p_values(errors, terms, remaining.leverages, remaining.n_columns)
        explained = power <= NO_RESIDUAL**2
        p_values.append(np.where(explained, 1.0, per_code))
        code_is_explained.append(explained)
        factor_is_explained.append(terms.shape[1] == 0)
    return PairTests(np.column_stack(p_values), np.column_stack(code_is_explained), np.array(factor_is_explained))


def covariance_p_values(
    errors: Iterable[FloatArray], terms: FloatArray, leverages: FloatArray, n_fitted: int
) -> tuple[FloatArray, FloatArray]:
    """p-value of the covariance of every column of ``errors`` with orthonormal ``terms``, and the column's mean square.

    ``errors`` yields blocks of rows of the residuals, and ``terms`` are the residual functions of a factor.

    The p-value is nan if fewer than ten degrees of freedom remain after the fitted and tested columns, and 1 if there
    are no terms.

    >>> x = np.array([[1.0], [-1.0], [1.0], [-1.0]] * 5) / np.sqrt(20)
    >>> covariance_p_values([np.column_stack([x, x**2])], x, np.zeros(20), 0)[0].tolist()
    [0.0, 1.0]
    """
    n_rows, n_terms = terms.shape
    n_free = n_rows - 1 - n_fitted
    first, second = np.triu_indices(n_terms)
    weights = 1 / np.clip(1 - leverages, LEAST_FREEDOM, 1.0)
    covariance: FloatArray | float = 0.0
    variances: FloatArray | float = 0.0
    narrowing: FloatArray | float = 0.0
    power: FloatArray | float = 0.0
    start = 0
    for error in errors:
        rows = slice(start, start := start + len(error))
        block, square = terms[rows], np.square(error)
        covariance += error.T @ block
        variances += square.T @ (block[:, first] * (weights[rows, None] * block)[:, second])
        power += square.mean(axis=0) * len(error) / n_rows
        narrowing += np.square(np.square(block).sum(axis=1)) @ np.square(square)
    covariance, power = np.asarray(covariance), np.asarray(power)
    if n_free - n_terms < FEWEST_ROWS_OVER:
        return np.full(power.shape, np.nan), power
    if n_terms == 0:
        return np.ones(power.shape), power
    usable = power > NO_RESIDUAL**4
    variance = np.empty((power.size, n_terms, n_terms))
    variance[:, first, second] = variance[:, second, first] = variances
    variance[~usable] = np.eye(n_terms)
    statistic = (covariance * np.linalg.solve(variance, covariance[..., None])[..., 0]).sum(axis=1)
    # sum_t a_t^2 with V replaced by its mean for homoscedastic errors: cheap, and exact enough for a second-order term
    narrowing = np.divide(narrowing, np.square(power), out=np.zeros(power.size), where=usable)
    narrowing = np.clip(narrowing, n_terms**2 / n_rows, MOST_NARROWED * n_terms)
    mean = n_terms / n_free
    total = mean * (1 - mean) * n_free**2 / (2 * (n_terms - narrowing)) - 1
    return betainc((1 - mean) * total, mean * total, np.clip(1 - statistic / n_free, 0.0, 1.0)), power


def _row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    height = max(256, ENTRIES_IN_CACHE // n_columns)
    return [slice(start, start + height) for start in range(0, n_rows, height)]
