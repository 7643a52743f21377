"""Closed forms of a toy model whose information is known exactly, in nats.

The toy model of 002, section 5.1: K factors y ~ N(0, I), codes z | y ~ N(y, s^2 I), attacked with the reflection
U = I - 2/K 11'. These formulas correct errors in the paper's Table 1 and appendix B:

- MIG under redundancy uses the larger of (1 - 2/K)^2 and 4/K^2; the paper always uses the first, which is wrong for
  K = 2 and 3;
- the upper bound under synergy is that of Eq 7, 1/2 log(1 + 1/(a^2 + s^2)); Table 1 prints I(y; z) - I(y; z_rest);
- I(y_k; z without added l) for k != l under synergy (Eq 14) has 4/K^2 in place of the printed (1 - 2/K)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Posterior
from unweave.randomness import random_stream

Attack = Literal["none", "redundancy", "synergy"]


@dataclass(frozen=True)
class ToyModel:
    """The toy model with one attack: information about one of K equivalent factors, and the resulting metrics.

    >>> model = ToyModel(n_factors=5, sigma=0.1, attack="redundancy", alpha=10.0)
    >>> round(model.unibound, 4), round(model.mig_numerator, 4)
    (0.3416, 2.0899)
    """

    n_factors: int
    sigma: float
    attack: Attack = "none"
    alpha: float = 0.0

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
        factors = random_stream(rng, "world").normal(size=(n_rows, self.n_factors))
        factors -= factors.mean(axis=0)
        factors = factors @ np.linalg.inv(np.linalg.cholesky(np.cov(factors, rowvar=False, bias=True))).T
        return factors, Posterior(factors, np.full(factors.shape, self.sigma))
