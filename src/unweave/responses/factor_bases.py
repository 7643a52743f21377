"""Functions of factors that responses are fitted with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.correlation import normal_scores, orthonormal_basis
from unweave.estimators.probes import Folds
from unweave.estimators.regression import (
    harmonics,
    natural_spline,
    orthonormal_columns,
    polynomials,
    unexplained_entropy,
    unexplained_variance,
)
from unweave.evidence import Evidence
from unweave.memo import memoised

MOST_CLASSES = 10
APART = 2.0
DEGREE = 4
DEGREE_OF_FEW_ROWS = 2
ROWS_FOR_DEGREE = 200


@dataclass(frozen=True, eq=False)
class FactorView:
    """One factor on the rows that are used; what does not apply to its kind is None."""

    name: str
    inputs: FloatArray  # coordinates of a row in a kernel: normal scores, a circle, or separate points for categories
    basis: FloatArray  # orthonormal, centred functions of the factor
    targets: FloatArray  # columns to predict: ranks with variance 1, a circle, or indicators of the classes
    scores: FloatArray | None  # normal scores of a numeric factor
    labels: NDArray[np.intp] | None  # class numbers of a factor that is predicted as classes
    numbers: FloatArray | None  # the standardised values of a numeric factor
    column: FloatArray  # the factor as it was given
    place: FloatArray | None  # values that order the rows: a normal score, or the angle as a share of the circle

    @property
    def n_values(self) -> float:
        """Number of classes; infinite for factors that are not predicted as classes."""
        return math.inf if self.labels is None else self.targets.shape[1]

    def unexplained(self, rows: Rows, predictions: FloatArray) -> float:
        """Share of the variance, or of the entropy of classes, that predictions of the targets do not explain."""
        if self.labels is None:
            return unexplained_variance(self.targets[rows], predictions)
        return unexplained_entropy(self.labels[rows], predictions.argmax(axis=1), self.targets.shape[1])


def factor_view(evidence: Evidence, j: int) -> FactorView:
    """View of factor j, which has to vary."""
    column, declared, name = evidence.factors[:, j], evidence.declared_kinds[j], evidence.factor_names[j]
    if declared.kind.is_circular:
        waves = harmonics(declared.angle(column), 2).values
        circle = np.sqrt(2) * waves[:, :2]
        place = declared.share_of_circle(column)
        return FactorView(name, circle, _basis(waves), circle, None, None, None, column, place)
    levels, labels = np.unique(column, return_inverse=True)
    few_classes = declared.kind.has_classes and levels.size <= MOST_CLASSES
    is_category = declared.kind.is_categorical
    indicators = (labels[:, None] == _frequent(labels)).astype(np.float64) if few_classes or is_category else None
    scores = None if is_category else normal_scores(column[:, None])[:, 0]
    numbers = None if is_category else (column - column.mean()) / column.std()
    if indicators is not None:
        inputs = APART * indicators if scores is None else scores[:, None]
        classes = labels if few_classes else _rare_classes_merged(labels)
        basis, targets = _basis(indicators), np.eye(classes.max() + 1)[classes]
        return FactorView(name, inputs, basis, targets, scores, classes, numbers, column, scores)
    assert scores is not None
    degree = DEGREE if column.size >= ROWS_FOR_DEGREE else DEGREE_OF_FEW_ROWS
    functions = polynomials(scores, degree)
    places = functions[:, :1] - functions[:, 0].mean()
    targets = places / places.std()
    return FactorView(name, scores[:, None], _basis(functions), targets, scores, None, numbers, column, scores)


def _basis(functions: FloatArray) -> FloatArray:
    return orthonormal_basis(functions, 1e-8)


def _frequent(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The most frequent classes; all of them if they are few."""
    counts = np.bincount(labels)
    return np.argsort(-counts, kind="stable")[: MOST_CLASSES if counts.size > MOST_CLASSES else counts.size]


