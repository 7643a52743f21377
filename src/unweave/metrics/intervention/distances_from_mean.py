"""High quantile of the distances of codes from their mean, while a factor is held fixed."""

from __future__ import annotations

import math

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.information.binning import Binning
from unweave.evidence import Evidence
from unweave.metrics.intervention.comparable_codes import Scale, comparable_codes, intervenes
from unweave.metrics.intervention.fixed_factors import cells, sampled
from unweave.metrics.intervention.held_factors import one_held
from unweave.randomness import random_stream

ROWS_PER_VALUE = 200


def mean_distances(
    evidence: Evidence,
    ceiling: FloatArray,
    scale: Scale,
    bins: int,
    binning: Binning,
    quantile: float,
    values: str,
    seed: int,
) -> tuple[FloatArray, float]:
    """Mean over a factor's values of the distance quantile (live codes x factors), and the typical rows per value.

    The second result is the smallest over factors of the median number of rows per value.
    """
    codes, rows = comparable_codes(evidence, scale), np.arange(evidence.n_rows)
    distances = np.full((codes.shape[1], evidence.n_factors), np.nan)
    smallest = math.inf
    for j, held in one_held(evidence).items():
        if intervenes(evidence):
            rng = random_stream(seed, "fixed values", j)
            groups = [drawn for drawn, _ in sampled(evidence, held, bins, ROWS_PER_VALUE, scale, rng)]
        else:
            groups = [codes[cell] for cell in cells(evidence, held, rows, bins, binning=binning, fewest=1)]
        sizes = [len(group) for group in groups]
        smallest = min(smallest, float(np.median(sizes)))
        within = [np.minimum(far(group, quantile), ceiling) for group in groups]
        distances[:, j] = np.average(within, axis=0, weights=sizes if values == "mass" else None)
    return distances, smallest


def far(group: FloatArray, quantile: float) -> FloatArray:
    """Quantile of every code's distances from its mean; sorting a transposed copy is faster than np.quantile."""
    distances = np.sort(np.abs(group - group.mean(axis=0)).T.copy(), axis=1)
    below, share = divmod(quantile * (len(group) - 1), 1)
    left, right = distances[:, int(below)], distances[:, min(int(below) + 1, len(group) - 1)]
    return np.asarray(left + share * (right - left))
