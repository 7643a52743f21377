"""Counts of concepts that are split over several codes, or partly absorbed by other codes.

A code is specific to a concept if at least 90 % of the samples on which it is active have the concept (more, if over
four fifths of all samples have it). The specific code that is active on most samples of the concept is its main code,
and the share of these samples is its coverage. A concept is split if the main code covers less than two thirds, and all
specific codes together cover more than it does. A concept is absorbed if the main code covers two thirds or more, but
is inactive on samples of the concept on which another specific code is active instead (after Chanin et al. 2024, from
activations alone).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.metrics.concepts.concept_inputs import concepts_and_codes

PRECISE = 0.9
COVERING = 0.9
MAIN = 2 / 3


@dataclass(frozen=True)
class SplitConcepts:
    """For every concept, the number of specific codes, whether it is split, and how many codes absorb part of it.

    ``specific`` is the number of codes that are active almost only on the concept. ``main`` is the one of them that
    covers most of it (-1 if there is none), ``coverage`` is the share of the concept's samples that it covers, and
    ``together`` is the share that all specific codes cover. ``absorbing`` is the number of absorbing codes.
    """

    concepts: tuple[str, ...]
    specific: NDArray[np.intp]
    main: NDArray[np.intp]
    coverage: NDArray[np.float64]
    together: NDArray[np.float64]
    absorbing: NDArray[np.intp]

    @property
    def split(self) -> NDArray[np.bool_]:
        """True for concepts that are split over several specific codes.

        The main code covers less than two thirds of the concept's samples, and all specific codes together cover more
        than the main code does.
        """
        return (self.specific > 1) & (self.coverage < MAIN) & (self.together > self.coverage)

    @property
    def absorbed(self) -> NDArray[np.bool_]:
        """True for concepts whose main code covers two thirds or more, while other specific codes cover the rest."""
        return self.absorbing > 0

    @property
    def n_split(self) -> int:
        """Number of concepts that are split."""
        return int(self.split.sum())

    @property
    def n_absorbed(self) -> int:
        """Number of concepts that are absorbed."""
        return int(self.absorbed.sum())


def split_concepts(concepts: object, codes: object = None, *, fewest: int = 5) -> SplitConcepts:
    """Find the concepts that are split over several codes, and those that other codes absorb in part.

    Parameters
    ----------
    concepts, codes : tables of the same samples
        Concepts have two values. A code is active on a sample if its value is not zero.
    fewest : int
        Smallest number of active samples for which a code can be specific or absorbing.

    Examples
    --------
    >>> animal = np.repeat([1, 0], 100)
    >>> halves = np.zeros((200, 2))
    >>> halves[:50, 0], halves[50:100, 1] = 1.0, 1.0
    >>> found = split_concepts({"animal": animal}, halves)
    >>> found.n_split, found.n_absorbed, found.specific.tolist()
    (1, 0, [2])
    """
    present, names, columns = concepts_and_codes(concepts, codes)
    hits, size = columns.products_with_ones(present), columns.n_entries
    n_present = present.sum(axis=0)
    precision = hits / np.maximum(size, 1)[:, None]
    base = n_present / len(present)
    specific = (precision >= np.maximum(PRECISE, (1 + base) / 2)) & (size >= fewest)[:, None]
    counts, main, absorbing = (np.zeros(len(names), dtype=np.intp) for _ in range(3))
    coverage, together = np.zeros(len(names)), np.zeros(len(names))
    for j in range(len(names)):
        own = np.flatnonzero(specific[:, j])
        counts[j], main[j] = own.size, -1
        if not own.size:
            continue
        best = own[hits[own, j].argmax()]
        main[j], coverage[j] = best, hits[best, j] / n_present[j]
        covered = _rows_of(columns, own)
        together[j] = present[covered, j].sum() / n_present[j]
        if MAIN <= coverage[j] < 1:
            absorbing[j] = _n_absorbing(columns, own, int(best), present[:, j] > 0, fewest)
    return SplitConcepts(names, counts, main, coverage, together, absorbing)


def _rows_of(columns: SparseColumns, which: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(columns.chosen(which).rows)


def _n_absorbing(
    columns: SparseColumns, own: NDArray[np.intp], main: int, present: NDArray[np.bool_], fewest: int
) -> int:
    """Number of specific codes that are active mostly where the main code is inactive and the concept is present."""
    silent = present.copy()
    silent[columns.rows[columns.starts[main] : columns.starts[main + 1]]] = False
    n_absorbing = 0
    for code in own[own != main].tolist():
        rows = columns.rows[columns.starts[code] : columns.starts[code + 1]]
        n_absorbing += int(silent[rows].sum() >= max(fewest, COVERING * rows.size))
    return n_absorbing
