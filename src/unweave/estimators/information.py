"""Mutual information of columns from counts."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from scipy.special import xlogy

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.counts import BinnedFactors, Binning, binned, joint_tables, label_entropies
from unweave.estimators.protocols import own_or_default
from unweave.estimators.sparse import SparseColumns, sparse_information_matrix
from unweave.options import Several, checks_options

if TYPE_CHECKING:
    from unweave.estimators.quantised_posterior import Quantised, QuantisedPosterior


class FactorLabels(Protocol):
    """An estimator that turns every factor into labels."""

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor, 0, 1, 2 and so on: its levels if it is discrete, bins if it is not."""


class Observations(Protocol):
    """Codes and factors as estimators read them; what depends on the codes or the factors alone is computed once."""

    @property
    def codes(self) -> FloatArray:
        """The codes as numbers (rows x codes)."""

    @property
    def continuous_factors(self) -> Mapping[int, FloatArray]:
        """Values of the factors that have no levels, by their places."""

    def factor_labels(self, estimator: FactorLabels) -> tuple[Labels, ...]:
        """The estimator's labels of every factor."""

    def code_labels(self, estimator: Information) -> tuple[Labels, ...]:
        """The estimator's labels of every code."""

    def quantised(self, estimator: QuantisedPosterior) -> Quantised:
        """The posterior on a grid, with the joint tables of every code and factor."""

    def quantised_codes(self, estimator: QuantisedPosterior) -> Quantised:
        """The posterior on a grid, for results that concern the codes alone."""


class Information(Protocol):
    """Mutual information of every code with every factor.

    `factor_labels` and `code_information` have to be written; the other methods have defaults. An estimator that cuts
    codes into bins should also have `code_labels`, because some metrics divide by the entropy of a code.

    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from unweave.metrics import mig
    >>> @dataclass(frozen=True)
    ... class OfSigns(Information):
    ...     def factor_labels(self, column, discrete):
    ...         return (column > 0).astype(np.uint16)
    ...
    ...     def code_information(self, codes, factor_labels):
    ...         agreement = np.array([[((code > 0) == y).mean() for y in factor_labels] for code in codes.T])
    ...         p = np.clip(agreement, 1e-12, 1 - 1e-12)
    ...         return np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> round(float(mig(factors, factors, estimator=OfSigns())), 2)
    1.0
    """

    @abstractmethod
    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor, 0, 1, 2 and so on: its levels if it is discrete, bins if it is not."""

    @abstractmethod
    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code (rows of the result) with every factor (columns)."""

    def code_labels(self, codes: FloatArray) -> tuple[Labels, ...]:
        """Labels of every code; the default raises a ValueError, for estimators that do not bin codes."""
        raise ValueError(
            f"{type(self).__name__} does not cut codes into bins, and only binned codes have an entropy: "
            "use a Histogram."
        )

    def labels_from_training(self, column: FloatArray, discrete: bool, train: Rows) -> Labels:
        """Labels of a factor, with bins from the training rows only; by default, the bins of all rows."""
        return self.factor_labels(column, discrete)

    def information_matrix(self, observed: Observations) -> FloatArray:
        """`code_information` of the observed codes; an estimator that uses the posteriors overrides it."""
        return self.code_information(observed.codes, observed.factor_labels(self))

    def sparse_information(
        self, codes: SparseColumns, factor_labels: Sequence[Labels]
    ) -> tuple[FloatArray, FloatArray] | None:
        """Mutual information matrix of sparse codes, and their entropies; None (the default) if codes must be dense."""
        return None

    def code_entropies(self, observed: Observations) -> FloatArray:
        """Entropy of every code; by default, of its labels."""
        return label_entropies(observed.code_labels(self))

    def held_information(self, observed: Observations) -> FloatArray:
        """Mutual information of every code and the data; by default the entropy of the code's labels."""
        return own_or_default(Information.code_entropies, self)(observed)


class JointInformation(Protocol):
    """Mutual information of labels with several columns together.

    `joint_information` has to be written. `UsableInformation` fits a classifier and scores it on held-out rows;
    `NearestNeighbour` fits nothing and uses all rows.

    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from unweave.metrics import explicitness_ratio
    >>> @dataclass(frozen=True)
    ... class Generous(JointInformation):
    ...     def joint_information(self, columns, labels, train, test):
    ...         return float(label_entropies([labels])[0])
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(float(explicitness_ratio(factors, -factors, joint=Generous())), 6)
    1.0
    """

    @abstractmethod
    def joint_information(self, columns: FloatArray, labels: Labels, train: Rows, test: Rows) -> float:
        """Mutual information of the labels with all columns together; ``test`` is empty if nothing is held out."""

    def share(self, columns: FloatArray, labels: Labels, train: Rows, test: Rows) -> float:
        """`joint_information` as a share of the labels' entropy; estimation noise can make it negative."""
        entropy = float(label_entropies([labels])[0])
        return self.joint_information(columns, labels, train, test) / entropy if entropy > 0 else math.nan

    def row_plan(self) -> tuple[float, int | None]:
        """Share of the rows to hold out (0 for none), and the largest number of rows to use (None for all)."""
        return 0.0, None


CELLS_OF_A_PAIR = 400  # with 20 bins


@checks_options
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

    bins: Several = 20
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
        if n_rows < CELLS_OF_A_PAIR * shape[0] * shape[1]:  # a lookup table, because counts repeat
            count_log_count = xlogy(np.arange(n_rows + 1), np.arange(n_rows + 1)).__getitem__
        else:
            count_log_count = lambda counts: xlogy(counts, counts)  # noqa: E731
        together, occupied = np.empty(shape), np.zeros(shape)
        of_codes, codes_filled = np.empty(shape[0]), np.empty(shape[0])
        of_factors, factors_filled = np.empty(shape[1]), np.empty(shape[1])
        for codes, j, tables in joint_tables(code_labels, factor_labels):
            together[codes, j] = count_log_count(tables).sum(axis=(1, 2))
            if self.bias_correction:
                occupied[codes, j] = (tables > 0).sum(axis=(1, 2))
            if j == 0:  # the margin of every code is needed once ...
                margins = tables.sum(axis=1)
                of_codes[codes], codes_filled[codes] = count_log_count(margins).sum(axis=1), (margins > 0).sum(axis=1)
            if codes.start == 0:  # ... and so is the margin of every factor
                margin = tables[0].sum(axis=1)
                of_factors[j], factors_filled[j] = count_log_count(margin).sum(), (margin > 0).sum()
        # I = H(code) + H(factor) - H(both), with H = log n - sum c log c / n over the counts c
        information = np.log(n_rows) + (together - of_codes[:, None] - of_factors) / n_rows
        information *= (codes_filled > 1)[:, None] & (factors_filled > 1)  # exactly 0 for constants
        if self.bias_correction is None:
            return np.maximum(information, 0.0)  # the plug-in estimate is negative only by rounding
        return information - (occupied - codes_filled[:, None] - factors_filled + 1) / (2 * n_rows)
