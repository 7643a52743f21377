"""Information in posteriors, with codes quantised on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, ndtr

from unweave.arrays import FloatArray, Labels
from unweave.errors import InputError
from unweave.estimators.counts import BinnedFactors, Binning
from unweave.estimators.information import Information, Observations
from unweave.estimators.posteriors import (
    FactorInformation,
    PosteriorInformation,
    PosteriorObservations,
    SampleInformation,
)
from unweave.options import Finite, Several, checks_options

Single = NDArray[np.float32]

# Phi(x) - 1/2 = tanh(x p(x^2)) / 2 to 8e-8 in single precision; the mass beyond 6 standard deviations is negligible
TANH_POLYNOMIAL = (
    0.797884941,
    0.0363330846,
    -3.25949771e-5,
    -5.5306193e-5,
    3.96474427e-6,
    -1.32263326e-7,
    1.75617031e-9,
)

FARTHEST = 6.0
ROWS_AT_ONCE = 65_536
STEEPEST, FARTHEST_BIN = 1e30, 1e6
FLATTEST_DENSITY = 1e-5


def working_space(bins: int, n_rows: int) -> Single:
    """Working memory (3 x edges x rows); allocating it for every block would take as long as the arithmetic."""
    return np.empty((3, bins + 1, n_rows), dtype=np.float32)


def aggregated_moments(mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every code's aggregated posterior; a standard deviation of 0 counts as 1.

    >>> [moment.tolist() for moment in aggregated_moments(np.array([[-1.0], [1.0]]), np.array([[1.0], [1.0]]))]
    [[0.0], [1.4142135623730951]]
    """
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(mean), ROWS_AT_ONCE)]
    unit = np.maximum.reduce([np.maximum(np.abs(mean[rows]), std[rows]).max(axis=0) for rows in blocks])
    unit = np.where(unit > 0, unit, 1.0)  # so that squares neither overflow nor underflow
    centre = np.sum([(mean[rows] / unit).sum(axis=0) for rows in blocks], axis=0) / len(mean)
    squares = [np.square(mean[rows] / unit - centre) + np.square(std[rows] / unit) for rows in blocks]
    spread = np.sqrt(np.sum([block.sum(axis=0) for block in squares], axis=0) / len(mean))
    return centre * unit, np.where(spread > 0, spread, 1.0) * unit


def standard_edges(mean: FloatArray, std: FloatArray, low: float, width: float, edges: Single) -> Single:
    """(edge - mean) / std (edges x rows), relative to the edge nearest to the mean, which reduces rounding errors."""
    nearest = np.clip(np.rint((mean - low) / width), -FARTHEST_BIN, FARTHEST_BIN)
    std = np.maximum(std, width / STEEPEST)
    step = (width / std).astype(np.float32)
    offset = ((low + nearest * width - mean) / std).clip(-STEEPEST, STEEPEST).astype(np.float32)
    np.subtract(np.arange(len(edges), dtype=np.float32)[:, None], nearest.astype(np.float32), out=edges)
    edges *= step
    edges += offset
    return edges


def half_centred_cdf(x: Single, square: Single, polynomial: Single) -> Single:
    """Phi(x) - 1/2, computed in place of x; the other two arrays are working memory.

    >>> x = np.array([0.0, 1.96], dtype=np.float32)
    >>> [round(float(p), 4) for p in half_centred_cdf(x, x.copy(), x.copy())]
    [0.0, 0.475]
    """
    np.clip(x, -FARTHEST, FARTHEST, out=x)
    np.multiply(x, x, out=square)
    np.multiply(square, np.float32(TANH_POLYNOMIAL[-1]), out=polynomial)
    for coefficient in TANH_POLYNOMIAL[-2:0:-1]:
        polynomial += np.float32(coefficient)
        polynomial *= square
    polynomial += np.float32(TANH_POLYNOMIAL[0])
    x *= polynomial
    np.tanh(x, out=x)
    x *= np.float32(0.5)
    return x


