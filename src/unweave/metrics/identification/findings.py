"""The steps of `identification` in order, computed once per Evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_kernel_ridge
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.identification.chance import Luck, luck, n_distinct
from unweave.metrics.identification.recovery import Recovery, recovery
from unweave.responses.code_responses import (
    ResponseRows,
    Responses,
    distinct_factors,
    response_rows,
    responses_to_factors,
)
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import FactorBases, factor_bases, fold_of_rows, varying_places

AFFINE_PENALTIES = (1e-6, 1e-3, 1e-1, 10.0)
FAR = 0.99


@dataclass(frozen=True)
class Findings:
    """Results for the codes and factors that are not constant.

    Attributes
    ----------
    identified : array, d
        Recovery of each factor relative to chance: 1 is perfect, 0 is the chance level, and strong mixings reach -.4.
    free : array
        Indices of a smallest set of factors that determines all others. Among several, it is the best recovered set.
    n_distinct : float
        Number of distinct directions among the codes that depend on any factor.
    chosen : array, m x d
        1 for the codes from which a factor is predicted, and 0 for all others.
    affine : array, d
        Held-out R2 of each factor from all codes, or from the chosen codes if that is larger.
    outside : float
        Share of the do-sample (factors drawn independently) that lies outside the data.
    """

    responses: Responses
    recovery: Recovery
    luck: Luck
    identified: FloatArray
    free: NDArray[np.intp]
    n_distinct: float
    chosen: FloatArray
    affine: FloatArray
    outside: float


@memoised(on="both")
def findings(evidence: Evidence, n_folds: int, seed: int) -> Findings:
    """Compute the responses of the codes, the chance level, the recovery of the factors, and the free factors."""
    factors, which = factor_bases(evidence), distinct_factors(evidence)
    fold, rows = fold_of_rows(evidence, n_folds, seed), response_rows(evidence, seed)
    found, codes = responses_to_factors(evidence, n_folds, seed)
    known = np.flatnonzero(found.informative)
    n_codes = n_distinct(found.do_codes[:, known], found.factor[known])
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    constraints = factor_constraints(evidence)
    by_luck = luck(n_codes, len(constraints.free(names)))

    recovered = recovery(factors, which.alike, codes[rows.some], found, fold, rows, by_luck.beyond)
    identified = by_luck.beyond(recovered.recovered, recovered.unmixed)
    chosen = np.zeros((codes.shape[1], len(factors)))
    for j, used in enumerate(recovered.chosen):
        chosen[used, j] = 1.0
    affine = _affine_recovery(factors, codes[np.ix_(rows.some, known)], fold[rows.some], rows.some)
    return Findings(
        responses=found,
        recovery=recovered,
        luck=by_luck,
        identified=identified,
        free=np.array(constraints.free(names, np.maximum(identified, 0.0)), dtype=np.intp),
        n_distinct=n_codes,
        chosen=chosen,
        affine=np.maximum(affine, recovered.read),
        outside=_share_outside([factors[j] for j in which.free], rows, which.free),
    )


def _affine_recovery(factors: tuple[FactorBases, ...], codes: FloatArray, fold: Folds, some: Folds) -> FloatArray:
    """Held-out R2 of every factor from all informative codes by linear regression, which is not affected by mixing."""
    r2 = np.zeros(len(factors))
    if codes.shape[1]:
        blocks = [factor.scales[0][some] for factor in factors]
        stops = np.cumsum([block.shape[1] for block in blocks])[:-1]
        targets = np.hstack(blocks)
        spread = [block.sum() for block in np.split(np.square(targets - targets.mean(axis=0)), stops, axis=1)]
        kernel = codes @ codes.T / codes.shape[1]
        for fit in out_of_fold_kernel_ridge(kernel, targets, fold, AFFINE_PENALTIES):
            errors = [block.sum() for block in np.split(np.square(targets - fit), stops, axis=1)]
            r2 = np.maximum(r2, 1 - np.divide(errors, spread))
    return r2


def _share_outside(factors: list[FactorBases], rows: ResponseRows, places: NDArray[np.intp]) -> float:
    """Share of the do-sample that is further from the data than 99 % of the data are from their nearest neighbour."""
    data = np.hstack([factor.kernel[rows.some] for factor in factors])
    moved = np.hstack([factor.kernel[rows.do[:, j]] for factor, j in zip(factors, places, strict=True)])
    tree = cKDTree(data)
    usual = np.quantile(tree.query(data, k=2)[0][:, 1], FAR)
    return float((tree.query(moved)[0] > usual + 1e-9).mean())
