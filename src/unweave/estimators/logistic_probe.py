"""Multinomial logistic regression of labels on codes, and the area under the curve of each class against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from scipy.stats import rankdata

from unweave.estimators.binning import FloatArray
from unweave.estimators.probes import LIBRARY

RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
class FittedLogistic:
    """The map that whitens codes, the model, and the range of codes it was fitted on."""

    lowest: FloatArray
    highest: FloatArray
    centre: FloatArray
    whitening: FloatArray
    model: Any

    @property
    def labels(self) -> NDArray[np.intp]:
        """The classes, in the order of the columns below."""
        return np.asarray(self.model.classes_)

    def log_probabilities(self, codes: FloatArray) -> FloatArray:
        """Log probability of every class (rows x classes); codes are clipped to the range of the training codes."""
        seen = (np.clip(codes, self.lowest, self.highest) - self.centre) @ self.whitening
        scores = self.model.decision_function(seen)
        if scores.ndim == 1:  # two classes share one column of log odds
            scores = np.column_stack([np.zeros(scores.size), scores])
        return np.asarray(log_softmax(scores, axis=1))

    def predict(self, codes: FloatArray) -> NDArray[np.intp]:
        """The likeliest class of every row."""
        return np.asarray(self.labels[self.log_probabilities(codes).argmax(axis=1)])


@dataclass(frozen=True)
class Logistic:
    """Softmax of linear functions of the codes, with a ridge penalty of 1 / ``strength``.

    One-against-rest models of one code each cannot single out a class that lies between two others; the softmax can.
    Codes are whitened first, so that the penalty, and with it the score, does not depend on how they are mixed. The
    default penalty is weak: a strong one scores clean codes below their worth. ``whiten=False`` with ``strength=1`` is
    scikit-learn's default.

    >>> codes = np.linspace(-1.0, 1.0, 300)[:, None]
    >>> labels = np.repeat([0, 1, 2], 100)
    >>> float((Logistic().fit(codes, labels).predict(codes) == labels).mean()) > 0.99
    True
    """

    strength: float = 100.0
    whiten: bool = True
    max_iterations: int = 1000

    @property
    def library(self) -> str:
        """The library that fits."""
        return LIBRARY

    def fit(self, codes: FloatArray, labels: NDArray[np.intp]) -> FittedLogistic:
        """Fit at least two classes; there is nothing random in it."""
        from sklearn.linear_model import LogisticRegression

        centre, whitening = _whitening(codes) if self.whiten else (np.zeros(codes.shape[1]), np.eye(codes.shape[1]))
        model = LogisticRegression(C=self.strength, max_iter=self.max_iterations)
        model.fit((codes - centre) @ whitening, labels)
        return FittedLogistic(codes.min(axis=0), codes.max(axis=0), centre, whitening, model)


def area_under_curve(scores: FloatArray, positive: NDArray[np.bool_]) -> float:
    """Chance that a positive row scores above a negative one, ties counting half.

    >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    n_positive = int(positive.sum())
    above = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (positive.size - n_positive)))


def _whitening(codes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre, and the map to uncorrelated codes of variance 1; directions without variance are left out."""
    centre, spread = codes.mean(axis=0), codes.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    scaled = (codes - centre) / unit
    variances, axes = np.linalg.eigh(scaled.T @ scaled / len(codes))
    kept = variances > RANK_TOLERANCE * max(variances[-1], np.finfo(np.float64).tiny)
    if not spread.any():
        return centre, np.zeros((codes.shape[1], 1))
    return centre, axes[:, kept] / np.sqrt(variances[kept]) / unit[:, None]
