"""Multinomial logistic regression by Newton steps along a path of falling penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

FloatArray = NDArray[np.float64]
PENALTIES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
VALIDATION_SHARE = 0.15
GOOD_ENOUGH = 1e-3
MOST_STEPS = 30
MOST_NEWTON_WEIGHTS = 1_000
FARTHEST = 1e4
FREE_INTERCEPT = 1e-3


@dataclass(frozen=True)
class Multinomial:
    """Fitted logits, linear in columns that are centred at their median and scaled by their middle half."""

    centre: FloatArray
    scale: FloatArray
    weights: FloatArray

    def probabilities(self, columns: FloatArray) -> FloatArray:
        """Probability of every label (rows x labels)."""
        return _softmax(_design(columns, self.centre, self.scale) @ self.weights)[0]


def fit_multinomial(columns: FloatArray, labels: NDArray[np.integer], n_labels: int, seed: int) -> Multinomial:
    """Fit with the penalty that predicts a part of the rows best, then on all rows.

    Every penalty starts from the solution of the stronger one before it. A code that is cut into many classes needs
    logits so steep that gradient methods stop half way there; Newton steps do not. Beyond a thousand weights their
    Hessian is too large, and L-BFGS takes over. The path ends when the left-out rows are predicted clearly worse.
    """
    centre, scale = _middle_and_spread(columns)
    order = np.random.default_rng(seed).permutation(len(labels))
    design, labels = _design(columns[order], centre, scale), np.asarray(labels, dtype=np.intp)[order]
    n_fit = len(labels) - int(VALIDATION_SHARE * len(labels))
    weights = np.zeros((design.shape[1], n_labels))
    weights[0] = np.log((np.bincount(labels, minlength=n_labels) + 0.5) / (len(labels) + 0.5 * n_labels))
    chosen, best_penalty, lowest = weights, PENALTIES[0], np.inf
    for penalty in PENALTIES:
        weights = _minimised(design[:n_fit], labels[:n_fit], weights, penalty)
        loss = _loss(design[n_fit:], labels[n_fit:], weights)[0]
        if loss < lowest:
            chosen, best_penalty, lowest = weights, penalty, loss
        elif loss > 1.05 * lowest + 0.01:
            break
    return Multinomial(centre, scale, _minimised(design, labels, chosen, best_penalty))


def _middle_and_spread(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, centre, high = np.quantile(columns, [0.25, 0.5, 0.75], axis=0)
    largest = np.abs(columns - centre).max(axis=0)
    spread = np.where(high > low, high - low, largest)  # mostly one value: no middle half to speak of
    return centre, np.where(spread > 0, spread, 1.0)


def _design(columns: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    scaled = np.clip((columns - centre) / scale, -FARTHEST, FARTHEST)  # squares of wilder values drown all others
    return np.column_stack([np.ones(len(columns)), scaled])


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
    """Inverse Hessian times slope; block (k, l) is the mean of p_k (1[k = l] - p_l) x x'."""
    (n_rows, width), n_labels = design.shape, probabilities.shape[1]
    weighted = (probabilities[:, :, None] * design[:, None, :]).reshape(n_rows, n_labels * width)
    hessian = weighted.T @ weighted / -n_rows
    own = design.T @ weighted / n_rows
    for k in range(n_labels):
        block = slice(k * width, (k + 1) * width)
        hessian[block, block] += own[:, block]
    diagonal = np.arange(n_labels * width)
    hessian[diagonal, diagonal] += np.tile(toll[:, 0], n_labels) + 1e-14 * hessian[diagonal, diagonal].max()
    factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
    return cho_solve(factor, slope.T.ravel(), check_finite=False).reshape(n_labels, width).T
