"""Mutual information of labels and binned columns of numbers, for many columns at once, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import xlogy

from unweave.arrays import FloatArray, Labels
from unweave.estimators.information.binning import BinnedFactors, Binning, binned
from unweave.estimators.information.information_protocols import Information, Observations
from unweave.estimators.information.joint_counts import joint_tables
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_histogram import sparse_information_matrix


@dataclass(frozen=True)
class Histogram(BinnedFactors, Information):
    """Plug-in mutual information of binned codes.

    ``bias_correction='miller_madow'`` subtracts (K_xy - K_x - K_y + 1) / 2n, with K the numbers of occupied cells: the
    leading term of the upward bias of the plug-in estimate. Corrected values of unrelated columns scatter around 0 and
    may be negative.

    >>> labels = np.array([0, 0, 1, 1], dtype=np.uint16)
    >>> round(float(Histogram(bins=2).code_information(np.array([[0.0], [0.1], [0.9], [1.0]]), [labels])[0, 0]), 4)
    0.6931
    """

    bins: int = 20
    binning: Binning = "equal_mass"
    bias_correction: Literal["miller_madow"] | None = None

    def code_labels(self, codes: FloatArray) -> tuple[Labels, ...]:
        """Labels of every code."""
        return tuple(binned(codes[:, i], self.bins, self.binning) for i in range(codes.shape[1]))

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.bins, self.binning

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows) with every factor (columns)."""
        return self.label_information(self.code_labels(codes), factor_labels)

    def information_matrix(self, observed: Observations) -> FloatArray:
        """Mutual information of all codes and factors, from cached labels that permutations of the factors share."""
        return self.label_information(observed.code_labels(self), observed.factor_labels(self))

    def sparse_information(
        self, codes: SparseColumns, factor_labels: Sequence[Labels]
    ) -> tuple[FloatArray, FloatArray] | None:
        """Mutual information matrix and code entropies of sparse codes; None with a bias correction."""
        if self.bias_correction:
            return None
        return sparse_information_matrix(codes, factor_labels, self.bins, self.binning)

    def label_information(self, code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every column of code labels (rows) with every factor (columns)."""
        if self.bias_correction not in (None, "miller_madow"):
            raise ValueError(f"bias_correction={self.bias_correction!r} is not known: use 'miller_madow' or None.")
        n_rows, shape = code_labels[0].size, (len(code_labels), len(factor_labels))
        count_log_count = xlogy(np.arange(n_rows + 1), np.arange(n_rows + 1))  # a lookup table, because counts repeat
        together, occupied = np.empty(shape), np.zeros(shape)
        of_codes, codes_filled = np.empty(shape[0]), np.empty(shape[0])
        of_factors, factors_filled = np.empty(shape[1]), np.empty(shape[1])
        for codes, j, tables in joint_tables(code_labels, factor_labels):
            together[codes, j] = count_log_count[tables].sum(axis=(1, 2))
            if self.bias_correction:
                occupied[codes, j] = (tables > 0).sum(axis=(1, 2))
            if j == 0:  # the margin of every code is needed once ...
                margins = tables.sum(axis=1)
                of_codes[codes], codes_filled[codes] = count_log_count[margins].sum(axis=1), (margins > 0).sum(axis=1)
            if codes.start == 0:  # ... and so is the margin of every factor
                margin = tables[0].sum(axis=1)
                of_factors[j], factors_filled[j] = count_log_count[margin].sum(), (margin > 0).sum()
        # I = H(code) + H(factor) - H(both), with H = log n - sum c log c / n over the counts c
        information = np.log(n_rows) + (together - of_codes[:, None] - of_factors) / n_rows
        information *= (codes_filled > 1)[:, None] & (factors_filled > 1)  # exactly 0 for constants
        if self.bias_correction is None:
            return np.maximum(information, 0.0)  # the plug-in estimate is negative only by rounding
        return information - (occupied - codes_filled[:, None] - factors_filled + 1) / (2 * n_rows)
