"""How well one code alone detects a concept: AUROC, average precision and F1 of the best code.

    AUROC = P(code of a present sample > code of an absent one) + 1/2 P(they are equal)
    AP    = sum_t (recall_t - recall_t-1) precision_t,    F1 = max_t 2 precision_t recall_t / (precision_t + recall_t)

with t the distinct values of the code in decreasing order; equal values, including zeros, form one step. The ranks of
sparse columns give the AUROC by one sparse product. Precision and recall are computed at the non-zero entries and once
for all zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_ranks import sparse_ranks
from unweave.metrics.concepts.concept_inputs import concepts_and_codes

CELLS_IN_BLOCK = 1 << 22


@dataclass(frozen=True)
class SingleCodes:
    """The best code of every concept by each measure, and its score; ``prevalence`` is the AP of random codes.

    A single random code has an expected AUROC of 1/2, and the best of many random codes has a higher one:
    ``auroc_of_chance`` approximates the expected maximum over m independent random codes.
    """

    concepts: tuple[str, ...]
    auroc: FloatArray
    auroc_code: NDArray[np.intp]
    average_precision: FloatArray
    average_precision_code: NDArray[np.intp]
    f1: FloatArray
    f1_code: NDArray[np.intp]
    prevalence: FloatArray
    auroc_of_chance: FloatArray


def single_codes(concepts: object, codes: object = None) -> SingleCodes:
    """AUROC, average precision and F1 of the code that detects each concept best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(200) < 0.2
    >>> found = single_codes({"red": red.astype(int)}, np.column_stack([rng.normal(size=200), 3.0 * red]))
    >>> found.auroc.tolist(), found.auroc_code.tolist(), found.f1.tolist()
    ([1.0], [1], [1.0])
    """
    present, names, columns = concepts_and_codes(concepts, codes)
    n, n_present = len(present), present.sum(axis=0)
    areas = auroc_matrix(present, columns)
    precision, f1 = _precision_and_f1(present, columns)
    best = [matrix.argmax(axis=0) for matrix in (areas, precision, f1)]
    places = np.arange(len(names))
    # the AUROC of an independent code is asymptotically normal with mean .5; the maximum over m codes is about
    # sqrt(2 log m) standard deviations above the mean
    spread = np.sqrt((n + 1) / (12 * n_present * (n - n_present)))
    chance = 0.5 + spread * np.sqrt(2 * np.log(max(columns.shape[1], 2)))
    return SingleCodes(
        concepts=names,
        auroc=areas[best[0], places],
        auroc_code=best[0],
        average_precision=precision[best[1], places],
        average_precision_code=best[1],
        f1=f1[best[2], places],
        f1_code=best[2],
        prevalence=n_present / n,
        auroc_of_chance=np.minimum(chance, 1.0),
    )


def auroc_matrix(present: FloatArray, columns: SparseColumns) -> FloatArray:
    """AUROC of every code (rows) for every concept (columns); ties count one half."""
    n, n_present = len(present), present.sum(axis=0)
    found = np.empty((columns.shape[1], present.shape[1]))
    for block in columns.blocks():
        ranks = sparse_ranks(columns.columns(block))
        sums = ranks.above_zeros.products(present) + ranks.of_zeros[:, None] * n_present
        found[block] = (sums - n_present * (n_present + 1) / 2) / (n_present * (n - n_present))
    return found


def _precision_and_f1(present: FloatArray, columns: SparseColumns) -> tuple[FloatArray, FloatArray]:
    """Average precision and largest F1 of every code for every concept."""
    precision, f1 = np.empty((2, columns.shape[1], present.shape[1]))
    for block in columns.blocks(max(CELLS_IN_BLOCK // present.shape[1], 1)):
        precision[block], f1[block] = _of_block(present, columns.columns(block))
    return precision, f1


def _of_block(present: FloatArray, part: SparseColumns) -> tuple[FloatArray, FloatArray]:
    n_columns, n_present = part.shape[1], present.sum(axis=0)
    # all zeros of a column are one additional entry, with a size and a number of present samples
    column = np.r_[part.column_of_entry, np.arange(n_columns)]
    value = np.r_[part.values, np.zeros(n_columns)]
    size = np.r_[np.ones(part.values.size), part.n_zeros]
    hits = np.concatenate([present[part.rows], np.zeros((n_columns, present.shape[1]))])
    hits[part.values.size :] = n_present - part.products_with_ones(present)
    order = np.lexsort((-value, column))
    column, value, size, hits = column[order], value[order], size[order], hits[order]
    starts = part.starts[:-1] + np.arange(n_columns)  # every column has one additional entry, for its zeros
    reached = np.cumsum(size) - np.repeat((np.cumsum(size) - size)[starts], np.diff(np.r_[starts, size.size]))
    found = np.cumsum(hits, axis=0)
    found -= np.repeat((found - hits)[starts], np.diff(np.r_[starts, size.size]), axis=0)
    last = np.r_[(value[1:] != value[:-1]) | (column[1:] != column[:-1]), True]  # last of equal values
    found, reached, column = found[last], reached[last], column[last]
    first = np.r_[True, column[1:] != column[:-1]]
    gained = found - np.where(first[:, None], 0.0, np.vstack([np.zeros(found.shape[1]), found[:-1]]))
    share = np.divide(found, reached[:, None], out=np.zeros_like(found), where=reached[:, None] > 0)
    begins = np.flatnonzero(first)
    precision = np.add.reduceat(gained * share, begins, axis=0) / n_present
    f1 = np.maximum.reduceat(2 * found / (reached[:, None] + n_present), begins, axis=0)
    return precision, f1
