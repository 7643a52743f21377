"""Gram matrices of decoders, and priors of latents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.randomness import random_stream

HALF_LOG_2PI_E = float(0.5 * (1 + np.log(2 * np.pi)))
LARGE = 1e100  # squares of much larger numbers overflow, and squares of their inverses underflow
PARALLEL = 1e-14  # a smaller 1 - cos^2 is rounding error, and the columns count as parallel


@dataclass(frozen=True)
class Mean:
    """Mean over samples and its standard error (nan for a single sample)."""

    value: FloatArray
    standard_error: FloatArray


class RunningMean:
    """Mean and standard error of samples that arrive in blocks, from sums and sums of squares.

    >>> running = RunningMean()
    >>> running.add(np.array([[1.0], [3.0]]))
    >>> running.add(np.array([[5.0]]))
    >>> running.mean().value, running.mean().standard_error.round(4)
    (array([3.]), array([1.1547]))
    """

    def __init__(self) -> None:
        self.n = 0
        self._sum: FloatArray | None = None
        self._squares: FloatArray | None = None

    def add(self, block: FloatArray) -> None:
        """Add a block of samples (along the first axis); the block is overwritten."""
        self.n += len(block)
        with np.errstate(invalid="ignore"):
            total = block[0].copy() if len(block) == 1 else block.sum(axis=0)
            np.square(block, out=block)
            squares = block[0] if len(block) == 1 else block.sum(axis=0)
            if self._sum is None or self._squares is None:
                self._sum, self._squares = total, squares.copy()
            else:
                self._sum += total
                self._squares += squares

    @classmethod
    def merged(cls, parts: Iterable[RunningMean]) -> RunningMean:
        """Combine the samples of several running means."""
        filled = [part for part in parts if part.n]
        whole = cls()
        whole.n = sum(part.n for part in filled)
        whole._sum = np.sum([part._sum for part in filled], axis=0)  # type: ignore[arg-type]
        whole._squares = np.sum([part._squares for part in filled], axis=0)  # type: ignore[arg-type]
        return whole

    def mean(self) -> Mean:
        """Mean and standard error of all samples so far."""
        assert self._sum is not None
        assert self._squares is not None
        value = self._sum / self.n
        if self.n < 2:
            return Mean(value, np.full_like(value, np.nan))
        with np.errstate(invalid="ignore"):  # infinite samples have a mean, but a variance of nan
            variance = np.maximum(self._squares / self.n - np.square(value), 0.0) / (self.n - 1)
        return Mean(value, np.sqrt(variance))


def mean_of(samples: FloatArray) -> Mean:
    """Mean over the first axis and its standard error."""
    n = len(samples)
    with np.errstate(invalid="ignore"):
        value = samples.mean(axis=0)
        variance = np.square(samples - value).sum(axis=0) / max(n - 1, 1) / n
    return Mean(np.asarray(value), np.where(n > 1, np.sqrt(variance), np.nan))


def scaled(jacobians: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Divide Jacobians whose squares would overflow or underflow by a power of two; return its logarithms as well.

    >>> block, log_scales = scaled(np.full((1, 2, 1), 1e200))
    >>> bool(np.isclose(np.log(block[0, 0, 0]) + log_scales[0], np.log(1e200)))
    True
    """
    largest = np.abs(jacobians).max(axis=(1, 2), initial=0.0)
    extreme = (largest > LARGE) | ((largest < 1 / LARGE) & (largest > 0))
    if not extreme.any():
        return jacobians, np.zeros(len(jacobians))
    exponents = np.where(extreme, np.frexp(largest)[1], 0)
    return np.ldexp(jacobians, -exponents[:, None, None]), exponents * np.log(2)


def grams(jacobians: FloatArray) -> FloatArray:
    """Gram matrices (b x d x d) of Jacobians (b x D x d)."""
    return np.matmul(jacobians.transpose(0, 2, 1), jacobians)


