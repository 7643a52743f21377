"""Codes as functions of factors: splines, kernels, interactions and exact functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.special import eval_legendre, ndtr, ndtri

from unweave.arrays import FloatArray
from unweave.estimators.correlation import ranks
from unweave.estimators.counts import entropy_of_counts

EXACT = 1e-6
DEPENDENT = 1e-9
NO_EXPONENT = 1e-4


def open_to_least_squares(columns: FloatArray, target: FloatArray) -> float:
    """Share of the target's variance that a linear fit on the columns does not explain, by leave-one-out.

    >>> x = np.linspace(-1, 1, 50)
    >>> open_to_least_squares(np.column_stack([x, x**2]), 3 * x**2 - x) < 1e-12
    True
    """
    orthonormal, triangle = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))
    size = np.abs(np.diag(triangle))
    orthonormal = orthonormal[:, size > DEPENDENT * size.max()]  # the square of a binary column is linear in it
    left = (target - orthonormal @ (orthonormal.T @ target)) / np.maximum(1 - np.square(orthonormal).sum(axis=1), 1e-9)
    return float(np.square(left).mean() / target.var()) if np.ptp(target) > 0 else 1.0


def second_degree(columns: FloatArray) -> FloatArray:
    """The columns, their squares, and the products of any two."""
    left, right = np.triu_indices(columns.shape[1])
    return np.column_stack([columns, columns[:, left] * columns[:, right]])


def polynomial_sources(columns: FloatArray, target: FloatArray) -> tuple[int, ...]:
    """Columns of which the target is a noiseless polynomial of second degree; empty if there are none.

    >>> x = np.random.default_rng(0).normal(size=(100, 4))
    >>> polynomial_sources(x, x[:, 0] * x[:, 3] + x[:, 1])
    (0, 1, 3)
    """
    if 2 * (columns.shape[1] * (columns.shape[1] + 3) // 2 + 1) > len(columns):
        return ()
    functions = second_degree(columns)
    if open_to_least_squares(functions, target) > EXACT:
        return ()
    spread = functions.std(axis=0)
    weights = np.linalg.lstsq((functions - functions.mean(axis=0)) / spread, target - target.mean(), rcond=1e-10)[0]
    left, right = np.triu_indices(columns.shape[1])
    counts = np.abs(weights) > np.sqrt(EXACT) * np.abs(weights).max()
    members = [*range(columns.shape[1])], left.tolist(), right.tolist()
    first, second = members[0] + members[1], members[0] + members[2]
    return tuple(sorted({j for k in np.flatnonzero(counts) for j in (first[k], second[k])}))


def monomial_exponents(columns: FloatArray, target: FloatArray) -> dict[int, float]:
    """Columns of which the target is a noiseless product of powers, with their exponents; empty if there are none.

    >>> x = np.random.default_rng(0).normal(size=(100, 4))
    >>> {j: round(power, 3) for j, power in monomial_exponents(x, 2 * x[:, 0] * x[:, 1] / x[:, 3]).items()}
    {0: 1.0, 1: 1.0, 3: -1.0}
    """
    usable = np.flatnonzero((columns != 0).all(axis=0))
    if not usable.size or 2 * usable.size > len(columns) or (target == 0).any():
        return {}
    logarithms, wanted = np.log(np.abs(columns[:, usable])), np.log(np.abs(target))
    if wanted.std() < NO_EXPONENT or open_to_least_squares(logarithms, wanted) > EXACT:
        return {}
    exponents = np.linalg.lstsq(np.column_stack([np.ones(len(target)), logarithms]), wanted, rcond=1e-10)[0][1:]
    used = np.abs(exponents) > NO_EXPONENT
    signs = np.sign(columns[:, usable[used]]) ** np.round(exponents[used])
    if np.ptp(np.sign(target) * np.prod(signs, axis=1)) > 0:  # logarithms ignore signs, which have to agree too
        return {}
    return dict(zip(usable[used].tolist(), exponents[used].tolist(), strict=True))


def along_one_column(order: NDArray[np.intp], at: FloatArray, targets: FloatArray) -> FloatArray:
    """Prediction of every row of the targets by linear interpolation between its neighbours along one column.

    ``order`` sorts the rows by the column, and ``at`` is the sorted column. Rows with equal values predict each other.

    >>> x = np.linspace(-1, 1, 101)
    >>> error = along_one_column(np.arange(101), x, np.sin(9 * x)[:, None])[:, 0] - np.sin(9 * x)
    >>> bool(np.abs(error[1:-1]).max() < 0.02)
    True
    """
    sorted_targets = targets[order]
    before = np.r_[1, np.arange(len(order) - 1)]
    after = np.r_[np.arange(1, len(order)), len(order) - 2]
    width = at[after] - at[before]
    share = np.divide(at - at[before], width, out=np.full(len(at), 0.5), where=width > 0)[:, None]
    share = np.clip(share, 0.0, 1.0)
    predicted = np.empty_like(targets)
    predicted[order] = (1 - share) * sorted_targets[before] + share * sorted_targets[after]
    return predicted


@dataclass(frozen=True)
class GradedColumns:
    """Functions of one factor, ``per_degree`` of them for every degree: 1 for a number, 2 for an angle.

    For a category ``per_degree`` is 0: its indicators have no degree, and are not multiplied with other factors.
    """

    values: FloatArray
    per_degree: int

    def up_to(self, degree: int) -> FloatArray:
        """The first ``degree`` columns (complete harmonics, at least one), or all indicators."""
        if self.per_degree == 0:
            return self.values
        return self.values[:, : max(self.per_degree, degree - degree % self.per_degree)]

    def weights(self, degree: int) -> FloatArray:
        """Bounded columns that represent the factor in products; none for a category."""
        if self.per_degree == 0:
            return self.values[:, :0]
        columns = self.up_to(degree)
        return np.column_stack([bounded(columns[:, :1]), columns[:, 1:]]) if self.per_degree == 1 else columns


def indicators(column: FloatArray) -> GradedColumns:
    """Indicators of every level except the first.

    >>> indicators(np.array([2.0, 0.0, 1.0])).values.tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return GradedColumns((column[:, None] == np.unique(column)[1:]).astype(np.float64), 0)


