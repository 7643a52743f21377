"""Kernels for regression on several quantities at once, each given by one or more columns.

k_j(x, y) = x_j . y_j + exp(-|x_j - y_j|^2 / 2)
pairs     = mean_j k_j / 2 + mean_{j<l} k_j k_l / 2        functions of one and of two quantities
joint     = exp(-|x - y|^2 / (4 d))                          smooth functions of all d quantities together
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray

KernelName = Literal["pairs", "joint"]


def interaction_kernel(left: Sequence[FloatArray], right: Sequence[FloatArray], name: KernelName) -> FloatArray:
    """Kernel of every row of ``left`` with every row of ``right``, which have a block of columns per quantity.

    >>> x = [np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])]
    >>> interaction_kernel(x, x, "joint").round(3).tolist()
    [[1.0, 0.779], [0.779, 1.0]]
    """
    sums, squares = np.zeros((2, len(left[0]), len(right[0])))
    for here, there in zip(left, right, strict=True):
        inner = here @ there.T
        distance = np.square(here).sum(axis=1)[:, None] + np.square(there).sum(axis=1) - 2 * inner
        if name == "joint":
            sums += distance
            continue
        inner += np.exp(-0.5 * np.maximum(distance, 0.0, out=distance))
        sums += inner
        squares += np.square(inner)
    d = len(left)
    if name == "joint":
        return np.asarray(np.exp(np.maximum(sums, 0.0, out=sums) / (-4.0 * d)))
    if d == 1:
        return np.asarray(sums)
    return np.asarray(sums / (2 * d) + (np.square(sums) - squares) / (2 * d * (d - 1)))
