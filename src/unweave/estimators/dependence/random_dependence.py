"""The randomised dependence coefficient (Lopez-Paz, Hennig and Schoelkopf 2013) on a numerically stable basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import orthonormal_basis, ranks


@dataclass(frozen=True)
class RandomDependence:
    """Largest canonical correlation of random sine features of the ranks.

    The features are far from independent (20 sines have a numerical rank of about 5), so their span is taken from
    singular values above ``tolerance``; a truncated QR of them does not hold the span and inflates the coefficient of
    unrelated columns. ``scale`` is that of 003's code; the coefficient's authors use 1/6, which sees slower functions.

    >>> x = np.random.default_rng(0).normal(size=400)
    >>> a, b = RandomDependence().basis(x[:, None]), RandomDependence().basis(np.exp(x)[:, None])
    >>> round(float(np.linalg.norm(a.T @ b, 2)), 3)
    1.0
    """

    n_features: int = 20
    scale: float = 0.5
    tolerance: float = 1e-7
    seed: int = 0

    def column(self, column: FloatArray) -> FloatArray:
        """The column's ranks within (0, 1]."""
        return ranks(column) / column.size

    def features(self, columns: FloatArray) -> FloatArray:
        """Random sines of the columns, the same for every column of one width."""
        rng = np.random.default_rng(self.seed)
        weights = rng.normal(scale=self.scale, size=(columns.shape[1] + 1, self.n_features))
        return np.asarray(np.sin(columns @ weights[:-1] + weights[-1]))

    def basis(self, columns: FloatArray) -> FloatArray:
        """Orthonormal basis of the features of columns whose entries are ranked first."""
        placed = np.column_stack([self.column(columns[:, q]) for q in range(columns.shape[1])])
        return orthonormal_basis(self.features(placed), self.tolerance)
