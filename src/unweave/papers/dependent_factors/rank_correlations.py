"""Rank correlations over encoders with bootstrap intervals, which 004 does not give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.papers.dependent_factors.measured_encoders import Measured

N_DRAWS = 2000


@dataclass(frozen=True)
class Correlations:
    """Spearman correlations of metrics with a target (levels x metrics) and their 90 % intervals."""

    levels: tuple[str, ...]
    metrics: tuple[str, ...]
    n_encoders: int
    values: FloatArray
    lower: FloatArray
    upper: FloatArray

    def of(self, metric: str) -> FloatArray:
        """Correlations of one metric at all levels."""
        return self.values[:, self.metrics.index(metric)]

    def others(self, *metrics: str) -> FloatArray:
        """Correlations of all metrics except these, levels x metrics."""
        return self.values[:, [j for j, name in enumerate(self.metrics) if name not in metrics]]


def correlations(measured: Measured, seed: int = 0) -> Correlations:
    """Compute rank correlations over encoders at every level of dependence."""
    shape = (len(measured.levels), len(measured.metrics))
    values, lower, upper = np.empty(shape), np.empty(shape), np.empty(shape)
    for j, scores in enumerate(measured.metrics.values()):
        for i in range(len(measured.levels)):
            values[i, j] = spearman(scores[i], measured.target[i])
            lower[i, j], upper[i, j] = interval(scores[i], measured.target[i], seed)
    n_encoders = len(measured.encoders)
    return Correlations(measured.levels, tuple(measured.metrics), n_encoders, values, lower, upper)


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Rank correlation; nan if either side is constant or undefined.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 27.0]))
    1.0
    """
    if np.isnan(first).any() or np.isnan(second).any() or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1].round(12))


def interval(first: FloatArray, second: FloatArray, seed: int = 0) -> tuple[float, float]:
    """90 % bootstrap interval of the rank correlation, resampling encoders."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(first), size=(N_DRAWS, len(first)))
    if np.isnan(first).any() or np.isnan(second).any():
        return float("nan"), float("nan")
    ranks = [rankdata(side[drawn], axis=1) for side in (first, second)]
    one, other = (table - table.mean(axis=1, keepdims=True) for table in ranks)
    sizes = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    defined = ((one * other).sum(axis=1)[sizes > 0] / sizes[sizes > 0]).round(12)
    if defined.size == 0:
        return float("nan"), float("nan")
    return float(np.quantile(defined, 0.05)), float(np.quantile(defined, 0.95))
