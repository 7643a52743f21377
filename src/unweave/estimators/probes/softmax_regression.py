"""Softmax regression: the loss of logits that are linear in the columns, and two ways to minimise it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from unweave.arrays import FloatArray

MOST_NEWTON_STEPS = 30
GOOD_ENOUGH = 1e-3
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
        weighted = (probabilities[:, None] * self.columns).reshape(-1, n_rows)
        hessian = weighted @ weighted.T / -n_rows
        every = np.arange(n_labels)
        own = (weighted @ self.columns.T).reshape(n_labels, width, width) / n_rows
        hessian.reshape(n_labels, width, n_labels, width)[every, :, every] += own
        diagonal = np.einsum("ii->i", hessian)
        diagonal += np.tile(self.penalties, n_labels) + 1e-14 * diagonal.max()
        factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, slope.ravel(), check_finite=False).reshape(slope.shape))


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
