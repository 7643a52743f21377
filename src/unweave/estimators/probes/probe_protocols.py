"""The protocol of probes: derive a class from it, or write a class with the same methods."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import sklearn
from numpy.typing import NDArray

from unweave.arrays import FloatArray

LIBRARY = f"scikit-learn {sklearn.__version__}"


class FittedProbe(Protocol):
    """A probe after fitting."""

    @property
    def importance(self) -> FloatArray:
        """Non-negative importance of every code, in the probe's own unit."""

    def predict(self, codes: FloatArray) -> NDArray[Any]:
        """Predicted targets (rows x targets) or, for a classifier, labels (rows)."""


class PreparedProbe(Protocol):
    """A regression whose computations that depend on the codes alone are done."""

    def fit(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit the probe to all target columns, with the codes for which it was prepared."""


class Probe(Protocol):
    """A frozen recipe for fitting; the same seed gives the same fit.

    `regress` and `classify` have to be written. A probe whose fit has a costly part that depends on the codes alone may
    compute it in `prepared`, which the null distribution of a score calls once for all permutations of the factors.

    >>> from unweave.metrics import r2
    >>> @dataclass(frozen=True)
    ... class Mean(Probe):
    ...     def regress(self, codes, targets, seed):
    ...         return FittedMean(targets.mean(axis=0), np.ones(codes.shape[1]))
    ...
    ...     def classify(self, codes, labels, seed):
    ...         return FittedMean(np.bincount(labels).argmax(), np.ones(codes.shape[1]))
    >>> @dataclass(frozen=True)
    ... class FittedMean:
    ...     mean: np.ndarray
    ...     importance: np.ndarray
    ...
    ...     def predict(self, codes):
    ...         return np.broadcast_to(self.mean, (len(codes), *np.shape(self.mean)))
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(r2(factors, factors, probe=Mean()).raw, 6)
    0.0
    """

    @abstractmethod
    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit all target columns (rows x targets)."""

    @abstractmethod
    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> FittedProbe:
        """Fit one column of labels."""

    def prepared(self, codes: FloatArray) -> PreparedProbe:
        """The part of the regression that depends on the codes alone; by default, nothing is prepared."""
        return Unprepared(self)

    def largest_sparse_fit(self) -> int:
        """Largest min(rows, codes) of a `SparseTable` that the probe fits; 0 (the default) if codes must be dense."""
        return 0


@dataclass(frozen=True)
class Unprepared:
    """A regression without preparation: every fit starts from the codes."""

    probe: Probe

    def fit(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit all target columns."""
        return self.probe.regress(codes, targets, seed)


class ByScikitLearn:
    """An estimator that scikit-learn fits."""

    @property
    def library(self) -> str:
        """The library and its version, which are recorded with every score because results differ between libraries."""
        return LIBRARY


class ByIndicators(Probe, Protocol):
    """A probe that classifies by regression on the indicators of the labels; derived classes define `regress`."""

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> FittedProbe:
        """Fit the indicators of the labels; the label with the largest prediction is predicted."""
        distinct = np.unique(labels)
        return LargestIndicator(self.regress(codes, (labels[:, None] == distinct).astype(np.float64), seed), distinct)


@dataclass(frozen=True)
class LargestIndicator:
    """A fitted regression of label indicators."""

    fitted: FittedProbe
    labels: NDArray[np.intp]

    @property
    def importance(self) -> FloatArray:
        """Importance of every code for all indicators."""
        return self.fitted.importance

    def predict(self, codes: FloatArray) -> NDArray[np.intp]:
        """The label whose indicator is largest."""
        return np.asarray(self.labels[self.fitted.predict(codes).argmax(axis=1)])
