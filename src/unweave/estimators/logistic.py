"""Logistic regression with two or more classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.estimators.linear_probes import Linear
from unweave.options import Count, Positive, checks_options
from unweave.randomness import random_stream

MOST_NEWTON_STEPS = 30
GOOD_ENOUGH = 1e-3
ROWS_IN_CACHE = 512
LENGTHS = 0.5 ** np.arange(14)


@dataclass(frozen=True)
class SoftmaxLoss:
    """Mean negative log probability of the labels, plus half the penalty of every column times its squared weights.

    Rows are the last axis of all arrays, which makes inner loops long and fast: ``columns`` is columns x rows, with a
    column of ones for the intercepts; weights are labels x columns, and probabilities labels x rows.

    >>> loss = SoftmaxLoss(np.ones((1, 4)), np.array([0, 0, 0, 1]), np.zeros(1))
    >>> loss.at(by_gradients(loss, np.zeros((2, 1)), 1e-6, 100))[1][:, 0].round(3)
    array([0.75, 0.25])
    """

    columns: FloatArray
    labels: NDArray[np.intp]
    penalties: FloatArray

    def at(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Loss, and probabilities of all labels (labels x rows)."""
        logits = weights @ self.columns
        logits -= logits.max(axis=0)
        own = logits[self.labels, np.arange(self.labels.size)]
        powers = np.exp(np.maximum(logits, -700.0, out=logits), out=logits)
        total = powers.sum(axis=0)
        powers /= total
        return float((np.log(total) - own).mean() + 0.5 * (self.penalties * weights**2).sum()), powers

    def slope(self, weights: FloatArray, probabilities: FloatArray) -> FloatArray:
        """Gradient of the loss with respect to the weights."""
        excess = probabilities.copy()
        excess[self.labels, np.arange(self.labels.size)] -= 1.0
        return np.asarray(excess @ self.columns.T / self.labels.size + self.penalties * weights)

    def newton_step(self, slope: FloatArray, probabilities: FloatArray) -> FloatArray:
        """Inverse Hessian times slope; the Hessian of labels k and l is the mean of p_k (1[k = l] - p_l) x x'."""
        (n_labels, width), n_rows = slope.shape, self.labels.size
        if n_labels >= width:
            hessian = self._by_pairs(probabilities)
        else:
            weighted = (probabilities[:, None] * self.columns).reshape(-1, n_rows)
            hessian = weighted @ weighted.T / -n_rows
            own = (weighted @ self.columns.T).reshape(n_labels, width, width) / n_rows
            hessian.reshape(n_labels, width, n_labels, width)[range(n_labels), :, range(n_labels)] += own
        diagonal = np.einsum("ii->i", hessian)
        diagonal += np.tile(self.penalties, n_labels) + 1e-14 * diagonal.max()
        factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, slope.ravel(), check_finite=False).reshape(slope.shape))

    def _by_pairs(self, probabilities: FloatArray) -> FloatArray:
        """The Hessian without penalties, from products of all pairs of labels with all pairs of columns."""
        shape = len(probabilities), len(self.columns)
        (k, m), (i, j) = map(np.triu_indices, shape)
        total = np.zeros((k.size, i.size))
        for start in range(0, self.labels.size, ROWS_IN_CACHE):
            p, x = (table[:, start : start + ROWS_IN_CACHE] for table in (probabilities, self.columns))
            of_labels = -p[k] * p[m]
            of_labels[k == m] += p
            total += of_labels @ (x[i] * x[j]).T
        blocks, hessian = np.empty((k.size, shape[1], shape[1])), np.empty(shape * 2)
        blocks[:, i, j] = blocks[:, j, i] = total / self.labels.size
        hessian[k, :, m] = hessian[m, :, k] = blocks
        return hessian.reshape(shape[0] * shape[1], -1)


def by_newton(loss: SoftmaxLoss, weights: FloatArray) -> FloatArray:
    """Minimise by Newton steps: few even for steep logits, but each needs the Hessian of all weights."""
    value, probabilities = loss.at(weights)
    for _ in range(MOST_NEWTON_STEPS):
        slope = loss.slope(weights, probabilities)
        try:
            step = loss.newton_step(slope, probabilities)
        except LinAlgError:
            break
        promised = float((slope * step).sum())
        if not promised > GOOD_ENOUGH:
            break
        for length in LENGTHS:
            there, probabilities = loss.at(weights - length * step)
            if there <= value - 1e-4 * length * promised:
                break
        else:
            break
        weights, value = weights - length * step, there
    return weights


def by_gradients(loss: SoftmaxLoss, weights: FloatArray, tolerance: float, max_iterations: int) -> FloatArray:
    """Minimise by L-BFGS until the gradient is below the tolerance: cheap steps, but many if logits are steep."""

    def value_and_slope(point: FloatArray) -> tuple[float, FloatArray]:
        value, probabilities = loss.at(point.reshape(weights.shape))
        return value, loss.slope(point.reshape(weights.shape), probabilities).ravel()

    options = {"maxiter": max_iterations, "gtol": tolerance, "ftol": 64 * np.finfo(float).eps, "maxls": 50}
    found = minimize(value_and_slope, weights.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x.reshape(weights.shape))


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


@checks_options
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

    strength: Positive = 100.0
    whiten: bool = True
    max_iterations: Count = 1000

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


