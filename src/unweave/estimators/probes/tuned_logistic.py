"""Logistic classifier for usable information, with a penalty chosen on validation rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from unweave.arrays import FloatArray
from unweave.estimators.probes.linear_probes import Linear
from unweave.estimators.probes.softmax_regression import SoftmaxLoss, by_gradients, by_newton
from unweave.randomness import random_stream

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
        weights = _minimised(design[:, :n_fit], labels[:n_fit], weights, penalty)
        predicted = softmax(weights @ design[:, n_fit:], axis=0)[labels[n_fit:], np.arange(doubt.size)]
        loss = -float(np.log(predicted + doubt).mean())
        if loss < lowest:
            chosen, best_penalty, lowest = weights, penalty, loss
        elif loss > 1.05 * lowest + 0.01:
            break
    return np.asarray(softmax(_minimised(design, labels, chosen, best_penalty) @ unseen, axis=0).T)


def _minimised(design: FloatArray, labels: NDArray[np.intp], weights: FloatArray, penalty: float) -> FloatArray:
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
