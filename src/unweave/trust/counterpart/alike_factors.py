"""Factors that nearly say the same, and codes that follow one of them rather than both.

Where x and y lie near a curve, many functions of both fit a code equally well on these rows, and differ widely where x
and y are set apart. Of two such factors a code is taken to follow the one that predicts it better alone, beside all
others, unless both are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.trust.counterpart.factor_designs import TINY, FactorDesign

ALIKE = 0.8  # of a factor's variance, explained by smooth functions of another
NEEDED = 0.02  # of a code's variance: a second factor that adds so much beside one that is alike is needed
MORE = 0.5  # of the error with both: it is also needed where the error without it is larger by more than this share
MOST_PAIRS = 6

Columns = NDArray[np.bool_]


class Fit(Protocol):
    """Held-out predictions and weights, of some columns for some targets where asked for."""

    def __call__(self, *, used: Columns | None = None, of: Columns | None = None) -> tuple[FloatArray, FloatArray]:
        """Fit and predict."""


def alike_pairs(designs: Sequence[FactorDesign]) -> list[tuple[int, int]]:
    """Pairs of factors of which one explains most of the other, the closest first; six at most."""
    found = []
    for j, design in enumerate(designs):
        for k in range(j):
            share = max(_explained(design, designs[k]), _explained(designs[k], design))
            if share >= ALIKE:
                found.append((share, k, j))
    return [(k, j) for _, k, j in sorted(found, reverse=True)[:MOST_PAIRS]]


def _explained(source: FactorDesign, target: FactorDesign) -> float:
    """Share of the target that smooth functions of the source explain."""
    columns = source.smooth - source.smooth.mean(axis=0)
    aside = target.ranks - target.ranks.mean(axis=0)
    left = aside - columns @ np.linalg.lstsq(columns, aside, rcond=1e-8)[0]
    return float(1 - np.square(left).sum() / max(np.square(aside).sum(), TINY))


def without_rivals(
    fit: Fit, targets: FloatArray, factors_of: Columns, pairs: Sequence[tuple[int, int]]
) -> tuple[FloatArray, FloatArray]:
    """The fit in which every target uses only one of two factors that are alike, unless it needs both."""
    predictions, weights = fit()
    dropped = np.zeros((targets.shape[1], factors_of.shape[1]), dtype=bool)
    for pair in pairs:
        squares = np.square(targets - predictions)
        for gone in np.unique(dropped, axis=0):
            if gone[list(pair)].any():
                continue  # only one of them is left anyway
            of = (dropped == gone).all(axis=1)
            trials = []
            for j in pair:
                without = gone.copy()
                without[j] = True
                trials.append((without, *fit(used=np.asarray(~factors_of[:, without].any(axis=1)), of=of)))
            errors = np.stack([np.square(targets[:, of] - found) for _, found, _ in trials])
            better = errors.mean(axis=1).argmin(axis=0)
            more = np.take_along_axis(errors, better[None, None, :], axis=0)[0] - squares[:, of]
            little = np.minimum(MORE * squares[:, of].mean(axis=0), NEEDED * targets[:, of].var(axis=0))
            spare = np.maximum(more.std(axis=0) / np.sqrt(len(more)), little)
            enough = more.mean(axis=0) <= spare + TINY
            for place in np.flatnonzero(enough):
                code = np.flatnonzero(of)[place]
                without, found, fitted = trials[better[place]]
                predictions[:, code], weights[:, code] = found[:, place], fitted[:, place]
                dropped[code] = without
    return predictions, weights
