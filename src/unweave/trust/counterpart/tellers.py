"""Which codes predict a factor: one code, several that split it, or the best of several copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.regression.kernel_regression import GaussianKernel, unexplained_variance
from unweave.randomness import random_stream
from unweave.trust.counterpart.code_models import CodeModels
from unweave.trust.counterpart.factor_designs import TINY

COPIES = 0.995
TOLD = 0.9  # R2 of a factor predicted from its own codes, above which mixed codes are not needed
WHOLE = 0.97  # R2 that kernel regression reaches with codes that determine a factor
OWN_FACTOR = 0.5  # share of a code's variance that its factor must explain if the code is to represent the factor
MOST_CODES_READ = 20
ROWS_READ = 300
KERNELS = (GaussianKernel(0.3, 1e-3), GaussianKernel(0.7, 1e-3), GaussianKernel(1.5, 1e-3))
TOGETHER = 0.05  # gain in R2 over the best single code at which several codes of a factor count as split


@dataclass(frozen=True)
class Teller:
    """The codes that predict a factor, and the R2 of the prediction; no codes are named if only many codes predict it.

    One code is enough for a numeric factor. An angle needs two codes, and k classes need k - 1 indicators.
    """

    codes: tuple[int, ...]
    share: float = 1.0


def each_told(tellers: Mapping[int, Teller], n_factors: int) -> bool:
    """Whether the codes that belong to a factor predict it almost completely, for every factor.

    >>> each_told({0: Teller((0,), 0.99)}, 1), each_told({0: Teller((0,), 0.99)}, 2)
    (True, False)
    """
    return all(j in tellers and tellers[j].share >= TOLD for j in range(n_factors))


def stands_for_its_factor(found: CodeModels) -> NDArray[np.bool_]:
    """Which codes belong to a factor that explains at least half of their variance (m booleans)."""
    spread = np.maximum(np.square(found.code_scores).mean(axis=0), TINY)
    explained = 1 - np.square(found.left).mean(axis=0) / spread
    return np.asarray((found.owner >= 0) & ~found.silent & ~found.collapsed & (explained >= OWN_FACTOR))


def tellers_of(found: CodeModels, seed: int) -> dict[int, Teller]:
    """The codes that predict each factor that codes belong to."""
    some = random_stream(seed, "rows of tellers").permutation(len(found.codes))[:ROWS_READ]
    stands = stands_for_its_factor(found)
    return {int(j): _teller(found, int(j), some, stands) for j in np.unique(found.owner[stands])}


def _teller(found: CodeModels, factor: int, rows: Rows, stands: NDArray[np.bool_]) -> Teller:
    own = distinct_codes(found.code_scores, np.flatnonzero(stands & (found.owner == factor)))[:MOST_CODES_READ]
    codes, target = found.code_scores[np.ix_(rows, own)], found.factor_scores[rows, factor]
    alone = np.array([_read_share(codes[:, [place]], target) for place in range(own.size)])
    if own.size == 1:
        return Teller((int(own[0]),), float(alone[0]))
    together = _read_share(codes, target)
    n_needed = found.designs[factor].plain.shape[1]
    if together > alone.max() + TOGETHER:
        share = 1.0 if together >= WHOLE else together
        return Teller(tuple(own[np.argsort(-alone)[:n_needed]].tolist()) if n_needed > 1 else (), share)
    # of equally good codes, the one with the largest linear correlation with the factor
    lines = np.abs([np.corrcoef(found.codes[:, i], found.factors[:, factor])[0, 1] for i in own])
    best = int(np.where(alone >= alone.max() - TOGETHER, lines, -1.0).argmax())
    return Teller((int(own[best]),), float(alone[best]))


def _read_share(codes: FloatArray, target: FloatArray) -> float:
    """Share of the target's variance that kernel regression predicts from the codes, leave-one-out."""
    target = target[:, None]
    left = min(unexplained_variance(target, kernel.leave_one_out(codes, target)) for kernel in KERNELS)
    return float(np.clip(1 - left, 0.0, 1.0))


def distinct_codes(scores: FloatArray, codes: Rows) -> Rows:
    """These codes without copies of each other."""
    if codes.size < 2:
        return codes
    correlations = np.abs(np.corrcoef(scores[:, codes], rowvar=False))
    copies = np.triu(correlations > COPIES, 1).any(axis=0)
    return codes[~copies]
