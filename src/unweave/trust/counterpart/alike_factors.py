"""Pairs of factors that nearly determine each other, and codes that depend on one of them rather than on both.

Where x and y lie near a curve, many functions of both fit a code equally well on the observed rows, but differ widely
when x and y vary independently. Of two such factors, a code is assumed to depend only on the one that predicts it
better together with all other factors, unless both are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.trust.counterpart.factor_designs import TINY, FactorDesign

ALIKE = 0.8  # share of a factor's variance that smooth functions of another one explain
NEEDED = 0.02  # share of a code's variance; a factor that explains more in addition to a similar one is needed
MORE = 0.5  # a factor is also needed if the error without it is larger by more than this share
MOST_PAIRS = 6

Columns = NDArray[np.bool_]


class Fit(Protocol):
    """A function that fits linear models; ``used`` selects columns and ``of`` selects targets."""

    def __call__(self, *, used: Columns | None = None, of: Columns | None = None) -> tuple[FloatArray, FloatArray]:
        """Return held-out predictions (n x targets) and weights, those of the constant first."""


def alike_pairs(designs: Sequence[FactorDesign]) -> list[tuple[int, int]]:
    """Pairs of factors of which one explains most of the other's variance, the closest first; at most six pairs."""
    found = []
    for j, design in enumerate(designs):
        for k in range(j):
            share = max(_explained(design, designs[k]), _explained(designs[k], design))
            if share >= ALIKE:
                found.append((share, k, j))
    return [(k, j) for _, k, j in sorted(found, reverse=True)[:MOST_PAIRS]]


def _explained(source: FactorDesign, target: FactorDesign) -> float:
    """Share of the target's variance that smooth functions of the source explain."""
    columns = source.smooth - source.smooth.mean(axis=0)
    aside = target.ranks - target.ranks.mean(axis=0)
    left = aside - columns @ np.linalg.lstsq(columns, aside, rcond=1e-8)[0]
    return float(1 - np.square(left).sum() / max(np.square(aside).sum(), TINY))


def without_rivals(
    fit: Fit, targets: FloatArray, factors_of: Columns, pairs: Sequence[tuple[int, int]]
) -> tuple[FloatArray, FloatArray]:
    """Predictions and weights if every target uses only one of two similar factors, unless it needs both."""
    predictions, weights = fit()
    dropped = np.zeros((targets.shape[1], factors_of.shape[1]), dtype=bool)
    for pair in pairs:
        squares = np.square(targets - predictions)
        for gone in np.unique(dropped, axis=0):
            if gone[list(pair)].any():
                continue  # one of them is already dropped
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
