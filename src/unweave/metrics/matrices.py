"""Shared code-by-factor matrices (rows codes, columns factors), each computed once per Evidence."""

from __future__ import annotations

from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import MetricUndefined
from unweave.estimators.dependence import correlation as correlations
from unweave.estimators.dependence.correlation import Pearson, Spearman
from unweave.estimators.dependence.random_dependence import RandomDependence
from unweave.estimators.information.entropy import entropy_of_counts
from unweave.estimators.information.mixture_sampling import MixtureSampling
from unweave.estimators.information.mutual_information import Histogram, NearestNeighbour
from unweave.estimators.information.quantised_posterior import Quantised, QuantisedPosterior
from unweave.estimators.probes.probes import Probe
from unweave.evidence import Evidence, FactorKind, Posterior
from unweave.memo import memoised

Correlation = Pearson | Spearman | RandomDependence
Information = Histogram | NearestNeighbour | QuantisedPosterior
Labelling = Information | MixtureSampling
NUMERIC = (FactorKind.CONTINUOUS, FactorKind.ORDINAL)
BASIS_TOLERANCE = 1e-10


@memoised(on="factors")
def varying(evidence: Evidence) -> NDArray[np.bool_]:
    """Which factors vary at all."""
    return ~np.isin(evidence.factor_names, evidence.constant_factors)


def target_columns(evidence: Evidence, j: int) -> FloatArray:
    """Numbers that stand for factor j (n x b): itself, its cosine and sine, or the indicators of its levels."""
    column, declared = evidence.factors[:, j], evidence.declared_kinds[j]
    if declared.kind is FactorKind.CIRCULAR:
        angle = 2 * np.pi * column / declared.period
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if declared.kind is FactorKind.CATEGORICAL:
        return (column[:, None] == np.unique(column)).astype(np.float64)
    return column[:, None]


def factor_features(evidence: Evidence, j: int, correlation: Correlation) -> FloatArray:
    """Columns of factor j that the correlation compares codes with; numbers are ranked where it works on ranks."""
    columns = target_columns(evidence, j)
    if evidence.kinds[j] not in NUMERIC:
        return columns
    column = correlation.column(columns[:, 0])[:, None]
    return correlation.features(column) if isinstance(correlation, RandomDependence) else column


def code_features(evidence: Evidence, i: int, correlation: Correlation) -> FloatArray:
    """Columns of code i that the correlation compares factors with."""
    column = correlation.column(evidence.codes[:, i])[:, None]
    return correlation.features(column) if isinstance(correlation, RandomDependence) else column


def feature_tolerance(correlation: Correlation) -> float:
    """Singular values of features below this share of the largest are noise."""
    return correlation.tolerance if isinstance(correlation, RandomDependence) else BASIS_TOLERANCE


@memoised(on="factors", by_row=True)
def factor_bases(evidence: Evidence, correlation: Correlation) -> tuple[FloatArray, ...]:
    """Orthonormal, centred basis of every factor's features; no columns for a constant factor."""
    tolerance = feature_tolerance(correlation)
    return tuple(
        correlations.orthonormal_basis(factor_features(evidence, j, correlation), tolerance)
        for j in range(evidence.n_factors)
    )


@memoised(on="factors")
def factor_correlation_matrix(evidence: Evidence, correlation: Correlation) -> FloatArray:
    """Largest canonical correlation of every two factors (factors x factors)."""
    return correlations.canonical_correlation_matrix(factor_bases(evidence, correlation))


@memoised(on="codes")
def _ranked_codes(evidence: Evidence) -> FloatArray:
    return np.asfortranarray(np.column_stack([correlations.ranks(column) for column in evidence.codes.T]))


@memoised(on="codes")
def _code_norms(evidence: Evidence, ranked: bool) -> tuple[FloatArray, FloatArray]:
    return correlations.column_norms(_ranked_codes(evidence) if ranked else evidence.codes)


@memoised(on="both")
def correlation_matrix(evidence: Evidence, correlation: Correlation) -> FloatArray:
    """How strongly every code follows every factor, 0 to 1; nan for constant factors, 0 for dead codes.

    For numbers this is the absolute correlation. A circular factor is compared through its cosine and sine and a
    categorical one through its levels (multiple correlation), for RDC by the largest canonical correlation.
    """
    bases = factor_bases(evidence, correlation)
    if isinstance(correlation, RandomDependence):
        matrix = np.zeros((evidence.n_codes, evidence.n_factors))
        for i in range(evidence.n_codes):
            code_basis = correlations.orthonormal_basis(code_features(evidence, i, correlation), correlation.tolerance)
            for j in range(evidence.n_factors) if code_basis.size else ():
                matrix[i, j] = min(float(np.linalg.norm(bases[j].T @ code_basis, 2)), 1.0) if bases[j].size else 0.0
    else:
        ranked = isinstance(correlation, Spearman)
        codes = _ranked_codes(evidence) if ranked else evidence.codes
        matrix = correlations.multiple_correlation_matrix(bases, codes, *_code_norms(evidence, ranked))
    matrix[:, ~varying(evidence)] = np.nan
    return matrix


