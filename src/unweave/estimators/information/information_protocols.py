"""Protocols of mutual information estimators: derive a class from one, or write a class with the same methods.

`Information` estimates the mutual information of one code and one factor (`mig`, `modularity`, InfoMEC, `sufficiency`
and others). `JointInformation` estimates that of labels and several columns together (groups of codes,
`explicitness_ratio`). All numbers are in nats. Estimators should be frozen dataclasses, because results are cached by
estimator.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.entropy import label_entropies
from unweave.estimators.protocol_defaults import own_or_default

if TYPE_CHECKING:
    from unweave.estimators.posteriors.quantised_posterior import Quantised, QuantisedPosterior
    from unweave.estimators.sparse.sparse_columns import SparseColumns


class FactorLabels(Protocol):
    """An estimator that turns every factor into labels."""

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor, 0, 1, 2 and so on: its levels if it is discrete, bins if it is not."""


class Observations(Protocol):
    """Codes and factors as estimators read them; what depends on the codes or the factors alone is computed once."""

    @property
    def codes(self) -> FloatArray:
        """The codes as numbers (rows x codes)."""

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
