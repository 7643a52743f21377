"""The loss-capacity curve of every factor, and the area above it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.probes.capacity_ladder import LinearThenTrees
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.matrices import target_columns, varying
from unweave.randomness import random_stream

Floor = Literal["zero", "best"]
NOTHING_READ = 0.05


def area_above_curve(capacities: FloatArray, losses: FloatArray, floor: Floor) -> float:
    """Normalised area above one curve of losses, which are relative to the loss without codes.

    With ``floor='best'`` the area is measured from the lowest loss, and is nan if no probe reduces the loss by 5 %.

    >>> area_above_curve(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.5, 0.0]), "zero")
    0.625
    """
    lowest = np.minimum.accumulate(np.minimum(losses, 1.0))
    span = float(capacities[-1] - capacities[0])
    if floor == "zero":
        return float(1 - np.trapezoid(lowest, capacities) / span)
    if lowest[-1] > 1 - NOTHING_READ:
        return float("nan")
    return float(1 - np.trapezoid(lowest - lowest[-1], capacities) / (span / 2))


@memoised(on="both")
def losses_by_capacity(
    evidence: Evidence, ladder: LinearThenTrees, test_share: float, max_rows: int, seed: int
) -> FloatArray:
    """Held-out loss of every probe relative to that of the training mean (probes x d); nan for constant factors."""
    train, test = evidence.folds(max(2, round(1 / test_share)), seed)[0]
    if evidence.n_rows > max_rows:
        rng, share = random_stream(seed, "probed rows"), max_rows / evidence.n_rows
        train, test = (rng.choice(part, round(share * len(part)), replace=False) for part in (train, test))
    losses = np.full((len(ladder.n_trees), evidence.n_factors), np.nan)
    used = np.flatnonzero(varying(evidence))
    columns = [target_columns(evidence, j) for j in used.tolist()]
    targets, starts = np.column_stack(columns), np.cumsum([0] + [block.shape[1] for block in columns[:-1]])
    wrong = ladder.losses(evidence.codes[train], targets[train], evidence.codes[test], targets[test], seed)
    without_codes = np.square(targets[test] - targets[train].mean(axis=0)).sum(axis=0)
    losses[:, used] = np.add.reduceat(wrong, starts, axis=1) / np.add.reduceat(without_codes, starts)
    return losses
