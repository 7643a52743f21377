"""How much of a readout's response belongs to several factors together, of which models of pairs show a part.

What is left of a readout without its additive response is a function of several factors, and noise. Products of three
and more factors have too many coefficients to be estimated, but not their variance: rows with alike factors have alike
residuals, and the restricted likelihood of a Gaussian process with a nugget says how much (as for the heritability of
traits, from more markers than persons: Yang et al. 2010).

    residual ~ N(0, v ((1 - h) I + h K)),   K = (1 - w) sum_(k < l) K_k K_l + w sum of products of three and more

with K_k a centred kernel of one factor, a sum of products of its functions that fall off with their frequency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special
from scipy.linalg import lapack

from unweave.arrays import FloatArray
from unweave.estimators.correlation import normal_scores
from unweave.evidence.kinds import DeclaredKind
from unweave.identifiability.responses import TINY

SHARES = np.linspace(0.0, 0.99, 34)  # h

PAIRS, HIGHER = 0.3, 0.7  # decay with frequency, in products of two and of more factors

SIZES = (1.0, 3.0)  # of a factor in higher products: the larger, the more products of many factors count

WEIGHTS = (0.5, 0.8, 0.95)  # w

FREQUENCIES = 8

FLIPS = 199

CLEAR = 6.0  # gain in log likelihood that noise reaches in less than 1 of 1,000 cases


@dataclass(frozen=True)
class JointShare:
    """Share of a residual that several factors cause together, with its 95 % interval; 0 if it is not clear."""

    share: float = 0.0
    low: float = 0.0
    high: float = 0.0


def factor_kernel(column: FloatArray, declared: DeclaredKind, decay: float) -> FloatArray:
    """Kernel of one factor, n x n: centred, with a mean diagonal of 1 (or 0)."""
    levels = np.unique(column)
    is_circular = declared.kind.is_circular
    if is_circular or (declared.kind.is_numeric and levels.size > 2):
        angle = declared.angle(column) if is_circular else math.pi * special.ndtr(normal_scores(column[:, None])[:, 0])
        frequencies = np.arange(1, FREQUENCIES + 1 if is_circular else min(FREQUENCIES + 1, levels.size))
        waves = np.exp(1j * angle[:, None] * frequencies) * decay ** ((frequencies - 1) / 2)
        functions = np.hstack([waves.real, waves.imag]) if is_circular else waves.real
    else:
        functions = (column[:, None] == levels) / np.sqrt(np.unique(column, return_counts=True)[1])
    functions = functions - functions.mean(axis=0)
    return np.asarray(functions @ functions.T / max(float(np.square(functions).sum(axis=1).mean()), TINY))


def products(kernels: Sequence[FloatArray], size: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Sums of the products of two kernels, and of three and more, each with a mean diagonal of 1 (or 0)."""
    one, two, more = (np.zeros_like(kernels[0]) for _ in range(3))
    for kernel in kernels:
        more += size * kernel * (more + two)
        two += size * kernel * one
        one += size * kernel
    diagonals = (max(float(np.trace(each)) / len(each), TINY) for each in (two, more))
    return two / next(diagonals), more / next(diagonals)


