"""Factors that are labelled in some rows only; metrics that work factor by factor use all labelled rows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import Rows
from unweave.evidence.reading.extremes import refuse_extremes, within_reach
from unweave.evidence.reading.inputs import Inputs, values_of
from unweave.evidence.splits import renumbered
from unweave.randomness import random_stream

if TYPE_CHECKING:
    from unweave.evidence.gate import Evidence


def parts_by_labels(whole: Evidence, given: Inputs) -> tuple[Evidence, ...]:
    """One Evidence for each set of factors that are labelled in the same rows; empty if all factors have the same rows.

    ``whole`` has the rows without missing values, and ``given`` all rows. The parts are ordered by their first factor.
    """
    if given.factors is None or whole.sparse_codes is not None or whole.factor_tables:
        return ()
    labelled = ~np.isnan(given.factors.values)
    others = [table.values for what, table in given.tables.items() if what != "factors"]
    complete = np.ones(len(labelled), dtype=bool)
    for values in others:
        complete &= ~np.isnan(values).any(axis=1)
    groups: dict[bytes, list[int]] = {}
    for j, mask in enumerate(labelled.T):
        groups.setdefault(mask.tobytes(), []).append(j)
    parts = [(columns, np.flatnonzero(complete & labelled[:, columns[0]])) for columns in groups.values()]
    if all(rows.size == whole.n_rows for _, rows in parts):
        return ()
    return tuple(_part(whole, given.rows(rows), rows, columns) for columns, rows in parts)


def _part(whole: Evidence, inputs: Inputs, rows: Rows, columns: list[int]) -> Evidence:
    refuse_extremes(inputs.factors, None if inputs.posterior is None else inputs.codes)
    points = values_of(inputs.codes, rows.size)
    return whole._with(
        n_rows=rows.size,
        kept_rows=rows,
        factors=values_of(inputs.factors, rows.size)[:, columns],
        factor_names=tuple(whole.factor_names[j] for j in columns),
        factor_levels=tuple(whole.factor_levels[j] for j in columns),
        declared_kinds=tuple(whole.declared_kinds[j] for j in columns),
        codes=within_reach(points) if inputs.posterior is None else points,
        posterior=inputs.posterior,
        nuisances=values_of(inputs.nuisances, rows.size),
        row_groups=None if inputs.row_groups is None else renumbered(inputs.row_groups.values[:, 0]),
        labelled_parts=(),
    )


def rows_of_part(part: Evidence, before: Rows, after: Rows) -> NDArray[np.intp]:
    """Rows of a part that are kept when the whole is reduced from the rows ``before`` to the rows ``after``.

    Both are original row numbers. Of the rows that only this part has, the same share is kept, chosen at random with a
    seed that depends on ``after``.
    """
    own = np.flatnonzero(~np.isin(part.kept_rows, before))
    n_kept = round(own.size * (after.size / max(before.size, 1)))
    chosen = random_stream(int(after.sum()), "rows of a part", after.size).permutation(own)[:n_kept]
    return np.sort(np.concatenate([np.flatnonzero(np.isin(part.kept_rows, after)), chosen]))