def harmonics(angle: FloatArray, n_harmonics: int) -> GradedColumns:
    """Cosine and sine of the first multiples of an angle.

    >>> harmonics(np.array([0.0, np.pi]), 1).values.round(3).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    waves = [wave(k * angle) for k in range(1, n_harmonics + 1) for wave in (np.cos, np.sin)]
    return GradedColumns(np.column_stack(waves), 2)


def normal_quantiles(column: FloatArray) -> FloatArray:
    """Normal quantiles of the ranks.

    >>> normal_quantiles(np.array([10.0, -1.0, 3.0])).round(3).tolist()
    [0.967, -0.967, 0.0]
    """
    return np.asarray(ndtri((ranks(column) - 0.5) / column.size))


def bounded(scores: FloatArray) -> FloatArray:
    """Normal scores mapped to (-1, 1)."""
    return np.asarray(2 * ndtr(scores) - 1)


def polynomials(scores: FloatArray, degree: int) -> FloatArray:
    """Legendre polynomials of degree 1 to ``degree`` of normal scores mapped to (-1, 1).

    >>> polynomials(np.array([0.0]), 2).round(6).tolist()
    [[0.0, -0.5]]
    """
    place = bounded(scores)
    return np.column_stack([eval_legendre(power, place) for power in range(1, degree + 1)])


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products of every column of ``left`` with every column of ``right``."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))


def places(factors: Sequence[GradedColumns]) -> list[list[int]]:
    """Indices of every factor's columns when the columns of all factors are concatenated."""
    ends = np.cumsum([factor.values.shape[1] for factor in factors]).tolist()
    starts = [0, *ends]
    return [list(range(start, end)) for start, end in zip(starts, ends, strict=False)]


KernelName = Literal["pairs", "joint"]


def interaction_kernel(left: Sequence[FloatArray], right: Sequence[FloatArray], name: KernelName) -> FloatArray:
    """Kernel of every row of ``left`` with every row of ``right``, which have a block of columns per quantity.

    >>> x = [np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])]
    >>> interaction_kernel(x, x, "joint").round(3).tolist()
    [[1.0, 0.779], [0.779, 1.0]]
    """
    sums, squares = np.zeros((2, len(left[0]), len(right[0])))
    for here, there in zip(left, right, strict=True):
        inner = here @ there.T
        distance = np.square(here).sum(axis=1)[:, None] + np.square(there).sum(axis=1) - 2 * inner
        if name == "joint":
            sums += distance
            continue
        inner += np.exp(-0.5 * np.maximum(distance, 0.0, out=distance))
        sums += inner
        squares += np.square(inner)
    d = len(left)
    if name == "joint":
        return np.asarray(np.exp(np.maximum(sums, 0.0, out=sums) / (-4.0 * d)))
    if d == 1:
        return np.asarray(sums)
    return np.asarray(sums / (2 * d) + (np.square(sums) - squares) / (2 * d * (d - 1)))


SMALLEST_RIDGE = 1e-8


@dataclass(frozen=True)
class GaussianKernel:
    """exp(-distance^2 / (2 length^2)), with a ridge on the diagonal."""

    length: float
    ridge: float

    def leave_one_out(self, inputs: FloatArray, targets: FloatArray) -> FloatArray:
        """Prediction of every row of the targets from all other rows.

        >>> x = np.linspace(-1, 1, 50)[:, None]
        >>> error = GaussianKernel(0.5, 1e-4).leave_one_out(x, x**2) - x**2
        >>> bool(np.abs(error).max() < 0.01)
        True
        """
        squares = np.square(inputs).sum(axis=1)
        kernel = inputs @ (inputs.T / self.length**2)
        kernel -= squares / (2 * self.length**2)
        kernel -= squares[:, None] / (2 * self.length**2)
        np.exp(kernel, out=kernel)
        return held_out_predictions(kernel, targets, self.ridge)


