"""Codes of factors with levels, cut into those levels.

A code that tells the levels of a factor apart may vary within them, and ranks would count that variation as much as the
levels themselves. So a code that is pure up to an elementwise map gets that map: every row takes the level that most
rows next to it along the code have, and the code becomes the mean of that level. A cut code counts for its factor only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_least_squares
from unweave.responses.code_responses import Responses
from unweave.responses.factor_bases import FactorBases

VOTERS = 9
MOST_CODES = 8  # of every factor with levels, those that it predicts best
WORTH_CUTTING = 0.05


def cut_codes(
    factors: tuple[FactorBases, ...], codes: FloatArray, found: Responses, fold: Folds
) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.intp]]:
    """Cut codes (n x k), the code that each comes from, and the factor that it is cut for."""
    cuts = list(_cuts(factors, codes, found, fold))
    if not cuts:
        return codes[:, :0], np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.column_stack([cut for cut, _, _ in cuts]), np.array([i for _, i, _ in cuts]), np.array(
        [j for _, _, j in cuts]
    )  # fmt: skip


def _cuts(
    factors: tuple[FactorBases, ...], codes: FloatArray, found: Responses, fold: Folds
) -> Iterator[tuple[FloatArray, int, int]]:
    candidates = np.flatnonzero(found.informative)
    for j, factor in enumerate(factors):
        if not factor.levels or not candidates.size:
            continue
        known = codes[:, candidates]
        errors = np.square(known - out_of_fold_least_squares(factor.smooth, known, fold)).mean(axis=0)
        r2 = 1 - errors / known.var(axis=0)
        for place in np.argsort(-r2, kind="stable")[:MOST_CODES]:
            if r2[place] >= WORTH_CUTTING:
                i = int(candidates[place])
                cut = _cut(codes[:, i], factor.place.astype(np.intp), fold)
                if cut.std() > 0:
                    yield (cut - cut.mean()) / cut.std(), i, j


def _cut(code: FloatArray, level: Folds, fold: Folds) -> FloatArray:
    """The code's mean over the level that most rows of other folds next to each row have."""
    counts = np.bincount(level)
    means = np.bincount(level, weights=code) / np.maximum(counts, 1)
    voted = np.empty(level.size, dtype=np.intp)
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        rows = train[np.argsort(code[train], kind="stable")]
        n_voters = min(VOTERS, rows.size)
        # ties of the code are one place: rows in the middle of it ask the rows around that middle
        left, right = (np.searchsorted(code[rows], code[test], side) for side in ("left", "right"))
        first = np.clip((left + right) // 2 - n_voters // 2, 0, rows.size - n_voters)
        votes = np.zeros((test.size, counts.size))
        for step in range(n_voters):
            np.add.at(votes, (np.arange(test.size), level[rows[first + step]]), 1.0)
        voted[test] = votes.argmax(axis=1)
    return np.asarray(means[voted])
