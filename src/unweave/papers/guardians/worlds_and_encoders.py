"""Worlds and an encoder that are used only in 003's runs.

They are: a factor that is a blend of a linear and a nonlinear function of another, factors drawn by numpy's
``multivariate_normal``, and an encoder with one function for all codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.synthetic.encoders import Elementwise
from unweave.synthetic.functions import ONE_FACTOR
from unweave.synthetic.worlds import Constraint, Correlated, Independent
from unweave.synthetic.worlds.world import Rng

FUNCTIONS = {"tanh": np.tanh, "sinh": np.sinh}


@dataclass(frozen=True)
class Coupled:
    """D_f whose constraint is blended with the identity: (z1, (1 - alpha) z1 + alpha f(z1), z2, ...).

    >>> factors = Coupled(3, alpha=0.0).sample(5, rng=0)
    >>> bool((factors[:, 0] == factors[:, 1]).all())
    True
    """

    n_factors: int = 5
    alpha: float = 1.0
    function: str = "tanh"

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors: z1, z2, ..."""
        return tuple(f"z{j + 1}" for j in range(self.n_factors))

    @property
    def effective_dimension(self) -> int:
        """Number of factors without the second, which is determined by the first."""
        return self.n_factors - 1

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraint on the second factor."""
        sentence = f"z2 = {1 - self.alpha:g} z1 + {self.alpha:g} ({ONE_FACTOR[self.function].formula})"
        return (Constraint(1, (0,), sentence, invertible=True),)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Draw rows of factors, n x d."""
        free = Independent(self.n_factors - 1).sample(n_rows, rng)
        first = free[:, 0]
        second = (1 - self.alpha) * first + self.alpha * ONE_FACTOR[self.function](first)
        return np.column_stack([first, second, free[:, 1:]])


@dataclass(frozen=True)
class ReleasedCorrelated(Correlated):
    """`Correlated` with draws by numpy's ``multivariate_normal``, as in the released code.

    The distribution is the same. For two factors, a seed gives the same draws as the released code. For more factors,
    the draws depend on the principal axes that the linear algebra library chooses among those of equal variance.

    >>> ReleasedCorrelated(2, rho=0.5).sample(3, rng=0).shape
    (3, 2)
    """

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Draw rows of factors, n x d."""
        covariance = np.full((self.n_factors, self.n_factors), float(self.rho))
        np.fill_diagonal(covariance, 1.0)
        return np.random.default_rng(rng).multivariate_normal(np.zeros(self.n_factors), covariance, size=n_rows)


@dataclass(frozen=True)
class ElementwiseByOne(Elementwise):
    """`Elementwise` with the same increasing function for all codes, tanh or sinh.

    >>> ElementwiseByOne(alpha=1.0, function="tanh").encode(np.array([[0.5, 0.5]]), rng=0).round(3).tolist()
    [[0.462, 0.462]]
    """

    function: str = "tanh"

    def bent(self, columns: FloatArray) -> FloatArray:
        """Apply the function to each column."""
        return np.asarray(FUNCTIONS[self.function](columns))
