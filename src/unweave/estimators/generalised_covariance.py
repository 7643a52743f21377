"""The generalised covariance measure of two sets of residuals, and its p-value.

    U = g' V^-1 g,   g = sum_t e_t x_t,   V = sum_t e_t^2 x_t x_t' / (1 - h_t)

with e the residual of a code and x (of q columns) that of functions of a factor, both on functions of the other
factors, and h the leverages of these. Independence makes g a sum of terms of mean zero, whatever the scale of e at
every row (Shah and Peters 2020; fixed weights as in Scheidegger, Hoerrmann and Buehlmann 2022). Under random signs of
the terms U has mean q and variance 2 (q - sum_t a_t^2), a_t = e_t^2 x_t' V^-1 x_t; p-values come from the Beta law on
[0, N] with these moments, N the rows less the fitted columns, which for normal terms is Hotelling's law.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from unweave.estimators.partial_residuals import FloatArray, Regressors, Remaining

NO_RESIDUAL = 1e-6
SAME_DIRECTION = 1e-4
FEWEST_ROWS_OVER = 10
MOST_NARROWED = 0.3
ENTRIES_IN_CACHE = 2**19


@dataclass(frozen=True)
class PairTests:
    """p-values (codes x factors); pairs whose code, and factors that, the other factors leave without a residual."""

    p_value_matrix: FloatArray
    code_is_explained: NDArray[np.bool_]
    factor_is_explained: NDArray[np.bool_]


def pair_tests(codes: FloatArray, regressors: Regressors, tested: Iterator[tuple[Remaining, FloatArray]]) -> PairTests:
    """Test all codes against the residual functions of one factor after another.

    ``tested`` gives for every factor the regression on the others and what it leaves of functions of the factor.
    """
    n_rows, n_codes = codes.shape
    p_values, code_is_explained, factor_is_explained = [], [], []
    residuals = regressors.residuals(codes)
    width = max(1, ENTRIES_IN_CACHE // n_rows)
    for remaining, functions in tested:
        left, spread, _ = np.linalg.svd(functions, full_matrices=False)
        terms = left[:, spread > max(SAME_DIRECTION * spread[0], NO_RESIDUAL * np.sqrt(n_rows))]
        p_per_code, explained = np.ones(n_codes), np.zeros(n_codes, dtype=bool)
        for block in (slice(start, start + width) for start in range(0, n_codes, width)):
            error = remaining.restored(residuals[:, block], codes[:, block])
            explained[block] = np.linalg.norm(error, axis=0) <= NO_RESIDUAL * np.sqrt(n_rows)
            if terms.shape[1]:
                error[:, explained[block]] = 0.0
                p_per_code[block] = covariance_p_values(error, terms, remaining.leverages, remaining.n_columns)
        p_values.append(np.where(explained, 1.0, p_per_code))
        code_is_explained.append(explained)
        factor_is_explained.append(terms.shape[1] == 0)
    return PairTests(np.column_stack(p_values), np.column_stack(code_is_explained), np.array(factor_is_explained))


def covariance_p_values(errors: FloatArray, terms: FloatArray, leverages: FloatArray, n_fitted: int) -> FloatArray:
    """p-value of every column of residuals against the same orthonormal residuals ``terms``; 1 where it is all zero.

    nan where the columns fitted and tested leave fewer than ten rows over.

    >>> x = np.array([[1.0], [-1.0], [1.0], [-1.0]] * 5) / np.sqrt(20)
    >>> covariance_p_values(np.column_stack([x, x[::-1] ** 2]), x, np.zeros(20), 0).tolist()
    [0.0, 1.0]
    """
    n_rows, n_terms = terms.shape
    n_free = n_rows - 1 - n_fitted
    if n_free - n_terms < FEWEST_ROWS_OVER:
        return np.full(errors.shape[1], np.nan)
    squares = np.square(errors)
    covariance = errors.T @ terms
    variance = np.empty((errors.shape[1], n_terms, n_terms))
    weighted = terms / np.clip(1 - leverages, 0.05, 1.0)[:, None]
    for a in range(n_terms):
        variance[:, a, a:] = variance[:, a:, a] = squares.T @ (weighted[:, [a]] * terms[:, a:])
    power = squares.mean(axis=0)
    empty = power == 0
    variance[empty] = np.eye(n_terms)
    # e and x at one row decide U between them, so heavy tails narrow its law; V is near its mean there
    concentration = np.square(np.square(terms).sum(axis=1)) @ np.square(squares) / np.where(empty, 1.0, power) ** 2
    concentration = np.clip(concentration, n_terms**2 / n_rows, MOST_NARROWED * n_terms)
    statistic = (covariance * np.linalg.solve(variance, covariance[..., None])[..., 0]).sum(axis=1)
    mean = n_terms / n_free
    total = mean * (1 - mean) * n_free**2 / (2 * (n_terms - concentration)) - 1
    return np.asarray(betainc((1 - mean) * total, mean * total, np.clip(1 - statistic / n_free, 0.0, 1.0)))
