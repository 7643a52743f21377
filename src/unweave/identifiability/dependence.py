"""A permutation test of any dependence of codes on one factor, given all others; and p-values of several tests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import linalg

from unweave.arrays import FloatArray, Rows
from unweave.estimators.correlation import normal_scores
from unweave.identifiability.responses import TINY, CodeTable, ResponseModel

PERMUTATIONS = 49

LEAST_RESIDUAL = 1e-3  # ranks of smaller residuals are ranks of rounding errors

ALIKE = 20  # rows for which the other factors predict nearly the same value, and which exchange their factor


def family_p_values(observed: FloatArray, null: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """p-values of tests that share one error rate, from each test's statistic in permuted data (tests x draws).

    Tests are taken from the largest statistic to the smallest. Each is compared with the largest statistic, in each
    draw, of those that are left (Westfall and Young 1993, step-down), all in standard deviations of their own values:
    a test that was significant before does not hide a weaker one.

    >>> family_p_values(np.array([0.9, 0.1]), np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.0]])).tolist()
    [0.25, 0.75]
    """
    both = np.column_stack([observed, null])  # scaled alike: noise is one draw among the others
    both = (both - both.mean(axis=1, keepdims=True)) / np.maximum(both.std(axis=1, keepdims=True), TINY)
    statistics, scaled = both[:, 0], both[:, 1:]
    order = np.argsort(-statistics, kind="stable")
    largest = np.maximum.accumulate(scaled[order[::-1]], axis=0)[::-1]
    exceeded = (1 + (largest >= statistics[order, None]).sum(axis=1)) / both.shape[1]
    p_values = np.empty(len(observed))
    p_values[order] = np.maximum.accumulate(exceeded)
    return p_values


def dependence_gains(
    model: ResponseModel, j: int, codes: CodeTable, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Largest gain, over codes and the spread of their residuals, from all terms with factor j; and of permutations.

    The gain is that over a model of all other terms. Residuals are those of the model without the factor: those of the
    full model are smaller where the terms of the factor have leverage, so that their spread would depend on noise.
    Single rows exchange the factor only where the other factors predict it alike. It thus keeps its dependence on them,
    and so its correlation with responses to them that the model does not fit.
    """
    n, d = model.sample.n_rows, len(model.factors)
    involved = [i for i, pair in enumerate(model.pairs) if j in pair]
    dropped = np.zeros(model.design.shape[1], dtype=bool)
    for place in (j, *(d + i for i in involved)):
        dropped[model.starts[place] : model.stops[place]] = True
    others = model.design[:, ~dropped]
    gram = others.T @ others
    factored = linalg.cho_factor(gram + 1e-8 * np.trace(gram) / len(gram) * np.eye(len(gram)))

    def residual(columns: FloatArray) -> FloatArray:
        return np.asarray(columns - others @ linalg.cho_solve(factored, others.T @ columns))

    left = []
    for block in codes.blocks():
        rest = residual(normal_scores(codes.columns(block)))
        left.append(rest)
        wide = rest.var(axis=0) > LEAST_RESIDUAL
        if wide.any():
            left.append(residual(normal_scores(np.abs(rest[:, wide]))))
    rest = np.hstack(left)
    squares = np.square(rest).sum(axis=0)
    partners = np.hstack(
        [model.pair_functions[b if a == j else a] for a, b in (model.pairs[i] for i in involved)] or [np.empty((n, 0))]
    )

    def largest_gain(order: Rows) -> float:
        own = model.factors[j].functions[order]
        products = (model.pair_functions[j][order][:, :, None] * partners[:, None, :]).reshape(n, -1)
        terms = residual(np.hstack([own, products]))
        inner = terms.T @ terms
        inner[np.diag_indices_from(inner)] += 1e-6 * np.diag(inner) + 1e-9
        with_rest = terms.T @ rest
        gain = (with_rest * linalg.solve(inner, with_rest, assume_a="pos")).sum(axis=0)
        return float((gain / (np.maximum(squares - gain, 0.0) + LEAST_RESIDUAL * n)).max())

    orders = model.sample.permutations(PERMUTATIONS, rng)
    if model.sample.n_units == n and d > 1:
        target = model.factors[j].target[:, :1]
        predicted = (others @ linalg.cho_solve(factored, others.T @ target))[:, 0]
        orders = [_within_strata(predicted, rng) for _ in orders]
    return largest_gain(np.arange(n)), np.array([largest_gain(order) for order in orders])


def _within_strata(predicted: FloatArray, rng: np.random.Generator) -> Rows:
    """A permutation that exchanges rows with nearly the same prediction; strata begin at a random row.

    Rows with the same prediction come in random order: their own one, or rounding errors, may sort them by the factor,
    and would exchange it between rows that have the same value.
    """
    n = predicted.size
    rounded, shuffled = np.round(predicted / (np.abs(predicted).max() + 1e-300), 9), rng.permutation(n)
    order = shuffled[np.argsort(rounded[shuffled], kind="stable")]
    stratum = np.concatenate([[0], np.arange(rng.integers(1, ALIKE + 1), n, ALIKE), [n]])
    taken = np.empty(n, dtype=np.intp)
    for start, stop in itertools.pairwise(stratum.tolist()):
        taken[order[start:stop]] = order[start:stop][rng.permutation(stop - start)]
    return taken
