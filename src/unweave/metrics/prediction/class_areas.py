"""Area under the ROC curve of every value of every factor against its other values."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.probes.logistic_probe import Classifier, area_under_curve
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.matrices import factor_labels, varying
from unweave.randomness import random_stream


@memoised(on="both")
def class_areas(
    evidence: Evidence, probe: Classifier, bins: int, test_share: float, max_rows: int, seed: int
) -> tuple[FloatArray, ...]:
    """Held-out area under the ROC curve of every value of every factor; nan for values missing in training or test."""
    rows = np.arange(evidence.n_rows)
    train, test = evidence.folds(max(2, round(1 / test_share)), seed)[0] if test_share else (rows, rows)
    if evidence.n_rows > max_rows:
        rng = random_stream(seed, "probed rows")
        shares = (round(max_rows * len(part) / (len(train) + len(test))) for part in (train, test))
        train, test = (rng.choice(part, size, replace=False) for part, size in zip((train, test), shares, strict=True))
    areas = []
    for labels, varies in zip(factor_labels(evidence, Histogram(bins)), varying(evidence), strict=True):
        area = np.full(int(labels.max()) + 1, np.nan)
        if varies and np.unique(labels[train]).size > 1:
            fitted = probe.fit(evidence.codes[train], labels[train].astype(np.intp))
            scores = fitted.log_probabilities(evidence.codes[test])
            for label, score in zip(fitted.labels.tolist(), scores, strict=True):
                positive = labels[test] == label
                if 0 < positive.sum() < positive.size:
                    area[label] = area_under_curve(score, positive)
        areas.append(area)
    return tuple(areas)