@memoised(on="factors", by_row=True)
def factor_labels(evidence: Evidence, estimator: Labelling) -> tuple[Labels, ...]:
    """Labels of every factor: its levels, or the estimator's bins where it is continuous or circular."""
    discrete = [kind in (FactorKind.ORDINAL, FactorKind.CATEGORICAL) for kind in evidence.kinds]
    return tuple(estimator.factor_labels(evidence.factors[:, j], discrete[j]) for j in range(evidence.n_factors))


@memoised(on="codes")
def code_labels(evidence: Evidence, estimator: Histogram) -> tuple[Labels, ...]:
    """Labels of every code."""
    return estimator.code_labels(evidence.codes)


@memoised(on="factors")
def factor_entropies(evidence: Evidence, estimator: Labelling) -> FloatArray:
    """Entropy of every factor's labels."""
    return _label_entropies(factor_labels(evidence, estimator))


@memoised(on="both")
def quantised_joint(evidence: Evidence, estimator: QuantisedPosterior) -> Quantised:
    """The posterior on a grid, with every factor's labels or table p(y | x), from one pass over the rows."""
    posterior = posterior_of(evidence, estimator)
    labels = factor_labels(evidence, estimator) if evidence.n_factors else ()
    factors = [
        evidence.factor_tables.get(name, column) for name, column in zip(evidence.factor_names, labels, strict=True)
    ]
    return estimator.quantised(posterior.mean, posterior.std, factors, tuple(posterior.categories.values()))


@memoised(on="codes")
def quantised_codes(evidence: Evidence, estimator: QuantisedPosterior) -> Quantised:
    """The same for metrics of the codes alone: permutations share it, and metrics with factors have it already."""
    return quantised_joint(evidence, estimator)


def posterior_of(evidence: Evidence, estimator: object) -> Posterior:
    """The posterior of the evidence, which this estimator cannot do without."""
    if evidence.posterior is None:
        raise MetricUndefined(
            f"{type(estimator).__name__} needs a posterior and the codes are points: pass codes=Posterior(mean, std)."
        )
    return evidence.posterior


@memoised(on="codes")
def code_entropies(evidence: Evidence, estimator: Histogram | QuantisedPosterior) -> FloatArray:
    """Entropy of every code's labels, or of its posterior on a grid."""
    if isinstance(estimator, QuantisedPosterior):
        return quantised_codes(evidence, estimator).entropies
    return _label_entropies(code_labels(evidence, estimator))


def _label_entropies(columns: tuple[Labels, ...]) -> FloatArray:
    return np.array([float(entropy_of_counts(np.bincount(column))) for column in columns])


@memoised(on="both")
def mutual_information_matrix(evidence: Evidence, estimator: Information) -> FloatArray:
    """Mutual information of every code with every factor, in nats."""
    if isinstance(estimator, QuantisedPosterior):
        return quantised_joint(evidence, estimator).factor_information
    labels = factor_labels(evidence, estimator)
    if isinstance(estimator, Histogram):
        return estimator.label_information(code_labels(evidence, estimator), labels)
    return estimator.code_information(evidence.codes, labels)


@dataclass(frozen=True)
class Importance:
    """What probes used (codes x factors) and how well they predict held-out rows, per factor.

    ``skill`` is 1 for perfect prediction and 0 for always predicting the training mean or commonest label; ``accuracy``
    is the share of right labels for categorical factors and the skill (R2) for the others.
    """

    matrix: FloatArray
    skill: FloatArray
    accuracy: FloatArray


@memoised(on="both")
def importance(evidence: Evidence, probe: Probe, test_share: float, seed: int) -> Importance:
    """Importance of every code for every factor, from one probe per factor fitted on the training rows."""
    train, test = evidence.split(test_share, seed)
    matrix = np.full((evidence.n_codes, evidence.n_factors), np.nan)
    skill, accuracy = np.full((2, evidence.n_factors), np.nan)
    used = np.flatnonzero(varying(evidence)).tolist()
    jobs = (joblib.delayed(_importance_for_factor)(evidence, j, probe, train, test, seed) for j in used)
    for j, found in zip(used, joblib.Parallel(require="sharedmem")(jobs), strict=True):
        matrix[:, j], skill[j], accuracy[j] = found
    return Importance(matrix, skill, accuracy)


def _importance_for_factor(
    evidence: Evidence, j: int, probe: Probe, train: Rows, test: Rows, seed: int
) -> tuple[FloatArray, float, float]:
    columns, codes = target_columns(evidence, j), evidence.codes
    if evidence.kinds[j] is not FactorKind.CATEGORICAL:
        fitted = probe.regress(codes[train], columns[train], seed)
        errors = np.square(columns[test] - fitted.predict(codes[test])).sum()
        skill = float(1 - errors / np.square(columns[test] - columns[train].mean(axis=0)).sum())
        return fitted.importance, skill, skill
    labels = columns.argmax(axis=1)
    fitted = probe.classify(codes[train], labels[train], seed)
    right = float((fitted.predict(codes[test]) == labels[test]).mean())
    commonest = float((labels[test] == np.bincount(labels[train]).argmax()).mean())
    return fitted.importance, (right - commonest) / (1 - commonest) if commonest < 1 else np.nan, right
