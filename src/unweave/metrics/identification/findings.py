"""The steps of `identification` in their order, each once per evidence."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_kernel_ridge
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.identification.coarse_codes import cut_codes
from unweave.metrics.identification.recovery import Recovery, recovery
from unweave.responses.code_responses import (
    ResponseRows,
    Responses,
    distinct_factors,
    response_rows,
    responses,
    responses_to_factors,
)
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import FactorBases, code_scores, factor_bases, fold_of_rows, varying_places

AFFINE_PENALTIES = (1e-6, 1e-3, 1e-1, 10.0)
FAR = 0.99


@dataclass(frozen=True)
class Findings:
    """What was found of the codes that vary and the factors that vary.

    ``purity`` and ``chosen`` (m x d) count a code and its cut versions as one. ``outside`` is the share of the
    do-sample that lies outside the data.
    """

    responses: Responses
    recovery: Recovery
    alike: NDArray[np.intp]
    purity: FloatArray
    chosen: FloatArray
    affine: FloatArray
    outside: float


def free_factors(evidence: Evidence, recovered: FloatArray) -> list[int]:
    """A smallest set of the factors that vary which determines all others, the best recovered of several such sets."""
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    return factor_constraints(evidence).free(names, recovered)


@memoised(on="both")
def findings(evidence: Evidence, n_folds: int, seed: int) -> Findings:
    """Responses, recovery and what explains them."""
    factors, codes = factor_bases(evidence), code_scores(evidence)
    n_codes = codes.shape[1]
    fold, which = fold_of_rows(evidence, n_folds, seed), distinct_factors(evidence)
    alike, rows = which.alike, response_rows(evidence, seed)
    found = responses_to_factors(evidence, which, n_folds, seed)
    cuts, origin, cut_for = cut_codes(factors, codes, found, fold)
    cut_found = responses(factors, which, cuts, fold, rows, evidence.row_groups, n_codes) if origin.size else None
    together = found if cut_found is None else _joined(found, cut_found, alike, cut_for)
    read_from = np.hstack([codes[rows.some], cuts[rows.some]])
    recovered = recovery(factors, alike, read_from, together, fold, rows)
    of_code = np.concatenate([np.arange(n_codes), origin])
    purity, chosen = np.zeros((2, n_codes, len(factors)))
    np.maximum.at(purity, of_code, together.purity)
    for j, used in enumerate(recovered.chosen):
        chosen[of_code[used], j] = 1.0
    known = codes[np.ix_(rows.some, np.flatnonzero(found.informative))]
    return Findings(
        responses=found,
        recovery=recovered,
        alike=alike,
        purity=purity,
        chosen=chosen,
        affine=np.maximum(_affine_recovery(factors, known, fold[rows.some], rows.some), recovered.read),
        outside=_share_outside([factors[j] for j in which.free], rows, which.free),
    )


def _joined(found: Responses, cut: Responses, alike: NDArray[np.intp], cut_for: NDArray[np.intp]) -> Responses:
    """Codes and cut codes side by side; a cut code is pure for the factor it is cut for, and for no other."""
    own = alike[cut_for][:, None] == alike
    cut = dataclasses.replace(cut, purity=np.where(own, cut.purity, 0.0))
    axis = {"do_codes": 1}
    return Responses(**{
        entry.name: np.concatenate([getattr(found, entry.name), getattr(cut, entry.name)], axis=axis.get(entry.name, 0))
        for entry in dataclasses.fields(Responses)
    })  # fmt: skip


def _affine_recovery(factors: tuple[FactorBases, ...], codes: FloatArray, fold: Folds, some: Folds) -> FloatArray:
    """Held-out R2 of every factor from all informative codes by a linear reader: mixing does not matter to it."""
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
    """Share of the do-sample that is further from the data than all but a hundredth of the data are."""
    data = np.hstack([factor.kernel[rows.some] for factor in factors])
    moved = np.hstack([factor.kernel[rows.do[:, j]] for factor, j in zip(factors, places, strict=True)])
    tree = cKDTree(data)
    usual = np.quantile(tree.query(data, k=2)[0][:, 1], FAR)
    return float((tree.query(moved)[0] > usual + 1e-9).mean())
