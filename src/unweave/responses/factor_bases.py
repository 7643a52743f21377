"""Representations of a factor: functions of it for fits, and scales on which it is predicted.

Numeric factors are represented by functions of their ranks, categorical factors by indicators of their levels, and
circular factors by sines and cosines. For functions of an ordinal factor with few levels, indicators are used as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.dependence.normal_scores import normal_scores, uniform_scores
from unweave.estimators.probes.out_of_fold import Folds
from unweave.estimators.regression.spline_basis import natural_spline, orthonormal_columns
from unweave.evidence import Evidence, FactorKind
from unweave.memo import memoised
from unweave.responses.collapsed_codes import collapsed_codes

MOST_FUNCTIONS = 8  # functions of a factor that is fitted alone
MOST_ADDITIVE = 6  # functions of each factor if all factors are fitted jointly
ROWS_PER_FUNCTION = 25
ROWS_PER_COEFFICIENT = 5
FEW_LEVELS = 12
LUMP, FEWEST_IN_LUMP, N_GAPS = 0.05, 10, 40  # smallest share and number of rows in a cluster; number of gaps tried
LEVEL_SCALE = 2.0  # distance between levels of a categorical factor in a kernel


@dataclass(frozen=True)
class FactorBases:
    """Representations of one factor on n rows.

    Attributes
    ----------
    smooth, additive : array, n x b
        Functions of the factor, uncorrelated and of variance 1: for fits with this factor alone, and with all factors.
    linear, products : array, n x b
        Its normal score, sine and cosine, or indicators; and a few functions of it for products with other factors.
    kernel, plain : array, n x b
        Its coordinates in a kernel, by ranks and by values.
    scales : tuple of arrays, n x b
        Columns that are predicted; for numbers these include normal and uniform scores, and the better result counts.
    place : array, n
        Values that order the rows: the normal score, the angle as a share of the circle, or the index of the level.
    levels : bool
        Whether it has levels, so that rows of the same level are neighbours.
    circle : bool
        Whether it is circular.
    """

    smooth: FloatArray
    additive: FloatArray
    linear: FloatArray
    products: FloatArray
    kernel: FloatArray
    plain: FloatArray
    scales: tuple[FloatArray, ...]
    place: FloatArray
    levels: bool
    circle: bool


def varying_places(evidence: Evidence) -> NDArray[np.intp]:
    """Indices of the factors that vary."""
    return np.flatnonzero(~np.isin(evidence.factor_names, evidence.constant_factors))


@memoised(on="both")
def factor_bases(evidence: Evidence) -> tuple[FactorBases, ...]:
    """Representations of every factor that varies, in the given order."""
    used = varying_places(evidence).tolist()
    return tuple(_columns_of(evidence, j, len(used)) for j in used)


def _columns_of(evidence: Evidence, j: int, n_factors: int) -> FactorBases:
    kind, values = evidence.kinds[j], evidence.factors[:, j]
    alone = max(1, min(MOST_FUNCTIONS, evidence.n_rows // ROWS_PER_FUNCTION))
    together = max(1, min(MOST_ADDITIVE, evidence.n_rows // (ROWS_PER_COEFFICIENT * n_factors)))
    levels, place = np.unique(values, return_inverse=True)
    discrete = kind in (FactorKind.ORDINAL, FactorKind.CATEGORICAL)
    if kind is FactorKind.CIRCULAR:
        period = evidence.declared_kinds[j].period
        angle = 2 * np.pi * values / period
        plane = np.sqrt(2) * _harmonics(angle, 1)
        smooth, additive = (orthonormal_columns(_harmonics(angle, max(1, n // 2))) for n in (alone, max(2, together)))
        return FactorBases(
            smooth, additive, plane, _harmonics(angle, 2), plane, plane, (plane,), values / period % 1.0, False, True
        )
    if kind is FactorKind.CATEGORICAL:
        indicators = (values[:, None] == levels).astype(np.float64)
        basis = orthonormal_columns(indicators)
        corners = indicators * LEVEL_SCALE
        return FactorBases(
            basis,
            basis,
            basis,
            basis[:, :MOST_FUNCTIONS],
            corners,
            corners,
            (indicators,),
            place.astype(np.float64),
            True,
            False,
        )
    score = normal_scores(values[:, None])
    uniform = uniform_scores(values[:, None]) * np.sqrt(12)
    plain = (values[:, None] - values.mean()) / values.std()
    # ranks spread out values that lie close together, so columns with many such values are also used as they are
    itself = [plain] if discrete or has_lumps(values) else []
    if discrete and len(levels) <= FEW_LEVELS:
        smooth = orthonormal_columns((place[:, None] == np.arange(len(levels))).astype(np.float64))
    else:
        smooth = orthonormal_columns(np.hstack([natural_spline(score[:, 0], alone), *itself]))
    spline = natural_spline(score[:, 0], min(together, len(levels) - 1))
    return FactorBases(
        smooth=smooth,
        additive=orthonormal_columns(np.hstack([spline, *itself])),
        linear=orthonormal_columns(np.hstack([score, *itself])) if itself else score,
        products=np.hstack([score, score**2 - 1, score**3 - 3 * score]),
        kernel=score,
        plain=plain,
        scales=(score, uniform, *itself),
        place=place.astype(np.float64) if discrete else score[:, 0],
        levels=discrete,
        circle=False,
    )


def _harmonics(angle: FloatArray, n: int) -> FloatArray:
    turns = angle[:, None] * np.arange(1, n + 1)
    return np.hstack([np.cos(turns), np.sin(turns)])


def has_lumps(values: FloatArray) -> bool:
    """Whether many values are equal, or form a cluster that is at most twice as wide as the gaps around it.

    >>> rng = np.random.default_rng(0)
    >>> has_lumps(rng.normal(size=1000)), has_lumps(np.maximum(rng.normal(size=1000), 0))
    (False, True)
    >>> has_lumps(rng.integers(0, 4, 1000) + 0.02 * rng.normal(size=1000))
    True
    """
    ordered = np.sort(values)
    fewest, gaps = max(LUMP * ordered.size, FEWEST_IN_LUMP), np.diff(ordered)
    width = ordered[-1] - ordered[0]
    for gap in width * np.geomspace(0.5, 1e-9, N_GAPS):
        starts = np.flatnonzero(np.r_[True, gaps > gap])
        stops = np.r_[starts[1:], ordered.size]
        lumps = (stops - starts >= fewest) & (ordered[stops - 1] - ordered[starts] <= 2 * gap)
        if lumps.any() and starts.size > 1:
            return True
    return False


@memoised(on="factors")
def any_lumps(evidence: Evidence) -> bool:
    """Whether any factor that varies has levels, or is continuous with clusters of values (`has_lumps`)."""
    return any(
        evidence.kinds[j] in (FactorKind.ORDINAL, FactorKind.CATEGORICAL)
        or (evidence.kinds[j] is FactorKind.CONTINUOUS and has_lumps(evidence.factors[:, j]))
        for j in varying_places(evidence)
    )


@memoised(on="codes")
def plain_codes(evidence: Evidence) -> FloatArray:
    """The live codes, standardised to mean 0 and variance 1; all permutations share them."""
    codes = evidence.codes[:, live_codes(evidence)]
    scaled = codes / np.maximum(np.abs(codes).max(axis=0), np.finfo(np.float64).tiny)
    centred = scaled - scaled.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), np.finfo(np.float64).tiny))


@memoised(on="codes")
def code_scores(evidence: Evidence) -> FloatArray:
    """Normal scores of the live codes; all permutations share them."""
    return normal_scores(evidence.codes[:, live_codes(evidence)])


def live_codes(evidence: Evidence) -> NDArray[np.intp]:
    """Indices of the codes that vary and have not collapsed."""
    return np.flatnonzero(~np.isin(evidence.code_names, collapsed_codes(evidence)))


def fold_of_rows(evidence: Evidence, n_folds: int, seed: int) -> Folds:
    """Fold of every row; row groups stay whole, and there are no more folds than row groups."""
    n_units = evidence.n_rows if evidence.row_groups is None else int(evidence.row_groups.max()) + 1
    fold = np.empty(evidence.n_rows, dtype=np.intp)
    for k, (_, test) in enumerate(evidence.folds(max(2, min(n_folds, n_units)), seed)):
        fold[test] = k
    return fold
