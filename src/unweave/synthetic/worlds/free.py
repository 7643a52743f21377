"""Worlds in which no factor is a function of others: independent, correlated, confounded or causal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import EvidenceError
from unweave.randomness import random_stream
from unweave.synthetic.worlds.world import Marginal, NumberedFactors, Rng, with_marginal


@dataclass(frozen=True)
class Independent(NumberedFactors):
    """D_perp of 003: factors that vary independently.

    ``marginal`` is gaussian (N(0, 1)), uniform (0 to 1), truncated (N(0, 1) between -pi and pi) or discrete (classes
    0 to 9, equally likely).

    >>> Independent(3).sample(100, rng=0).shape
    (100, 3)
    """

    n_factors: int = 5
    marginal: Marginal = "gaussian"

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        return with_marginal(random_stream(rng, "world").normal(size=(n_rows, self.n_factors)), self.marginal)


@dataclass(frozen=True)
class Correlated(NumberedFactors):
    """D_rho of 003: all pairs of factors have the same correlation ``rho`` (before the marginal is changed).

    ``rho`` must be at least -1 / (d - 1), because otherwise there is no such covariance.

    >>> factors = Correlated(3, rho=0.9).sample(5000, rng=0)
    >>> bool(abs(np.corrcoef(factors, rowvar=False)[0, 1] - 0.9) < 0.02)
    True
    """

    n_factors: int = 5
    rho: float = 0.5
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        lowest = -1 / (self.n_factors - 1) if self.n_factors > 1 else -1.0
        if not lowest <= self.rho <= 1:
            raise EvidenceError(
                f"{self.n_factors} factors cannot all have correlation {self.rho}: use {lowest:.3f} to 1."
            )

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        covariance = np.full((self.n_factors, self.n_factors), float(self.rho))
        np.fill_diagonal(covariance, 1.0)
        return with_marginal(_gaussian(covariance, n_rows, rng), self.marginal)


@dataclass(frozen=True)
class WithCovariance(NumberedFactors):
    """Gaussian factors with any covariance, given as rows of numbers.

    >>> WithCovariance(((1.0, 0.5), (0.5, 1.0))).n_factors
    2
    """

    covariance: tuple[tuple[float, ...], ...]
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        matrix = np.array(self.covariance, dtype=float)
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        if not (square and np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > -1e-10):
            raise EvidenceError("covariance is not valid: pass the rows of a symmetric positive semidefinite matrix.")

    @property
    def n_factors(self) -> int:  # type: ignore[override]
        """Number of factors, d."""
        return len(self.covariance)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        covariance = np.array(self.covariance, dtype=float)
        scales = np.sqrt(np.diag(covariance))
        standard = _gaussian(covariance / np.outer(scales, scales), n_rows, rng)
        return standard * scales if self.marginal == "gaussian" else with_marginal(standard, self.marginal)


@dataclass(frozen=True)
class Confounded(NumberedFactors):
    """A hidden common cause u: z_j = l_j u + sqrt(1 - l_j^2) e_j, so that factors i and j have correlation l_i l_j.

    >>> world = Confounded((0.9, 0.9, 0.0))
    >>> bool(abs(np.corrcoef(world.sample(5000, rng=0), rowvar=False)[0, 1] - 0.81) < 0.02)
    True
    """

    loadings: tuple[float, ...] = (0.8, 0.8, 0.0, 0.0, 0.0)
    marginal: Marginal = "gaussian"

    def __post_init__(self) -> None:
        if not self.loadings or max(map(abs, self.loadings)) > 1:
            raise EvidenceError(f"loadings={self.loadings} are not valid: use one or more numbers from -1 to 1.")

    @property
    def n_factors(self) -> int:  # type: ignore[override]
        """Number of factors, d."""
        return len(self.loadings)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        generator, loadings = random_stream(rng, "world"), np.array(self.loadings)
        cause = generator.normal(size=(n_rows, 1))
        own = generator.normal(size=(n_rows, self.n_factors))
        return with_marginal(loadings * cause + np.sqrt(1 - loadings**2) * own, self.marginal)


@dataclass(frozen=True)
class Causal(NumberedFactors):
    """A chain of noisy causes: z_{j+1} = w f(z_j) + sqrt(1 - w^2) e.

    ``link`` is linear, f(z) = z, or square, f(z) = (z^2 - 1) / sqrt 2. In the second case, z_1 and z_2 are dependent
    but uncorrelated.

    >>> factors = Causal(2, weight=0.9, link="square").sample(20_000, rng=0)
    >>> bool(abs(np.corrcoef(factors, rowvar=False)[0, 1]) < 0.03)
    True
    """

    n_factors: int = 5
    weight: float = 0.8
    link: Literal["linear", "square"] = "linear"

    def __post_init__(self) -> None:
        if abs(self.weight) >= 1:
            raise EvidenceError(f"weight={self.weight} is not valid: use a number between -1 and 1.")

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Rows of factors, n x d."""
        noise = random_stream(rng, "world").normal(size=(n_rows, self.n_factors))
        columns = [noise[:, 0]]
        for own in noise.T[1:]:
            cause = columns[-1] if self.link == "linear" else (columns[-1] ** 2 - 1) / np.sqrt(2)
            columns.append(self.weight * cause + np.sqrt(1 - self.weight**2) * own)
        return np.column_stack(columns)


def _gaussian(correlation: FloatArray, n_rows: int, rng: Rng) -> FloatArray:
    """Rows drawn from N(0, correlation); the correlation matrix may be singular."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return random_stream(rng, "world").normal(size=(n_rows, values.size)) @ root.T
