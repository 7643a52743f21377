"""Sums and products of standardised columns over rows, from which correlations and linear probes are computed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray

N_FOLDS = 5  # contiguous parts of every block, with separate moments so that a probe can hold out one
WIDEST_GRAM = 64  # largest number of codes whose products with each other are computed


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, sums of features and codes, and sums of their products.

    Features are the numeric columns that represent the factors. ``cross`` contains their products with the codes,
    ``among`` those with each other, and ``squares`` the squares of the codes. ``gram`` contains the products of the
    codes with each other, or is empty (0 x 0) if there are too many codes.
    """

    n_rows: int
    feature_sums: FloatArray
    code_sums: FloatArray
    cross: FloatArray
    among: FloatArray
    squares: FloatArray
    gram: FloatArray

    def __add__(self, other: Moments) -> Moments:
        return self._with(other, 1)

    def __sub__(self, other: Moments) -> Moments:
        return self._with(other, -1)

    def _with(self, other: Moments, sign: int) -> Moments:
        return Moments(
            self.n_rows + sign * other.n_rows,
            self.feature_sums + sign * other.feature_sums,
            self.code_sums + sign * other.code_sums,
            self.cross + sign * other.cross,
            self.among + sign * other.among,
            self.squares + sign * other.squares,
            self.gram + sign * other.gram,
        )


def moments_of(columns: FloatArray, n_features: int) -> Moments:
    """Moments of transposed columns (columns x rows), the features before the codes.

    >>> found = moments_of(np.array([[1.0, 2.0], [3.0, 4.0]]), 1)
    >>> found.cross.tolist(), found.gram.tolist(), found.n_rows
    ([[11.0]], [[25.0]], 2)
    """
    sums, n_codes = columns.sum(axis=1), len(columns) - n_features
    features, codes = columns[:n_features], columns[n_features:]
    if n_codes <= WIDEST_GRAM:
        products = columns @ columns.T
        cross, among = products[:n_features, n_features:], products[:n_features, :n_features]
        gram = products[n_features:, n_features:]
        squares = gram.diagonal().copy()
    else:
        cross, among, gram = features @ codes.T, features @ features.T, np.empty((0, 0))
        squares = np.einsum("ij,ij->i", codes, codes)
    return Moments(columns.shape[1], sums[:n_features], sums[n_features:], cross, among, squares, gram)


def folds_of(columns: FloatArray, n_features: int) -> tuple[Moments, ...]:
    """Moments of each of five contiguous parts of the rows."""
    stops = np.arange(N_FOLDS + 1) * columns.shape[1] // N_FOLDS
    return tuple(moments_of(columns[:, a:b], n_features) for a, b in itertools.pairwise(stops))
