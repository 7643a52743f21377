"""Classifiers that predict the labels of a factor from one code at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.probe_protocols import ByScikitLearn
from unweave.randomness import random_seed

IntArray = NDArray[np.intp]


class LineClassifier(Protocol):
    """A frozen recipe for classifiers that predict labels from one code each.

    >>> classifier: LineClassifier = Neighbourhood(k=1)
    >>> train, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> classifier.predictions(train, labels, np.array([[0.1], [2.9]]), seed=0)[:, 0].tolist()
    [0, 1]
    """

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes)."""


@dataclass(frozen=True)
class Neighbourhood:
    """Weighted majority label among the ``k`` training rows whose code is nearest to that of the test row.

    It can separate any interval of the code, so that classes between others are as easy as those at the ends. Every
    training row has weight 1 / size of its class, so that rare labels are not outvoted.

    >>> code = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
    >>> labels = np.repeat([0, 1, 0], 20)
    >>> bool((Neighbourhood().predictions(code, labels, code, 0)[:, 0] == labels).all())
    True
    """

    k: int = 15

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes); ``seed`` is not used."""
        n_rows, n_labels = len(train), int(labels.max()) + 1
        k = min(self.k, n_rows)
        weight = 1 / np.maximum(np.bincount(labels, minlength=n_labels), 1)
        predicted = np.empty(test.shape, dtype=np.intp)
        for i in range(train.shape[1]):
            order = np.argsort(train[:, i], kind="stable")
            line, seen = train[order, i], labels[order]
            below = np.zeros((n_rows + 1, n_labels))
            below[np.arange(1, n_rows + 1), seen] = weight[seen]
            np.cumsum(below, axis=0, out=below)
            left, right = np.searchsorted(line, test[:, i], "left"), np.searchsorted(line, test[:, i], "right")
            # all rows with the same value vote; if they are fewer than k, both sides add equally many
            missing = np.maximum(k - (right - left), 0)
            start = np.clip(left - missing // 2, 0, n_rows - k)
            stop = np.maximum(right, np.minimum(start + k, n_rows))
            predicted[:, i] = (below[stop] - below[np.minimum(start, left)]).argmax(axis=1)
        return predicted


@dataclass(frozen=True)
class LinearSvm(ByScikitLearn):
    """One linear support vector machine per label against the rest, as in Kumar et al. (2018); slow.

    With one code it is a threshold, which cannot separate a label that lies between two others.

    >>> codes, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 25), np.array([0, 0, 1, 1] * 25)
    >>> LinearSvm(strength=1.0).predictions(codes, labels, np.array([[-1.5], [1.5]]), seed=0)[:, 0].tolist()
    [0, 1]
    """

    strength: float = 0.01

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes)."""
        from sklearn.svm import LinearSVC

        columns = []
        for i in range(train.shape[1]):
            machine = LinearSVC(
                C=self.strength, class_weight="balanced", random_state=random_seed(seed, "line classifiers")
            )
            columns.append(machine.fit(train[:, [i]], labels).predict(test[:, [i]]))
        return np.column_stack(columns)
