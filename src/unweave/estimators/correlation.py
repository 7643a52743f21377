"""Correlation and other dependence of pairs of columns, and the best one-to-one matching by it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import chdtrc, digamma, fdtrc, ndtri, stdtr
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.sparse import SparseColumns, sparse_correlation_matrix
from unweave.options import Count, Positive, Whole, checks_options
from unweave.randomness import random_stream

FAR_FROM_ZERO = 1e4
NEAR_ZERO = 3.0  # standard deviations; products of columns with such means lose one digit
SMALLEST_SQUARES = 1e-280
ROWS_IN_CACHE = 4_096
NUMBERS_IN_CACHE, FEWEST_ROWS_IN_BLOCK = 131_072, 64
RANK_TOLERANCE = 1e-7
CHANCE_DRAWS = 32
ENTRIES_DRAWN = 2_000_000
SWITCHED_OFF = 0.01  # nats; codes with a smaller KL divergence from the prior are inactive (Duan et al. 2020)


class Correlation(Protocol):
    """The transformation of columns that are then correlated linearly; the same for codes and factors.

    The strength of a pair is the absolute linear correlation of the two columns that `column` returns. If it returns
    several functions of a column (n x p), the strength is their largest canonical correlation. Make it a frozen
    dataclass, because results are cached by it.

    >>> from unweave.metrics import mcc
    >>> @dataclass(frozen=True)
    ... class SignAgreement:
    ...     def column(self, column):
    ...         return np.sign(column - np.median(column))
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(mcc(factors, factors**3, correlation=SignAgreement())), 6)
    1.0
    """

    def column(self, column: FloatArray) -> FloatArray:
        """The transformed column (n), or several functions of the column (n x p)."""


class SparseCorrelation(Correlation, Protocol):
    """A correlation that is computed from the nonzero entries of sparse codes; other ones need dense codes."""

    def of_sparse_codes(self, bases: Sequence[FloatArray], codes: SparseColumns) -> FloatArray | None:
        """Correlation of every sparse code (rows) with every orthonormal basis; None if codes must be dense."""
        return None


@dataclass(frozen=True)
class Pearson:
    """Linear correlation of the columns as they are.

    >>> Pearson().column(np.array([2.0, 8.0, 4.0])).tolist()
    [2.0, 8.0, 4.0]
    """

    def column(self, column: FloatArray) -> FloatArray:
        """The column itself."""
        return column

    def of_sparse_codes(self, bases: Sequence[FloatArray], codes: SparseColumns) -> FloatArray | None:
        """Correlation of every sparse code with every factor, from the nonzero entries."""
        return sparse_correlation_matrix(bases, codes)


@dataclass(frozen=True)
class Spearman:
    """Linear correlation of ranks; ties share their average rank.

    >>> Spearman().column(np.array([2.0, 8.0, 4.0])).tolist()
    [1.0, 3.0, 2.0]
    """

    def column(self, column: FloatArray) -> FloatArray:
        """The column's ranks."""
        return ranks(column)

    def of_sparse_codes(self, bases: Sequence[FloatArray], codes: SparseColumns) -> FloatArray | None:
        """Correlation of the ranks of every sparse code with every factor; all zeros of a code share one rank."""
        return sparse_correlation_matrix(bases, codes, ranked=True)


