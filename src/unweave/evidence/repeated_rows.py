"""Detection of repeated rows that are the same samples, and not samples that are equal by chance."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray, Rows

FEWEST_ROWS = 30
MOST_SEARCHED = 256  # codes that are searched for non-integer values
MOST_COLUMNS = 64
REPEATED = 0.1  # smallest share of rows that repeat the factors and codes of another row
FEWEST_DISTINCT = 10
DISTINCT = 0.9  # smallest number of distinct values of one code, as a share of the distinct rows


def same_rows(factors: FloatArray, codes: FloatArray) -> Rows | None:
    """Number of the distinct row that each row equals, if many rows are repeated; None if rows may be equal by chance.

    Rows with few levels are often equal by chance. If a code with non-integer values differs between nearly all
    distinct rows, equal rows are the same sample.

    >>> rows = np.random.default_rng(0).normal(size=(20, 1))
    >>> same_rows(rows, rows) is None, same_rows(np.tile(rows, (2, 1)), np.tile(rows, (2, 1))).max()
    (True, np.int64(19))
    """
    n_rows, n_most = len(codes), (1 - REPEATED) * len(codes)
    if n_rows < FEWEST_ROWS or not (factors.shape[1] and codes.shape[1]):
        return None
    searched = codes[:, :MOST_SEARCHED]
    fractions = searched[:, (searched % 1 != 0).any(axis=0)][:, :MOST_COLUMNS]
    n_values = 0
    for column in fractions.T:
        n_values = max(n_values, np.unique(column).size)
        if n_values > n_most:  # one column that differs between nearly all rows is enough
            return None
    if n_values < FEWEST_DISTINCT:
        return None
    same = np.unique(np.column_stack([factors, codes]), axis=0, return_inverse=True)[1].ravel().astype(np.intp)
    n_distinct = int(same.max()) + 1
    return same if n_values >= DISTINCT * n_distinct and n_distinct <= n_most else None
