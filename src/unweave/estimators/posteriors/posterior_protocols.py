"""Protocols of estimators for posteriors: derive a class from one, or write a class with the same methods.

`PosteriorInformation` estimates the information that the posterior of one code carries about samples and factors
(`informativeness`, `rmig`, `jemmig`). `DecompositionInformation` estimates the information of one code, of all other
codes, and of all codes together about a factor (the bounds of 002). All numbers are in nats. Estimators that use random
draws return them, so that metrics can compute standard errors.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information.information_protocols import FactorLabels, Observations

if TYPE_CHECKING:
    from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
    from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior


@dataclass(frozen=True)
class Sampled:
    """Log ratios at the draws (draws x groups); their weighted mean estimates the information.

    ``stratum`` is the index of the factor value of each draw, and ``share`` the frequency of every value.
    """

    ratios: FloatArray
    stratum: NDArray[np.intp]
    share: FloatArray

    def mean(self, combination: FloatArray) -> FloatArray:
        """Mean of values at the draws (draws, or draws x k), with strata weighted by their shares."""
        sizes = np.bincount(self.stratum)
        return np.asarray((self.share / sizes)[self.stratum] @ combination)

    def standard_error(self, combination: FloatArray) -> FloatArray:
        """Standard error of `mean`."""
        columns = combination.reshape(len(combination), -1)
        sizes = np.bincount(self.stratum)
        sums = np.stack([np.bincount(self.stratum, weights=column) for column in columns.T], axis=1)
        spread = np.square(columns - (sums / sizes[:, None])[self.stratum])
        squares = np.stack([np.bincount(self.stratum, weights=column) for column in spread.T], axis=1)
        variance = squares / np.maximum(sizes - 1, 1)[:, None]
        error = np.sqrt(np.square(self.share) / sizes @ variance)
        return np.asarray(error.reshape(combination.shape[1:]))


FactorDraws = tuple[tuple[Sampled, Sampled] | None, ...]


@dataclass(frozen=True)
class WithinValues:
    """I(x, z_S | y_j) of every factor y_j, and the number of rows of each value of the factor.

    The information given a value is estimated from the rows with this value, and cannot exceed the logarithm of their
    number.
    """

    information: FloatArray
    rows_per_value: tuple[NDArray[np.intp], ...]


@dataclass(frozen=True)
class SampledFactors:
    """I(y_j, z_S) from draws: of each code and of all others (codes x factors), and of all codes (factors).

    ``within`` is I(x, z_i | y_j) of every code alone (codes x factors), and ``within_values`` that of the last group of
    codes. ``draws`` contains, for every factor, the log ratios whose means are I(y_j, z_S) and I(x, z_S | y_j), or None
    for a constant factor.
    """

    single: FloatArray
    rest: FloatArray
    whole: FloatArray
    within: FloatArray
    within_values: WithinValues
    draws: FactorDraws


class PosteriorObservations(Observations, Protocol):
    """A posterior and factors as estimators read them."""

    def factor_entropies(self, estimator: FactorLabels) -> FloatArray:
        """Entropy of the estimator's labels of every factor."""

    def given_sample_entropies(self) -> FloatArray:
        """Exact H(z_i | x) of every code, which is differential for Gaussian codes."""

    def sample_draws(self, estimator: MixtureSampling) -> Sampled:
        """Log ratios whose means estimate I(x, z_i) of every code."""

    def sampled_factors(self, estimator: MixtureSampling, alone: bool) -> SampledFactors:
        """I(y_j, z_S) of every factor; ``alone`` restricts it to single codes."""

    def numeric_moments(self, estimator: object) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Factors, means and mean posterior covariance of the codes; raises an error if one is not numeric."""


@dataclass(frozen=True)
class SampleInformation:
    """I(x, z_i) of every code, and the draws from which it was estimated (None if no draws were used)."""

    information: FloatArray
    draws: Sampled | None = None

    def shares(self, divisors: FloatArray) -> FloatArray:
        """Information of every code, divided by its divisor."""
        if self.draws is None:
            return self.information / divisors
        return self.draws.mean(self.draws.ratios / divisors)

    def standard_errors(self, divisors: FloatArray, used: NDArray[np.bool_]) -> dict[str, FloatArray]:
        """Standard errors of the mean share of the used codes and of every code's share; empty without draws."""
        if self.draws is None:
            return {}
        ratios = self.draws.ratios / divisors
        of_mean = self.draws.standard_error(ratios[:, used].sum(axis=1)) / max(used.sum(), 1)
        return {"standard_error": of_mean, "standard_error_per_code": self.draws.standard_error(ratios)}


@dataclass(frozen=True)
class FactorInformation:
    """I(z_i, y_j) and H(z_i, y_j) (codes x factors), H(y_j) (factors), and the draws they come from, if any.

    Metrics use ``within`` to warn of factor values with too few rows.
    """

    information: FloatArray
    joint_entropies: FloatArray
    factor_entropies: FloatArray
    draws: FactorDraws | None = None
    within: WithinValues | None = None


class PosteriorInformation(FactorLabels, Protocol):
    """Information of the posterior of every code about the samples and about every factor.

    All methods but `grid` have to be written.

    >>> from unweave.estimators import QuantisedPosterior
    >>> estimator: PosteriorInformation = QuantisedPosterior()
    >>> estimator.grid == QuantisedPosterior()
    True
    """

    @property
    def grid(self) -> QuantisedPosterior | None:
        """The grid that entropies of codes refer to, or None (the default) for differential entropies."""
        return None

    @abstractmethod
    def sample_information(self, observed: PosteriorObservations) -> SampleInformation:
        """I(x, z_i) of every code."""

    @abstractmethod
    def factor_information(self, observed: PosteriorObservations) -> FactorInformation:
        """I(z_i, y_j) and H(z_i, y_j) of every code and factor."""


class SampleMixtures(Protocol):
    """An estimator that may represent the aggregated posterior by a mixture over some of the samples."""

    def n_mixed(self, n_rows: int) -> int:
        """Number of samples that form the mixtures; by default, all."""
        return n_rows


@dataclass(frozen=True)
class PartialInformation:
    """I(y_j; z_i) and I(y_j; z_not_i) (codes x factors), I(y_j; z) and H(y_j) (factors).

    ``entropies`` is None for continuous factors, whose entropy does not bound the information. ``draws`` and ``within``
    are as in `FactorInformation`; the log ratios of a factor are those of every code alone, of all codes except one,
    and of all codes (draws x (2 codes + 1)).
    """

    single: FloatArray
    rest: FloatArray
    whole: FloatArray
    entropies: FloatArray | None = None
    draws: FactorDraws | None = None
    within: WithinValues | None = None


class DecompositionInformation(Protocol):
    """Information of one code, of all other codes, and of all codes together about every factor.

    >>> from unweave.estimators import GaussianInformation
    >>> estimator: DecompositionInformation = GaussianInformation()
    >>> callable(estimator.partial_information)
    True
    """

    @abstractmethod
    def partial_information(self, observed: PosteriorObservations) -> PartialInformation:
        """I(y_j; z_i), I(y_j; z_not_i) and I(y_j; z) of every code and factor."""
