"""Row groups, and splits into training and test rows that do not divide a group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import Rows
from unweave.evidence.reading.columns import EvidenceError, is_missing
from unweave.evidence.reading.tables import Table, read_column


def group_table(labels: object) -> Table:
    """Number of the group of every row, nan if its label is missing; labels of any type are compared as text."""
    column, index = read_column(labels, "row_groups")
    if column.dtype.kind == "O":
        column, missing = _as_text(column)
    else:
        missing = column != column
    numbers = np.unique(column, return_inverse=True)[1].astype(np.float64)
    numbers[missing] = np.nan
    return Table("label of", numbers[:, None], ("row_groups",), (None,), index)


def _as_text(column: NDArray[Any]) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    entries = column.tolist()
    return np.array(list(map(str, entries))), np.array(list(map(is_missing, entries)), dtype=bool)


def renumbered(groups: NDArray[Any]) -> Rows:
    """Group numbers from 0 without gaps."""
    return np.asarray(np.unique(groups, return_inverse=True)[1], dtype=np.intp)


def fold_of_each_row(n_rows: int, row_groups: Rows | None, n_folds: int, seed: int) -> Rows:
    """Fold number of every row; the sizes of folds differ by at most one unit, which is a row or a whole group.

    >>> sorted(np.bincount(fold_of_each_row(10, None, 3, seed=0)).tolist())
    [3, 3, 4]
    """
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise EvidenceError(f"A split into {n_folds} parts leaves nothing to test on: use a whole number above 1.")
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    n_units = _enough_units(unit_of_row, row_groups, int(n_folds), f"A split into {n_folds} parts")
    fold_of_unit = np.random.default_rng(seed).permutation(n_units) % n_folds
    return np.asarray(fold_of_unit[unit_of_row], dtype=np.intp)


def train_and_test_rows(n_rows: int, row_groups: Rows | None, test_share: float, seed: int) -> tuple[Rows, Rows]:
    """Training and test rows, with ``test_share`` of the units (rows or groups) for the test; if 0, both are all rows.

    >>> [rows.size for rows in train_and_test_rows(10, None, 0.3, seed=0)]
    [7, 3]
    """
    if not 0 <= test_share < 1:
        raise EvidenceError(f"test_share={test_share} is not a share: use a number from 0 to below 1, such as 0.2.")
    if test_share == 0:
        return np.arange(n_rows), np.arange(n_rows)
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    n_units = _enough_units(unit_of_row, row_groups, 2, "A split into training and test rows")
    n_test = min(max(1, round(test_share * n_units)), n_units - 1)
    in_test = np.random.default_rng(seed).permutation(n_units) < n_test
    return np.flatnonzero(~in_test[unit_of_row]), np.flatnonzero(in_test[unit_of_row])


def shuffled_rows(n_rows: int, row_groups: Rows | None, rng: np.random.Generator) -> Rows:
    """Random order of the rows, which breaks the pairing of codes and factors; groups are permuted as a whole."""
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    _enough_units(unit_of_row, row_groups, 2, "Breaking the pairing")
    if row_groups is None:
        return rng.permutation(n_rows)
    place = np.argsort(row_groups, kind="stable")
    blocks = np.split(place, np.flatnonzero(np.diff(row_groups[place])) + 1)
    order = np.empty(n_rows, dtype=np.intp)
    order[place] = np.concatenate([blocks[k] for k in rng.permutation(len(blocks))])
    return order


def places(rows: Rows, kept: Rows) -> Rows:
    """Positions, among the kept rows, of those of ``rows`` that were kept; both are ascending.


    >>> places(np.array([1, 2, 5]), np.array([0, 1, 5, 6])).tolist()
    [1, 2]
    """
    return np.flatnonzero(np.isin(kept, rows))


def _enough_units(unit_of_row: Rows, row_groups: Rows | None, needed: int, what: str) -> int:
    n_units = int(unit_of_row.max(initial=-1)) + 1
    if n_units < needed:
        units = "rows" if row_groups is None else "row groups"
        raise EvidenceError(
            f"{what} needs at least {needed} {units} and there {'is' if n_units == 1 else 'are'} {n_units}: "
            "pass more samples."
        )
    return n_units
