"""Checks of single codes, and of dependence between factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.correlation import canonical_correlation, correlation_p_value, curvature, independence_p_value
from unweave.estimators.independence import corrected
from unweave.estimators.probes import monotone_groups
from unweave.estimators.regression import held_out_predictions, unexplained_variances
from unweave.responses.factor_bases import FactorView

SAME = 0.999

MOST_CODES_COMPARED = 3000

ROWS_TO_COMPARE = 1000

ROWS_TO_EXPLAIN = 400

MOST_CODES_EXPLAINED = 256

MOST_SINGLE_FACTORS = 20

EXPLAINED = 0.01

ROWS_FOR_SINGLE_FACTORS = 250

HEAVY_KURTOSIS = 10.0

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


LEVEL = 0.01

LEAST_CURVATURE = 0.03

LEAST_STRENGTH = 0.05


class PairKind(StrEnum):
    """How two factors depend on each other."""

    INDEPENDENT = "independent"
    LINEAR = "linear"
    NONLINEAR = "nonlinear"
    ASSOCIATED = "associated"


@dataclass(frozen=True)
class PairDependence:
    """Two factors and their measured dependence.

    Attributes
    ----------
    factors : tuple of two str
        Names of the two factors.
    correlation : float
        Signed correlation of normal scores; nan if a factor is categorical or circular.
    strength : float
        Largest correlation between smooth functions of the two factors, corrected for chance: 0 if it is no larger
        than expected for independent factors, and at most 1.
    added : float
        Adjusted share of variance that nonlinear functions of one factor explain in the other, in addition to a linear
        function (of normal scores). The factor with fewer classes is the predictor. If both have equally many, or
        neither has classes, the larger of both shares is taken. nan if a factor is categorical or circular.
    p_value : float
        p-value of the test of independence, corrected for the number of pairs (Holm).
    kind : PairKind
        Independent, linear or nonlinear; associated where a factor is categorical or circular.
    """

    factors: tuple[str, str]
    correlation: float
    strength: float
    added: float
    p_value: float
    kind: PairKind

    @property
    def association(self) -> float:
        """Strength of the dependence: the larger of the absolute correlation and ``strength``."""
        return self.strength if np.isnan(self.correlation) else max(abs(self.correlation), self.strength)


@dataclass(frozen=True)
class _Measured:
    """Measurements of one pair, with p-values before the correction for the number of pairs."""

    correlation: float
    strength: float
    added: float
    p_values: tuple[float, float, float]


def pairwise_dependence(views: Sequence[FactorView]) -> list[PairDependence]:
    """Dependence of every pair of factors, with p-values corrected for the number of pairs (Holm, level .01)."""
    pairs = list(combinations(views, 2))
    measured = [_measured_dependence(left, right) for left, right in pairs]
    p_any, p_line, p_curve = (corrected(np.array([pair.p_values[k] for pair in measured]), "holm") for k in range(3))
    found = []
    for k, ((left, right), numbers) in enumerate(zip(pairs, measured, strict=True)):
        # Bonferroni correction for two tests, of any dependence and of linear dependence
        smallest = float(min(1.0, 2 * np.nanmin([p_any[k], p_line[k]])))
        kind = _kind(numbers, smallest, float(p_line[k]), float(p_curve[k]))
        names = (left.name, right.name)
        found.append(PairDependence(names, numbers.correlation, numbers.strength, numbers.added, smallest, kind))
    return found


def _kind(numbers: _Measured, p_value: float, p_line: float, p_curve: float) -> PairKind:
    if p_value > LEVEL or max(numbers.strength, abs(np.nan_to_num(numbers.correlation))) < LEAST_STRENGTH:
        return PairKind.INDEPENDENT
    if np.isnan(numbers.correlation):
        return PairKind.ASSOCIATED
    bent = p_curve <= LEVEL and numbers.added >= LEAST_CURVATURE
    return PairKind.NONLINEAR if bent or p_line > LEVEL else PairKind.LINEAR


def _measured_dependence(left: FactorView, right: FactorView) -> _Measured:
    n_rows = len(left.basis)
    p_any, strength = independence_p_value(left.basis, right.basis), canonical_correlation(left.basis, right.basis)
    if left.scores is None or right.scores is None:
        return _Measured(np.nan, strength, np.nan, (p_any, np.nan, np.nan))
    correlation = float(np.corrcoef(left.scores, right.scores)[0, 1])
    # given a correlated normal variable, the mean of a discretised one is a nonlinear function of it, while the reverse
    # mean is linear; so only the factor with fewer classes predicts the factor with more
    bends = []
    if left.n_values <= right.n_values:
        bends.append(curvature(left.scores, left.basis, right.scores))
    if right.n_values <= left.n_values:
        bends.append(curvature(right.scores, right.basis, left.scores))
    added, p_curve = zip(*bends, strict=True)
    p_smaller = float(min(1.0, len(bends) * np.nanmin([*p_curve, 1.0])))
    p_values = (p_any, correlation_p_value(correlation, n_rows), p_smaller)
    return _Measured(correlation, strength, float(max(added)), p_values)
