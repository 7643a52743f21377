"""Splits into training and test rows, row groups and repeated rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError, OptionError
from unweave.evidence.columns import Table, is_missing, read_column
from unweave.randomness import random_stream

Classes = Sequence[NDArray[Any]]


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
    words = [entry.decode("utf-8", "backslashreplace") if isinstance(entry, bytes) else str(entry) for entry in entries]
    return np.array(words), np.array(list(map(is_missing, entries)), dtype=bool)


def environment_table(labels: object) -> Table:
    """Number of the environment of every row, with its name as a level; a list of targets is named 'a, b'."""
    # rows of a list may have lists of different lengths, which are no table
    given, index = (list(labels), None) if isinstance(labels, (list, tuple)) else read_column(labels, "environments")
    column = np.empty(len(given), dtype=object)
    column[:] = [", ".join(map(str, entry)) if isinstance(entry, (list, tuple)) else entry for entry in given]
    column[[entry == "" for entry in column]] = "observational"  # a row without targets
    text, missing = _as_text(column)
    names, numbers = np.unique(text[~missing], return_inverse=True)
    values = np.full(text.size, np.nan)
    values[~missing] = numbers
    return Table("label of", values[:, None], ("environments",), (tuple(names.tolist()),), index)


def renumbered(groups: NDArray[Any]) -> Rows:
    """Group numbers from 0 without gaps."""
    return np.asarray(np.unique(groups, return_inverse=True)[1], dtype=np.intp)


def fold_of_each_row(n_rows: int, row_groups: Rows | None, n_folds: int, seed: int, classes: Classes = ()) -> Rows:
    """Fold number of every row; the sizes of folds differ by at most one unit, which is a row or a whole group.

    ``classes`` are columns of class labels, each of which the folds have in about equal shares.

    >>> sorted(np.bincount(fold_of_each_row(10, None, 3, seed=0)).tolist())
    [3, 3, 4]
    """
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise InputError(f"A split into {n_folds} parts leaves nothing to test on: use a whole number above 1.")
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    n_units = _enough_units(unit_of_row, row_groups, int(n_folds), f"A split into {n_folds} parts")
    sizes = n_units // n_folds + (np.arange(n_folds) < n_units % n_folds)
    return _dealt(unit_of_row, sizes, classes, random_stream(seed, "folds", int(n_folds)))


def train_and_test_rows(
    n_rows: int, row_groups: Rows | None, test_share: float, seed: int, classes: Classes = ()
) -> tuple[Rows, Rows]:
    """Training and test rows, with ``test_share`` of the units (rows or groups) for the test; if 0, both are all rows.

    >>> [rows.size for rows in train_and_test_rows(10, None, 0.3, seed=0)]
    [7, 3]
    """
    if not 0 <= test_share < 1:
        raise OptionError(f"test_share={test_share} is not a share: use a number from 0 to below 1, such as 0.2.")
    if test_share == 0:
        return np.arange(n_rows), np.arange(n_rows)
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    n_units = _enough_units(unit_of_row, row_groups, 2, "A split into training and test rows")
    n_test = min(max(1, round(test_share * n_units)), n_units - 1)
    sizes = np.array([n_units - n_test, n_test])
    in_test = _dealt(unit_of_row, sizes, classes, random_stream(seed, "training and test rows")) == 1
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def _dealt(unit_of_row: Rows, sizes: Rows, classes: Classes, rng: np.random.Generator) -> Rows:
    """Part of every row, where part k has ``sizes[k]`` units, and about this share of every class.

    Each cell of rows with the same classes is dealt to the parts as far as it can be divided in these shares. The rows
    that are left are dealt in the same way in larger cells, with one column of classes less. Which row of a cell comes
    to which part is random: in a grid of factors that is dealt in its order, a part could be a level of a factor.
    """
    n_parts, n_units = sizes.size, int(sizes.sum())
    cells = _nested_cells(unit_of_row, classes, n_units // n_parts)
    rank, part = rng.permutation(n_units), np.full(n_units, n_parts)
    left = np.arange(n_units)
    for cell in reversed(cells):
        total = np.bincount(cell)
        given = np.bincount(cell * (n_parts + 1) + part, minlength=total.size * (n_parts + 1))
        quota = total[:, None] * sizes // n_units - given.reshape(-1, n_parts + 1)[:, :n_parts]
        left = left[np.lexsort((rank[left], cell[left]))]
        starts = np.searchsorted(cell[left], np.arange(total.size))
        stops = starts[:, None] + np.cumsum(quota, axis=1)
        part[left] = np.searchsorted(stops.ravel(), np.arange(left.size), side="right") - cell[left] * n_parts
        left = left[part[left] == n_parts]
    # the parts take turns for the last rows, in order of the first column of classes, so that each class is spread
    open_places = sizes - np.bincount(part, minlength=n_parts + 1)[:n_parts]
    label = np.repeat(np.arange(n_parts), open_places)
    turn = np.arange(label.size) - np.repeat(np.cumsum(open_places) - open_places, open_places)
    if cells:
        left = left[np.lexsort((rank[left], cells[0][left]))]
    else:  # the units in the order of their ranks, without sorting
        left = np.empty_like(rank)
        left[rank] = np.arange(n_units)
    first = rng.random(n_parts)
    if (open_places == open_places[0]).all():  # the same order in every turn, which needs no sorting
        part[left] = np.tile(np.argsort(first), open_places[0])
    else:
        part[left] = label[np.argsort((turn + first[label]) / open_places[label])]
    return np.asarray(part[unit_of_row], dtype=np.intp)


def _nested_cells(unit_of_row: Rows, classes: Classes, most_cells: int) -> list[Rows]:
    """Cells of units by the first column of classes, by the first two, and so on; rare classes come first.

    A group of rows has the classes of its first row. Columns that would make more than ``most_cells`` are left out.
    """
    if not classes:
        return []
    first_rows = np.unique(unit_of_row, return_index=True)[1]
    columns = [np.unique(column[first_rows], return_inverse=True)[1] for column in classes]
    columns.sort(key=lambda column: int(np.bincount(column).min()))
    cells, n_cells, cell = [], 1, np.zeros(first_rows.size, dtype=np.intp)
    for column in columns:
        finer = np.unique(cell * (int(column.max()) + 1) + column, return_inverse=True)[1]
        n_finer = int(finer.max()) + 1
        if n_cells < n_finer <= most_cells:
            cells.append(finer)
            n_cells, cell = n_finer, finer
    return cells


def shuffled_rows(
    n_rows: int, row_groups: Rows | None, rng: np.random.Generator, order_of_groups: Sequence[int] | None = None
) -> Rows:
    """Random order of the rows, which breaks the pairing of codes and factors; groups are permuted as a whole."""
    unit_of_row = np.arange(n_rows) if row_groups is None else row_groups
    _enough_units(unit_of_row, row_groups, 2, "Breaking the pairing")
    if row_groups is None:
        return rng.permutation(n_rows)
    place = np.argsort(row_groups, kind="stable")
    blocks = np.split(place, np.flatnonzero(np.diff(row_groups[place])) + 1)
    order = np.empty(n_rows, dtype=np.intp)
    order[place] = np.concatenate([blocks[k] for k in order_of_groups or rng.permutation(len(blocks))])
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
        raise InputError(
            f"{what} needs at least {needed} {units} and there {'is' if n_units == 1 else 'are'} {n_units}: "
            "pass more samples."
        )
    return n_units


FEWEST_ROWS = 30

MOST_SEARCHED = 256  # codes that are searched for non-integer values

MOST_COLUMNS = 64

REPEATED = 0.1  # smallest share of rows that repeat the factors and codes of another row

FEWEST_DISTINCT = 10

DISTINCT = 0.9  # smallest number of distinct values of one code, as a share of the distinct rows


FEWEST_CLUSTERS = 15

ROWS_PER_CLUSTER = 5.0

CROSSED = 0.5  # smallest share of all combinations of levels that a crossed design has

COMMON = 5.0  # a row that is repeated more than this many times as often as others is a default value, not a sample


def same_rows(factors: FloatArray, codes: FloatArray) -> Rows | None:
    """Number of the sample that each row belongs to, if many rows are of the same sample; None otherwise.

    Rows are of the same sample if their factors and codes are equal, and a code with non-integer values differs between
    nearly all distinct rows: rows with few levels are often equal by chance. They are also of the same sample, such as
    a subject or a video, if their factors are equal and these are not the levels of a design (`clusters`). Rows that
    are equal because a factor does not apply to them, such as the size of an absent object, are samples of their own.

    >>> rows = np.random.default_rng(0).normal(size=(20, 1))
    >>> same_rows(rows, rows) is None, same_rows(np.tile(rows, (2, 1)), np.tile(rows, (2, 1))).max()
    (True, np.int64(19))
    """
    n_rows, n_most = len(codes), (1 - REPEATED) * len(codes)
    if n_rows < FEWEST_ROWS or not (factors.shape[1] and codes.shape[1]):
        return None
    fractional = (column for column in codes.T[:MOST_SEARCHED] if (column[:100] % 1).any() or (column % 1).any())
    n_values = 0
    for column in itertools.islice(fractional, MOST_COLUMNS):
        n_values = max(n_values, _n_distinct(column))
        if n_values > n_most:  # one column that differs between nearly all rows is enough
            return clusters(factors)
    if n_values < FEWEST_DISTINCT:
        return None
    same = equal_rows(np.column_stack([factors, codes]))
    n_distinct = int(same.max()) + 1
    if n_values >= DISTINCT * n_distinct and n_distinct <= n_most:
        return same
    return clusters(factors) if n_distinct > n_most else None


def _n_distinct(column: FloatArray) -> int:
    ascending = np.sort(column)
    return 1 + int(np.count_nonzero(ascending[1:] != ascending[:-1]))


def equal_rows(rows: FloatArray) -> Rows:
    """Number of the distinct row that each row equals; rows that are far more common than others count as different."""
    same = np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.intp)
    counts = np.bincount(same)
    common = counts[same] > COMMON * max(counts.mean(), np.median(counts))
    return renumbered(np.where(common, counts.size + np.arange(same.size), same))


def clusters(factors: FloatArray) -> Rows | None:
    """The cluster of each row if the rows come from few samples, each with factors of its own; None otherwise.

    There are at least 15 clusters with 5 rows each on average, one factor nearly tells the clusters apart, and the
    clusters are fewer than half of the combinations of levels: a grid of factor values is not a set of subjects.

    >>> subject = np.repeat(np.arange(20), 10)
    >>> clusters(np.random.default_rng(0).normal(size=(20, 2))[subject]).max()
    np.int64(19)
    >>> clusters(np.column_stack([subject % 4, subject // 4]).astype(float)) is None
    True
    """
    n_most = len(factors) / ROWS_PER_CLUSTER
    for share in (1.1, 2):  # most continuous factors have more levels than clusters may have in a part of the rows
        if any(_n_distinct(column[: int(share * n_most)]) > n_most for column in factors.T):
            return None
    levels = [np.unique(column).size for column in factors.T]
    if len(levels) < 2 or not FEWEST_CLUSTERS / 2 <= max(levels) <= n_most:
        return None
    few = factors[: int(4 * min(n_most, 2 * max(levels)))]
    if np.unique(few, axis=0).shape[0] > min(n_most, 2 * max(levels)):
        return None  # the first rows of most designs differ already more than so many clusters do
    cluster = equal_rows(factors)
    n_clusters = int(cluster.max()) + 1
    if not FEWEST_CLUSTERS <= n_clusters <= min(n_most, 2 * max(levels)):
        return None
    return cluster if n_clusters < CROSSED * float(np.prod(np.array(levels, dtype=np.float64))) else None
