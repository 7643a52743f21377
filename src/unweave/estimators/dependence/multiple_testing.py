"""p-values adjusted for multiple testing."""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.arrays import FloatArray

Correction = Literal["holm", "benjamini-hochberg", "none"]


def corrected(p_values: FloatArray, correction: Correction) -> FloatArray:
    """Adjusted p-values, to be compared with the significance level; nan stays nan and does not count as a test.

    Holm (1979) controls the probability of any false rejection, and Benjamini and Hochberg (1995) the expected share of
    false rejections among all rejections.

    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> corrected(np.array([0.01, 0.04, 0.03]), "benjamini-hochberg").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    if correction not in ("holm", "benjamini-hochberg", "none"):
        raise ValueError(f"correction={correction!r} is not known: use 'holm', 'benjamini-hochberg' or 'none'.")
    if correction == "none":
        return p_values
    given = np.isfinite(p_values)
    order = np.argsort(p_values[given], kind="stable")
    ascending, n_tests = p_values[given][order], order.size
    place = np.arange(1, n_tests + 1)
    if correction == "holm":
        raised = np.maximum.accumulate(ascending * (n_tests + 1 - place))
    else:
        raised = np.minimum.accumulate((ascending * n_tests / place)[::-1])[::-1]
    within = np.empty(n_tests)
    within[order] = np.minimum(raised, 1.0)
    result = np.full(p_values.shape, np.nan)
    result[given] = within
    return result
