"""Tests of conditional independence, and corrections for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from unweave.arrays import FloatArray
from unweave.estimators.regression import GradedColumns, harmonics, normal_quantiles, places, polynomials, products
from unweave.options import Count, checks_options

RIDGE = 1e-10


@dataclass(frozen=True)
class Regressors:
    """Standardised regressors with an intercept, factored once.

    A ridge of 1e-10 per row hardly changes the regression and keeps it defined for duplicate columns, each of which is
    then predicted by the others up to rounding.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -2.0]])
    >>> fitted = Regressors.of(x)
    >>> fitted.residuals(x).round(6).any(), fitted.without([1]).leverages.round(2).tolist()
    (np.False_, [0.75, 0.25, 0.75, 0.25])
    """

    basis: FloatArray
    duals: FloatArray
    precision: FloatArray
    leverages: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Regressors:
        """Factor the columns."""
        basis, inverse = standardised(columns), np.eye(columns.shape[1])
        for _ in range(2):  # two rounds of CholeskyQR are as orthogonal as Householder QR, and faster
            gram = basis.T @ basis + len(columns) * RIDGE * (inverse.T @ inverse)
            step = np.linalg.inv(np.linalg.cholesky(gram)).T
            basis, inverse = basis @ step, inverse @ step
        leverages = 1 / len(columns) + np.square(basis).sum(axis=1)
        return cls(basis, basis @ inverse.T, inverse @ inverse.T, leverages)

    def residuals(self, values: FloatArray) -> FloatArray:
        """Residuals of the centred values on all columns."""
        centred = values - values.mean(axis=0)
        return np.asarray(centred - self.basis @ (self.basis.T @ centred))

    def without(self, group: Sequence[int]) -> Remaining:
        """The regression on all columns except those of the group."""
        duals = self.duals[:, group]
        left_out = duals @ np.linalg.inv(self.precision[np.ix_(group, group)])
        leverages = self.leverages - (duals * left_out).sum(axis=1)
        return Remaining(self.residuals, duals, left_out, leverages, self.basis.shape[1] - len(group))


@dataclass(frozen=True)
class Remaining:
    """A regression without one group of columns; ``left_out`` has the group's residuals on the remaining columns."""

    all_residuals: Callable[[FloatArray], FloatArray]
    duals: FloatArray
    left_out: FloatArray
    leverages: FloatArray
    n_columns: int

    def residuals(self, values: FloatArray) -> FloatArray:
        """Residuals of the centred values on the remaining columns."""
        return np.asarray(self.all_residuals(values) + self.left_out @ (self.duals.T @ values))


def standardised(columns: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; a constant column becomes 0, and huge entries do not overflow.

    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]])).round(6).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    largest = np.abs(columns).max(axis=0)
    centred = columns / np.where(largest > 0, largest, 1.0)
    centred = centred - centred.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-12))


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


@checks_options
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

    degree: Count = 4

    def numeric(self, column: FloatArray) -> GradedColumns:
        """Normal scores of the column, and Legendre polynomials of its ranks of degree 2 and higher."""
        score = normal_quantiles(column)
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

        scores = np.column_stack([normal_quantiles(column) for column in codes.T])
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


Correction = Literal["holm", "benjamini-hochberg", "none"]


def corrected(p_values: FloatArray, correction: Correction) -> FloatArray:
    """Adjusted p-values, to be compared with the significance level; nan stays nan and does not count as a test.

    Holm (1979) controls the probability of any false rejection, and Benjamini and Hochberg (1995) the expected share of
    false rejections among all rejections.

    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> corrected(np.array([0.01, 0.04, 0.03]), "benjamini-hochberg").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    if correction not in ("holm", "benjamini-hochberg", "none"):
        raise ValueError(f"correction={correction!r} is not known: use 'holm', 'benjamini-hochberg' or 'none'.")
    if correction == "none":
        return p_values
    given = np.isfinite(p_values)
    order = np.argsort(p_values[given], kind="stable")
    ascending, n_tests = p_values[given][order], order.size
    place = np.arange(1, n_tests + 1)
    if correction == "holm":
        raised = np.maximum.accumulate(ascending * (n_tests + 1 - place))
    else:
        raised = np.minimum.accumulate((ascending * n_tests / place)[::-1])[::-1]
    within = np.empty(n_tests)
    within[order] = np.minimum(raised, 1.0)
    result = np.full(p_values.shape, np.nan)
    result[given] = within
    return result


NEGLIGIBLE = 1e-16


def upper_tail(hits: NDArray[Any], n_rows: int, n_present: NDArray[Any], n_active: NDArray[Any]) -> FloatArray:
    """P(X >= hits), where X counts the samples with the concept among ``n_active`` samples drawn at random.

    X is hypergeometric: ``n_present`` of the ``n_rows`` samples have the concept. The largest term is computed from
    logarithms of factorials, and the other terms from the ratios of successive terms.

    >>> upper_tail(np.array([2.0]), 4, np.array([2.0]), np.array([2.0])).round(6).tolist()
    [0.166667]
    """
    x, k, m, n = (
        np.array(column, dtype=np.float64) for column in np.broadcast_arrays(hits, n_present, n_active, n_rows)
    )
    highest = np.minimum(k, m)
    mean = k * m / n
    upward = x > mean  # below the mean the terms increase, so the other tail is summed
    start = np.where(upward, x, x - 1)
    lowest = np.maximum(0.0, k + m - n)
    total = np.zeros(x.shape)
    term = np.where((start >= lowest) & (start <= highest), np.exp(_log_mass(start, k, m, n)), 0.0)
    open_cells = np.flatnonzero(term > 0)
    here, terms = start[open_cells].copy(), term[open_cells]
    total[open_cells] = terms
    up, k, m, n = upward[open_cells], k[open_cells], m[open_cells], n[open_cells]
    while open_cells.size:
        rising = (k - here) * (m - here) / ((here + 1) * (n - k - m + here + 1))
        falling = here * (n - k - m + here) / ((k - here + 1) * (m - here + 1))
        terms = terms * np.where(up, rising, falling)
        here = here + np.where(up, 1.0, -1.0)
        total[open_cells] += terms
        go_on = terms > NEGLIGIBLE * total[open_cells]
        open_cells, here, terms, up = open_cells[go_on], here[go_on], terms[go_on], up[go_on]
        k, m, n = k[go_on], m[go_on], n[go_on]
    return np.clip(np.where(upward, total, 1 - total), 0.0, 1.0)


def lower_tail(hits: NDArray[Any], n_rows: int, n_present: NDArray[Any], n_active: NDArray[Any]) -> FloatArray:
    """P(X <= hits), computed as the upper tail of the number of active samples without the concept.

    >>> lower_tail(np.array([0.0]), 4, np.array([2.0]), np.array([2.0])).round(6).tolist()
    [0.166667]
    """
    return upper_tail(np.asarray(n_active) - hits, n_rows, n_rows - np.asarray(n_present), n_active)


def _log_mass(x: FloatArray, k: FloatArray, m: FloatArray, n: FloatArray) -> FloatArray:
    """Logarithm of P(X = x) for x within the support."""
    with np.errstate(invalid="ignore"):
        return _log_choose(k, x) + _log_choose(n - k, m - x) - _log_choose(n, m)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
