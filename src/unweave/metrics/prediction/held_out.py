"""Out-of-fold predictions of factors from codes."""

from __future__ import annotations

import numpy as np

from unweave.estimators.binning import FloatArray
from unweave.estimators.probes import Probe
from unweave.evidence import Evidence
from unweave.matrices import target_columns, varying
from unweave.memo import memoised


@memoised(on="both")
def held_out_r2(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> FloatArray:
    """R2 of every factor on rows the probe did not see: 1 - squared errors / squared deviations from the training mean.

    Test codes are clipped to their training range: a probe says nothing about codes it has never seen the like of, and
    one heavy-tailed code would otherwise decide the score. Constant factors get nan.
    """
    used = np.flatnonzero(varying(evidence)).tolist()
    columns = [target_columns(evidence, j) for j in used]
    targets = np.column_stack(columns)
    errors, deviations = np.zeros((2, targets.shape[1]))
    for train, test in evidence.folds(n_folds, seed):
        seen, unseen = evidence.codes[train], evidence.codes[test]
        fitted = probe.regress(seen, targets[train], seed)
        predicted = fitted.predict(np.clip(unseen, seen.min(axis=0), seen.max(axis=0)))
        errors += np.square(targets[test] - predicted).sum(axis=0)
        deviations += np.square(targets[test] - targets[train].mean(axis=0)).sum(axis=0)
    stops = np.cumsum([block.shape[1] for block in columns])
    r2 = np.full(evidence.n_factors, np.nan)
    starts = np.r_[0, stops[:-1]]
    r2[used] = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return r2