def joint_shares(
    additive: FloatArray,
    factors: Sequence[tuple[FloatArray, DeclaredKind]],
    readouts: Sequence[FloatArray],
    rng: np.random.Generator,
) -> list[JointShare]:
    """For every readout (n x q), h averaged over kernels.

    ``additive`` has the functions of single factors (n x p), and ``factors`` are columns with their kinds.

    >>> from unweave.evidence.kinds import FactorKind
    >>> rng = np.random.default_rng(0)
    >>> z, noise = rng.normal(size=(400, 3)), rng.normal(size=400)
    >>> code = np.sign(z).prod(axis=1) + noise
    >>> numbers = [(column, DeclaredKind(FactorKind.CONTINUOUS)) for column in z.T]
    >>> [0.3 < each.share < 0.6 for each in joint_shares(z, numbers, [code[:, None], noise[:, None]], rng)]
    [True, False]
    """
    basis = linalg.orth(np.column_stack([np.ones(len(additive)), additive]))
    if 2 * basis.shape[1] > len(basis):
        return [JointShare()] * len(readouts)
    left = [readout - basis @ (basis.T @ readout) for readout in readouts]
    pairs = products([factor_kernel(*factor, PAIRS) for factor in factors])[0]
    smooth = [factor_kernel(*factor, HIGHER) for factor in factors]
    kernels, log_likelihoods = [], []
    for size in SIZES:
        higher = products(smooth, size)[1]
        for weight in WEIGHTS if len(factors) > 2 else (0.0,):
            kernel = (1 - weight) * pairs + weight * higher
            half = kernel - basis @ (basis.T @ kernel)
            kernels.append(half - (half @ basis) @ basis.T)
            # the functions of single factors get the smallest eigenvalues, apart from others that are 0
            values, turned = _turned(kernels[-1] - basis @ basis.T, np.hstack(left))
            values, turned = np.maximum(values[basis.shape[1] :], 0.0), turned[basis.shape[1] :]
            variance = 1 + SHARES[:, None] * (values - 1)
            of_readouts = np.split(turned, np.cumsum([residual.shape[1] for residual in left])[:-1], axis=1)
            log_likelihoods.append([_profile(variance, each) for each in of_readouts])
    signs = rng.choice([-1.0, 1.0], size=(FLIPS, len(additive)))
    shares = []
    for residual, found in zip(left, map(np.array, zip(*log_likelihoods, strict=True)), strict=True):
        share, best = _averaged(found), kernels[int(found.max(axis=1).argmax())]
        shares.append(share and _not_of_single_rows(share, residual, best, signs, basis.shape[1]))
    return [share or JointShare() for share in shares]


def _turned(kernel: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of a kernel in ascending order, and the columns in the basis of its eigenvectors.

    The columns are turned to the basis in which the kernel is tridiagonal, so that its eigenvectors are not needed.
    """
    reduced, diagonal, beside, reflections, _ = lapack.dsytrd(kernel, lower=1, lwork=64 * len(kernel))
    q, _, _ = lapack.dormqr("L", "T", reduced[1:, :-1], reflections, columns[1:], lwork=64 * columns.shape[1])
    values, turns = linalg.eigh_tridiagonal(diagonal, beside)
    return values, turns.T @ np.vstack([columns[:1], q])


def _not_of_single_rows(
    share: JointShare, residual: FloatArray, kernel: FloatArray, signs: FloatArray, p: int
) -> JointShare | None:
    """The share, unless unequal variances of rows explain it, and at most that of the products of different rows.

    Large residuals of a few rows look like a response to the likelihood. Random signs keep their sizes.
    """
    others = kernel - np.diag(np.diag(kernel))
    flipped = signs[:, None] * residual.T
    alike = float((residual * (others @ residual)).sum())
    if alike <= ((flipped @ others) * flipped).sum(axis=(1, 2)).max():
        return None
    most = alike / np.square(others).sum() / (np.square(residual).sum() / (len(residual) - p))
    return JointShare(min(share.share, most), min(share.low, most), share.high)


def _profile(variance: FloatArray, turned: FloatArray) -> FloatArray:
    """Restricted log likelihood of every share, with the variance at its maximum, summed over columns."""
    n = len(turned)
    spread = np.maximum((1 / variance) @ np.square(turned) / n, 1e-300)
    return np.asarray(-0.5 * (n * np.log(spread).sum(axis=1) + turned.shape[1] * np.log(variance).sum(axis=1)))


def _averaged(log_likelihood: FloatArray) -> JointShare | None:
    """Mean and interval of the share under a uniform law of kernels and shares; None if it is not clear."""
    if log_likelihood.max() - log_likelihood[0, 0] < CLEAR:
        return None
    law = np.exp(log_likelihood - log_likelihood.max()).sum(axis=0)
    law = law / law.sum()
    below = np.cumsum(law)
    low, high = np.interp([0.025, 0.975], below, SHARES)
    return JointShare(float(law @ SHARES), float(low), float(high))
