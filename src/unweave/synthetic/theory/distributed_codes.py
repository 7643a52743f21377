"""MCC if every factor is split over several codes, E8 of 003."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from unweave.synthetic.encoders.overcomplete import Distributed


def mcc_of_distributed(k: int) -> float:
    """MCC of E8 with k codes for each factor, for infinitely many samples of standard normal factors.

    For k = 2, it is corr(z, sin z) = e^(-1/2) / sqrt((1 - e^(-2)) / 2) = .9225, because cos z is even and therefore
    uncorrelated with z (the text of 003 says .85). For k > 2, it is the largest corr(z, z 1[z in I]) of the intervals
    I = [a, b], from the truncated moments E[z 1_I] = phi(a) - phi(b) and E[z^2 1_I] = P(I) + a phi(a) - b phi(b).

    >>> [round(mcc_of_distributed(k), 3) for k in (2, 3, 5, 10)]
    [0.922, 0.819, 0.729, 0.599]
    """
    if k == 2:
        return math.exp(-0.5) / math.sqrt((1 - math.exp(-2)) / 2)
    edges = np.concatenate([[-np.inf], Distributed(k).cuts, [np.inf]])
    density = np.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
    weighted = np.where(np.isfinite(edges), edges, 0.0) * density
    mean = density[:-1] - density[1:]
    second = np.diff(ndtr(edges)) + weighted[:-1] - weighted[1:]
    return float((second / np.sqrt(second - mean**2)).max())
