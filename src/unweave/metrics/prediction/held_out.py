"""Out-of-fold predictions of factors from codes."""

from __future__ import annotations

import numpy as np

from unweave.estimators.binning import FloatArray
from unweave.estimators.linear_probes import Linear, LinearDesign
from unweave.estimators.probes import Probe
from unweave.evidence import Evidence
from unweave.matrices import target_columns, varying
from unweave.memo import memoised

LARGEST_KEPT = 25_000_000  # numbers in the designs of all folds: 200 MB


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
    share_designs = isinstance(probe, Linear) and n_folds * min(evidence.codes.shape) ** 2 <= LARGEST_KEPT
    of_codes = _training_codes(evidence, n_folds, seed, share_designs)
    for (train, test), (limits, design) in zip(evidence.folds(n_folds, seed), of_codes, strict=True):
        seen, wanted, left_out = evidence.codes[train], targets[train], targets[test]
        fitted = design.fit(seen, wanted) if design else probe.regress(seen, wanted, seed)
        predicted = fitted.predict(np.clip(evidence.codes[test], *limits))
        errors += np.square(left_out - predicted).sum(axis=0)
        deviations += np.square(left_out - wanted.mean(axis=0)).sum(axis=0)
    stops = np.cumsum([block.shape[1] for block in columns])
    r2 = np.full(evidence.n_factors, np.nan)
    starts = np.r_[0, stops[:-1]]
    r2[used] = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return r2


@memoised(on="codes")
def _training_codes(
    evidence: Evidence, n_folds: int, seed: int, with_designs: bool
) -> tuple[tuple[FloatArray, LinearDesign | None], ...]:
    """Smallest and largest training value of every code (2 x m) in every fold, and what a linear fit needs of them."""
    training = (evidence.codes[train] for train, _ in evidence.folds(n_folds, seed))
    return tuple(
        (np.stack([seen.min(axis=0), seen.max(axis=0)]), Linear().design(seen) if with_designs else None)
        for seen in training
    )
