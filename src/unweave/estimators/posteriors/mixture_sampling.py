"""Mutual information of posteriors with samples and with labels, from draws, in nats.

    I(x, z_S) = E log q(z_S | x) - log 1/N sum_n q(z_S | x_n)                                     (001, Eq 11 and 12)
    I(y, z_S) = E log 1/|D(y)| sum_{n in D(y)} q(z_S | x_n) - log 1/N sum_n q(z_S | x_n)          (002, Eq 8)

The sums are exact and only the expectation is estimated from draws; both logarithms are taken at the same draws. Such
an estimate cannot exceed log N, and an estimate of I(x, z_S | y) cannot exceed log |D(y)|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.arrays import Labels, Rows
from unweave.estimators.information.binning import BinnedFactors, Binning
from unweave.estimators.posteriors.mixture_density import Codes, Components, log_ratios
from unweave.estimators.posteriors.posterior_protocols import (
    DecompositionInformation,
    FactorInformation,
    PartialInformation,
    PosteriorInformation,
    PosteriorObservations,
    Sampled,
    SampleInformation,
)
from unweave.randomness import random_stream

NEAR_THE_LIMIT = 2.0


@dataclass(frozen=True)
class MixtureSampling(BinnedFactors, PosteriorInformation, DecompositionInformation):
    """Mutual information from densities of mixtures over all samples, at draws from the posteriors.

    Every code has its own stream of random numbers, so that further codes do not change the draws of the others. For
    labels the draws are stratified by value (002, section 3.5); continuous factors are cut into ``factor_bins`` bins of
    equal mass. If there are more than ``most_rows`` samples, ``most_rows`` of them are chosen at random. The mixtures
    have one component per chosen sample, and no estimate can exceed the logarithm of the number of components.

    >>> rng = np.random.default_rng(0)
    >>> components = Components(rng.normal(size=(500, 1)), np.full((500, 1), 0.5))
    >>> sampled = MixtureSampling(2000).sample_ratios(components, [1], [(0,)])
    >>> bool(abs(sampled.mean(sampled.ratios)[0] - 0.5 * np.log(5)) < 0.1)
    True
    """

    samples: int = 10_000
    seed: int = 0
    factor_bins: int = 20
    most_rows: int = 10_000

    def rows_used(self, n_rows: int) -> Rows | None:
        """Rows of the samples that form the mixtures, in ascending order; None for all.

        >>> MixtureSampling(most_rows=3).rows_used(3), MixtureSampling(most_rows=3).rows_used(100).size
        (None, 3)
        """
        if n_rows <= self.most_rows:
            return None
        return np.sort(random_stream(self.seed, "rows of a mixture").choice(n_rows, self.most_rows, replace=False))

    def n_mixed(self, n_rows: int) -> int:
        """Number of samples that form the mixtures."""
        return min(n_rows, self.most_rows)

    def _factor_cut(self) -> tuple[int, Binning]:
        return self.factor_bins, "equal_mass"

    def sample_information(self, observed: PosteriorObservations) -> SampleInformation:
        """I(x, z_i) of every code, from draws."""
        draws = observed.sample_draws(self)
        return SampleInformation(draws.mean(draws.ratios), draws)

    def factor_information(self, observed: PosteriorObservations) -> FactorInformation:
        """I(z_i, y_j) and differential H(z_i, y_j) of every code and factor, from draws."""
        found, entropies = observed.sampled_factors(self, alone=True), observed.factor_entropies(self)
        # H(z, y) = H(y) + H(z | x) + I(x, z | y)
        joint = entropies + observed.given_sample_entropies()[:, None] + found.within
        return FactorInformation(found.single, joint, entropies, found.draws, found.within_values)

    def partial_information(self, observed: PosteriorObservations) -> PartialInformation:
        """Information of each code, of all other codes, and of all codes together about every factor, from draws."""
        found, entropies = observed.sampled_factors(self, alone=False), observed.factor_entropies(self)
        return PartialInformation(found.single, found.rest, found.whole, entropies, found.draws, found.within_values)

    def sample_ratios(self, components: Components, seeds: Sequence[int], groups: Sequence[Codes]) -> Sampled:
        """log q(z_S | x) / q(z_S) at draws from all samples in turn; its mean estimates I(x, z_S)."""
        n_rows = components.n_rows
        order = random_stream(self.seed, "order of draws").permutation(n_rows)
        rows = np.resize(order, self.samples)
        draws = components.draw(rows, self._streams(seeds))
        ratios = log_ratios(components, draws, rows, groups, [(np.arange(rows.size), np.arange(n_rows))])
        return Sampled(ratios, np.zeros(rows.size, dtype=np.intp), np.ones(1))

    def label_ratios(
        self, components: Components, seeds: Sequence[int], groups: Sequence[Codes], labels: Labels
    ) -> tuple[Sampled, Sampled]:
        """log q(z_S | y) / q(z_S) and log q(z_S | x) / q(z_S | y), at draws stratified by y.

        The means estimate I(y, z_S) and I(x, z_S | y).
        """
        rng = random_stream(self.seed, "strata of draws")
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
        return [random_stream(self.seed, "draws of a mixture", seed) for seed in seeds]