def centre_masses(mean: FloatArray, std: FloatArray, low: float, width: float, density: Single) -> Single:
    """Normalised densities at the bin centres; rows of negligible density at all of them fill the bin of their mean."""
    bins = len(density)
    standard_edges(mean, std, low + width / 2, width, density)
    np.square(density, out=density)
    density *= np.float32(-0.5)
    np.exp(np.maximum(density, np.float32(-80.0), out=density), out=density)
    highest = density.max(axis=0) / (math.sqrt(2 * math.pi) * std)
    density /= density.sum(axis=0)
    narrow = np.flatnonzero(highest < FLATTEST_DENSITY)
    if narrow.size:
        density[:, narrow] = 0
        density[np.clip((mean[narrow] - low) // width, 0, bins - 1).astype(np.intp), narrow] = 1
    return density


def mass_entropy(masses: Single, logarithms: Single) -> float:
    """Sum of -Q log Q over all masses Q; the second array is working memory."""
    np.log(np.maximum(masses, np.float32(1e-30), out=logarithms), out=logarithms)
    return -float(np.vdot(masses, logarithms))


GridRule = Literal["mass", "centre"]
ROWS_IN_CACHE = 512
BLOCKS_PER_JOB = 16
FITTED_REACH = 4.0
UNIFORM_RANGE = math.sqrt(2 * math.pi * math.e)


@dataclass(frozen=True)
class Quantised:
    """Codes on their grids: joint distributions with every factor, and conditional entropies given the sample.

    ``joint[i][j]`` is Q(s, y) of code i and factor j (bins x values), ``marginal[i]`` is Q(s), ``factor_shares[j]`` is
    p(y), ``given_sample`` is H(z_i | x), and ``outside`` is the share of every code's mass outside the limits.
    """

    joint: tuple[tuple[FloatArray, ...], ...]
    marginal: tuple[FloatArray, ...]
    factor_shares: tuple[FloatArray, ...]
    given_sample: FloatArray
    outside: FloatArray

    @property
    def entropies(self) -> FloatArray:
        """H(z_i) of every code."""
        return np.array([entr(marginal).sum() for marginal in self.marginal])

    @property
    def sample_information(self) -> FloatArray:
        """I(x, z_i) of every code (001, Eq 1)."""
        return np.maximum(self.entropies - self.given_sample, 0.0)

    @property
    def joint_entropies(self) -> FloatArray:
        """H(z_i, y_j) of every code and factor."""
        return np.array([[entr(table).sum() for table in tables] for tables in self.joint])

    @property
    def factor_entropies(self) -> FloatArray:
        """H(y_j) of every factor."""
        return np.array([entr(shares).sum() for shares in self.factor_shares])

    @property
    def factor_information(self) -> FloatArray:
        """I(z_i, y_j) of every code and factor."""
        return np.array([[_table_information(table) for table in tables] for tables in self.joint])


@checks_options
@dataclass(frozen=True)
class QuantisedPosterior(BinnedFactors, Information, PosteriorInformation):
    """Posteriors in bins of equal width over the range of every code, or over one fixed range.

    By default the bins of a code cover the mean of its aggregated posterior q(z_i) plus and minus 4 standard deviations
    of q(z_i), so that the scale and the origin of a code do not matter. ``limits=(-4.0, 4.0)`` is the grid of 001 and
    its published code, the same for all codes. Both grids are equal for a code whose aggregated posterior has mean
    0 and variance 1, like the prior of a VAE. ``limits=None`` takes the range that 001, appendix A.11 derives from
    the posteriors.

    The first and the last bin are open, so that the masses of a row sum to one; `Quantised.outside` is the share of
    mass outside the limits. ``rule='centre'`` is that of the published code: it takes the density at the centre of each
    bin, normalised over the bins, and assigns a posterior whose density is below 1e-5 at all centres to the bin of its
    mean. Continuous factors are cut into ``factor_bins`` bins, of equal mass by default.

    >>> grid = QuantisedPosterior(bins=4, limits=(-4.0, 4.0))
    >>> grid.quantised(np.array([[-3.0], [3.0]]), np.array([[0.1], [0.1]])).marginal[0].round(3).tolist()
    [0.5, 0.0, 0.0, 0.5]
    """

    bins: Several = 100
    limits: tuple[Finite, Finite] | Literal["fitted"] | None = "fitted"
    rule: GridRule = "mass"
    factor_bins: Several = 20
    factor_binning: Binning = "equal_mass"

    @property
    def grid(self) -> QuantisedPosterior:
        """This estimator, because entropies of codes refer to its grid."""
        return self

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.factor_bins, self.factor_binning

    def code_information(self, codes: FloatArray, factor_labels: Sequence[Labels]) -> FloatArray:
        """Mutual information of every code with every factor, for codes without posterior noise."""
        return self.quantised(codes, np.zeros_like(codes), factor_labels).factor_information

    def information_matrix(self, observed: Observations) -> FloatArray:
        """Mutual information of every code's posterior with every factor."""
        return observed.quantised(self).factor_information

    def code_entropies(self, observed: Observations) -> FloatArray:
        """Entropy of every code on the grid."""
        return observed.quantised_codes(self).entropies

    def held_information(self, observed: Observations) -> FloatArray:
        """Mutual information of every code and the samples, which excludes the noise of the posterior."""
        return observed.quantised_codes(self).sample_information

    def sample_information(self, observed: PosteriorObservations) -> SampleInformation:
        """I(x, z_i) of every code on the grid."""
        return SampleInformation(observed.quantised_codes(self).sample_information)

    def factor_information(self, observed: PosteriorObservations) -> FactorInformation:
        """I(z_i, y_j) and H(z_i, y_j) of every code and factor on the grid."""
        found = observed.quantised(self)
        return FactorInformation(found.factor_information, found.joint_entropies, found.factor_entropies)

    def ranges_of(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """Lower and upper limit of every code (2 x codes) of these means and standard deviations (rows x codes)."""
        if self.rule not in ("mass", "centre"):
            raise ValueError(f"rule={self.rule!r} is not known: use 'mass' or 'centre'.")
        if self.bins < 2:
            raise ValueError(f"bins={self.bins} does not make a grid: use two bins or more.")
        if self.limits == "fitted":
            centre, spread = aggregated_moments(mean, std)
            return np.stack([centre - FITTED_REACH * spread, centre + FITTED_REACH * spread])
        if self.limits is None:
            reach = UNIFORM_RANGE / 2 * std
            low, high = float((mean - reach).min()), float((mean + reach).max())
        else:
            low, high = self.limits
        if not low < high:
            raise InputError(f"limits from {low} to {high} do not make a grid: pass the lower limit first.")
        return np.repeat([[low], [high]], mean.shape[1], axis=1).astype(np.float64)

    def quantised(
        self,
        mean: FloatArray,
        std: FloatArray,
        factors: Sequence[Labels | FloatArray] = (),
        categories: Sequence[FloatArray] = (),
    ) -> Quantised:
        """Joint tables of codes with factors, for Gaussian codes on the grid (rows x codes) and categorical codes.

        A factor is given by its labels or by a table p(y | x). The work is distributed over the threads of
        ``joblib.parallel_config``, whose number does not change the result.
        """
        n_rows, n_codes = mean.shape
        sizes = [factor.shape[1] if factor.ndim == 2 else int(factor.max()) + 1 for factor in factors]
        limits = self.ranges_of(mean, std) if n_codes else np.empty((2, 0))
        step = ROWS_IN_CACHE * BLOCKS_PER_JOB
        parts = joblib.Parallel(require="sharedmem")(
            joblib.delayed(self._of_rows)(mean, std, factors, categories, sizes, limits, slice(start, start + step))
            for start in range(0, n_rows, step)
        )
        stops = np.cumsum([1, *sizes])
        tables = [
            sum(of_code[1:], start=of_code[0]) / n_rows for of_code in zip(*(part[0] for part in parts), strict=True)
        ]
        return Quantised(
            joint=tuple(tuple(np.split(table, stops, axis=1)[1:-1]) for table in tables),
            marginal=tuple(table[:, 0] for table in tables),
            factor_shares=tuple(_shares(factor) for factor in factors),
            given_sample=np.sum([part[1] for part in parts], axis=0) / n_rows,
            outside=np.sum([part[2] for part in parts], axis=0) / n_rows,
        )

    def _of_rows(
        self,
        mean: FloatArray,
        std: FloatArray,
        factors: Sequence[Labels | FloatArray],
        categories: Sequence[FloatArray],
        sizes: Sequence[int],
        limits: FloatArray,
        rows: slice,
    ) -> tuple[list[FloatArray], FloatArray, FloatArray]:
        """Sums over a slice of rows: tables (bins x (1 + all values)) per code, entropies, and mass outside."""

        n_bins = [self.bins] * mean.shape[1] + [table.shape[1] for table in categories]
        sums = [np.zeros((bins, 1 + sum(sizes))) for bins in n_bins]
        entropy, outside = np.zeros((2, len(n_bins)))
        space = working_space(self.bins, ROWS_IN_CACHE)
        for start in range(rows.start, min(rows.stop, mean.shape[0]), ROWS_IN_CACHE):
            block = slice(start, min(start + ROWS_IN_CACHE, mean.shape[0]))
            weights = _weights([factor[block] for factor in factors], sizes, block.stop - block.start)
            for i in range(mean.shape[1]):
                low, high = limits[:, i]
                masses, beyond = self._masses(mean[block, i], std[block, i], low, high, space[:, :, : len(weights)])
                sums[i] += masses @ weights
                entropy[i] += mass_entropy(masses, space[2, : self.bins, : len(weights)])
                outside[i] += beyond
            for i, table in enumerate(categories, mean.shape[1]):
                sums[i] += table[block].T @ weights
                entropy[i] += entr(table[block]).sum()
        return sums, entropy, outside

    def masses(self, mean: FloatArray, std: FloatArray) -> Single:
        """Mass of every bin (bins x rows) for the means and standard deviations of one code."""
        low, high = self.ranges_of(mean[:, None], std[:, None])[:, 0]
        return self._masses(mean, std, low, high, working_space(self.bins, mean.size))[0]

    def _masses(
        self, mean: FloatArray, std: FloatArray, low: float, high: float, space: Single
    ) -> tuple[Single, float]:
        """Masses (bins x rows), written into ``space[1]``, and the mass outside the limits, summed over rows."""
        width = (high - low) / self.bins
        if self.rule == "centre":
            beyond = float((ndtr((low - mean) / std) + ndtr((mean - high) / std)).sum())
            return centre_masses(mean, std, low, width, space[1, :-1]), beyond
        below = half_centred_cdf(standard_edges(mean, std, low, width, space[0]), space[1], space[2])
        beyond = below.shape[1] - float(below[-1].sum(dtype=np.float64) - below[0].sum(dtype=np.float64))
        below[0], below[-1] = -0.5, 0.5
        return np.subtract(below[1:], below[:-1], out=space[1, :-1]), beyond


def _table_information(joint: FloatArray) -> float:
    """Mutual information of rows and columns; the table's own margins keep rounding errors second order."""
    joint = joint / joint.sum()
    information = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()
    return max(float(information), 0.0)


def _shares(factor: Labels | FloatArray) -> FloatArray:
    return factor.mean(axis=0) if factor.ndim == 2 else np.bincount(factor) / factor.size


def _weights(factors: Sequence[NDArray[np.generic]], sizes: Sequence[int], n_rows: int) -> Single:
    """A column of ones, and p(y | x) of every value of every factor (rows x values)."""

    weights = np.zeros((n_rows, 1 + sum(sizes)), dtype=np.float32)
    weights[:, 0] = 1
    start = 1
    for factor, size in zip(factors, sizes, strict=True):
        if factor.ndim == 2:
            weights[:, start : start + size] = factor
        else:
            weights[np.arange(n_rows), start + factor.astype(np.intp)] = 1
        start += size
    return weights