def log_lengths(gram_block: FloatArray) -> FloatArray:
    """log |J_i| of every sample and dimension (b x d); minus infinity for a zero column."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(np.einsum("bii->bi", gram_block))


def cosines(gram_block: FloatArray) -> FloatArray:
    """Cosines between columns (b x d x d), computed in place of the Gram matrices; nan where a column is zero."""
    diagonal = np.einsum("bii->bi", gram_block)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / np.sqrt(diagonal)
        gram_block *= scale[:, :, None]
        gram_block *= scale[:, None, :]
    diagonal[...] = np.where(np.isfinite(scale), 1.0, np.nan)
    return gram_block


def log_volume_of_directions(cosine_block: FloatArray, dimensions: Sequence[int] | None = None) -> FloatArray:
    """1/2 log det C_SS of every sample: 0 for orthogonal columns, otherwise negative, -inf for dependent columns."""
    if dimensions is not None:
        cosine_block = cosine_block[:, list(dimensions)][:, :, list(dimensions)]
    try:
        return np.minimum(_log_pivots(np.linalg.cholesky(cosine_block)).sum(axis=1), 0.0)
    except np.linalg.LinAlgError:  # some samples have dependent or zero columns
        pass
    result = np.full(len(cosine_block), np.nan)
    for k in np.flatnonzero(np.isfinite(cosine_block).all(axis=(1, 2))):
        try:
            result[k] = min(_log_pivots(np.linalg.cholesky(cosine_block[[k]])).sum(), 0.0)
        except np.linalg.LinAlgError:
            result[k] = -np.inf
    return result


def _log_pivots(triangles: NDArray[np.floating[Any]]) -> FloatArray:
    """Logarithms of the Cholesky pivots of every sample (b x d); minus infinity for pivots that are rounding error."""
    pivots = np.einsum("bii->bi", triangles)
    return np.where(np.square(pivots) < pivots.shape[1] * PARALLEL, -np.inf, np.log(pivots))


def nested_log_volumes(cosine_block: FloatArray, order: Sequence[int]) -> FloatArray:
    """1/2 log det C of the first 1, 2, ..., d dimensions of ``order`` (b x d)."""
    sorted_block = cosine_block[:, list(order)][:, :, list(order)]
    try:
        triangles = np.linalg.cholesky(sorted_block)
    except np.linalg.LinAlgError:  # some columns are dependent: compute each set separately
        first = [log_volume_of_directions(sorted_block, range(k + 1)) for k in range(len(order))]
        return np.stack(first, axis=1)
    return np.cumsum(_log_pivots(triangles), axis=1)


def information_of_cosines(cosine_block: FloatArray) -> FloatArray:
    """Mutual information of every pair of columns, -1/2 log(1 - cos^2) (B.30), computed in place of the cosines."""
    np.square(cosine_block, out=cosine_block)
    np.subtract(1.0, cosine_block, out=cosine_block)
    cosine_block[cosine_block < PARALLEL] = 0.0
    with np.errstate(divide="ignore"):
        np.log(cosine_block, out=cosine_block)
    cosine_block *= -0.5
    return cosine_block


def information_with_all_others(cosine_block: FloatArray) -> FloatArray:
    """What every column shares with all others together, -1/2 log(1 - R^2) = 1/2 log (C^-1)_ii (b x d).

    R^2 is the share of the column that the others span. The result is nan where the columns are linearly dependent.

    >>> information_with_all_others(np.array([[[1.0, 0.6], [0.6, 1.0]]])).round(4)  # -1/2 log(1 - .36)
    array([[0.2231, 0.2231]])
    """
    result = np.full(cosine_block.shape[:2], np.nan)
    known = np.isfinite(log_volume_of_directions(cosine_block))
    if known.any():
        inverses = np.linalg.inv(cosine_block[known])
        result[known] = 0.5 * np.log(np.maximum(np.einsum("bii->bi", inverses), 1.0))
    return result


def random_total_correlation(n_outputs: int, n_latents: int) -> float:
    """Expected total correlation of independent Gaussian random columns, as of a decoder without structure.

    It follows from the Bartlett decomposition of a Wishart matrix, as half a sum of differences of digamma functions.

    >>> round(random_total_correlation(10_000, 2), 5)
    5e-05
    """
    from scipy.special import digamma

    lengths = digamma(n_outputs / 2) * np.ones(n_latents)
    return float(0.5 * (lengths - digamma((n_outputs - np.arange(n_latents)) / 2)).sum())


def random_total_correlation_interval(n_outputs: int, n_latents: int, n_draws: int = 4000) -> FloatArray:
    """Quantiles (2.5 % and 97.5 %), over draws of the columns, of what `random_total_correlation` is the mean of.

    The squared volume of random directions is a product of independent beta variables.

    >>> random_total_correlation_interval(3, 2).round(1)  # -log(1 - u^2) / 2 with u uniform on [0, 1]
    array([0. , 1.5])
    """
    known = np.arange(1, n_latents)
    squares = random_stream(0, "random directions").beta((n_outputs - known) / 2, known / 2, size=(n_draws, len(known)))
    return np.asarray(np.quantile(-0.5 * np.log(squares).sum(axis=1), [0.025, 0.975]))


def random_pair_information(n_outputs: int, level: float = 0.95, n_others: int = 1) -> float:
    """Quantile of the information that two random directions share, -1/2 log(1 - cos^2); infinite for one output.

    cos^2 of two directions in D dimensions has the distribution Beta(1/2, (D - 1)/2); the share of one direction that
    k others span, Beta(k/2, (D - k)/2).

    >>> round(random_pair_information(3), 4)  # |cos| is uniform on [0, 1] in three dimensions
    1.164
    """
    from scipy.stats import beta

    free = n_outputs - n_others
    return float(-0.5 * np.log(beta.isf(level, free / 2, n_others / 2))) if free > 0 else np.inf


def random_others(n_outputs: int, n_others: int) -> FloatArray:
    """What a random direction shares with so many others together: the mean, and what 5 % of draws exceed.

    >>> random_others(3, 1).round(4)
    array([0.3069, 1.164 ])
    """
    if n_others < 1 or n_others >= n_outputs:
        return np.full(2, np.nan if n_others < 1 else np.inf)
    with_it, without = (random_total_correlation(n_outputs, n) for n in (n_others + 1, n_others))
    return np.array([with_it - without, random_pair_information(n_outputs, n_others=n_others)])


def index_sets(given: Iterable[int | Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Index sets as tuples; an integer stands for the set of that dimension alone.

    >>> index_sets([0, (2, 1)])
    ((0,), (2, 1))
    """
    try:
        return tuple((int(i),) if isinstance(i, (int, np.integer)) else tuple(map(int, i)) for i in given)
    except (TypeError, ValueError):
        raise InputError("The sets of latents are not numbers: use numbers from 0, or tuples of them.") from None


