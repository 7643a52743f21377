"""Which factors vary freely, and which are functions of others.

A factor is determined by others when they predict held-out rows of it with R2 >= 1 - DETERMINED, on its ranks or on its
values. Functions of one factor, sums of such functions, and functions of two to four factors together are tried.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, out_of_fold_kernel_ridge, out_of_fold_least_squares
from unweave.estimators.regression.interaction_kernel import interaction_kernel
from unweave.evidence import Evidence
from unweave.memo import memoised
from unweave.metrics.identification.factor_columns import FactorColumns, factor_columns, fold_of_rows
from unweave.metrics.identification.one_factor import local_fit, smooth_fit

DETERMINED = 0.01  # at a correlation of .97 a factor has R2 .963 from the others, and is free
MOST_ROWS = 1000
MOST_PAIRS = 5
MOST_SCREENED = 20  # factors whose pairs are tried
MOST_TOGETHER = 4
WORTH_A_TRY = (0.02, 0.1)  # R2 of what is left, below which a pair is not looked at closer: little left, all left
PAIR_PENALTY = 1e-3
EXACT_PENALTIES = (1e-6, 1e-4, 1e-2)
PLACES = 2


@memoised(on="factors")
def alike_factors(evidence: Evidence, n_folds: int, seed: int) -> NDArray[np.intp]:
    """For every factor the first one that determines it and is determined by it: mostly itself."""
    factors, fold = factor_columns(evidence), fold_of_rows(evidence, n_folds, seed)
    targets = [factor.scales[0] for factor in factors]
    stops = np.cumsum([columns.shape[1] for columns in targets])[:-1]
    columns = np.hstack(targets)
    r2 = np.empty((len(factors), len(factors)))
    for j, factor in enumerate(factors):
        local = local_fit(factor, columns, fold)
        fits = (smooth_fit(factor, columns, fold), local.of_three, local.of_many)
        errors = [np.square(columns - fit).sum(axis=0) for fit in fits]
        spread = np.square(columns - columns.mean(axis=0)).sum(axis=0)
        share = [[e.sum() for e in np.split(error, stops)] for error in errors]
        r2[j] = 1 - np.min(share, axis=0) / [s.sum() for s in np.split(spread, stops)]
    mutual = np.minimum(r2, r2.T) >= 1 - DETERMINED
    np.fill_diagonal(mutual, True)
    alike = np.asarray(mutual.argmax(axis=0), dtype=np.intp)
    for j, first in enumerate(alike.tolist()):
        alike[j] = alike[first]  # the first one of a chain stands for all of it
    return alike


def free_factors(evidence: Evidence, recovered: FloatArray, n_folds: int, seed: int) -> list[int]:
    """A largest set of factors that are not functions of each other, the best recovered first.

    Of factors recovered alike, those come first that the others predict least: of z1, z2 and z1 z2 the product is the
    one that is left out.
    """
    alike = alike_factors(evidence, n_folds, seed)
    expected = predicted_by_others(evidence, n_folds, seed)
    kept: list[int] = []
    for j in np.lexsort((expected.round(PLACES), -recovered.round(PLACES))).tolist():
        if any(alike[j] == alike[k] for k in kept):
            continue
        if not kept or not is_determined(evidence, j, tuple(sorted(kept)), n_folds, seed):
            kept.append(j)
    return kept


@memoised(on="factors")
def predicted_by_others(evidence: Evidence, n_folds: int, seed: int) -> FloatArray:
    """Rough R2 of every factor from all others: a sum of functions of each, and one pair on top."""
    n_factors = len(factor_columns(evidence))
    r2 = np.zeros(n_factors)
    for j in range(n_factors) if n_factors > 1 else ():
        others = tuple(k for k in range(n_factors) if k != j)
        left, pairs = _left_and_pairs(evidence, j, others, n_folds, seed)
        r2[j] = 1 - min(left, 1.0) * (1 - max(pairs.values(), default=0.0))
    return r2


@memoised(on="factors")
def is_determined(evidence: Evidence, j: int, others: tuple[int, ...], n_folds: int, seed: int) -> bool:
    """Whether the other factors predict all of factor j but DETERMINED of its variance."""
    left, pairs = _left_and_pairs(evidence, j, others, n_folds, seed)
    if left <= DETERMINED:
        return True
    little, much = WORTH_A_TRY
    worth = [pair for pair, r2 in pairs.items() if r2 >= max(little, much * min(1.0, 2 * left))]
    together = list(dict.fromkeys(k for pair in worth for k in pair))
    if not together:
        return False
    factors = factor_columns(evidence)
    some, fold = _looked_at(evidence, n_folds, seed)
    for n in sorted({min(n, len(together)) for n in range(2, MOST_TOGETHER + 1)}):
        inputs = [factors[k] for k in together[:n]]
        if any(error <= DETERMINED for error in _kernel_errors(factors[j], inputs, some, fold)):
            return True
    return False


def _looked_at(evidence: Evidence, n_folds: int, seed: int) -> tuple[Folds, Folds]:
    some = np.sort(np.random.default_rng(seed).permutation(evidence.n_rows)[:MOST_ROWS])
    return some, fold_of_rows(evidence, n_folds, seed)[some]


def _left_and_pairs(
    evidence: Evidence, j: int, others: tuple[int, ...], n_folds: int, seed: int
) -> tuple[float, dict[tuple[int, int], float]]:
    """Share of factor j's variance that a sum of functions leaves, and R2 of what is left by the likeliest pairs."""
    factors = factor_columns(evidence)
    some, fold = _looked_at(evidence, n_folds, seed)
    target = factors[j].scales[0][some]
    design = np.hstack([factors[k].additive[some] for k in others])
    rest = target - out_of_fold_least_squares(design, target, fold)
    left = float(np.square(rest).sum() / np.square(target - target.mean(axis=0)).sum())
    if left <= DETERMINED or len(others) < 2:
        return left, {}
    others = _likeliest_factors([factors[k].products[some] for k in others], rest, others)
    found = {}
    for a, b in _likeliest_pairs([factors[k].products[some] for k in others], rest):
        products = _products(*(factors[others[k]].products[some] for k in (a, b)))
        error = rest - out_of_fold_least_squares(products, rest, fold, PAIR_PENALTY)
        found[others[a], others[b]] = float(1 - np.square(error).sum() / np.square(rest - rest.mean(axis=0)).sum())
    return left, dict(sorted(found.items(), key=lambda entry: -entry[1]))


