"""The randomised dependence coefficient (Lopez-Paz, Hennig and Schoelkopf 2013) on a numerically stable basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import ranks
from unweave.randomness import random_stream


@dataclass(frozen=True)
class RandomDependence:
    """Largest canonical correlation of random sine features of the ranks.

    The features are nearly collinear (20 sines have a numerical rank of about 5), so a basis of their span is computed
    from singular vectors whose singular values are not small. A truncated QR decomposition does not cover the span and
    inflates the coefficient of unrelated columns. The default ``scale`` is that of the code of 003; the authors of the
    coefficient use 1/6, which gives functions of lower frequency.

    >>> from unweave.estimators.dependence.correlation import orthonormal_basis
    >>> x = np.random.default_rng(0).normal(size=400)
    >>> a, b = (orthonormal_basis(RandomDependence().column(column)) for column in (x, np.exp(x)))
    >>> round(float(np.linalg.norm(a.T @ b, 2)), 3)
    1.0
    """

    n_features: int = 20
    scale: float = 0.5
    seed: int = 0

    def column(self, column: FloatArray) -> FloatArray:
        """Random sines of the column's ranks within (0, 1], the same for every column."""
        rng = random_stream(self.seed, "random features")
        weights = rng.normal(scale=self.scale, size=(2, self.n_features))
        placed = (ranks(column) / column.size)[:, None]
        return np.asarray(np.sin(placed @ weights[:-1] + weights[-1]))
