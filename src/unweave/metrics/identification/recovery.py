"""How far every factor is given back by codes that are pure for it, and what noise and mixing each take away.

    s_j = max over k of sqrt(S_(k)j R2_j(1..k))

with the codes in order of falling purity S for factor j, and R2_j(1..k) of factor j read from the first k of them on
rows that the reader has not seen. Codes of which less than half is due to factor j do not count, but for the first.
Codes that follow this factor alone are read on the data as they are, by any function. Mixed codes are read on the
do-sample, and in a line: a look-up table would read two factors with levels out of one code that mixes them.

`Recovery.unmixed` is the same of the codes without their noise: 1 for codes of one factor, the squared loading for one
linear code of independent factors. It is what a random mixing is compared with, for a random mixing has no noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_least_squares
from unweave.metrics.identification.readout import readouts
from unweave.responses.code_responses import ResponseRows, Responses
from unweave.responses.factor_bases import FactorBases

PURE_ENOUGH = 0.55  # above one half, or a rotation by 45 degrees would have two codes for each factor
MOST_CODES = 128
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64, 96)
NOTHING = 1e-6
RIDGE = 1e-6


@dataclass(frozen=True)
class Recovery:
    """What is recovered of every factor, and how.

    Attributes
    ----------
    recovered : array, d
        s of the codes as they are.
    unmixed : array, d
        s of the codes without their noise.
    read : array, d
        R2 of the factor from the codes that it was read from.
    alone : array of bool, d
        Whether these follow the factor alone.
    chosen : tuple of arrays
        These codes.
    """

    recovered: FloatArray
    unmixed: FloatArray
    read: FloatArray
    alone: NDArray[np.bool_]
    chosen: tuple[NDArray[np.intp], ...]


def recovery(
    factors: tuple[FactorBases, ...],
    alike: NDArray[np.intp],
    codes: FloatArray,
    found: Responses,
    fold: Folds,
    rows: ResponseRows,
    worth: Callable[[FloatArray, FloatArray], FloatArray],
) -> Recovery:
    """Recovery of every factor; ``codes`` are those of the looked-at rows.

    ``worth`` of (s, s without noise) says which of the numbers of codes tried is best.
    """
    recovered, without_noise, read = np.zeros((3, len(factors)))
    alone = np.zeros(len(factors), dtype=bool)
    chosen: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * len(factors)
    unmixed = found.unmixed
    for j, factor in enumerate(factors):
        order = np.argsort(-found.purity[:, j], kind="stable")
        if found.purity[order[:1], j].max(initial=0.0) <= NOTHING:
            continue
        follows = found.factor >= 0
        follows[follows] = alike[found.factor[follows]] == alike[j]
        counts = unmixed[:, j] >= PURE_ENOUGH
        counts[order[0]] = True
        pure, order = order[(counts & follows)[order]][:MOST_CODES], order[counts[order]][:MOST_CODES]
        on_data, on_do = _lengths(pure.size), [] if follows[order].all() else _lengths(order.size)
        some, moved = (tuple(s[at] for s in factor.scales) for at in (rows.some, rows.do[:, j]))
        r2 = np.concatenate([
            readouts(codes[:, pure], some, fold[rows.some], on_data),
            _linear_readouts(found.do_codes[:, order], moved, fold[rows.some], on_do),
        ])  # fmt: skip
        signal = _linear_readouts(found.do_signal[:, order], moved, fold[rows.some], on_do)
        first = [*(pure[:n] for n in on_data), *(order[:n] for n in on_do)]
        graded = np.sqrt([found.purity[used, j].min() for used in first] * np.clip(r2, 0.0, 1.0))
        # codes of this factor alone mix nothing, whatever a fold or noise loses
        mixed = np.sqrt([unmixed[used, j].min() for used in first[len(on_data) :]] * np.clip(signal, 0.0, 1.0))
        clean = np.concatenate([np.ones(len(on_data)), mixed])
        best = int(worth(graded, clean).argmax())
        recovered[j], without_noise[j], read[j] = graded[best], clean[best], r2[best]
        alone[j], chosen[j] = best < len(on_data), first[best]
    return Recovery(recovered, without_noise, read, alone, tuple(chosen))


def _linear_readouts(codes: FloatArray, scales: tuple[FloatArray, ...], fold: Folds, lengths: list[int]) -> FloatArray:
    """Held-out R2 of a factor from the first 1, 2, ... codes by a linear reader, on its best scale."""
    spreads = [float(np.square(scale - scale.mean(axis=0)).sum()) for scale in scales]
    stops = np.cumsum([scale.shape[1] for scale in scales])[:-1]
    targets = np.hstack(scales)
    spread = codes.std(axis=0)
    codes = codes / np.where(spread > 0, spread, 1.0)
    found = []
    for length in lengths:
        left = np.square(targets - out_of_fold_least_squares(codes[:, :length], targets, fold, RIDGE))
        errors = np.split(left, stops, axis=1)
        found.append(max(1 - float(error.sum()) / total for error, total in zip(errors, spreads, strict=True)))
    return np.array(found)


def _lengths(n: int) -> list[int]:
    """Numbers of codes that are tried, the last one all of them."""
    return [*(length for length in LENGTHS if length < n), n] if n else []