def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    return (left[:, :, None] * right[:, None]).reshape(len(left), -1)


def _likeliest_factors(blocks: list[FloatArray], rest: FloatArray, others: tuple[int, ...]) -> tuple[int, ...]:
    """Where there are many, the factors whose functions correlate most with what is left, or with its square."""
    if len(others) <= MOST_SCREENED:
        return others
    left = np.hstack([rest, np.square(rest)])
    left = left - left.mean(axis=0)
    strength = []
    for block in blocks:
        centred = block - block.mean(axis=0)
        norms = np.outer(np.square(centred).sum(axis=0), np.square(left).sum(axis=0))
        strength.append(float((np.square(centred.T @ left) / np.maximum(norms, 1e-12)).max()))
    return tuple(others[k] for k in np.sort(np.argsort(strength)[-MOST_SCREENED:]))


def _likeliest_pairs(blocks: list[FloatArray], rest: FloatArray) -> list[tuple[int, int]]:
    """Pairs whose products correlate most with what is left."""
    centred = rest - rest.mean(axis=0)
    strength = {}
    for a in range(1, len(blocks)):
        for b in range(a):
            products = _products(blocks[a], blocks[b])
            products -= products.mean(axis=0)
            norms = np.square(products).sum(axis=0)
            strength[a, b] = float((np.square(products.T @ centred).sum(axis=1) / np.maximum(norms, 1e-12)).sum())
    return sorted(strength, key=lambda pair: -strength[pair])[:MOST_PAIRS]


def _kernel_errors(target: FactorColumns, inputs: list[FactorColumns], some: Folds, fold: Folds) -> Iterator[float]:
    """Share of the target's variance that kernel regression on a few factors leaves, on ranks and on values."""
    for by_rank in (True, False):
        known = [(factor.kernel if by_rank else factor.plain)[some] for factor in inputs]
        numbers = target.scales[0] if by_rank or target.levels or target.circle else target.plain
        wanted = numbers[some]
        spread = np.square(wanted - wanted.mean(axis=0)).sum()
        for name in ("joint", "pairs"):
            kernel = interaction_kernel(known, known, name)
            for fit in out_of_fold_kernel_ridge(kernel, wanted, fold, EXACT_PENALTIES):
                yield float(np.square(wanted - fit).sum() / spread)
