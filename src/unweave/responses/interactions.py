"""Codes that depend on several factors jointly: kernel regression on pairs of factors, and on all factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.probes.out_of_fold import Folds, kernel_weights, least_squares, out_of_fold_kernel_ridge
from unweave.estimators.regression.interaction_kernel import KernelName, interaction_kernel
from unweave.responses.factor_bases import FactorBases

KERNELS: tuple[KernelName, ...] = ("pairs", "joint")
PENALTIES = (1e-4, 1e-2, 0.3)
MOST_ROWS = 500


@dataclass(frozen=True)
class InteractionFit:
    """Fits of codes (r x m) on r rows, one for every kernel, each with its best penalty.

    ``places`` are the positions of these rows among the rows that were passed.
    """

    factors: list[FactorBases]
    codes: FloatArray
    some: Folds
    places: Folds
    do_rows: Folds
    kernels: tuple[FloatArray, ...]
    fitted: tuple[FloatArray, ...]
    penalty: tuple[NDArray[np.intp], ...]

    def do(self, kernel: int, those: NDArray[np.intp], residual_variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First-order shares (d x m) and responses (r x m) of the selected codes for independently set factors.

        Shares are relative to the sum of the variance of the response and the residual variance.
        """
        known = [factor.kernel[self.some] for factor in self.factors]
        moved = [factor.kernel[self.do_rows[:, j]] for j, factor in enumerate(self.factors)]
        across = interaction_kernel(moved, known, KERNELS[kernel])
        response = np.empty((len(across), those.size))
        for place, penalty in enumerate(PENALTIES):
            here = np.flatnonzero(self.penalty[kernel][those] == place)
            if here.size:
                targets = self.codes[:, those[here]]
                mean = targets.mean(axis=0)
                response[:, here] = mean + across @ kernel_weights(self.kernels[kernel], targets - mean, penalty)
        return self._shares(response, residual_variance), response

    def _shares(self, response: FloatArray, residual_variance: FloatArray) -> FloatArray:
        """First-order share of every factor, minus the part that the regression on this factor explains by chance."""
        variance = response.var(axis=0)
        shares = np.empty((len(self.factors), response.shape[1]))
        for j, factor in enumerate(self.factors):
            design = factor.smooth[self.do_rows[:, j]]
            weights = least_squares(design, response)
            explained = (design @ weights[1:]).var(axis=0)
            by_luck = design.shape[1] / len(design) * (variance - explained)
            shares[j] = np.maximum(explained - by_luck, 0.0) / (variance + residual_variance)
        return shares


def interaction_fit(
    factors: list[FactorBases], codes: FloatArray, fold: Folds, some: Folds, do_rows: Folds
) -> InteractionFit:
    """Fit both kernels to at most 500 of these rows of the codes (n x m)."""
    places = np.arange(0, some.size, -(-some.size // MOST_ROWS))
    some = some[places]
    targets, known = codes[some], [factor.kernel[some] for factor in factors]
    kernels, fitted, chosen = [], [], []
    for name in KERNELS:
        kernel = interaction_kernel(known, known, name)
        fits = list(out_of_fold_kernel_ridge(kernel, targets, fold[some], PENALTIES))
        best = np.array([np.square(targets - fit).mean(axis=0) for fit in fits]).argmin(axis=0)
        kernels.append(kernel)
        fitted.append(np.choose(best, fits))
        chosen.append(best)
    return InteractionFit(factors, targets, some, places, do_rows, tuple(kernels), tuple(fitted), tuple(chosen))
