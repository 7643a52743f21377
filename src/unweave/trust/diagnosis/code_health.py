"""The state of the codes: dead, copies of each other, heavy-tailed, or not explained by the factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.probes.probes import monotone_groups
from unweave.estimators.regression.kernel_regression import held_out_predictions, unexplained_variances
from unweave.responses.factor_views import FactorView

SAME = 0.999
MOST_CODES_COMPARED = 3000
ROWS_TO_COMPARE = 1000
ROWS_TO_EXPLAIN = 400
MOST_CODES_EXPLAINED = 256
MOST_SINGLE_FACTORS = 20
EXPLAINED = 0.01
ROWS_FOR_SINGLE_FACTORS = 250
HEAVY = 10.0
TAILS = (0.01, 0.99)


def copies(codes: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Groups of two or more codes that are monotone functions of each other, judged on 1,000 rows.

    Codes with a rank correlation of at least .999 count as copies, so that rounding and saturation do not hide them. If
    more than 3,000 codes remain when exact copies are counted once, only exact copies are found.

    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> copies(np.column_stack([x, y, -(x**3)]))
    ((0, 2),)
    """
    codes = codes[:ROWS_TO_COMPARE]
    group_of_code, firsts = monotone_groups(codes)
    if 1 < firsts.size <= MOST_CODES_COMPARED:
        leader = _leaders(codes[:, firsts])
        group_of_code = leader[group_of_code]
    members = [np.flatnonzero(group_of_code == group) for group in np.unique(group_of_code)]
    return tuple(tuple(map(int, group)) for group in members if group.size > 1)


def _leaders(codes: FloatArray) -> np.ndarray:
    """Index of the first code that each code is a copy of; its own index if there is none."""
    ranked = rankdata(codes, axis=0)
    ranked -= ranked.mean(axis=0)
    norms = np.linalg.norm(ranked, axis=0)
    ranked /= np.where(norms > 0, norms, 1.0)
    same = np.abs(ranked.T @ ranked) >= SAME
    np.fill_diagonal(same, True)
    leader = np.arange(codes.shape[1])
    for i in range(codes.shape[1]):
        earlier = np.flatnonzero(same[i, :i])
        if earlier.size:
            leader[i] = leader[earlier[0]]
    return leader


def kurtosis(codes: FloatArray) -> FloatArray:
    """Fourth central moment over the squared variance of each code; 3 for a normal code, nan for a constant code.

    >>> kurtosis(np.array([[1.0, 5.0], [-1.0, 5.0]])).tolist()
    [1.0, nan]
    """
    largest = np.abs(codes).max(axis=0)
    centred = codes / np.where(largest > 0, largest, 1.0)
    centred = centred - centred.mean(axis=0)
    variance = np.square(centred).mean(axis=0)
    varies = variance > 1e-24
    fourth = np.square(np.square(centred)).mean(axis=0)
    return np.asarray(np.divide(fourth, np.square(variance), out=np.full(variance.size, np.nan), where=varies))


def unexplained_shares(views: Sequence[FactorView], codes: FloatArray) -> FloatArray:
    """Share of the variance of every code that the factors do not explain on held-out rows, from 0 to 1.

    The share is that of the best of several models: linear, additive, additive with products of two factors, smooth in
    all factors, and smooth in a single factor. At most 400 rows are used, and 250 for single factors.

    The variance is that of the code's ranks. Where a factor has classes, the share is also computed for the code itself
    with clipped tails, and the smaller share is used, because ranks spread out clusters and enlarge the noise within
    them.
    """
    codes = codes[:ROWS_TO_EXPLAIN]
    shares = _left_open(views, rankdata(codes, axis=0))
    if any(view.labels is not None for view in views):
        cut = np.clip(codes, *np.quantile(codes, TAILS, axis=0))
        varies = np.ptp(cut, axis=0) > 0
        # most of the variance may come from a few rows, so no row is ignored
        shares[varies] = np.minimum(shares[varies], _left_open(views, cut[:, varies], left_out=0.0))
    return shares


def _left_open(views: Sequence[FactorView], targets: FloatArray, left_out: float = 0.02) -> FloatArray:
    """Share of every target's variance that the best model does not explain, ignoring some of the worst rows.

    ``left_out`` is the share of the rows with the largest errors that is ignored.
    """
    targets = (targets - targets.mean(axis=0)) / targets.std(axis=0)
    best = np.ones(targets.shape[1])
    for kernel, ridges in _models([view.inputs[:ROWS_TO_EXPLAIN] for view in views]):
        for ridge in ridges:
            still = np.flatnonzero(best > EXPLAINED)
            if not still.size:
                return best
            seen = targets[: len(kernel), still]
            shares = unexplained_variances(seen, held_out_predictions(kernel.copy(), seen, ridge), left_out)
            best[still] = np.minimum(best[still], shares)
    return best


def _models(inputs: Sequence[FloatArray]) -> Iterator[tuple[FloatArray, tuple[float, ...]]]:
    """Yield the kernels of the models, each with a diagonal of about 1, and the ridges to try."""
    together = np.column_stack(inputs)
    yield together @ together.T / together.shape[1], (1e-2, 1.0)
    squared = [_squared_distances(place) for place in inputs]
    curves = [np.exp(-distance / 2) for distance in squared]
    total = np.sum(curves, axis=0)
    yield total / len(curves), (1e-3, 0.1, 1.0)
    if len(curves) > 1:
        pairs = (np.square(total) - np.sum([np.square(curve) for curve in curves], axis=0)) / 2
        n_pairs = len(curves) * (len(curves) - 1) / 2
        yield (total / len(curves) + pairs / n_pairs) / 2, (1e-3, 0.1)
        yield np.exp(-np.sum(squared, axis=0) / (8 * len(inputs))), (1e-3, 0.1)
    few = slice(0, ROWS_FOR_SINGLE_FACTORS)
    for distance in squared[:MOST_SINGLE_FACTORS]:
        yield np.exp(-distance[few, few] / (2 * 0.2**2)), (1e-2, 0.3)


def _squared_distances(places: FloatArray) -> FloatArray:
    squares = np.square(places).sum(axis=1)
    return np.asarray(np.maximum(squares + squares[:, None] - 2 * places @ places.T, 0.0))
