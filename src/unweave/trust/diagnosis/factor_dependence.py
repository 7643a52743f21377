"""Which factors depend on each other, and whether linearly in their normal scores or otherwise (003, appendix D.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from unweave.estimators.dependence.multiple_testing import corrected
from unweave.estimators.dependence.pair_dependence import (
    canonical_correlation,
    correlation_p_value,
    curvature,
    independence_p_value,
)
from unweave.responses.factor_views import FactorView

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
    measured = [_measured(left, right) for left, right in pairs]
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


def _measured(left: FactorView, right: FactorView) -> _Measured:
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
