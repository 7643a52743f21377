"""A softmax classifier with a fixed penalty, and the area under the ROC curve of one class against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.probes.softmax_regression import SoftmaxLoss, by_gradients

RANK_TOLERANCE = 1e-9
TOLERANCE = 1e-4  # the default of scikit-learn


class FittedClassifier(Protocol):
    """A fitted classifier."""

    @property
    def labels(self) -> NDArray[np.intp]:
        """Distinct labels of the training rows, in ascending order."""

    def log_probabilities(self, codes: FloatArray) -> FloatArray:
        """Log probability of every label (labels x rows)."""

    def predict(self, codes: FloatArray) -> NDArray[np.intp]:
        """The most probable label of every row."""


class Classifier(Protocol):
    """A frozen recipe for a classifier with probabilities, an option of `explicitness` and `beta_vae_score`.

    >>> classifier: Classifier = Logistic()
    >>> fitted = classifier.fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
    """

    def fit(self, codes: FloatArray, labels: NDArray[np.intp]) -> FittedClassifier:
        """Fit the classifier to at least two distinct labels."""


@dataclass(frozen=True)
class FittedLogistic:
    """Labels, intercepts and slopes of their logits, and the centre and range of the training codes."""

    labels: NDArray[np.intp]
    intercepts: FloatArray
    slopes: FloatArray
    centre: FloatArray
    lowest: FloatArray
    highest: FloatArray

    def log_probabilities(self, codes: FloatArray) -> FloatArray:
        """Log probability of every label (labels x rows); codes are clipped to the range of the training codes."""
        inside = np.clip(codes, self.lowest, self.highest)
        return np.asarray(log_softmax(self.slopes @ (inside - self.centre).T + self.intercepts[:, None], axis=0))

    def predict(self, codes: FloatArray) -> NDArray[np.intp]:
        """The most probable label of every row."""
        return np.asarray(self.labels[self.log_probabilities(codes).argmax(axis=0)])


@dataclass(frozen=True)
class Logistic:
    """Softmax of linear functions of the codes, with a ridge penalty of 1 / ``strength``.

    One-against-rest models of one code cannot separate a class that lies between two others, but a softmax can. Codes
    are whitened first, so that the penalty, and with it the score, does not change under linear mixing of the codes.
    The default penalty is weak, because a strong one lowers the score of noiseless codes. ``whiten=False`` with
    ``strength=1`` is scikit-learn's default.

    >>> codes = np.linspace(-1.0, 1.0, 300)[:, None]
    >>> labels = np.repeat([0, 1, 2], 100)
    >>> float((Logistic().fit(codes, labels).predict(codes) == labels).mean()) > 0.99
    True
    """

    strength: float = 100.0
    whiten: bool = True
    max_iterations: int = 1000

    def fit(self, codes: FloatArray, labels: NDArray[np.intp]) -> FittedLogistic:
        """Fit the classifier to at least two distinct labels; the result is deterministic."""
        distinct, numbers = np.unique(labels, return_inverse=True)
        centre, whitening = _whitening(codes) if self.whiten else (np.zeros(codes.shape[1]), None)
        columns = codes.T if whitening is None else whitening.T @ (codes - centre).T
        design = np.vstack([np.ones(len(codes)), columns])
        # for two labels scikit-learn has one set of weights, the log odds, which are twice as large and penalised once
        penalty = (2.0 if distinct.size == 2 else 1.0) / (self.strength * labels.size)
        loss = SoftmaxLoss(design, numbers, penalty * np.r_[0.0, np.ones(len(design) - 1)])
        weights = by_gradients(loss, np.zeros((distinct.size, len(design))), TOLERANCE, self.max_iterations)
        slopes = weights[:, 1:] if whitening is None else weights[:, 1:] @ whitening.T
        return FittedLogistic(distinct, weights[:, 0], slopes, centre, codes.min(axis=0), codes.max(axis=0))


def area_under_curve(scores: FloatArray, positive: NDArray[np.bool_]) -> float:
    """Probability that a positive row scores above a negative one; ties count half.

    >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    n_positive = int(positive.sum())
    above = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (positive.size - n_positive)))


def _whitening(codes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre, and the linear map to uncorrelated codes of variance 1, without directions of zero variance.

    If there are more codes than rows, the axes are computed from products of rows (n x n) instead of codes (m x m).
    """
    n_rows, n_codes = codes.shape
    centre, spread = codes.mean(axis=0), codes.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    scaled = (codes - centre) / unit
    wide = n_codes > n_rows
    variances, axes = np.linalg.eigh((scaled @ scaled.T if wide else scaled.T @ scaled) / n_rows)
    kept = variances > RANK_TOLERANCE * max(variances[-1], np.finfo(np.float64).tiny)
    variances, axes = variances[kept], axes[:, kept]
    if wide:
        axes = scaled.T @ (axes / np.sqrt(n_rows * variances))
    return centre, axes / np.sqrt(variances) / unit[:, None]
