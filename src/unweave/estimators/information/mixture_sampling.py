"""Mutual information of posteriors with samples and with labels, by drawing from them, in nats.

    I(x, z_S) = E log q(z_S | x) - log 1/N sum_n q(z_S | x_n)                                     (001, Eq 11 and 12)
    I(y, z_S) = E log 1/|D(y)| sum_{n in D(y)} q(z_S | x_n) - log 1/N sum_n q(z_S | x_n)          (002, Eq 8)

The sums are exact, only the expectation is sampled, and both logarithms are taken at the same draws. No such estimate
can exceed log N (or log |D(y)| for what is left within a value of y).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.binning import binned, levels
from unweave.estimators.information.mixture_density import Codes, Components, log_ratios

NEAR_THE_LIMIT = 2.0


@dataclass(frozen=True)
class Sampled:
    """Log ratios at the draws (draws x groups): their weighted mean is the information, their scatter its error.

    ``stratum`` numbers the value that each draw was taken under, ``share`` is how common that value is.
    """

    ratios: FloatArray
    stratum: NDArray[np.intp]
    share: FloatArray

    def mean(self, combination: FloatArray) -> FloatArray:
        """Mean of numbers at the draws (draws, or draws x k), every stratum with its share."""
        sizes = np.bincount(self.stratum)
        return np.asarray((self.share / sizes)[self.stratum] @ combination)

    def standard_error(self, combination: FloatArray) -> FloatArray:
        """Standard error of that mean."""
        columns = combination.reshape(len(combination), -1)
        sizes = np.bincount(self.stratum)
        sums = np.stack([np.bincount(self.stratum, weights=column) for column in columns.T], axis=1)
        spread = np.square(columns - (sums / sizes[:, None])[self.stratum])
        squares = np.stack([np.bincount(self.stratum, weights=column) for column in spread.T], axis=1)
        variance = squares / np.maximum(sizes - 1, 1)[:, None]
        error = np.sqrt(np.square(self.share) / sizes @ variance)
        return np.asarray(error.reshape(combination.shape[1:]))


@dataclass(frozen=True)
class MixtureSampling:
    """Densities of mixtures over all samples at draws from the posteriors.

    Every code has its own stream of random numbers, so codes that are added leave the draws of the others alone. For
    labels the draws are stratified by value (002, section 3.5); continuous factors are cut into ``factor_bins`` of
    equal mass.

    >>> rng = np.random.default_rng(0)
    >>> components = Components(rng.normal(size=(500, 1)), np.full((500, 1), 0.5))
    >>> sampled = MixtureSampling(2000).sample_ratios(components, [1], [(0,)])
    >>> bool(abs(sampled.mean(sampled.ratios)[0] - 0.5 * np.log(5)) < 0.1)
    True
    """

    samples: int = 10_000
    seed: int = 0
    factor_bins: int = 20

    def factor_labels(self, column: FloatArray, discrete: bool) -> Labels:
        """Labels of a factor: its own levels where it is discrete, bins of equal mass where not."""
        return levels(column) if discrete else binned(column, self.factor_bins, "equal_mass")

    def sample_ratios(self, components: Components, seeds: Sequence[int], groups: Sequence[Codes]) -> Sampled:
        """log q(z_S | x) / q(z_S) at draws from all samples in turn; the means are I(x, z_S)."""
        n_rows = components.n_rows
        order = np.random.default_rng(self.seed).permutation(n_rows)
        rows = np.resize(order, self.samples)
        draws = components.draw(rows, self._streams(seeds))
        ratios = log_ratios(components, draws, rows, groups, [(np.arange(rows.size), np.arange(n_rows))])
        return Sampled(ratios, np.zeros(rows.size, dtype=np.intp), np.ones(1))

    def label_ratios(
        self, components: Components, seeds: Sequence[int], groups: Sequence[Codes], labels: Labels
    ) -> tuple[Sampled, Sampled]:
        """log q(z_S | y) / q(z_S) and log q(z_S | x) / q(z_S | y), at draws stratified by y.

        The means are I(y, z_S) and I(x, z_S | y).
        """
        rng = np.random.default_rng(self.seed)
        strata = [np.flatnonzero(labels == value) for value in np.unique(labels)]
        share = np.array([inside.size for inside in strata]) / labels.size
        sizes = np.maximum(np.rint(share * self.samples).astype(int), 2)
        rows = np.concatenate([np.resize(rng.permutation(at), size) for at, size in zip(strata, sizes, strict=True)])
        places = np.split(np.arange(rows.size), np.cumsum(sizes)[:-1])
        draws = components.draw(rows, self._streams(seeds))
        everything: list[tuple[Rows, Rows]] = [(np.arange(rows.size), np.arange(labels.size))]
        of_sample = log_ratios(components, draws, rows, groups, everything)
        within = log_ratios(components, draws, rows, groups, list(zip(places, strata, strict=True)))
        stratum = np.repeat(np.arange(len(strata)), sizes)
        return Sampled(of_sample - within, stratum, share), Sampled(within, stratum, share)

    def _streams(self, seeds: Sequence[int]) -> list[np.random.Generator]:
        return [np.random.default_rng([self.seed, seed]) for seed in seeds]
