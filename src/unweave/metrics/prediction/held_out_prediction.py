"""Out-of-fold predictions of factors from codes."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.probes.linear_probes import Linear
from unweave.estimators.probes.probe_protocols import PreparedProbe, Probe
from unweave.estimators.protocol_defaults import own_or_default
from unweave.estimators.totals.linear_probe_from_moments import held_out_r2_from
from unweave.estimators.totals.moments import N_FOLDS
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.matrices import target_columns, varying
from unweave.metrics.prediction.probed_codes import probed_codes

LARGEST_KEPT = 25_000_000  # numbers in the linear designs of all folds: 200 MB
MARGIN = 0.5  # how far a prediction may lie outside the range of the training targets, in units of this range
TRUSTED = 0.01  # with a smaller unexplained share of the training variance, predictions may lie further outside
ABSURD = 10.0  # predictions further outside, in units of the range, are replaced by the training mean


@memoised(on="both")
def held_out_r2(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> FloatArray:
    """R2 of every factor on rows the probe did not see: 1 - squared errors / squared deviations from the training mean.

    Predictions are clipped near the range of the training targets, unless the training targets are predicted almost
    exactly. Otherwise one code with a heavy tail could dominate the score. The codes themselves are not clipped,
    because the score would then depend on their basis. Constant factors are nan. If the rows are read in blocks, the
    folds are contiguous parts of every block and do not depend on the seed.
    """
    known = evidence.all_rows if evidence.is_summary else None
    if known is not None and probe == Linear() and n_folds == N_FOLDS:
        found = held_out_r2_from(known.plan, known.totals)
        if found is not None:
            return found
    used = np.flatnonzero(varying(evidence)).tolist()
    columns = [target_columns(evidence, j) for j in used]
    targets = np.column_stack(columns)
    errors, deviations = np.zeros((2, targets.shape[1]))
    folds = evidence.folds(n_folds, seed)
    codes = probed_codes(evidence, probe)
    # permutations share the folds of the original only if no class is to be kept in equal shares
    own_folds = evidence.permuted_from is not None and bool(evidence.class_columns)
    is_kept = n_folds * min(codes.shape) ** 2 <= LARGEST_KEPT and not own_folds
    kept = _prepared(evidence, probe, n_folds, seed) if is_kept else (None,) * len(folds)
    for (train, test), prepared in zip(folds, kept, strict=True):
        seen, wanted, left_out = codes[train], targets[train], targets[test]
        fitted = (prepared or own_or_default(Probe.prepared, probe)(seen)).fit(seen, wanted, seed)
        predicted = fitted.predict(codes[test])
        if (_beyond(wanted, predicted) > 0).any():
            predicted = _near(wanted, predicted, fitted.predict(seen))
        errors += np.square(left_out - predicted).sum(axis=0)
        deviations += np.square(left_out - wanted.mean(axis=0)).sum(axis=0)
    stops = np.cumsum([block.shape[1] for block in columns])
    r2 = np.full(evidence.n_factors, np.nan)
    starts = np.r_[0, stops[:-1]]
    r2[used] = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return r2


@memoised(on="codes")
def _prepared(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> tuple[PreparedProbe, ...]:
    """Quantities that the probe computes from the training codes of every fold alone."""
    prepared = own_or_default(Probe.prepared, probe)
    codes = probed_codes(evidence, probe)
    return tuple(prepared(codes[train]) for train, _ in evidence.folds(n_folds, seed))


def _beyond(targets: FloatArray, predicted: FloatArray) -> FloatArray:
    """Distance of predictions from the range of the training targets, in units of the range; negative inside it."""
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    width = np.maximum(highest - lowest, np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(lowest - predicted, predicted - highest) / width)


def _near(targets: FloatArray, predicted: FloatArray, on_training: FloatArray) -> FloatArray:
    """Clip predictions near the range of the training targets; those far outside become the training mean.

    The better the training rows are predicted, the further outside a prediction may lie. A heavy-tailed target has a
    few held-out values far outside the range of the training targets, and a probe that is nearly exact on the training
    rows may predict them correctly.
    """
    variance = np.maximum(targets.var(axis=0), np.finfo(np.float64).tiny)
    left = np.square(targets - on_training).mean(axis=0) / variance
    trusted = np.maximum(1.0, TRUSTED / np.maximum(left, np.finfo(np.float64).tiny))
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    reach = MARGIN * (highest - lowest) * trusted
    absurd = _beyond(targets, predicted) > ABSURD * trusted
    return np.where(absurd, targets.mean(axis=0), np.clip(predicted, lowest - reach, highest + reach))
