"""MCC of random codes (003, appendix F.3, corrected)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc, betaincinv

from unweave.arrays import FloatArray
from unweave.estimators.matching import best_matching
from unweave.randomness import random_stream

FEWEST_DRAWS, MOST_DRAWS = 20, 2000
ENTRIES_DRAWN = 5_000_000  # of all random matrices together


@dataclass(frozen=True)
class NullMcc:
    """MCC of m random codes and d factors on n rows: an extreme-value calculation for finite n and m.

    A correlation r of independent Gaussian columns has r^2 ~ Beta(1/2, (n - 2) / 2), and correlations with different
    codes are independent, so the largest of k has the distribution function F^k. The expected MCC has two bounds. In
    the upper one, every factor is matched with the best of all m codes. In the lower one, factors are matched one after
    another with the best of the remaining codes:

        1/d sum_j mu(m - j + 1) <= E[MCC] <= mu(m),    mu(k) = E max of k    (d <= m; else with m and d exchanged)

    The correlations of different factors are assumed to be independent as well, which holds if d is well below n (for 4
    rows and m = d = 10, the result is .865, while data give .83). 003 calls sqrt(2 log m / n) a lower bound, but it is
    larger than the upper bound mu(m).

    >>> null = NullMcc(n_rows=20, n_codes=10, n_factors=10)
    >>> low, high = null.mean_bounds
    >>> bool(low < null.mean < high < (2 * np.log(10) / 20) ** 0.5)
    True
    """

    n_rows: int
    n_codes: int
    n_factors: int

    def cumulative(self, correlation: float) -> float:
        """P(|r| <= correlation) for one code and one factor."""
        return float(betainc(0.5, (self.n_rows - 2) / 2, correlation**2))

    def largest(self, n_candidates: int) -> float:
        """mu(k): the mean of the largest of k absolute correlations, the integral of 1 - F^k."""
        return float(quad(lambda r: 1 - self.cumulative(r) ** n_candidates, 0.0, 1.0, limit=200)[0])

    @property
    def mean_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of E[MCC]; they are equal if m or d is 1, and nearly equal if m >> d."""
        fewer, more = sorted((self.n_codes, self.n_factors))
        return float(np.mean([self.largest(more - j) for j in range(fewer)])), self.largest(more)

    @property
    def mean(self) -> float:
        """E[MCC], estimated from random draws within its bounds; exact if m or d is 1."""
        return float(np.clip(self._draws.mean(), *self.mean_bounds))

    def quantile(self, share: float) -> float:
        """Quantile of MCC over data sets; exact if m or d is 1, and otherwise estimated from random draws."""
        fewer, more = sorted((self.n_codes, self.n_factors))
        if fewer == 1:
            return float(np.sqrt(betaincinv(0.5, (self.n_rows - 2) / 2, share ** (1 / more))))
        return float(np.quantile(self._draws, share))

    @property
    def _draws(self) -> FloatArray:
        return _drawn(self.n_rows, self.n_codes, self.n_factors)


@functools.lru_cache(maxsize=256)
def _drawn(n_rows: int, n_codes: int, n_factors: int) -> FloatArray:
    """MCC of random matrices whose entries have the exact null distribution; large matrices need fewer draws."""
    generator = random_stream(0, "correlations by chance")
    n_draws = int(np.clip(ENTRIES_DRAWN // (n_codes * n_factors), FEWEST_DRAWS, MOST_DRAWS))
    draws = np.empty(n_draws)
    for k in range(n_draws):
        matrix = np.sqrt(generator.beta(0.5, (n_rows - 2) / 2, size=(n_codes, n_factors)))
        draws[k] = matrix[best_matching(matrix)].mean()
    return draws
