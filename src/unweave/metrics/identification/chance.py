"""What a random mixing gets by luck.

    E0(m, d) = E mean_j s_j   for codes c = A z, with z independent and A a Haar-random m x d matrix

Purity is then a squared loading, and R2 a squared projection, so no data are needed. With many codes some are nearly
pure by luck.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.metrics.identification.recovery import PURE_ENOUGH

SEED = 0
MOST_DRAWS, FEWEST_DRAWS = 8000, 20
MOST_NUMBERS = 4_000_000
STEP = 1.3  # ratio of the numbers of codes between which the level is interpolated, beyond 2 d


def chance_level(n_codes: float, n_factors: int) -> float:
    """E0, interpolated for numbers of codes that are not whole; 0 for one factor, which cannot be mixed.

    >>> chance_level(1, 4), round(chance_level(2, 2), 2)
    (0.25, 0.82)
    """
    if n_factors < 2:
        return 0.0
    n_codes = max(n_codes, 1.0)
    if n_codes <= 2 * n_factors:
        low, share = int(n_codes), n_codes - int(n_codes)
        high = low + 1
    else:
        step = int(np.log(n_codes / (2 * n_factors)) / np.log(STEP))
        low, high = (round(2 * n_factors * STEP**k) for k in (step, step + 1))
        share = float(np.clip(np.log(n_codes / low) / np.log(high / low), 0.0, 1.0))
    level = _mean_recovery(low, n_factors)
    return level if share == 0 else (1 - share) * level + share * _mean_recovery(high, n_factors)


@cache
def _mean_recovery(n_codes: int, n_factors: int) -> float:
    if n_codes == 1:
        return 1 / n_factors  # purities of one code add up to 1
    larger = max(n_codes, n_factors)
    n_draws = int(np.clip(MOST_NUMBERS // (larger * n_factors), FEWEST_DRAWS, MOST_DRAWS))
    rng = np.random.default_rng(SEED)
    mixings = np.linalg.qr(rng.normal(size=(n_draws, larger, n_factors)))[0][:, :n_codes]
    return float(recovery_of_mixings(mixings).mean())


def recovery_of_mixings(mixings: FloatArray) -> FloatArray:
    """s of every factor (b x d) for linear mixings of independent factors (b x m x d).

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
        for _ in range(2):  # twice, against rounding
            new = new - np.einsum("bjpk,bjp->bjk", spanned, np.einsum("bjpk,bjk->bjp", spanned, new))
        length = np.linalg.norm(new, axis=2, keepdims=True)
        new = np.divide(new, length, out=np.zeros_like(new), where=length > 1e-8)
        spanned = np.concatenate([spanned, new[:, :, None]], axis=2)
        read = np.minimum(read + np.square(np.einsum("bjj->bj", new)), 1.0)
        best = np.maximum(best, np.where(counts, np.sqrt(lowest * read), 0.0))
    return best


def n_distinct(do_codes: FloatArray, purity: FloatArray) -> float:
    """How many directions informative codes (columns) have between them.

    Two codes are one direction when they move together with the factors set independently (copies, up to monotone
    maps), or when both follow the same factor alone (sine and cosine of it). Between a likeness of .9 and .98 they are
    partly one.

    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> n_distinct(z[:, [0, 1, 1]], np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    2.0
    """
    if not do_codes.shape[1]:
        return 0.0
    centred = do_codes - do_codes.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    centred /= np.where(norms > 0, norms, 1.0)
    likeness = np.square(centred.T @ centred)
    shares = purity / np.maximum(purity.sum(axis=1, keepdims=True), 1e-12)
    for share in shares.T:
        np.maximum(likeness, share[:, None] * share, out=likeness)
    same = np.clip((likeness - 0.9) / 0.08, 0.0, 1.0)
    np.fill_diagonal(same, 1.0)
    return float((1 / same.sum(axis=1)).sum())
