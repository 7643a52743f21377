"""Plug-in entropies of counts, in nats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy


def entropy_of_counts(counts: NDArray[Any], axis: int | tuple[int, ...] = -1) -> NDArray[np.float64]:
    """Entropy of the empirical distribution behind counts along these axes.

    >>> round(float(entropy_of_counts(np.array([5, 5]))), 4)
    0.6931
    """
    total = counts.sum(axis=axis)
    return np.asarray(np.log(total) - xlogy(counts, counts).sum(axis=axis) / total)
