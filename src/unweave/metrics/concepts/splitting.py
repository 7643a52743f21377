"""Concepts that are split over several codes, and codes that are absorbed by others, as counts.

A code detects a concept where its F1, active against present, passes a threshold, or where it is active almost only on
samples of the concept. A concept is split when several codes are almost only active on it and none covers it alone. It
is absorbed when its best code is silent on samples of the concept on which another code, active almost only on the
concept, is active instead (after Chanin et al. 2024, from activations alone). A code that covers two thirds of a
concept or more is its main code; below that the concept counts as split.
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
    """Per concept: how many codes are specific to it, whether it is split, and how many codes absorb part of it.

    ``specific`` counts codes that are active almost only on the concept and on more of it than by chance. ``main`` is
    the one that covers most of it (-1 where there is none), ``coverage`` the share that it covers, ``together`` the
    share that all specific codes cover.
    """

    concepts: tuple[str, ...]
    specific: NDArray[np.intp]
    main: NDArray[np.intp]
    coverage: NDArray[np.float64]
    together: NDArray[np.float64]
    absorbing: NDArray[np.intp]

    @property
    def split(self) -> NDArray[np.bool_]:
        """Concepts that no code covers alone and several cover together, none of them two thirds."""
        return (self.specific > 1) & (self.coverage < MAIN) & (self.together > self.coverage)

    @property
    def absorbed(self) -> NDArray[np.bool_]:
        """Concepts whose main code covers two thirds or more, while other codes are active on part of the rest."""
        return self.absorbing > 0

    @property
    def n_split(self) -> int:
        """Number of concepts that are split."""
        return int(self.split.sum())

    @property
    def n_absorbed(self) -> int:
        """Number of concepts with a main code from which others take samples."""
        return int(self.absorbed.sum())


def split_concepts(concepts: object, codes: object = None, *, fewest: int = 5) -> SplitConcepts:
    """Count concepts that are split over several codes, and those whose main code others absorb samples from.

    Parameters
    ----------
    concepts, codes : tables of the same samples
        Concepts of two values; codes, of which an entry other than zero is active.
    fewest : int
        Samples on which a code has to be active before it counts as specific.

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
    """Specific codes that are active mostly where the main code is silent although the concept is present."""
    silent = present.copy()
    silent[columns.rows[columns.starts[main] : columns.starts[main + 1]]] = False
    n_absorbing = 0
    for code in own[own != main].tolist():
        rows = columns.rows[columns.starts[code] : columns.starts[code + 1]]
        n_absorbing += int(silent[rows].sum() >= max(fewest, COVERING * rows.size))
    return n_absorbing