PENALTIES = (1.0, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
VALIDATION_SHARE = 0.2
MOST_WEIGHTS = 400
MOST_NEWTON_WEIGHTS = 1_500
N_CLASS_DIRECTIONS = 6
N_SINGLE_COLUMNS = 3
FAR = 100.0
FREE_INTERCEPT = 1e-3


def tuned_probabilities(
    seen: FloatArray, labels: NDArray[np.integer], unseen: FloatArray, n_labels: int, seed: int
) -> FloatArray:
    """Probability of every label (unseen rows x labels), with the penalty that is best on a fifth of the seen rows.

    The fit with every penalty starts from the solution for the next stronger one. A code that is cut into many classes
    needs logits so steep that gradient methods stop too early, but Newton steps do not. The path ends when the
    validation loss clearly increases. With more than 400 weights the logits are linear in ten directions only: the one
    that best predicts the label's number, six that best predict the labels, and the three best single columns.

    >>> column = np.linspace(-1.0, 1.0, 300)[:, None]
    >>> tuned_probabilities(column, np.repeat([0, 1, 2], 100), np.array([[-0.5], [0.0]]), 3, seed=0).round(2)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    order = random_stream(seed, "validation rows").permutation(len(labels))
    labels = np.asarray(labels, dtype=np.intp)[order]
    design, unseen = _designs(seen[order], unseen)
    n_fit = len(labels) - int(VALIDATION_SHARE * len(labels))
    if len(design) * n_labels > MOST_WEIGHTS:
        directions = _leading_directions(design[1:, :n_fit].T, labels[:n_fit])
        design, unseen = (np.vstack([rows[:1], directions.T @ rows[1:]]) for rows in (design, unseen))
    frequencies = (np.bincount(labels, minlength=n_labels) + 0.5) / (len(labels) + 0.5 * n_labels)
    weights = np.column_stack([np.log(frequencies), np.zeros((n_labels, len(design) - 1))])
    doubt = frequencies[labels[n_fit:]] / len(labels)  # labels without a row in the fit must not decide the penalty
    chosen, best_penalty, lowest = weights, PENALTIES[0], np.inf
    for penalty in PENALTIES:
        weights = _minimising_weights(design[:, :n_fit], labels[:n_fit], weights, penalty)
        predicted = softmax(weights @ design[:, n_fit:], axis=0)[labels[n_fit:], np.arange(doubt.size)]
        loss = -float(np.log(predicted + doubt).mean())
        if loss < lowest:
            chosen, best_penalty, lowest = weights, penalty, loss
        elif loss > 1.05 * lowest + 0.01:
            break
    return np.asarray(softmax(_minimising_weights(design, labels, chosen, best_penalty) @ unseen, axis=0).T)


def _minimising_weights(
    design: FloatArray, labels: NDArray[np.intp], weights: FloatArray, penalty: float
) -> FloatArray:
    penalties = penalty * np.r_[FREE_INTERCEPT, np.ones(len(design) - 1)]
    loss = SoftmaxLoss(design, labels, penalties)
    return by_newton(loss, weights) if weights.size <= MOST_NEWTON_WEIGHTS else by_gradients(loss, weights, 1e-5, 200)


def _leading_directions(columns: FloatArray, labels: NDArray[np.intp]) -> FloatArray:
    """Linear combinations of the columns (columns x directions) that predict the labels, scaled to unit variance."""
    indicators = (labels[:, None] == np.unique(labels)).astype(np.float64)
    targets = np.column_stack([labels.astype(np.float64), indicators])
    spread = columns.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    coefficients = Linear().regress(columns, targets, seed=0).coefficients / spread[:, None]
    of_labels = np.linalg.svd(coefficients[:, 1:], full_matrices=False)[0][:, :N_CLASS_DIRECTIONS]
    alike = np.abs((columns - columns.mean(axis=0)).T @ (targets - targets.mean(axis=0))) / spread[:, None]
    best = np.argsort((alike / (targets.std(axis=0) + 1e-300)).max(axis=1), kind="stable")[-N_SINGLE_COLUMNS:]
    singles = np.zeros((columns.shape[1], best.size))
    singles[best, np.arange(best.size)] = 1.0
    directions = np.column_stack([coefficients[:, :1], of_labels, singles])
    reach = (columns @ directions).std(axis=0)
    return directions / np.where(reach > 0, reach, 1.0)


def _designs(seen: FloatArray, unseen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ones, and columns centred and scaled by median and interquartile range of the seen rows (columns x rows)."""
    low, centre, high = np.quantile(seen, [0.25, 0.5, 0.75], axis=0)
    # the interquartile range of a column with mostly one value is 0
    spread = np.where(high > low, high - low, np.abs(seen - centre).max(axis=0))
    scaled = ((np.concatenate([seen, unseen]) - centre) / np.where(spread > 0, spread, 1.0)).T
    size = np.maximum(np.abs(scaled) / FAR, 1.0)  # logarithmic beyond FAR, so that outliers do not dominate
    scaled = np.where(size > 1, np.sign(scaled) * FAR * (1 + np.log(size)), scaled)
    design = np.ascontiguousarray(np.vstack([np.ones(scaled.shape[1]), scaled]))
    return design[:, : len(seen)], design[:, len(seen) :]
