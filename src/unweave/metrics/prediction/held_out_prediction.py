"""Out-of-fold predictions of factors from codes."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.probes.linear_probes import Linear, LinearDesign
from unweave.estimators.probes.probes import FittedProbe, Probe
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.matrices import target_columns, varying

LARGEST_KEPT = 25_000_000  # numbers in the designs of all folds: 200 MB
MARGIN = 0.5  # of the range of the training targets: how far beyond it a prediction may lie
ABSURD = 10.0  # ranges beyond which a prediction says nothing, not even a direction
ROWS_PER_CODE = 5  # fewer do not tell the small directions of the codes from noise


@memoised(on="both")
def held_out_r2(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> FloatArray:
    """R2 of every factor on rows the probe did not see: 1 - squared errors / squared deviations from the training mean.

    Predictions stay near the range of the training targets: one heavy-tailed code would otherwise decide the score.
    The codes are left as they are, because a limit on them would hold for one basis of the codes only. Constant
    factors get nan.
    """
    used = np.flatnonzero(varying(evidence)).tolist()
    columns = [target_columns(evidence, j) for j in used]
    targets = np.column_stack(columns)
    errors, deviations = np.zeros((2, targets.shape[1]))
    folds = evidence.folds(n_folds, seed)
    is_kept = n_folds * min(evidence.codes.shape) ** 2 <= LARGEST_KEPT
    kept = _designs(evidence, n_folds, seed) if isinstance(probe, Linear) and is_kept else (None,) * len(folds)
    for (train, test), design in zip(folds, kept, strict=True):
        seen, wanted, left_out = evidence.codes[train], targets[train], targets[test]
        if isinstance(probe, Linear):
            fitted: FittedProbe = (design or _design(seen)).fit(seen, wanted)
        else:
            fitted = probe.regress(seen, wanted, seed)
        predicted = _near(wanted, fitted.predict(evidence.codes[test]))
        errors += np.square(left_out - predicted).sum(axis=0)
        deviations += np.square(left_out - wanted.mean(axis=0)).sum(axis=0)
    stops = np.cumsum([block.shape[1] for block in columns])
    r2 = np.full(evidence.n_factors, np.nan)
    starts = np.r_[0, stops[:-1]]
    r2[used] = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return r2


@memoised(on="codes")
def _designs(evidence: Evidence, n_folds: int, seed: int) -> tuple[LinearDesign, ...]:
    """What a linear fit needs of the training codes of every fold."""
    return tuple(_design(evidence.codes[train]) for train, _ in evidence.folds(n_folds, seed))


def _design(codes: FloatArray) -> LinearDesign:
    """The design of a linear fit whose predictions do not depend on the basis of the codes, given rows enough."""
    design = Linear().design(codes)
    n_rows, n_codes = codes.shape
    return design.whitened(n_rows) if n_rows >= ROWS_PER_CODE * n_codes else design


def _near(targets: FloatArray, predicted: FloatArray) -> FloatArray:
    """Predictions held near the range of the training targets; absurd ones become the training mean."""
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    width = highest - lowest
    absurd = np.abs(predicted - (lowest + width / 2)) > ABSURD * width
    inside = np.clip(predicted, lowest - MARGIN * width, highest + MARGIN * width)
    return np.where(absurd, targets.mean(axis=0), inside)
