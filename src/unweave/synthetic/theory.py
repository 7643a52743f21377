"""Closed forms of scores."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc, betaincinv, ndtr

from unweave.arrays import FloatArray
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import best_matching
from unweave.evidence import Posterior
from unweave.options import Count, Finite, Positive, Several, Share, Within, checks_options
from unweave.randomness import random_stream
from unweave.synthetic.encoders import Distributed
from unweave.synthetic.worlds import world_stream

Correlation = Annotated[float, Within(-1, math.nextafter(1.0, 2.0))]


@checks_options
def mcc_of_mixed_pair(rho: Correlation, epsilon: Correlation) -> float:
    """MCC of (z1, z2 + e z3, e z2 + z3), with corr(z2, z3) = rho and z1 independent (003, Eq 39; Eq 51 for e = 1).

        MCC = (1 + 2 (1 + e rho) / sqrt(1 + e^2 + 2 e rho)) / 3

    As a function of rho it has its minimum at rho = -e. It rises to 1 at rho = 1 and, if e < 1, also at rho = -1:
    correlated factors hide a constant mixing.

    >>> round(mcc_of_mixed_pair(0.0, 0.5), 4), round(mcc_of_mixed_pair(-0.99, 0.5), 4)
    (0.9296, 0.9936)
    """
    return (1 + 2 * (1 + epsilon * rho) / math.sqrt(1 + epsilon**2 + 2 * epsilon * rho)) / 3


@checks_options
def least_mcc_of_mixed_pair(epsilon: Correlation) -> float:
    """Minimum of `mcc_of_mixed_pair` over rho, (1 + 2 sqrt(1 - e^2)) / 3, at rho = -e (003, Eq 43 to 45).

    >>> round(least_mcc_of_mixed_pair(0.5), 4)
    0.9107
    """
    return (1 + 2 * math.sqrt(1 - epsilon**2)) / 3


def mcc_of_linear_map(matrix: FloatArray, covariance: FloatArray) -> float:
    """MCC of codes A z, for infinitely many samples of factors with this covariance.

    >>> round(mcc_of_linear_map(np.array([[1.0, 0.5], [0.5, 1.0]]), np.eye(2)), 4)
    0.8944
    """
    given = [np.asarray(table) for table in (matrix, covariance)]
    shapes = [table.shape for table in given]
    if any(table.dtype.kind not in "iuf" or not np.isfinite(table).all() for table in given) or not (
        len(shapes[0]) == 2 and shapes[0][0] and shapes[1] == shapes[0][1:] * 2 and (np.diag(covariance) > 0).all()
    ):
        raise InputError("This is no linear map: pass a finite matrix (m x d) and a covariance of factors (d x d).")
    matrix = np.divide(
        matrix, np.maximum(np.abs(matrix).max(axis=1, keepdims=True), np.finfo(float).tiny)
    )  # no overflow
    covariances = matrix @ covariance  # of codes and factors
    code_scales = np.sqrt(np.einsum("if,if->i", covariances, matrix))
    code_scales[code_scales == 0] = 1.0  # a constant code correlates with nothing
    correlations = np.abs(covariances) / code_scales[:, None] / np.sqrt(np.diag(covariance))
    return float(correlations[best_matching(correlations)].mean())


@checks_options
def mcc_of_distributed(k: Annotated[int, Within(2, 1000)]) -> float:
    """MCC of E8 with k codes for each factor, for infinitely many samples of standard normal factors.

    For k = 2, it is corr(z, sin z) = e^(-1/2) / sqrt((1 - e^(-2)) / 2) = .9225, because cos z is even and therefore
    uncorrelated with z (the text of 003 says .85). For k > 2, it is the largest corr(z, z 1[z in I]) of the intervals
    I = [a, b], from the truncated moments E[z 1_I] = phi(a) - phi(b) and E[z^2 1_I] = P(I) + a phi(a) - b phi(b).

    >>> [round(mcc_of_distributed(k), 3) for k in (2, 3, 5, 10)]
    [0.922, 0.819, 0.729, 0.599]
    """
    if k == 2:
        return math.exp(-0.5) / math.sqrt((1 - math.exp(-2)) / 2)
    edges = np.concatenate([[-np.inf], Distributed(k).cuts, [np.inf]])
    density = np.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
    weighted = np.where(np.isfinite(edges), edges, 0.0) * density
    mean = density[:-1] - density[1:]
    second = np.diff(ndtr(edges)) + weighted[:-1] - weighted[1:]
    return float((second / np.sqrt(second - mean**2)).max())


@checks_options
def dci_disentanglement_of_dropped(n_codes: Count, n_factors: Several) -> float:
    """D if m of d independent factors are kept: (m / d) log m / log d.

    The importances of every code are 1 for its own factor and 1/m for each of the d - m lost factors. They sum to
    d / m, so that 1 - H / log d is (m / d) log m / log d.

    >>> round(dci_disentanglement_of_dropped(9, 10), 3), dci_disentanglement_of_dropped(10, 10)
    (0.859, 1.0)
    """
    return n_codes / n_factors * math.log(n_codes) / math.log(n_factors)


@checks_options
def dci_completeness_of_dropped(n_codes: Count, n_factors: Count) -> float:
    """C if m of d independent factors are kept: m / d, because all codes are equally important for a lost factor.

    >>> dci_completeness_of_dropped(9, 10)
    0.9
    """
    return n_codes / n_factors


@checks_options
def dci_disentanglement_of_constraint(n_factors: Several) -> float:
    """D of a perfect encoder if one factor is an increasing function of another: 1 - (2 / d) log 2 / log d.

    The two codes are equivalent for trees, so each has half of the importance for both factors.

    >>> [round(dci_disentanglement_of_constraint(d), 3) for d in (5, 10, 20)]
    [0.828, 0.94, 0.977]
    """
    return 1 - 2 / n_factors * math.log(2) / math.log(n_factors)


@checks_options
def dci_completeness_of_copies(n_copies: Count, n_factors: Several) -> float:
    """C if every factor has k codes of equal importance: 1 - log k / log(k d); D is 1.

    >>> dci_completeness_of_copies(1, 5), round(dci_completeness_of_copies(2, 5), 3)
    (1.0, 0.699)
    """
    return 1 - math.log(n_copies) / math.log(n_copies * n_factors)


@checks_options
def r2_of_dropped(n_codes: Count, n_factors: Count, rho: Share = 0.0) -> float:
    """R2 if m of d factors are kept and all pairs of factors have the correlation rho.

    The R2 of a lost factor from the kept ones is m rho^2 / (1 + (m - 1) rho). The mean R2 is m / d if rho is 0.

    >>> r2_of_dropped(9, 10), round(r2_of_dropped(9, 10, rho=0.5), 3)
    (0.9, 0.945)
    """
    of_lost = n_codes * rho**2 / (1 + (n_codes - 1) * rho)
    return (n_codes + (n_factors - n_codes) * of_lost) / n_factors


FEWEST_DRAWS, MOST_DRAWS = 20, 2000
ENTRIES_DRAWN = 5_000_000  # of all random matrices together


@checks_options
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

    n_rows: Annotated[int, Within(3)]
    n_codes: Count
    n_factors: Count

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


Attack = Literal["none", "redundancy", "synergy"]


@checks_options
@dataclass(frozen=True)
class ToyModel:
    """The toy model with one attack: information about one of K equivalent factors, and the resulting metrics.

    >>> model = ToyModel(n_factors=5, sigma=0.1, attack="redundancy", alpha=10.0)
    >>> round(model.unibound, 4), round(model.mig_numerator, 4)
    (0.3416, 2.0899)
    """

    n_factors: Several
    sigma: Positive
    attack: Attack = "none"
    alpha: Finite = 0.0

    @property
    def whole(self) -> float:
        """I(y_k; z), which no attack changes."""
        return 0.5 * math.log(1 + 1 / self.sigma**2)

    @property
    def single(self) -> float:
        """I(y_k; z_k) of the code that belongs to the factor."""
        noise = self.sigma**2 + (self.alpha**2 if self.attack == "synergy" else 0.0)
        return 0.5 * math.log(1 + 1 / noise)

    @property
    def rest(self) -> float:
        """I(y_k; z_rest), where z_rest are all codes except z_k."""
        if self.attack != "redundancy":
            return 0.0
        a, s = self.alpha**2, self.sigma**2
        return 0.5 * math.log((1 + a * (1 + s)) / (1 + a * s))

    @property
    def second(self) -> float:
        """Largest I(y_k; z_l) of the codes except z_k."""
        if self.attack != "redundancy":
            return 0.0
        a, s, k = self.alpha**2, self.sigma**2, self.n_factors
        share = max((1 - 2 / k) ** 2, 4 / k**2)
        return 0.5 * math.log((1 + a * (1 + s)) / (1 + a * (1 + s - share)))

    def rest_without_added(self, own: bool) -> float:
        """I(y_k; all codes except one added code: code k if ``own``, otherwise any other)."""
        if self.attack != "synergy":
            return self.whole
        a, s, k = self.alpha**2, self.sigma**2, self.n_factors
        share = (1 - 2 / k) ** 2 if own else 4 / k**2
        return 0.5 * math.log((1 + s) * (1 + s + a) / (s * (1 + s + a) + a * share))

    @property
    def mig_numerator(self) -> float:
        """I(y_k; z_k) minus the mutual information of the second best code."""
        return abs(self.single - self.second)

    @property
    def unibound(self) -> float:
        """[I(y_k; z_k) - I(y_k; z_rest)]+."""
        return max(self.single - self.rest, 0.0)

    @property
    def interaction(self) -> float:
        """I(y_k; z_k) + I(y_k; z_rest) - I(y_k; z)."""
        return self.single + self.rest - self.whole

    @property
    def unique_upper_bound(self) -> float:
        """I(y_k; z_k) - [interaction]+ (Eq 7)."""
        return self.single - max(self.interaction, 0.0)

    @property
    def redundancy(self) -> float:
        """R(y_k; z_k, z_rest), for which the lower and the upper bound are equal (appendix B)."""
        return max(self.interaction, 0.0)

    @property
    def synergy(self) -> float:
        """C(y_k; z_k, z_rest), for which the lower and the upper bound are equal (appendix B)."""
        return max(-self.interaction, 0.0)

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> tuple[FloatArray, Posterior]:
        """Factors whose sample covariance is exactly the identity, and the posterior before any attack."""
        if not isinstance(n_rows, int | np.integer) or n_rows <= self.n_factors:
            raise OptionError(f"n_rows={n_rows} is too small: use more rows than the {self.n_factors} factors.")
        factors = world_stream(rng, n_rows, self.n_factors).normal(size=(n_rows, self.n_factors))
        factors -= factors.mean(axis=0)
        factors = factors @ np.linalg.inv(np.linalg.cholesky(np.cov(factors, rowvar=False, bias=True))).T
        return factors, Posterior(factors, np.full(factors.shape, self.sigma))


__all__ = [
    "Attack",
    "NullMcc",
    "ToyModel",
    "dci_completeness_of_copies",
    "dci_completeness_of_dropped",
    "dci_disentanglement_of_constraint",
    "dci_disentanglement_of_dropped",
    "least_mcc_of_mixed_pair",
    "mcc_of_distributed",
    "mcc_of_linear_map",
    "mcc_of_mixed_pair",
    "r2_of_dropped",
]
