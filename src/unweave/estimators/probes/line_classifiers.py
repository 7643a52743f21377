"""Classifiers that use one code at a time: how well each code alone predicts the labels of a factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.probe_protocols import ByScikitLearn

IntArray = NDArray[np.intp]


class LineClassifier(Protocol):
    """A frozen recipe: labels of unseen rows from one code.

    >>> classifier: LineClassifier = Neighbourhood(k=1)
    >>> train, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> classifier.predictions(train, labels, np.array([[0.1], [2.9]]), seed=0)[:, 0].tolist()
    [0, 1]
    """

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes)."""


@dataclass(frozen=True)
class Neighbourhood:
    """The label that is most common, for its size, among the ``k`` training rows next to a test row on the line.

    It can separate any interval of the line, so that classes between others are no harder than those at the ends. Every
    training row has weight 1 / size of its class, so that rare labels are not outvoted.

    >>> code = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
    >>> labels = np.repeat([0, 1, 0], 20)
    >>> bool((Neighbourhood().predictions(code, labels, code, 0)[:, 0] == labels).all())
    True
    """

    k: int = 15

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes); there is nothing random in it."""
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
            # copies of a value all vote; what is missing to k comes from both sides alike
            missing = np.maximum(k - (right - left), 0)
            start = np.clip(left - missing // 2, 0, n_rows - k)
            stop = np.maximum(right, np.minimum(start + k, n_rows))
            predicted[:, i] = (below[stop] - below[np.minimum(start, left)]).argmax(axis=1)
        return predicted


@dataclass(frozen=True)
class LinearSvm(ByScikitLearn):
    """One linear support vector machine per label against the rest, as in Kumar et al. (2018). Slow.

    With one code such a machine is a threshold, which cannot separate a label that lies between two others.

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
            machine = LinearSVC(C=self.strength, class_weight="balanced", random_state=seed)
            columns.append(machine.fit(train[:, [i]], labels).predict(test[:, [i]]))
        return np.column_stack(columns)
