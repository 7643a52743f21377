"""Representation of a factor for the diagnosis, which depends on ranks of numbers and not on names of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.dependence.correlation import orthonormal_basis
from unweave.estimators.regression.factor_functions import harmonics, normal_scores, polynomials
from unweave.estimators.regression.kernel_regression import unexplained_entropy, unexplained_variance
from unweave.evidence import Evidence, FactorKind

MOST_CLASSES = 10
APART = 2.0
DEGREE = 4
DEGREE_OF_FEW_ROWS = 2
ROWS_FOR_DEGREE = 200


@dataclass(frozen=True, eq=False)
class FactorView:
    """One factor on the rows that are used.

    Attributes
    ----------
    inputs : array, n x q
        Coordinates of a row in a kernel: normal scores, a circle, or separate points for categories.
    basis : array, n x p
        Orthonormal, centred functions of the factor.
    targets : array, n x t
        Columns to predict: ranks with variance 1, a circle, or indicators of the classes.
    scores : array of n, or None
        Normal scores of a numeric factor; None for categories and angles.
    labels : array of n, or None
        Class numbers of factors that are predicted as classes.
    numbers : array of n, or None
        The standardised values of a numeric factor; None for categories and angles.
    column : array of n
        The factor as it was given.
    place : array of n, or None
        Values that order the rows: a normal score, or the angle as a share of the circle; None for categories.
    """

    name: str
    inputs: FloatArray
    basis: FloatArray
    targets: FloatArray
    scores: FloatArray | None
    labels: NDArray[np.intp] | None
    numbers: FloatArray | None
    column: FloatArray
    place: FloatArray | None

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
    if declared.kind is FactorKind.CIRCULAR:
        waves = harmonics(2 * np.pi * column / declared.period, 2).values
        circle = np.sqrt(2) * waves[:, :2]
        turn = column / declared.period % 1.0
        return FactorView(name, circle, _basis(waves), circle, None, None, None, column, turn)
    levels, labels = np.unique(column, return_inverse=True)
    few_classes = declared.kind is not FactorKind.CONTINUOUS and levels.size <= MOST_CLASSES
    is_category = declared.kind is FactorKind.CATEGORICAL
    indicators = (labels[:, None] == _frequent(labels)).astype(np.float64) if few_classes or is_category else None
    scores = None if is_category else normal_scores(column)
    numbers = None if is_category else (column - column.mean()) / column.std()
    if indicators is not None:
        inputs = APART * indicators if scores is None else scores[:, None]
        classes = labels if few_classes else _merged(labels)
        basis, targets = _basis(indicators), _indicators_of(classes)
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


def _merged(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Classes, with all but the most frequent ones merged into one."""
    frequent = _frequent(labels)
    merged = np.full(labels.size, frequent.size, dtype=np.intp)
    for place, label in enumerate(frequent):
        merged[labels == label] = place
    return merged


def _indicators_of(labels: NDArray[np.intp]) -> FloatArray:
    return (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