def ranks(column: FloatArray) -> FloatArray:
    """Average ranks from 1 to n.

    >>> ranks(np.array([10.0, 30.0, 10.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    order = np.argsort(column)
    ascending = column[order]
    if (ascending[1:] == ascending[:-1]).any():
        return np.asarray(rankdata(column), dtype=np.float64)
    places = ascending  # reuses the memory: allocating a new array would take as long as filling it
    places[order] = np.arange(1.0, column.size + 1)
    return places


def ranks_of_rows(table: FloatArray) -> FloatArray:
    """Average ranks in every row of a table.

    >>> ranks_of_rows(np.array([[10.0, 30.0, 20.0], [10.0, 30.0, 10.0]])).tolist()
    [[1.0, 3.0, 2.0], [1.5, 3.0, 1.5]]
    """
    n_rows, n_columns = table.shape
    order = np.argsort(table, axis=1) + n_columns * np.arange(n_rows)[:, None]
    ascending = table.take(order)
    if (ascending[:, 1:] == ascending[:, :-1]).any():
        return np.asarray(rankdata(table, axis=1), dtype=np.float64)
    ascending.ravel()[order] = np.arange(1.0, n_columns + 1)
    return ascending


def features(correlation: Correlation, column: FloatArray) -> FloatArray:
    """The transformed column as a matrix (n x p)."""
    return correlation.column(column).reshape(column.size, -1)


def orthonormal_basis(columns: FloatArray, tolerance: float = RANK_TOLERANCE) -> FloatArray:
    """Orthonormal basis of the centred columns' span, from singular values above ``tolerance`` times the largest.

    >>> orthonormal_basis(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])).shape
    (3, 1)
    """
    mean, eps = columns.mean(axis=0), np.finfo(np.float64).eps * len(columns)
    centred = columns - mean
    norm = _norm(centred[:, 0]) if columns.shape[1] == 1 else 0.0
    if norm > eps * (abs(mean[0]) + norm):  # no value is larger than this sum, so that norm exceeds rounding errors
        return np.divide(centred, norm, out=centred)
    noise = eps * max(columns.max(initial=0.0), -columns.min(initial=0.0))
    if columns.shape[1] == 1:  # the usual case needs no decomposition
        return np.divide(centred, norm, out=centred) if norm > noise else centred[:, :0]
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    largest = spread[0] if spread.size else 0.0
    return np.asarray(left[:, spread > max(tolerance * largest, noise)])


def column_norms(codes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and centred norm of every column, in blocks of rows so that the codes are not copied."""
    sums, squares = np.zeros((2, codes.shape[1]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for [block] in row_blocks(codes):
            of_block = _sums(block)
            sums += of_block[0]
            squares += of_block[1]
    return _means_and_norms(codes, sums, squares)


def _sums(block: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums and sums of squares of the columns; products with ones are three times faster than `sum` and `einsum`."""
    ones = np.ones(len(block))
    return ones @ block, ones @ np.square(block)


def _means_and_norms(codes: FloatArray, sums: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        means = sums / len(codes)
        left = squares - len(codes) * means**2
        precise = (left > 0.1 * squares) & (squares > 10 * SMALLEST_SQUARES)
        norms = np.sqrt(np.where(precise, left, 0.0))
    for i in np.flatnonzero(~precise).tolist():  # much cancellation, so that the column has to be centred
        column = codes[:, i].astype(np.float64)
        means[i] = column.mean()
        norms[i] = _norm(column - means[i])
    return means, norms


def row_blocks(*tables: FloatArray) -> Iterator[list[FloatArray]]:
    """Yield blocks of rows of all tables, row by row; other tables are copied to a buffer in cache.

    Sums over blocks are therefore the same to the last digit for rows or columns first, and for float32.

    >>> [[part.tolist() for part in block] for block in row_blocks(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))]
    [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    """
    n_rows, width = len(tables[0]), sum(table.shape[1] for table in tables)
    n_block = min(n_rows, max(NUMBERS_IN_CACHE // max(width, 1), FEWEST_ROWS_IN_BLOCK))
    as_rows = [table.flags.c_contiguous and table.dtype == np.float64 for table in tables]
    buffers = [None if row else np.empty((n_block, t.shape[1])) for row, t in zip(as_rows, tables, strict=True)]
    for start in range(0, n_rows, n_block):
        parts = [table[start : start + n_block] for table in tables]
        for k, buffer in enumerate(buffers):
            if buffer is not None:
                buffer[: len(parts[k])] = parts[k]
                parts[k] = buffer[: len(parts[k])]
        yield parts


def _norm(column: FloatArray) -> float:
    """Euclidean norm; entries whose squares overflow or underflow are scaled first."""
    with np.errstate(over="ignore", under="ignore"):
        squares = float(column @ column)
    if SMALLEST_SQUARES < squares < np.inf:
        return math.sqrt(squares)
    largest = float(np.abs(column).max(initial=0.0))
    return largest * float(np.linalg.norm(column / largest)) if largest > 0 else 0.0


def multiple_correlation_matrix(
    bases: Sequence[FloatArray], codes: FloatArray, means: FloatArray, norms: FloatArray
) -> FloatArray:
    """Multiple correlation of every code (rows) with every orthonormal, centred basis (columns).

    With one basis column this is the absolute correlation. Only products of codes with bases are computed.
    """
    # The bases are centred, so codes are centred only where their mean is so large that rounding errors matter.
    far = np.flatnonzero(np.abs(means) * np.sqrt(codes.shape[0]) > FAR_FROM_ZERO * norms)
    stops = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    projections = np.zeros((stops[-1], codes.shape[1]))
    for rows, block in _row_blocks(bases):
        of_rows = block @ codes[rows]
        of_rows[:, far] = block @ (codes[rows, far] - means[far])
        projections += of_rows
    projections = np.divide(projections, norms, out=np.zeros_like(projections), where=norms > 0)
    matrix = np.empty((codes.shape[1], len(bases)))
    for j in range(len(bases)):
        on_basis = projections[stops[j] : stops[j + 1]]
        matrix[:, j] = np.abs(on_basis[0]) if len(on_basis) == 1 else np.sqrt(np.square(on_basis).sum(axis=0))
    return np.minimum(matrix, 1.0)


def product_correlation_matrix(factors: FloatArray, codes: FloatArray) -> FloatArray | None:
    """Absolute correlation of every code with every column of the factors, from products without copies of either.

    None if a mean is more than three standard deviations from zero, or if a factor is constant.

    >>> factors = np.array([[1.0], [2.0], [4.0]])
    >>> product_correlation_matrix(factors, np.column_stack([2 * factors, [1.0, 0.0, 1.0]])).round(3).tolist()
    [[1.0], [0.189]]
    """
    tables, products = (factors, codes), np.zeros((codes.shape[1], factors.shape[1]))
    sums, squares = ([np.zeros(table.shape[1]) for table in tables] for _ in range(2))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for parts in row_blocks(*tables):
            for k, of_part in enumerate(map(_sums, parts)):
                sums[k] += of_part[0]
                squares[k] += of_part[1]
            products += parts[1].T @ parts[0]
    (means, norms), (code_means, code_norms) = map(_means_and_norms, tables, sums, squares)
    reach = np.sqrt(len(factors)) / NEAR_ZERO
    if (np.abs(means) * reach >= norms).any() or (np.abs(code_means) * reach > code_norms).any():
        return None
    products -= len(factors) * np.outer(code_means, means)
    scales = np.outer(code_norms, norms)
    if not np.isfinite(products).all():
        return None
    return np.minimum(np.abs(np.divide(products, scales, out=np.zeros_like(products), where=scales > 0)), 1.0)


def largest_correlations(basis: FloatArray, others: Sequence[FloatArray]) -> FloatArray:
    """Largest canonical correlation of an orthonormal, centred basis with each other basis; 0 if either is empty."""
    return np.array([min(float(np.linalg.norm(o.T @ basis, 2)), 1.0) if o.size and basis.size else 0.0 for o in others])


def canonical_correlation_matrix(bases: Sequence[FloatArray]) -> FloatArray:
    """Largest canonical correlation of every pair of orthonormal, centred bases; nan if either has no columns."""
    stops = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    products = np.zeros((stops[-1], stops[-1]))
    for _, block in _row_blocks(bases):
        products += block @ block.T
    if stops[-1] == len(bases) and all(basis.shape[1] for basis in bases):
        return np.minimum(np.abs(products), 1.0)
    matrix = np.full((len(bases), len(bases)), np.nan)
    for j, k in np.ndindex(matrix.shape):
        block = products[stops[j] : stops[j + 1], stops[k] : stops[k + 1]]
        if block.size:
            matrix[j, k] = min(float(np.linalg.norm(block, 2 if min(block.shape) > 1 else None)), 1.0)
    return matrix


def _row_blocks(bases: Sequence[FloatArray]) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of rows that fit into the cache: their slice, and all bases there, transposed (columns x rows)."""
    for start in range(0, len(bases[0]), ROWS_IN_CACHE):
        rows = slice(start, start + ROWS_IN_CACHE)
        yield rows, np.concatenate([basis[rows].T for basis in bases])


def held_out_correlation(factor: tuple[FloatArray, FloatArray], code: tuple[FloatArray, FloatArray]) -> float:
    """Correlation on test rows of the pair of directions that correlate most on training rows.

    ``factor`` and ``code`` are (training, test) feature columns. The sign is learned on the training rows too, so that
    unrelated columns average to zero.
    """
    (factor_train, factor_test), (code_train, code_test) = factor, code
    factor_direction, code_direction = _canonical_directions(factor_train, code_train)
    left = (factor_test - factor_test.mean(axis=0)) @ factor_direction
    right = (code_test - code_test.mean(axis=0)) @ code_direction
    scale = np.linalg.norm(left) * np.linalg.norm(right)
    return float(left @ right / scale) if scale > 0 else 0.0


def _canonical_directions(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    whitened = []
    for columns in (left, right):
        basis, spread, axes = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
        kept = spread > max(RANK_TOLERANCE * spread[0], np.finfo(np.float64).tiny)
        whitened.append((basis[:, kept], axes[kept].T / spread[kept]))
    (left_basis, left_map), (right_basis, right_map) = whitened
    if not (left_basis.size and right_basis.size):
        return np.zeros(left.shape[1]), np.zeros(right.shape[1])
    turn_left, _, turn_right = np.linalg.svd(left_basis.T @ right_basis)
    return left_map @ turn_left[:, 0], right_map @ turn_right[0]


def uniform_scores(columns: FloatArray) -> FloatArray:
    """Ranks of every column as numbers between 0 and 1; ties share their average.

    >>> uniform_scores(np.array([[3.0], [30.0], [4.0], [4.0]]))[:, 0].tolist()
    [0.125, 0.875, 0.5, 0.5]
    """
    return np.asfortranarray((rankdata(columns, axis=0) - 0.5) / len(columns))


FEWEST_FAR = 10  # values from which a tail index is estimated


def tail_index(column: FloatArray) -> float:
    """Hill index of a column, from the 5 % of its values that are farthest from the median.

    Moments of this order and above do not exist; t with 2 degrees of freedom has 2, and a normal column has about 6. It
    is infinite for less than 200 rows, whose 5 % are too few values to tell, and for columns of few values.

    >>> ranks = np.arange(1, 1001) / 1001
    >>> tail_index(ranks**-0.5) < 3 < tail_index(ranks)
    True
    """
    n_far = column.size // 20
    if n_far < FEWEST_FAR:
        return float("inf")
    far = np.sort(np.abs(column - np.median(column)))[-n_far - 1 :]
    if not far[0] > 0 or np.unique(far).size <= n_far / 2:
        return float("inf")
    return 1 / float(np.mean(np.log(far[1:] / far[0])))


def normal_scores(columns: FloatArray) -> FloatArray:
    """Normal quantiles of the ranks, with mean 0 and variance 1 in every column (all 0 for a constant column).

    >>> scores = normal_scores(np.array([[1.0], [2.0], [700.0]]))[:, 0]
    >>> scores.round(3).tolist()
    [-1.225, 0.0, 1.225]
    """
    scores = ndtri(uniform_scores(columns))
    scores -= scores.mean(axis=0)
    return np.asfortranarray(scores / np.maximum(scores.std(axis=0), np.finfo(np.float64).tiny))


@checks_options
@dataclass(frozen=True)
class RandomDependence:
    """Largest canonical correlation of random sine features of the ranks.

    The features are nearly collinear (20 sines have a numerical rank of about 5), so a basis of their span is computed
    from singular vectors whose singular values are not small. A truncated QR decomposition does not cover the span and
    inflates the coefficient of unrelated columns. The default ``scale`` is that of the code of 003; the authors of the
    coefficient use 1/6, which gives functions of lower frequency.

    >>> from unweave.estimators.correlation import orthonormal_basis
    >>> x = np.random.default_rng(0).normal(size=400)
    >>> a, b = (orthonormal_basis(RandomDependence().column(column)) for column in (x, np.exp(x)))
    >>> round(float(np.linalg.norm(a.T @ b, 2)), 3)
    1.0
    """

    n_features: Count = 20
    scale: Positive = 0.5
    seed: Whole = 0

    def column(self, column: FloatArray) -> FloatArray:
        """Random sines of the column's ranks within (0, 1], the same for every column."""
        rng = random_stream(self.seed, "random features")
        weights = rng.normal(scale=self.scale, size=(2, self.n_features))
        placed = (ranks(column) / column.size)[:, None]
        return np.asarray(np.sin(placed @ weights[:-1] + weights[-1]))


def independence_p_value(left: FloatArray, right: FloatArray) -> float:
    """p-value of the chi-squared test of independence; nan if there are no functions.

    >>> x = np.linspace(-1, 1, 101)[:, None]
    >>> u = (x**2 - (x**2).mean()) / np.linalg.norm(x**2 - (x**2).mean())
    >>> independence_p_value(x / np.linalg.norm(x), u) > 0.99, independence_p_value(u, u) < 1e-10
    (True, True)
    """
    products = left.T @ right
    return float(chdtrc(products.size, len(left) * np.square(products).sum())) if products.size else np.nan


def canonical_correlation(left: FloatArray, right: FloatArray) -> float:
    """Largest canonical correlation, corrected for its size under independence; between 0 and 1.

    >>> u = np.repeat([[1.0], [-1.0]], 50, axis=0) / 10
    >>> round(canonical_correlation(u, u), 6)
    1.0
    """
    products = left.T @ right
    if not products.size:
        return np.nan
    by_chance = min((np.sqrt(left.shape[1]) + np.sqrt(right.shape[1])) ** 2 / len(left), 0.99)
    largest = min(float(np.linalg.norm(products, 2)), 1.0)
    return float(np.sqrt(max(largest**2 - by_chance, 0.0) / (1 - by_chance)))


def correlation_p_value(correlation: float, n_rows: int) -> float:
    """Two-sided p-value of a correlation of independent normal columns.

    >>> round(correlation_p_value(0.1, 402), 3)
    0.045
    """
    freedom = n_rows - 2
    statistic = abs(correlation) * np.sqrt(freedom / max(1 - correlation**2, 1e-300))
    return float(2 * stdtr(freedom, -statistic))


def curvature(source: FloatArray, functions: FloatArray, target: FloatArray) -> tuple[float, float]:
    """Share of a target's variance that nonlinear functions of a source explain, and its p-value.

    It is the share in addition to that of a linear function, adjusted for the number of functions. ``functions`` are
    orthonormal and centred; their linear part in the source is removed first.

    >>> x = np.linspace(-1, 1, 201)
    >>> u = (x**2 - (x**2).mean())[:, None]
    >>> share, p = curvature(x, u / np.linalg.norm(u), x + x**2)
    >>> round(share, 2), p < 1e-6
    (0.21, True)
    """
    line = source - source.mean()
    line = line / np.linalg.norm(line)
    along = line @ functions
    # orthonormal functions without one direction have the Gram matrix I - along along', which needs no further product
    spread, turn = np.linalg.eigh(np.eye(along.size) - np.outer(along, along))
    kept = spread > 1e-6
    centred = target - target.mean()
    unit = centred / np.linalg.norm(centred)
    n_added = int(kept.sum())
    freedom = target.size - 2 - n_added
    if n_added == 0 or freedom < 1:
        return 0.0, np.nan
    slope = float(line @ unit)
    onto = turn[:, kept].T @ (functions.T @ unit - slope * along) / np.sqrt(spread[kept])
    on_line, added = slope**2, float(np.square(onto).sum())
    left = max(1 - on_line - added, 1e-12)
    p_value = float(fdtrc(n_added, freedom, added / n_added / (left / freedom)))
    return max(added - left * n_added / freedom, 0.0), p_value


def best_matching(similarity_matrix: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the one-to-one matching with the largest sum; min(rows, columns) pairs.

    >>> best_matching(np.array([[0.1, 0.9], [0.8, 0.7]]))[1].tolist()
    [1, 0]
    """
    rows, columns = linear_sum_assignment(similarity_matrix, maximize=True)
    return rows, columns


@functools.cache
def matched_correlation_by_chance(n_rows: int, n_codes: int, n_factors: int) -> float:
    """Expected mean absolute correlation of matched pairs of unrelated columns, by simulation.

    The correlations r are drawn from their exact null distribution for n Gaussian rows, r^2 ~ Beta(1/2, (n - 2) / 2).

    >>> 0.05 < matched_correlation_by_chance(1000, 20, 5) < 0.07
    True
    """
    rng = random_stream(0, "matched correlations by chance")
    draws = []
    # a mean over many pairs varies little, so that fewer draws suffice
    for _ in range(min(CHANCE_DRAWS, max(2, ENTRIES_DRAWN // (n_codes * n_factors)))):
        correlations = np.sqrt(rng.beta(0.5, max(n_rows - 2, 1) / 2, size=(n_codes, n_factors)))
        draws.append(correlations[best_matching(correlations)].mean())
    return float(np.mean(draws))


def disentanglement_ranking(similarity_matrix: FloatArray) -> float:
    """UDR of two runs from the similarities of their codes; 1 if the similarities are a permutation matrix.

    >>> disentanglement_ranking(np.eye(3)), disentanglement_ranking(np.full((2, 2), 0.5))
    (1.0, 0.25)
    """
    matrix = np.nan_to_num(np.abs(similarity_matrix))
    if not matrix.size:
        return math.nan
    shares = 0.0
    for axis in (0, 1):
        total = matrix.sum(axis=axis)
        shares += np.divide(matrix.max(axis=axis) ** 2, total, out=np.zeros_like(total), where=total > 0).sum()
    return float(shares / sum(matrix.shape))


def total_correlation(codes: FloatArray) -> float:
    """Total correlation of the codes under a Gaussian copula, in nats; infinite if one code duplicates another.

    With few rows for many codes, log det of the sample correlations is too low. For Gaussian codes its bias depends on
    n and m alone, and is subtracted: 1/2 sum_j psi((n - 1) / 2) - psi((n - j) / 2). It is nan without more rows
    than codes.

    >>> rng = np.random.default_rng(0)
    >>> both = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=20_000)
    >>> bool(abs(total_correlation(both) + 0.5 * np.log(1 - 0.8**2)) < 0.02)
    True
    """
    if codes.shape[1] < 2:
        return 0.0
    n_rows, n_codes = codes.shape
    if n_rows <= n_codes:
        return math.nan
    bias = 0.5 * float((digamma((n_rows - 1) / 2) - digamma((n_rows - np.arange(1, n_codes + 1)) / 2)).sum())
    scores = normal_scores(codes)
    sign, log_determinant = np.linalg.slogdet(scores.T @ scores / len(scores))
    return float(max(-0.5 * log_determinant - bias, 0.0)) if sign > 0 else math.inf


def divergence_from_prior(mean: FloatArray, std: FloatArray) -> FloatArray:
    """KL divergence of every code's Gaussian posterior from a standard normal prior, averaged over samples, in nats.

    >>> divergence_from_prior(np.zeros((2, 1)), np.ones((2, 1))).tolist()
    [0.0]
    """
    variance = np.maximum(std**2, np.finfo(float).tiny)
    return np.asarray(0.5 * (mean**2 + variance - 1 - np.log(variance)).mean(axis=0))