def held_out_predictions(kernel: FloatArray, targets: FloatArray, ridge: float) -> FloatArray:
    """Leave-one-out predictions of ridge regression with this kernel, which is overwritten.

    >>> held_out_predictions(np.ones((3, 3)), np.array([[1.0], [2.0], [3.0]]), 1e-6).round(2).ravel().tolist()
    [2.5, 2.0, 1.5]
    """
    kernel.flat[:: len(kernel) + 1] += max(ridge, SMALLEST_RIDGE)
    factor, failed = lapack.dpotrf(kernel.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The kernel is not positive definite: raise the ridge.")
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    centred = targets - targets.mean(axis=0)
    return np.asarray(targets - blas.dsymm(1.0, lower, centred, lower=1) / np.diag(lower)[:, None])


def unexplained_variance(targets: FloatArray, predictions: FloatArray, left_out: float = 0.02) -> float:
    """Mean squared error divided by the variance, of all columns together, without the rows of the largest errors.

    Isolated rows in the tails cannot be predicted from others. A share ``left_out`` of the rows is therefore dropped,
    and the mean of the rest is rescaled so that it is the mean squared error if errors are normal.

    >>> x = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> round(unexplained_variance(x, np.zeros_like(x)), 1)
    1.0
    """
    squares = np.square(targets - predictions).sum(axis=1, keepdims=True)
    return float(_without_worst(squares, left_out)[0] / targets.var(axis=0).sum())


def unexplained_variances(targets: FloatArray, predictions: FloatArray, left_out: float = 0.02) -> FloatArray:
    """`unexplained_variance` of every column separately.

    >>> x = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> unexplained_variances(x, np.array([[1.0, 1.0], [1.0, 3.0]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(_without_worst(np.square(targets - predictions), left_out) / targets.var(axis=0))


def _without_worst(squares: FloatArray, left_out: float) -> FloatArray:
    """Mean of every column without its largest entries, rescaled for normal errors."""
    n_rows = len(squares)
    n_kept = n_rows - int(left_out * n_rows)
    return np.asarray(np.sort(squares, axis=0)[:n_kept].mean(axis=0) / _variance_within(n_kept / n_rows))


def _variance_within(share: float) -> float:
    """Mean square of a standard normal variable within its central share."""
    if share == 1:
        return 1.0
    cut = float(ndtri((1 + share) / 2))
    return float(1 - 2 * cut * np.exp(-(cut**2) / 2) / np.sqrt(2 * np.pi) / share)


def unexplained_entropy(labels: NDArray[np.intp], predicted: NDArray[np.intp], n_labels: int) -> float:
    """H(label | predicted label) / H(label), but at least the error rate relative to that of the most common label.

    The lower limit is needed for held-out predictions of balanced labels. The label of the held-out row is the least
    common one among the other rows, so that a majority vote is always wrong. With two labels, a prediction that is
    always wrong determines the label, and the conditional entropy alone would be 0.

    >>> unexplained_entropy(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2)
    0.0
    >>> unexplained_entropy(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    """
    joint = np.bincount(labels * n_labels + predicted, minlength=n_labels**2).reshape(n_labels, n_labels)
    of_label, of_both = entropy_of_counts(joint.sum(axis=1)), entropy_of_counts(joint.ravel())
    if of_label <= 0:
        return np.nan
    given = max(float(of_both - entropy_of_counts(joint.sum(axis=0))), 0.0)
    errors = (labels.size - np.trace(joint)) / (labels.size - joint.sum(axis=1).max())
    return max(given / float(of_label), min(float(errors), 1.0))


OUTER_KNOTS = (0.02, 0.98)


def natural_spline(column: FloatArray, n_functions: int) -> FloatArray:
    """Basis of at most ``n_functions`` functions (n x k), the first the column itself; knots are its quantiles.

    With t the K knots and T the last one, d_i(x) = ((x - t_i)+^3 - (x - T)+^3) / (T - t_i); the other functions are
    d_i - d_(K - 1).

    >>> natural_spline(np.linspace(0, 1, 50), 4).shape
    (50, 4)
    """
    knots = np.unique(np.quantile(column, np.linspace(*OUTER_KNOTS, n_functions + 1)))
    if n_functions < 2 or len(knots) < 3:
        return column[:, None]
    cubes = np.maximum(column[:, None] - knots, 0.0) ** 3
    pieces = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return np.column_stack([column, pieces[:, :-1] - pieces[:, -1:]])


def orthonormal_columns(columns: FloatArray, tolerance: float = 1e-8) -> FloatArray:
    """Columns with mean 0, variance 1 and no correlation that span the same functions as the centred columns.

    >>> orthonormal_columns(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])).shape
    (3, 1)
    """
    left, spread, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    kept = spread > tolerance * max(spread.max(initial=0.0), np.finfo(np.float64).tiny)
    return np.asarray(left[:, kept] * np.sqrt(len(columns)))
