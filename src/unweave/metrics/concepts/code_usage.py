"""How often codes are active: their density, dead codes, and codes that are always active."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence import Evidence

DENSE = 0.5


@dataclass(frozen=True)
class CodeUsage:
    """Share of samples on which each code is active (not zero), and indices of codes that are dead, dense or always on.

    ``active_per_row`` is the mean number of active codes per sample, known as L0.
    """

    density: FloatArray
    active_per_row: float
    dead: NDArray[np.intp]
    dense: NDArray[np.intp]
    always_on: NDArray[np.intp]


def code_usage(codes: object) -> CodeUsage:
    """Density of every code, and the codes that are dead, dense (active on more than half of the samples) or always on.

    Examples
    --------
    >>> found = code_usage([[0.0, 1.0, 0.0], [0.0, 2.0, 3.0]])
    >>> found.dead.tolist(), found.always_on.tolist(), found.active_per_row
    ([0], [1], 1.5)
    """
    evidence = codes if isinstance(codes, Evidence) else Evidence(None, codes)
    sparse = evidence.sparse_codes
    counts = (evidence.codes != 0).sum(axis=0) if sparse is None else sparse.n_entries
    density = counts / evidence.n_rows
    return CodeUsage(
        density=density,
        active_per_row=float(counts.sum() / evidence.n_rows),
        dead=np.flatnonzero(counts == 0),
        dense=np.flatnonzero(density > DENSE),
        always_on=np.flatnonzero(counts == evidence.n_rows),
    )