@dataclass(frozen=True)
class Latents:
    """Latent samples (n x d), and the factors T'(u) (n x d) that rescale columns of the Jacobian (None: all 1)."""

    values: FloatArray
    scales: FloatArray | None


class Prior(Protocol):
    """The distribution of the latents; a class of your own needs these two members.

    >>> prior: Prior = StandardNormal()
    >>> prior.sample(5, size=2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """Number of latents, or None if any number is possible."""

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents, with the scales of their Jacobian columns."""


@dataclass(frozen=True)
class StandardNormal:
    """Independent standard normal latents: the prior of flows, VAEs and most GANs.

    >>> StandardNormal().sample(5, 2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """None, because any number of latents is possible."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents."""
        return Latents(random_stream(seed, "prior").standard_normal((n, size)), None)


@dataclass(frozen=True)
class GaussianMixture:
    """One Gaussian with diagonal covariance per class; metrics are computed within classes and averaged by weight.

    Parameters
    ----------
    means, deviations : one tuple of d numbers per class
        Means and standard deviations of the latents.
    weights : one number per class, optional
        Probabilities of the classes, up to a common scale; equal by default.

    Examples
    --------
    >>> prior = GaussianMixture(means=((0.0, 0.0), (3.0, 0.0)), deviations=((1.0, 0.5), (2.0, 0.5)))
    >>> sorted(set(prior.sample(50, 2, seed=0).scales[:, 0].tolist()))
    [1.0, 2.0]
    """

    means: tuple[tuple[float, ...], ...]
    deviations: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] | None = None

    @classmethod
    def fitted(cls, latents: FloatArray, classes: Sequence[object] | FloatArray) -> Self:
        """The mixture with the empirical means, standard deviations and frequencies of the classes (E.1.3)."""
        labels = np.unique(np.asarray(classes), return_inverse=True)[1]
        groups = [np.asarray(latents, dtype=np.float64)[labels == k] for k in range(labels.max() + 1)]
        return cls(
            tuple(tuple(group.mean(axis=0).tolist()) for group in groups),
            tuple(tuple(group.std(axis=0).tolist()) for group in groups),
            tuple(len(group) / len(labels) for group in groups),
        )

    @property
    def size(self) -> int | None:
        """Number of latents."""
        return len(self.means[0])

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples: a class for each, and then the latents from the Gaussian of this class."""
        rng = random_stream(seed, "prior")
        weights = np.ones(len(self.means)) if self.weights is None else np.asarray(self.weights)
        classes = rng.choice(len(self.means), size=n, p=weights / weights.sum())
        scales = np.asarray(self.deviations)[classes]
        return Latents(np.asarray(self.means)[classes] + scales * rng.standard_normal((n, size)), scales)


@dataclass(frozen=True)
class IndependentPrior:
    """Independent latents with one continuous distribution of `scipy.stats`, given by its name and parameters.

    >>> bool((IndependentPrior("uniform", (-1.0, 2.0)).sample(100, 3, seed=0).values < 1).all())
    True
    """

    distribution: str
    parameters: tuple[float, ...] = ()

    @property
    def size(self) -> int | None:
        """None, because any number of latents is possible."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents; their scales are the normal density divided by the prior's density."""
        from scipy import stats

        marginal: Any = getattr(stats, self.distribution)(*self.parameters)
        noise = random_stream(seed, "prior").standard_normal((n, size))
        values = np.where(noise < 0, marginal.ppf(stats.norm.cdf(noise)), marginal.isf(stats.norm.sf(noise)))
        return Latents(values, np.exp(stats.norm.logpdf(noise) - marginal.logpdf(values)))
