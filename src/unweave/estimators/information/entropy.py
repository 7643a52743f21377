"""Plug-in entropies of counts, in nats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy


def entropy_of_counts(counts: NDArray[Any], axis: int | tuple[int, ...] = -1) -> NDArray[np.float64]:
    """Entropy of the empirical distribution of counts along these axes; exactly 0 if all counts are in one cell.

    >>> round(float(entropy_of_counts(np.array([5, 5]))), 4), float(entropy_of_counts(np.array([0, 601])))
    (0.6931, 0.0)
    """
    total = counts.sum(axis=axis)
    entropy = np.log(total) - xlogy(counts, counts).sum(axis=axis) / total
    return np.where(counts.max(axis=axis) == total, 0.0, entropy)


def label_entropies(columns: Iterable[NDArray[np.integer]]) -> NDArray[np.float64]:
    """Entropy of every column of labels.

    >>> label_entropies([np.array([0, 1, 0, 1]), np.array([0, 0, 0, 0])]).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.array([float(entropy_of_counts(np.bincount(column))) for column in columns])
