"""Training and test rows: seeded, and never with one group of rows on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.evidence.tables import EvidenceError

Rows = NDArray[np.intp]


def fold_of_each_row(n_rows: int, row_groups: Rows | None, n_folds: int, seed: int) -> Rows:
    """Fold number of every row; folds differ by at most one unit, and a unit is a row or a whole group.

    >>> sorted(np.bincount(fold_of_each_row(10, None, 3, seed=0)).tolist())
    [3, 3, 4]
    """
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    n_units = int(unit_of_row.max()) + 1
    if n_units < n_folds:
        units = "rows" if row_groups is None else "row groups"
        raise EvidenceError(
            f"A split into {n_folds} parts needs at least {n_folds} {units} and there are {n_units}: pass more samples."
        )
    fold_of_unit = np.random.default_rng(seed).permutation(n_units) % n_folds
    return np.asarray(fold_of_unit[unit_of_row], dtype=np.intp)


def shuffled_rows(n_rows: int, row_groups: Rows | None, rng: np.random.Generator) -> Rows:
    """Row order that breaks the pairing; with groups, whole groups are laid in the place of other groups."""
    if row_groups is None:
        return rng.permutation(n_rows)
    place = np.argsort(row_groups, kind="stable")
    blocks = np.split(place, np.flatnonzero(np.diff(row_groups[place])) + 1)
    order = np.empty(n_rows, dtype=np.intp)
    order[place] = np.concatenate([blocks[k] for k in rng.permutation(len(blocks))])
    return order