def _rare_classes_merged(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Classes, with all but the most frequent ones merged into one."""
    frequent = _frequent(labels)
    merged = np.full(labels.size, frequent.size, dtype=np.intp)
    for place, label in enumerate(frequent):
        merged[labels == label] = place
    return merged


LEAST_NATS = 0.02
LEAST_SPREAD = 0.002  # relative to the widest code; spread is the distance between the 10 % and 90 % quantiles


@memoised(on="codes")
def collapsed_codes(evidence: Evidence) -> tuple[str, ...]:
    """Names of codes that never vary, or whose posterior hardly depends on the sample.

    A Gaussian code with means of variance v and posterior variance s^2 carries about log(1 + v / s^2) / 2 nats. Below
    .02 nats it counts as collapsed, whatever its scale. Without a posterior there is no such scale, so only constant
    codes count.

    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 0.05]
    >>> collapsed_codes(Evidence(mean, Posterior(mean, np.ones((100, 2)))))
    ('code 1',)
    >>> collapsed_codes(Evidence(mean, mean))
    ()
    """
    posterior = evidence.posterior
    if not evidence.codes.size:
        return ()
    still = np.isin(evidence.code_names, evidence.dead_codes)
    if posterior is not None:
        variance, own = posterior.mean.var(axis=0), np.square(posterior.std).mean(axis=0)
        still[: posterior.n_gaussian] |= np.log1p(variance / own) / 2 < LEAST_NATS
    return _names_of_codes(evidence, still)


@memoised(on="codes")
def narrow_codes(evidence: Evidence) -> tuple[str, ...]:
    """Names of codes without a posterior that vary by less than .2 % of the widest code.

    They may be means of collapsed codes, or codes on another scale; this cannot be decided without a posterior.

    >>> codes = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 0.001]
    >>> narrow_codes(Evidence(codes, codes))
    ('code 1',)
    """
    if evidence.posterior is not None or not evidence.codes.size:
        return ()
    # quantiles, because the standard deviation of a heavy-tailed code depends on a few rows, and the interquartile
    # range of a code that is mostly 0 is 0
    low, high = np.quantile(evidence.codes, [0.1, 0.9], axis=0)
    spread = high - low
    return _names_of_codes(evidence, (spread > 0) & (spread <= LEAST_SPREAD * spread.max()))


def _names_of_codes(evidence: Evidence, those: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, is_one in zip(evidence.code_names, those, strict=True) if is_one)


MOST_FUNCTIONS = 8  # functions of a factor that is fitted alone
MOST_ADDITIVE = 6  # functions of each factor if all factors are fitted jointly
ROWS_PER_FUNCTION = 25
ROWS_PER_COEFFICIENT = 5
FEW_LEVELS = 12
LUMP, FEWEST_IN_LUMP, N_GAPS = 0.05, 10, 40  # smallest share and number of rows in a cluster; number of gaps tried
LEVEL_SCALE = 2.0  # distance between levels of a categorical factor in a kernel


@dataclass(frozen=True)
class FactorBases:
    """Representations of one factor on n rows, each n x b."""

    # functions of the factor, uncorrelated and of variance 1: for fits with this factor alone, and with all factors
    smooth: FloatArray
    additive: FloatArray
    linear: FloatArray  # its normal score, sine and cosine, or indicators
    kernel: FloatArray  # its coordinates in a kernel
    # values that order the rows: the normal score, the angle as a share of the circle, or the index of the level
    place: FloatArray
    levels: bool  # whether it has levels, so that rows of the same level are neighbours
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
    declared, values = evidence.declared_kinds[j], evidence.factors[:, j]
    alone = max(1, min(MOST_FUNCTIONS, evidence.n_rows // ROWS_PER_FUNCTION))
    together = max(1, min(MOST_ADDITIVE, evidence.n_rows // (ROWS_PER_COEFFICIENT * n_factors)))
    levels, place = np.unique(values, return_inverse=True)
    discrete = declared.kind.has_classes
    if declared.kind.is_circular:
        angle, share = declared.angle(values), declared.share_of_circle(values)
        waves = harmonics(angle, max(1, alone // 2, together // 2)).values
        plane = np.sqrt(2) * waves[:, :2]
        smooth, additive = (orthonormal_columns(waves[:, : 2 * max(1, n // 2)]) for n in (alone, together))
        return FactorBases(smooth, additive, plane, plane, share, levels=False, circle=True)
    if declared.kind.is_categorical:
        indicators = (values[:, None] == levels).astype(np.float64)
        basis = orthonormal_columns(indicators)
        corners, order = indicators * LEVEL_SCALE, place.astype(np.float64)
        return FactorBases(basis, basis, basis, corners, order, levels=True, circle=False)
    score = normal_scores(values[:, None])
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
        kernel=score,
        place=place.astype(np.float64) if discrete else score[:, 0],
        levels=discrete,
        circle=False,
    )


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
        evidence.kinds[j].has_classes or (evidence.kinds[j].is_continuous and has_lumps(evidence.factors[:, j]))
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
