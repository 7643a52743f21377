"""How far every factor is given back by codes that are pure for it.

    s_j = max over k of sqrt(S_(k)j R2_j(1..k))

with the codes in order of falling purity S for factor j, and R2_j(1..k) of factor j read from the first k of them on
rows that the reader has not seen. Codes with a purity below 1/2 do not count, but for the first. Codes that follow this
factor alone are read on the data as they are, others on the do-sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds
from unweave.metrics.identification.readout import readouts
from unweave.responses.code_responses import ResponseRows, Responses
from unweave.responses.factor_bases import FactorBases

PURE_ENOUGH = 0.5
MOST_CODES = 128
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64, 96)
NOTHING = 1e-6


@dataclass(frozen=True)
class Recovery:
    """s and R2 of every factor, and the codes it was read from."""

    recovered: FloatArray
    read: FloatArray
    chosen: tuple[NDArray[np.intp], ...]


def recovery(
    factors: tuple[FactorBases, ...],
    alike: NDArray[np.intp],
    codes: FloatArray,
    found: Responses,
    fold: Folds,
    rows: ResponseRows,
) -> Recovery:
    """Recovery of every factor; ``codes`` are those of the looked-at rows."""
    recovered, read = np.zeros((2, len(factors)))
    chosen: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * len(factors)
    for j, factor in enumerate(factors):
        order = np.argsort(-found.purity[:, j], kind="stable")
        purity = found.purity[order, j]
        order = order[: max(1, min(int((purity >= PURE_ENOUGH).sum()), MOST_CODES))]
        if purity[:1].max(initial=0.0) <= NOTHING:
            continue
        follows = found.factor[order] >= 0
        follows[follows] = alike[found.factor[order[follows]]] == alike[j]
        n_pure = int(np.cumprod(follows).sum())
        on_data = _lengths(n_pure)
        on_do = [n for n in _lengths(order.size) if n > n_pure]
        r2 = np.concatenate([
            readouts(codes[:, order[:n_pure]], tuple(s[rows.some] for s in factor.scales), fold[rows.some], on_data),
            readouts(found.do_codes[:, order], tuple(s[rows.do[:, j]] for s in factor.scales), fold[rows.some], on_do),
        ])  # fmt: skip
        lengths = np.array(on_data + on_do)
        graded = np.sqrt(found.purity[order[lengths - 1], j] * np.clip(r2, 0.0, 1.0))
        best = int(graded.argmax())
        recovered[j], read[j], chosen[j] = graded[best], r2[best], order[: lengths[best]]
    return Recovery(recovered, read, tuple(chosen))


def _lengths(n: int) -> list[int]:
    """Numbers of codes that are tried, the last one all of them."""
    return [*(length for length in LENGTHS if length < n), n] if n else []
