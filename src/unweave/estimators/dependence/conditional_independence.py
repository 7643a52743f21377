"""Tests of whether a code is independent of a factor given all other factors, linear and nonlinear, for all pairs.

Both regress the code and the factor (or functions of it) on the other factors and test whether the residuals covary
(`generalised_covariance`). The regressions that leave out each factor in turn share one factorisation
(`partial_residuals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.dependence.generalised_covariance import NO_RESIDUAL, PairTests, pair_tests
from unweave.estimators.dependence.partial_residuals import Regressors, Remaining, standardised
from unweave.estimators.regression.factor_functions import (
    GradedColumns,
    harmonics,
    normal_scores,
    places,
    polynomials,
    products,
)

ROWS_PER_COLUMN = 10
ROWS_PER_TESTED_COLUMN = 20
MOST_COLUMNS = 300


class IndependenceTest(Protocol):
    """A conditional independence test: the columns that represent each kind of factor, and the test of all pairs.

    >>> test: IndependenceTest = LinearCovariance()
    >>> tested = test.pairs(np.eye(10)[:, :2], [test.numeric(np.arange(10.0))])
    """

    def numeric(self, column: FloatArray) -> GradedColumns:
        """Columns that represent a numeric factor."""

    def circular(self, angle: FloatArray) -> GradedColumns:
        """Columns that represent an angle in radians."""

    def pairs(self, codes: FloatArray, factors: Sequence[GradedColumns]) -> PairTests:
        """Test whether each code is independent of each factor, given the other factors."""


@dataclass(frozen=True)
class LinearCovariance:
    """Covariance of least-squares residuals, linear in the columns of the factors; detects linear dependence.

    The test is valid if every factor (or the code) depends linearly on the other factors. It cannot detect an even
    function of a factor, and a single extreme value of a code can hide a dependence.

    >>> rng = np.random.default_rng(0)
    >>> test, z = LinearCovariance(), rng.normal(size=(200, 2))
    >>> found = test.pairs(z[:, :1] + rng.normal(size=(200, 1)), [test.numeric(column) for column in z.T])
    >>> (found.p_value_matrix < 0.05).tolist()
    [[True, False]]
    """

    def numeric(self, column: FloatArray) -> GradedColumns:
        """The column itself."""
        return GradedColumns(column[:, None], 1)

    def circular(self, angle: FloatArray) -> GradedColumns:
        """Cosine and sine."""
        return harmonics(angle, 1)

    def pairs(self, codes: FloatArray, factors: Sequence[GradedColumns]) -> PairTests:
        """Test every code against every factor given the other factors, by one factorisation."""
        regressors, groups = Regressors.of(np.column_stack([factor.values for factor in factors])), places(factors)

        def tested() -> Iterator[tuple[Remaining, FloatArray]]:
            for factor, group in zip(factors, groups, strict=True):
                remaining = regressors.without(group)
                yield remaining, remaining.residuals(standardised(factor.values))

        return pair_tests(standardised(codes), regressors, tested())


@dataclass(frozen=True)
class NonlinearCovariance:
    """Covariance of residuals on smooth functions; detects even and non-monotone dependence, and interactions.

    Codes and numeric factors are replaced by normal scores, so that strictly increasing maps do not change the result.
    The regressors are Legendre polynomials of the other factors' ranks up to ``degree``, and their pairwise products.
    The tested functions are the same polynomials of the factor's *residual*, and this residual times each other factor.
    The residual is used because, with correlated factors, functions of the factor itself could be predicted only with
    products of all orders: a test of them finds that a mixed code depends on a third factor half of the time. At most
    one column per ten rows is fitted (and 300 in all, if products are among them). With few rows, products are left out
    first, and then high degrees. Products with the residual are tested only if there are twenty rows for each tested
    column. The test does not detect a factor that changes only the variance of a code.

    >>> rng = np.random.default_rng(0)
    >>> test, z = NonlinearCovariance(), rng.normal(size=(300, 2))
    >>> found = test.pairs(z[:, :1] ** 2 + rng.normal(size=(300, 1)), [test.numeric(column) for column in z.T])
    >>> (found.p_value_matrix < 0.05).tolist()
    [[True, False]]
    """

    degree: int = 4

    def numeric(self, column: FloatArray) -> GradedColumns:
        """Normal scores of the column, and Legendre polynomials of its ranks of degree 2 and higher."""
        score = normal_scores(column)
        return GradedColumns(np.column_stack([score, polynomials(score, self.degree)[:, 1:]]), 1)

    def circular(self, angle: FloatArray) -> GradedColumns:
        """Cosines and sines of the first ``degree // 2`` multiples of the angle (at least one)."""
        return harmonics(angle, max(1, self.degree // 2))

    def pairs(self, codes: FloatArray, factors: Sequence[GradedColumns]) -> PairTests:
        """Test every code against every factor given the other factors, by one factorisation."""
        degree = self.degree
        while degree > 1 and sum(f.up_to(degree).shape[1] for f in factors) * ROWS_PER_COLUMN > len(codes):
            degree -= 1
        mains = [GradedColumns(factor.up_to(degree), factor.per_degree) for factor in factors]
        columns, groups = _with_products(mains, degree)
        weights = [main.weights(1) for main in mains]
        regressors = Regressors.of(columns)

        def tested() -> Iterator[tuple[Remaining, FloatArray]]:
            for j, main in enumerate(mains):
                remaining = regressors.without(groups[j])
                functions = _functions_of_residual(remaining, main, degree)
                others = np.column_stack([np.empty((len(codes), 0)), *weights[:j], *weights[j + 1 :]])
                interactions = products(functions[:, : main.per_degree], others)
                if (functions.shape[1] + interactions.shape[1]) * ROWS_PER_TESTED_COLUMN <= len(codes):
                    functions = np.column_stack([functions, interactions])
                yield remaining, remaining.residuals(functions)

        scores = np.column_stack([normal_scores(column) for column in codes.T])
        return pair_tests(standardised(scores), regressors, tested())


def _with_products(mains: Sequence[GradedColumns], degree: int) -> tuple[FloatArray, list[list[int]]]:
    """All columns and pairwise products, up to the degree that the rows allow, and the indices that use each factor."""
    columns, groups = np.column_stack([main.values for main in mains]), places(mains)
    pairs = [(k, j) for j in range(len(mains)) for k in range(j)]
    while degree:
        weights = [main.weights(degree) for main in mains]
        widths = [weights[k].shape[1] * weights[j].shape[1] for k, j in pairs]
        if columns.shape[1] + sum(widths) <= min(len(columns) / ROWS_PER_COLUMN, MOST_COLUMNS):
            break
        degree -= 1
    start = columns.shape[1]
    for (k, j), width in zip(pairs if degree else (), widths, strict=False):
        new = list(range(start, start + width))
        groups[k], groups[j], start = groups[k] + new, groups[j] + new, start + width
    blocks = [products(weights[k], weights[j]) for k, j in pairs] if degree else []
    return np.column_stack([columns, *blocks]), groups


def _functions_of_residual(remaining: Remaining, main: GradedColumns, degree: int) -> FloatArray:
    """Polynomials of a numeric factor's residual (0 if it has none), or residual columns of a circle or category."""
    left = remaining.residuals(standardised(main.values))
    if main.per_degree != 1:
        return left
    if np.linalg.norm(left[:, 0]) <= NO_RESIDUAL * np.sqrt(len(left)):
        return np.zeros((len(left), 1))
    return polynomials(standardised(left[:, :1])[:, 0], degree)
