"""Which columns are functions of which, or of all others together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.dependence.partial_residuals import Regressors, standardised

FUNCTION = 0.98
NOTHING_LEFT = 1e-3
MOST_ROWS = 5000


def rank_dependence_matrix(columns: FloatArray) -> FloatArray:
    """Chatterjee's (2021) coefficient: 1 where the column is any function of the row's column, 0 for no relation.

    Rows are the sources, columns the targets; ties of a source keep the order of the rows, so shuffle these first.

    >>> x = np.linspace(-1, 1, 500)
    >>> (rank_dependence_matrix(np.column_stack([x, x**2])) > 0.98).tolist()
    [[True, True], [False, True]]
    """
    n_rows = len(columns)
    at_most = rankdata(columns, method="max", axis=0)
    at_least = n_rows + 1 - rankdata(columns, method="min", axis=0)
    scale = 2 * (at_least * (n_rows - at_least)).sum(axis=0) / n_rows
    orders = (np.argsort(source, kind="stable") for source in columns.T)
    jumps = np.array([np.abs(np.diff(at_most[order], axis=0)).sum(axis=0) for order in orders])
    return np.asarray(1 - np.divide(jumps, scale, out=np.zeros_like(jumps, dtype=np.float64), where=scale > 0))


def determined(columns: FloatArray) -> NDArray[np.bool_]:
    """Which columns are a function of one other, or of degree two of all others; at most 5,000 rows are looked at.

    >>> x, y = np.random.default_rng(0).normal(size=(2, 500))
    >>> determined(np.column_stack([x, y, x * y])).tolist()
    [False, False, True]
    """
    columns = columns[np.random.default_rng(0).permutation(len(columns))[:MOST_ROWS]]
    n_rows, n_columns = columns.shape
    of_one = (rank_dependence_matrix(columns) > FUNCTION) & ~np.eye(n_columns, dtype=bool)
    found = np.asarray(of_one.any(axis=0))
    left, right = np.triu_indices(n_columns)
    if 2 * (n_columns + left.size) > n_rows:
        return found
    unit = standardised(columns)
    regressors = Regressors.of(np.column_stack([unit, unit[:, left] * unit[:, right]]))
    for j in range(n_columns):
        involving = [j, *(n_columns + np.flatnonzero((left == j) | (right == j))).tolist()]
        residual = regressors.without(involving).residuals(unit[:, [j]])
        found[j] |= bool(np.linalg.norm(residual) <= NOTHING_LEFT * np.sqrt(n_rows))
    return found
