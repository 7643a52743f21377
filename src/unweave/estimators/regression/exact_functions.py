"""Detection of exact functions: a column that is a polynomial, a product of powers, or a smooth function of others.

Every row is predicted from the other rows. If the relation has no noise, the share of the target's variance that
remains unexplained is rounding error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray

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
