"""Uniform and normal scores of ranks, which strictly increasing maps of a column do not change."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from unweave.arrays import FloatArray


def uniform_scores(columns: FloatArray) -> FloatArray:
    """Ranks of every column as numbers between 0 and 1; ties share their average.

    >>> uniform_scores(np.array([[3.0], [30.0], [4.0], [4.0]]))[:, 0].tolist()
    [0.125, 0.875, 0.5, 0.5]
    """
    return np.asfortranarray((rankdata(columns, axis=0) - 0.5) / len(columns))


def normal_scores(columns: FloatArray) -> FloatArray:
    """Normal quantiles of the ranks, with mean 0 and variance 1 in every column (all 0 for a constant column).

    >>> scores = normal_scores(np.array([[1.0], [2.0], [700.0]]))[:, 0]
    >>> scores.round(3).tolist()
    [-1.225, 0.0, 1.225]
    """
    scores = ndtri(uniform_scores(columns))
    scores -= scores.mean(axis=0)
    return np.asfortranarray(scores / np.maximum(scores.std(axis=0), np.finfo(np.float64).tiny))
