"""The chance level of recovery: how well random mixings of the factors recover them.

For codes c = A z, with z independent and A a Haar-random m x d matrix, purities are squared loadings and R2 are squared
projections. Their recovery s is therefore computed from A alone, without data. If there are many codes, some are nearly
pure by chance.

    t = 1 - (1 - u) / (1 - q) - (1 - s / u) / (1 - min(q, .75)),    q the upper decile of s over random mixings

with s the recovery and u the recovery without noise. t is positive only if u exceeds the recovery of nine in ten random
mixings, and without noise it is 1 at u = 1. If q is low, noise costs as much as mixing. The cost of noise stops growing
at q = .75, because random mixings have no noise. Below 0, t continues with a tenth of the slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.metrics.identification.recovery import PURE_ENOUGH
from unweave.randomness import random_stream
from unweave.responses.code_responses import OF_OTHERS

MOST_DRAWS, FEWEST_DRAWS = 8000, 40
MOST_NUMBERS = 4_000_000
STEP = 1.3  # above 2 d codes, the level is interpolated between numbers of codes with this ratio
QUANTILE = 0.9
HIGHEST_QUANTILE = 1 - 1e-4
HIGHEST_FOR_NOISE = 0.75
LEAK, LOWEST = 0.1, -4.0  # slope of t below 0, and where it ends, so that stronger mixings rank lower
PRESENT = 0.2  # below this recovery a factor counts increasingly as absent (0) instead of mixed (negative)
COPIES = (0.98, 0.999)  # two codes are distinct below the first squared correlation, and copies above the second


@dataclass(frozen=True)
class Luck:
    """Chance level of recovery for random mixings with a given number of codes and factors.

    Attributes
    ----------
    quantile : float
        q, the upper decile of the recovery s of a factor.
    passing : float
        Share of factors for which a random mixing has a code so pure that it counts as a code of one factor.
    """

    quantile: float
    passing: float

    def beyond(self, recovered: FloatArray, unmixed: FloatArray) -> FloatArray:
        """Recovery relative to the chance level (t): -.4 for fully mixed factors, 0 for absent ones, at most 1.

        ``recovered`` is s of every factor, ``unmixed`` is s without the noise of the codes.

        >>> Luck(0.8, 0.0).beyond(np.array([1.0, 0.9, 0.9, 0.0]), np.array([1.0, 0.9, 1.0, 0.0])).round(2).tolist()
        [1.0, 0.5, 0.6, -0.0]
        """
        noiseless = np.divide(recovered, unmixed, out=np.zeros_like(unmixed), where=unmixed > 0)
        lost_to_noise = (1 - np.minimum(noiseless, 1.0)) / (1 - min(self.quantile, HIGHEST_FOR_NOISE))
        height = 1 - (1 - unmixed) / (1 - self.quantile) - lost_to_noise
        below = LEAK * np.maximum(height, LOWEST) * np.minimum(recovered / PRESENT, 1.0)
        return np.where(height > 0, height, below)

    def between(self, other: Luck, share: float) -> Luck:
        """Interpolate linearly between two chance levels; ``share`` is the weight of the other one."""
        mine, theirs = (np.array([each.quantile, each.passing]) for each in (self, other))
        return Luck(*((1 - share) * mine + share * theirs).tolist())


NO_LUCK = Luck(0.0, 0.0)


def share_identified(heights: FloatArray) -> float:
    """Share of the factors that is identified, from the recovery t of every factor relative to chance.

    The share is the mean of the positive t. If these add up to less than one factor, as they may by chance for a random
    mixing, negative t reduce the share. If no t is positive, the share is negative, and stronger mixings rank lower.

    >>> share_identified(np.array([1.0, -0.4, -0.4, 0.0])), round(share_identified(np.array([0.5, -0.4])), 2)
    (0.25, 0.15)
    """
    found, mixed = np.maximum(heights, 0.0), np.minimum(heights, 0.0)
    return float(found.mean() + mixed.mean() * max(0.0, 1.0 - found.sum()))


def luck(n_codes: float, n_factors: int) -> Luck:
    """Chance level for this many codes and factors, interpolated if ``n_codes`` is not an integer; 0 for one factor.

    >>> round(luck(2, 2).quantile, 2), round(luck(2, 2).passing, 2)
    (0.99, 0.04)
    """
    if n_factors < 2:
        return NO_LUCK
    n_codes = max(n_codes, 1.0)
    if n_codes <= 2 * n_factors:
        low, share = int(n_codes), n_codes - int(n_codes)
        high = low + 1
    else:
        step = int(np.log(n_codes / (2 * n_factors)) / np.log(STEP))
        low, high = (round(2 * n_factors * STEP**k) for k in (step, step + 1))
        share = float(np.clip(np.log(n_codes / low) / np.log(high / low), 0.0, 1.0))
    level = _luck_of_mixings(low, n_factors)
    return level if share == 0 else level.between(_luck_of_mixings(high, n_factors), share)


@cache
def _luck_of_mixings(n_codes: int, n_factors: int) -> Luck:
    larger = max(n_codes, n_factors)
    n_draws = int(np.clip(MOST_NUMBERS // (larger * n_factors), FEWEST_DRAWS, MOST_DRAWS))
    rng = random_stream(0, "mixings by chance")
    mixings = np.linalg.qr(rng.normal(size=(n_draws, larger, n_factors)))[0][:, :n_codes]
    recovered = recovery_of_mixings(mixings)
    pure = np.square(mixings / np.linalg.norm(mixings, axis=2, keepdims=True)).max(axis=1) >= 1 - OF_OTHERS
    recovered = np.where(pure, 1.0, recovered)
    return Luck(min(float(np.quantile(recovered, QUANTILE)), HIGHEST_QUANTILE), float(pure.mean()))


def recovery_of_mixings(mixings: FloatArray) -> FloatArray:
    """Recovery s of every factor (b x d) for b linear mixings (b x m x d) of independent factors.

    >>> recovery_of_mixings(np.array([[[0.6, 0.8], [-0.8, 0.6]]])).round(2).tolist()
    [[0.64, 0.64]]
    """
    n_draws, n_codes, n_factors = mixings.shape
    directions = mixings / np.linalg.norm(mixings, axis=2, keepdims=True)
    purity = np.square(directions)
    order = np.argsort(-purity, axis=1)
    spanned = np.zeros((n_draws, n_factors, 0, n_factors))
    read, best = np.zeros((2, n_draws, n_factors))
    for k in range(n_codes):
        lowest = np.take_along_axis(purity, order[:, k, None], axis=1)[:, 0]
        counts: NDArray[np.bool_] = (lowest >= PURE_ENOUGH) | (k == 0)
        if not (counts & (read < 1 - 1e-9)).any():
            break
        new = np.take_along_axis(directions, order[:, k, :, None], axis=1)
        for _ in range(2):  # Gram-Schmidt twice, because one pass loses orthogonality by rounding
            new = new - np.einsum("bjpk,bjp->bjk", spanned, np.einsum("bjpk,bjk->bjp", spanned, new))
        length = np.linalg.norm(new, axis=2, keepdims=True)
        new = np.divide(new, length, out=np.zeros_like(new), where=length > 1e-8)
        spanned = np.concatenate([spanned, new[:, :, None]], axis=2)
        read = np.minimum(read + np.square(np.einsum("bjj->bj", new)), 1.0)
        best = np.maximum(best, np.where(counts, np.sqrt(lowest * read), 0.0))
    return best


def n_distinct(do_codes: FloatArray, factor: NDArray[np.intp]) -> float:
    """Number of distinct directions among informative codes, the columns of ``do_codes``.

    Two codes count as one direction if they are copies up to monotone maps, that is, if they are almost perfectly
    correlated when all factors are set independently, or if both depend on the same factor alone, such as its sine and
    cosine. ``factor`` is the factor of each such code, and -1 for codes that mix factors.

    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> n_distinct(z[:, [0, 1, 1]], np.array([0, 1, 1]))
    2.0
    """
    if not do_codes.shape[1]:
        return 0.0
    centred = do_codes - do_codes.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    centred /= np.where(norms > 0, norms, 1.0)
    likeness = np.square(centred.T @ centred)
    likeness[(factor[:, None] == factor) & (factor >= 0)] = 1.0
    low, high = COPIES
    same = np.clip((likeness - low) / (high - low), 0.0, 1.0)
    np.fill_diagonal(same, 1.0)
    return float((1 / same.sum(axis=1)).sum())
