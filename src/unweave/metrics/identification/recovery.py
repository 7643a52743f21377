"""How well every factor is recovered from codes that are pure for it, with and without the noise of the codes.

    s_j = max over k of sqrt(S_(k)j R2_j(1..k))

with the codes in order of decreasing purity S for factor j, and R2_j(1..k) the held-out R2 of factor j from the first k
of them. All but the first code must have at least .55 of their variance (without noise) from factor j. Codes that
depend on this factor alone may predict it by any function, on the data themselves. Mixed codes predict it only
linearly, on the do-sample (factors drawn independently), because a look-up table could recover two discrete factors
from one code that mixes them.

`Recovery.unmixed` is the same without the noise of the codes: 1 for codes of one factor, and the squared loading for
one linear code of independent factors. Random mixings have no noise and are therefore compared with this quantity.
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

PURE_ENOUGH = 0.55  # above one half; at one half, a rotation by 45 degrees would have two codes for each factor
MOST_CODES = 128
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64, 96)
NOTHING = 1e-6
RIDGE = 1e-6


@dataclass(frozen=True)
class Recovery:
    """Recovery of every factor, and the codes from which it is predicted.

    Attributes
    ----------
    recovered : array, d
        s of the codes as given.
    unmixed : array, d
        s of the codes without their noise.
    read : array, d
        Held-out R2 of the factor from the chosen codes.
    alone : array of bool, d
        Whether the chosen codes depend on this factor alone.
    chosen : tuple of arrays
        Indices of the codes from which each factor is predicted.
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
    """Recovery of every factor; ``codes`` contains only the rows ``rows.some``.

    ``worth`` is a function of s and of s without noise; for each factor, the number of codes k that maximises it is
    chosen.
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
        # codes of this factor alone are unmixed by definition, even if they are noisy or folded
        mixed = np.sqrt([unmixed[used, j].min() for used in first[len(on_data) :]] * np.clip(signal, 0.0, 1.0))
        clean = np.concatenate([np.ones(len(on_data)), mixed])
        best = int(worth(graded, clean).argmax())
        recovered[j], without_noise[j], read[j] = graded[best], clean[best], r2[best]
        alone[j], chosen[j] = best < len(on_data), first[best]
    return Recovery(recovered, without_noise, read, alone, tuple(chosen))


def _linear_readouts(codes: FloatArray, scales: tuple[FloatArray, ...], fold: Folds, lengths: list[int]) -> FloatArray:
    """Held-out R2 of a factor from the first k codes by linear regression, on its best scale, for k in ``lengths``."""
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
    """The numbers of codes k to try out of n; the last one is n."""
    return [*(length for length in LENGTHS if length < n), n] if n else []
