"""Similarity of two representations of the same samples, from the cross-products of their centred columns.

With X (n x p) and Y (n x q) centred, Gxx = X'X, Gyy = Y'Y and Gxy = X'Y:

- linear CKA is |Gxy|^2 / (|Gxx| |Gyy|) (Kornblith et al. 2019), here with the unbiased estimator of each HSIC by Song
  et al. (2012), which is 0 on average for independent samples;
- canonical correlations are the singular values of Gxx^-1/2 Gxy Gyy^-1/2; SVCCA (Raghu et al. 2017) keeps the principal
  components with 99 % of the variance, PWCCA (Morcos et al. 2018) weights them by the variance that they explain in X;
- the Procrustes similarity is the nuclear norm of Gxy divided by sqrt(tr Gxx tr Gyy): 1 for equal codes up to a
  rotation, a reflection, a shift and a scale (Schonemann 1966).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from unweave.arrays import FloatArray

KEPT_VARIANCE = 0.99  # of the principal components of SVCCA
SMALLEST_EIGENVALUE = 1e-10  # relative to the largest: directions below it do not vary
ROUNDING = 1e-12  # differences of squared distances below this share are rounding errors


def unbiased_hsic(across: FloatArray, squares_x: FloatArray, squares_y: FloatArray) -> float:
    """HSIC of linear kernels times n (n - 3): equation 4 of Song et al. (2012), without the n x n matrices.

    ``across`` is X'Y of centred tables, ``squares`` the squared lengths of their rows: a row of a kernel without
    its diagonal has the sum 0 - |x_i|^2. The mean over all orders of the rows of Y is 0.

    >>> x, y = np.array([[0.0], [1.0], [2.0], [4.0]]) - 1.75, np.array([[0.0], [1.0], [0.0], [2.0]]) - 0.75
    >>> round(unbiased_hsic(x.T @ y, x[:, 0] ** 2, y[:, 0] ** 2), 3)
    -1.333
    """
    n, both = len(squares_x), float(squares_x @ squares_y)
    product = float(squares_x.sum()) * float(squares_y.sum())
    return float(np.vdot(across, across)) - both + product / ((n - 1) * (n - 2)) - 2 * both / (n - 2)


def whitener(gram: FloatArray) -> tuple[FloatArray, int]:
    """Matrix W (p x r) with W' G W = 1 on the principal directions that vary, and how many have 99 % of the variance.

    >>> white, n_main = whitener(np.diag([4.0, 0.0]))
    >>> np.abs(white.T).tolist(), n_main
    ([[0.5, 0.0]], 1)
    """
    values, vectors = linalg.eigh(gram, driver="evd")  # the fastest one
    values, vectors = values[::-1], vectors[:, ::-1]
    varying = int((values > SMALLEST_EIGENVALUE * max(values[0], 0.0)).sum())
    n_main = int(np.searchsorted(np.cumsum(values), KEPT_VARIANCE * values.sum())) + 1
    return np.asarray(vectors[:, :varying] / np.sqrt(values[:varying])), min(n_main, varying)


def squared_canonical_correlations(whitened: FloatArray) -> float:
    """Mean of the squared canonical correlations, from Gxy between whitened columns.

    >>> squared_canonical_correlations(np.diag([1.0, 0.0]))
    0.5
    """
    return float(np.sum(whitened**2) / min(whitened.shape))


def projection_weighted(whitened: FloatArray, with_white: FloatArray, *, rough: bool = False) -> float:
    """PWCCA: canonical correlations weighted by the absolute covariance of each canonical variate of X with X.

    ``with_white`` are the covariances of X with its whitened columns, Gxx W. A ``rough`` result, to about six digits,
    uses squares in single precision and takes a fifth of the time.

    >>> round(projection_weighted(np.diag([1.0, 0.0]), np.diag([3.0, 1.0])), 3)
    0.75
    """
    if rough:
        single = whitened.astype(np.float32)
        squares, left = linalg.eigh(single @ single.T, driver="evd")
        n_variates = min(whitened.shape)
        correlations = np.sqrt(np.maximum(squares[-n_variates:], 0.0), dtype=np.float64)
        left = left[:, -n_variates:].astype(np.float64)
    else:
        left, correlations, _ = np.linalg.svd(whitened, full_matrices=False)
    weights = np.abs(with_white @ left).sum(0)
    return float(weights @ np.minimum(correlations, 1.0) / weights.sum())


def procrustes(across: FloatArray, trace_x: float, trace_y: float, *, rough: bool = False) -> float:
    """Procrustes similarity from Gxy and the two traces; ``rough`` as for `projection_weighted`.

    >>> procrustes(np.diag([2.0, 1.0]), 3.0, 3.0)
    1.0
    """
    scale = math.sqrt(trace_x * trace_y)
    if not scale > 0:
        return math.nan
    if rough:
        smaller = across @ across.T if len(across) <= across.shape[1] else across.T @ across
        return float(np.sqrt(np.maximum(linalg.eigvalsh(smaller), 0.0)).sum()) / scale
    return float(np.linalg.svd(across, compute_uv=False).sum()) / scale


def squared_distances(x: FloatArray) -> FloatArray:
    """Squared distances of all pairs of rows (n x n); infinite between a row and itself, and 0 below rounding errors.

    >>> squared_distances(np.array([[0.0], [3.0]])).tolist()
    [[inf, 9.0], [9.0, inf]]
    """
    squares = np.einsum("ij,ij->i", x, x)
    sums = squares[:, None] + squares
    found = sums - 2 * (x @ x.T)
    found[found < ROUNDING * sums] = 0.0
    np.fill_diagonal(found, np.inf)
    return np.asarray(found)


def neighbour_weights(distances: FloatArray, k: int) -> FloatArray:
    """Weights (n x n) of the k nearest other rows of every row, whose squares sum to 1 in each row.

    Rows at the same distance as the k-th share what is left of k, so that the order of the rows does not matter.

    >>> neighbour_weights(squared_distances(np.array([[0.0], [1.0], [1.0], [9.0]])), 1)[0].round(2).tolist()
    [0.0, 0.71, 0.71, 0.0]
    """
    last = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    inside, until = distances < last * (1 - ROUNDING), distances <= last * (1 + ROUNDING)
    n_inside, n_until = (each.sum(axis=1, keepdims=True) for each in (inside, until))
    weights = np.where(inside, 1.0, np.where(until, (k - n_inside) / (n_until - n_inside), 0.0))
    return np.asarray(weights / np.linalg.norm(weights, axis=1, keepdims=True))
