"""Multinomial logistic regression by Newton steps along a path of falling penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from unweave.estimators.linear_probes import Linear

FloatArray = NDArray[np.float64]
PENALTIES = (1.0, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
VALIDATION_SHARE = 0.2
GOOD_ENOUGH = 1e-3
MOST_STEPS = 30
MOST_WEIGHTS = 400
MOST_NEWTON_WEIGHTS = 1_500
N_CLASS_DIRECTIONS = 6
N_SINGLE_COLUMNS = 3
FAR = 100.0
FREE_INTERCEPT = 1e-3


@dataclass(frozen=True)
class Multinomial:
    """Fitted logits, linear in columns that are centred at their median and scaled by their middle half."""

    centre: FloatArray
    scale: FloatArray
    directions: FloatArray | None
    weights: FloatArray

    def probabilities(self, columns: FloatArray) -> FloatArray:
        """Probability of every label (rows x labels)."""
        return _softmax(_design(columns, self.centre, self.scale, self.directions) @ self.weights)[0]


def fit_multinomial(columns: FloatArray, labels: NDArray[np.integer], n_labels: int, seed: int) -> Multinomial:
    """Fit with the penalty that predicts a part of the rows best, then on all rows.

    Every penalty starts from the solution of the stronger one before it. A code that is cut into many classes needs
    logits so steep that gradient methods stop half way there; Newton steps do not. The path ends when the left-out rows
    are predicted clearly worse. With more than 400 weights the logits are linear in ten directions only: the one that
    best predicts the label's number, six that best predict the labels, and the three best single columns.
    """
    centre, scale = _middle_and_spread(columns)
    order = np.random.default_rng(seed).permutation(len(labels))
    labels = np.asarray(labels, dtype=np.intp)[order]
    scaled = _design(columns[order], centre, scale, None)
    n_fit = len(labels) - int(VALIDATION_SHARE * len(labels))
    wide = scaled.shape[1] * n_labels > MOST_WEIGHTS
    directions = _leading_directions(scaled[:n_fit, 1:], labels[:n_fit]) if wide else None
    design = scaled if directions is None else np.column_stack([scaled[:, 0], scaled[:, 1:] @ directions])
    weights = np.zeros((design.shape[1], n_labels))
    frequencies = (np.bincount(labels, minlength=n_labels) + 0.5) / (len(labels) + 0.5 * n_labels)
    weights[0] = np.log(frequencies)
    floor = frequencies / len(labels)  # a label that only the left-out rows have must not decide the penalty
    chosen, best_penalty, lowest = weights, PENALTIES[0], np.inf
    for penalty in PENALTIES:
        weights = _minimised(design[:n_fit], labels[:n_fit], weights, penalty)
        predicted = _softmax(design[n_fit:] @ weights)[0][np.arange(len(labels) - n_fit), labels[n_fit:]]
        loss = -float(np.log(predicted + floor[labels[n_fit:]]).mean())
        if loss < lowest:
            chosen, best_penalty, lowest = weights, penalty, loss
        elif loss > 1.05 * lowest + 0.01:
            break
    return Multinomial(centre, scale, directions, _minimised(design, labels, chosen, best_penalty))


def _leading_directions(columns: FloatArray, labels: NDArray[np.intp]) -> FloatArray:
    """Combinations of the columns (columns x directions) that predict the labels, each of unit spread."""
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


def _middle_and_spread(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, centre, high = np.quantile(columns, [0.25, 0.5, 0.75], axis=0)
    largest = np.abs(columns - centre).max(axis=0)
    spread = np.where(high > low, high - low, largest)  # mostly one value: no middle half to speak of
    return centre, np.where(spread > 0, spread, 1.0)


def _design(columns: FloatArray, centre: FloatArray, scale: FloatArray, directions: FloatArray | None) -> FloatArray:
    scaled = (columns - centre) / scale
    size = np.abs(scaled)
    if size.max(initial=0.0) > FAR:  # logarithmic from there on: order is kept, and no wild row drowns all others
        scaled = np.where(size > FAR, np.sign(scaled) * FAR * (1 + np.log(np.maximum(size, FAR) / FAR)), scaled)
    return np.column_stack([np.ones(len(columns)), scaled if directions is None else scaled @ directions])


def _softmax(logits: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probabilities, logits below the largest, and the log of their sum; `logits` is overwritten."""
    logits -= logits.max(axis=1, keepdims=True)
    powers = np.exp(np.maximum(logits, -700.0))
    total = powers.sum(axis=1)
    powers /= total[:, None]
    return powers, logits, np.log(total)


def _loss(design: FloatArray, labels: NDArray[np.intp], weights: FloatArray) -> tuple[float, FloatArray]:
    probabilities, logits, log_total = _softmax(design @ weights)
    return float((log_total - logits[np.arange(len(labels)), labels]).mean()), probabilities


def _minimised(design: FloatArray, labels: NDArray[np.intp], weights: FloatArray, penalty: float) -> FloatArray:
    """Weights of least mean loss plus half the penalty times the squared slopes, from these weights on."""
    toll = np.full((design.shape[1], 1), penalty)
    toll[0] *= FREE_INTERCEPT
    indicators = np.zeros((len(labels), weights.shape[1]))
    indicators[np.arange(len(labels)), labels] = 1.0

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        loss, probabilities = _loss(design, labels, weights)
        return loss + 0.5 * float((toll * weights**2).sum()), probabilities

    def gradient(weights: FloatArray, probabilities: FloatArray) -> FloatArray:
        return design.T @ (probabilities - indicators) / len(labels) + toll * weights

    if weights.size > MOST_NEWTON_WEIGHTS:

        def flat(point: FloatArray) -> tuple[float, FloatArray]:
            point = point.reshape(weights.shape)
            value, probabilities = objective(point)
            return value, gradient(point, probabilities).ravel()

        return minimize(flat, weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x.reshape(
            weights.shape
        )
    value, probabilities = objective(weights)
    for _ in range(MOST_STEPS):
        slope = gradient(weights, probabilities)
        try:
            step = _newton_step(design, probabilities, slope, toll)
        except LinAlgError:
            break
        promised = float((slope * step).sum())
        if not promised > GOOD_ENOUGH:
            break
        length = 1.0
        while length > 1e-4:
            value_there, probabilities_there = objective(weights - length * step)
            if value_there <= value - 1e-4 * length * promised:
                break
            length /= 2
        else:
            break
        weights, value, probabilities = weights - length * step, value_there, probabilities_there
    return weights


def _newton_step(design: FloatArray, probabilities: FloatArray, slope: FloatArray, toll: FloatArray) -> FloatArray:
    """Inverse Hessian times slope; between labels k and l it is the mean of p_k (1[k = l] - p_l) x x'."""
    (n_rows, width), n_labels = design.shape, probabilities.shape[1]
    weighted = design.T.copy()[:, None, :] * probabilities.T.copy()  # rows last: long inner loops
    weighted = weighted.reshape(width * n_labels, n_rows)
    hessian = weighted @ weighted.T / -n_rows
    every = np.arange(n_labels)
    own = (weighted @ design).reshape(width, n_labels, width) / n_rows
    hessian.reshape(width, n_labels, width, n_labels)[:, every, :, every] += own.transpose(1, 0, 2)
    diagonal = np.arange(width * n_labels)
    hessian[diagonal, diagonal] += np.repeat(toll[:, 0], n_labels) + 1e-14 * hessian[diagonal, diagonal].max()
    factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
    return cho_solve(factor, slope.ravel(), check_finite=False).reshape(width, n_labels)
