"""The two toy experiments of 004, with dependent factors and with nuisances, in which the truth is known.

Classes are 0 to K - 1. The paper writes 1 to K. The argument of the cosine then exceeds pi, the map is no longer
one-to-one, and sufficiency decreases with the nuisance although it should not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unweave.arrays import FloatArray
from unweave.options import Count, Finite, checks_options
from unweave.synthetic.worlds import world_stream


class Toy(NamedTuple):
    """Factors (n x d classes), codes (n x d) and nuisances (n x 1, or n x 0 if there are none).

    >>> factors, codes, nuisances = DependentClasses().sample(10)
    >>> len(factors), len(codes), nuisances.shape
    (10, 10, (10, 0))
    """

    factors: FloatArray
    codes: FloatArray
    nuisances: FloatArray


@checks_options
@dataclass(frozen=True)
class DependentClasses:
    """004, section 5.1: classes y that are mixtures of common sources, and codes z that are mixtures of the classes.

        y'_i = delta eps_i + (1 - delta) / (d - 1) sum_{l != i} eps_l,    y_i = floor(K y'_i),    eps ~ U(0, 1)
        z'_j = alpha y_j + (1 - alpha) / (d - 1) sum_{i != j} y_i,        z_j = cos(pi z'_j / K)

    Factors are independent if ``delta = 1`` and identical if ``delta = 1 / d``. Each code depends on one factor if
    ``alpha = 1``, and every code is a function of the mean of all factors if ``alpha = 1 / d``. Three cases have a
    closed form:

    - alpha = 1, any delta: minimality = sufficiency = 1.
    - delta = 1 / d, any alpha: all factors are identical, so minimality = sufficiency = 1.
    - alpha = 1 / d, delta = 1: every code is a function of S_d, a sum of d uniform classes, so
      I(Y_i; Z_j) = H(S_d) - H(S_{d-1}). Minimality and sufficiency are this divided by H(S_d) and by log K: .061 and
      .093 for d = 4 and K = 5, if each value of the code has its own bin.

    >>> toy = DependentClasses(alpha=1.0, delta=0.25).sample(1000, rng=0)
    >>> bool((toy.factors == toy.factors[:, :1]).all())
    True
    """

    alpha: Finite = 1.0
    delta: Finite = 1.0
    n_factors: Count = 4
    n_classes: Count = 5

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> Toy:
        """Rows of factors and codes; there are no nuisances."""
        sources = world_stream(rng, n_rows, self.n_factors).uniform(size=(n_rows, self.n_factors))
        factors = np.minimum(np.floor(self.n_classes * _mixed_columns(sources, self.delta)), self.n_classes - 1)
        codes = np.cos(np.pi * _mixed_columns(factors, self.alpha) / self.n_classes)
        return Toy(factors, codes, np.empty((n_rows, 0)))


@checks_options
@dataclass(frozen=True)
class ClassesWithNuisance:
    """004, section 5.2: independent classes, and codes that are shifted within their class by a common nuisance.

        y_i uniform on 0 .. K - 1,    z_j = cos(pi (y_j + beta eps) / K),    eps ~ U(0, 1),    0 <= beta <= 1 - 1 / K

    Every code determines its class, so sufficiency is 1 for any beta. Minimality is 1 at beta = 0 and decreases as the
    nuisance spreads each class over more bins of the code.

    >>> toy = ClassesWithNuisance(beta=0.5).sample(1000, rng=0)
    >>> toy.codes.shape, toy.nuisances.shape
    ((1000, 4), (1000, 1))
    """

    beta: Finite = 0.0
    n_factors: Count = 4
    n_classes: Count = 5

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> Toy:
        """Rows of factors, codes and the nuisance."""
        generator = world_stream(rng, n_rows, self.n_factors)
        factors = np.floor(self.n_classes * generator.uniform(size=(n_rows, self.n_factors)))
        nuisance = generator.uniform(size=(n_rows, 1))
        codes = np.cos(np.pi * (factors + self.beta * nuisance) / self.n_classes)
        return Toy(factors, codes, nuisance)


def _mixed_columns(columns: FloatArray, own: float) -> FloatArray:
    """Weighted sums of the columns: ``own`` for the column itself, and equal weights for the others."""
    if columns.shape[1] == 1:
        return columns
    rest = (1 - own) / (columns.shape[1] - 1)
    # the same operations in the same order for every column, so that equal weights give exactly equal columns
    return (own - rest) * columns + rest * columns.sum(axis=1, keepdims=True)
