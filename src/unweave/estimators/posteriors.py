"""Information in the posteriors of stochastic encoders: protocols, correlations and closed forms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information import FactorLabels, Observations
from unweave.randomness import random_stream

if TYPE_CHECKING:
    from unweave.estimators.mixture import MixtureSampling
    from unweave.estimators.quantised_posterior import QuantisedPosterior


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


@dataclass(frozen=True)
class CodeCorrelations:
    """Correlation matrices of Gaussian codes (codes x codes); nan for a code that does not vary.

    ``means`` is the matrix of the posterior means, and ``draws`` that of one draw from the posterior of every sample,
    as in 001. ``expected`` is the limit for infinitely many draws, in closed form.

    >>> means = np.repeat([[-0.1, -0.1], [0.1, 0.1]], 500, axis=0)
    >>> found: CodeCorrelations = code_correlations(means, np.ones_like(means))
    >>> found.draws.shape
    (2, 2)
    """

    means: FloatArray
    draws: FloatArray
    expected: FloatArray


def code_correlations(
    mean: FloatArray, std: FloatArray, covariance: FloatArray | None = None, seed: int = 0
) -> CodeCorrelations:
    """Correlations of the codes of a Gaussian posterior (rows x codes, or rows x codes x codes for the covariance).

    >>> means = np.repeat([[-0.1, -0.1], [0.1, 0.1]], 500, axis=0)
    >>> found = code_correlations(means, np.ones_like(means))
    >>> found.means[0, 1].round(3), found.expected[0, 1].round(3)
    (np.float64(1.0), np.float64(0.01))
    """
    rng = random_stream(seed, "codes of a posterior")
    noise = rng.normal(size=mean.shape)
    if covariance is None:
        drawn, within = mean + std * noise, np.diag(np.square(std).mean(axis=0))
    else:
        drawn = mean + np.einsum("nij,nj->ni", np.linalg.cholesky(covariance), noise)
        within = covariance.mean(axis=0)
    between = np.cov(mean, rowvar=False, bias=True).reshape(within.shape)
    drawn_covariance = np.cov(drawn, rowvar=False, bias=True).reshape(within.shape)
    return CodeCorrelations(_correlation(between), _correlation(drawn_covariance), _correlation(between + within))


def _correlation(covariance: FloatArray) -> FloatArray:
    spread = np.sqrt(np.diagonal(covariance))
    scale = np.where(spread > 0, spread, np.nan)
    return np.asarray(covariance / scale / scale[:, None])


def gaussian_information(covariance: FloatArray, first: Sequence[int], second: Sequence[int]) -> float:
    """Mutual information of two parts of a Gaussian vector.

    >>> round(gaussian_information(np.array([[1.0, 0.6], [0.6, 1.0]]), [0], [1]), 4)  # -1/2 log(1 - .6^2)
    0.2231
    """
    parts = [np.asarray(part, dtype=np.intp) for part in (first, second, [*first, *second])]
    one, other, both = (float(np.linalg.slogdet(covariance[np.ix_(part, part)])[1]) for part in parts)
    return max(0.5 * (one + other - both), 0.0)


@dataclass(frozen=True)
class GaussianInformation(DecompositionInformation):
    """Mutual information of factors and codes from their joint covariance; exact if all are jointly Gaussian.

    The covariance of the codes is that of the posterior means plus the mean posterior covariance.

    >>> factor = np.array([[-1.0], [1.0]])
    >>> round(float(GaussianInformation().information(factor, factor, 0.25 * np.eye(1))[0][0, 0]), 4)  # 1/2 log(1 + 4)
    0.8047
    """

    def partial_information(self, observed: PosteriorObservations) -> PartialInformation:
        """Information of one code, of all others, and of all codes together about every factor, without entropies."""
        return PartialInformation(*self.information(*observed.numeric_moments(self)))

    def information(
        self, factors: FloatArray, mean: FloatArray, posterior_covariance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """I(y_j, z_i) and I(y_j, z_not_i) (codes x factors), and I(y_j, z) (factors)."""
        d, m = factors.shape[1], mean.shape[1]
        covariance = np.atleast_2d(np.cov(np.column_stack([factors, mean]), rowvar=False, bias=True))
        covariance[d:, d:] += posterior_covariance
        single, rest, whole = np.empty((m, d)), np.empty((m, d)), np.empty(d)
        codes = list(range(d, d + m))
        for j in range(d):
            whole[j] = gaussian_information(covariance, [j], codes)
            for i, code in enumerate(codes):
                others = [other for other in codes if other != code]
                single[i, j] = gaussian_information(covariance, [j], [code])
                rest[i, j] = gaussian_information(covariance, [j], others)
        return single, rest, whole
