"""Volumes and angles of Jacobian columns, from Gram matrices G = J'J (000, A.6 and B.28-B.31).

    log |J_S| = 1/2 log det G_SS = sum_S log |J_i| + 1/2 log det C_SS,    C_ij = cos(J_i, J_j)

Lengths and cosines are kept apart: what columns share is then free of cancellation, exactly 0 for orthogonal columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unweave.estimators.binning import FloatArray

HALF_LOG_2PI_E = float(0.5 * (1 + np.log(2 * np.pi)))
PARALLEL = 1e-14  # below this, 1 - cos^2 is rounding: the columns point the same way


@dataclass(frozen=True)
class Mean:
    """Mean over samples and its standard error (nan for a single sample)."""

    value: FloatArray
    standard_error: FloatArray


class RunningMean:
    """Mean and standard error of arrays that come one block of samples after another.

    >>> running = RunningMean()
    >>> running.add(np.array([[1.0], [3.0]]))
    >>> running.add(np.array([[5.0]]))
    >>> running.mean().value, running.mean().standard_error.round(4)
    (array([3.]), array([1.1547]))
    """

    def __init__(self) -> None:
        self.n = 0
        self._value: FloatArray | float = 0.0
        self._squares: FloatArray | float = 0.0

    def add(self, block: FloatArray) -> None:
        """Add samples, first axis."""
        with np.errstate(invalid="ignore"):  # infinite samples have a mean, and no spread
            value = block.mean(axis=0)
            squares = np.square(block - value).sum(axis=0)
            self.merge(len(block), value, squares)

    def merge(self, n: int, value: FloatArray, squares: FloatArray) -> None:
        """Add n samples of which the mean and the squared distances from it are known (Chan et al. 1979)."""
        total = self.n + n
        with np.errstate(invalid="ignore"):
            step = value - self._value if self.n else np.zeros_like(value)
            self._value = self._value + step * (n / total) if self.n else value
            self._squares = self._squares + squares + np.square(step) * (self.n * n / total)
        self.n = total

    def mean(self) -> Mean:
        """What has come in so far."""
        value = np.asarray(self._value, dtype=np.float64)
        if self.n < 2:
            return Mean(value, np.full_like(value, np.nan))
        return Mean(value, np.sqrt(np.asarray(self._squares) / (self.n - 1) / self.n))


def mean_of(samples: FloatArray) -> Mean:
    """Mean over the first axis and its standard error."""
    running = RunningMean()
    running.add(samples)
    return running.mean()


def grams(jacobians: FloatArray) -> FloatArray:
    """Gram matrices (b x d x d) of Jacobians (b x D x d)."""
    return np.matmul(jacobians.transpose(0, 2, 1), jacobians)


def log_lengths(gram_block: FloatArray) -> FloatArray:
    """log |J_i| of every sample and dimension (b x d); minus infinity for a zero column."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(np.einsum("bii->bi", gram_block))


def cosines(gram_block: FloatArray) -> FloatArray:
    """Cosines between columns (b x d x d), with a diagonal of exactly 1; nan where a column is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / np.sqrt(np.einsum("bii->bi", gram_block))
        found = gram_block * scale[:, :, None] * scale[:, None, :]
    dimensions = np.arange(found.shape[1])
    found[:, dimensions, dimensions] = np.where(np.isfinite(scale), 1.0, np.nan)
    return found


def log_volume_of_directions(cosine_block: FloatArray, dimensions: Sequence[int] | None = None) -> FloatArray:
    """1/2 log det C_SS of every sample: 0 for orthogonal columns, negative otherwise, minus infinity if dependent."""
    if dimensions is not None:
        cosine_block = cosine_block[:, list(dimensions)][:, :, list(dimensions)]
    defined = np.isfinite(cosine_block).all(axis=(1, 2))
    result = np.full(len(cosine_block), np.nan)
    sign, log_determinant = np.linalg.slogdet(cosine_block[defined])
    result[defined] = np.where(sign > 0, 0.5 * np.minimum(log_determinant, 0.0), -np.inf)
    return result


def nested_log_volumes(cosine_block: FloatArray, order: Sequence[int]) -> FloatArray:
    """1/2 log det C of the first 1, 2, ..., d dimensions in this order (b x d)."""
    sorted_block = cosine_block[:, list(order)][:, :, list(order)]
    try:
        triangles = np.linalg.cholesky(sorted_block)
    except np.linalg.LinAlgError:  # dependent columns somewhere: one set after another
        first = [log_volume_of_directions(sorted_block, range(k + 1)) for k in range(len(order))]
        return np.stack(first, axis=1)
    return np.cumsum(np.log(np.einsum("bii->bi", triangles)), axis=1)


def information_of_cosines(squared: FloatArray) -> FloatArray:
    """-1/2 log(1 - cos^2): what two columns share (B.30); infinite for parallel ones."""
    rest = 1 - squared
    rest[rest < PARALLEL] = 0.0
    with np.errstate(divide="ignore"):
        return -0.5 * np.log(rest)


def random_total_correlation(n_outputs: int, n_latents: int) -> float:
    """Total correlation of columns drawn at random (Gaussian, independent): what a decoder without structure gets.

    Half the gap of digamma functions that the Bartlett decomposition of a Wishart matrix gives.

    >>> round(random_total_correlation(10_000, 2), 5)
    5e-05
    """
    from scipy.special import digamma

    lengths = digamma(n_outputs / 2) * np.ones(n_latents)
    return float(0.5 * (lengths - digamma((n_outputs - np.arange(n_latents)) / 2)).sum())


def index_sets(given: Iterable[int | Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Index sets as tuples; a bare number is the set of that dimension.

    >>> index_sets([0, (2, 1)])
    ((0,), (2, 1))
    """
    return tuple((int(entry),) if isinstance(entry, (int, np.integer)) else tuple(map(int, entry)) for entry in given)
