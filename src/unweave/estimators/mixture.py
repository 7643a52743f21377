"""Information in posteriors by sampling from the mixture of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import joblib
import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.counts import BinnedFactors, Binning
from unweave.estimators.posteriors import (
    DecompositionInformation,
    FactorInformation,
    PartialInformation,
    PosteriorInformation,
    PosteriorObservations,
    Sampled,
    SampleInformation,
)
from unweave.options import Count, Several, Whole, checks_options
from unweave.randomness import random_stream

Codes = tuple[int, ...]
DRAWS_IN_CACHE, COMPONENTS_IN_CACHE = 256, 256
LOWEST_EXPONENT = -700.0  # lower exponents underflow, which makes the exponential ten times slower
LOWEST_LOG_DENSITY = -1e12  # negligible, but finite, so that sums with it remain accurate
LOG_2_PI = math.log(2 * math.pi)
LARGEST_ROUNDING = 1e-6


def groups_of(n_codes: int) -> tuple[Codes, ...]:
    """Every code alone, all codes except each one, and all codes together.

    >>> groups_of(2)
    ((0,), (1,), (1,), (0,), (0, 1))
    """
    everything = tuple(range(n_codes))
    alone = [(i,) for i in everything]
    others = [tuple(j for j in everything if j != i) for i in everything]
    return (*alone, *others, everything)


@dataclass(frozen=True)
class Components:
    """q(z | x_n) of every sample: means with standard deviations or covariances, and categorical log probabilities."""

    mean: FloatArray
    std: FloatArray
    covariance: FloatArray | None = None
    log_tables: tuple[FloatArray, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of samples, N."""
        return self.mean.shape[0]

    @property
    def n_codes(self) -> int:
        """Number of codes, Gaussian and categorical."""
        return self.mean.shape[1] + len(self.log_tables)

    def rows(self, index: Rows) -> Components:
        """The components of these samples."""
        covariance = None if self.covariance is None else self.covariance[index]
        return Components(
            self.mean[index], self.std[index], covariance, tuple(table[index] for table in self.log_tables)
        )

    def draw(self, rows: Rows, streams: Sequence[np.random.Generator]) -> FloatArray:
        """One draw of z from q(z | x_n) for every n in rows; every code has its own random stream."""
        n_gaussian = self.mean.shape[1]
        noise = np.column_stack(
            [np.empty((rows.size, 0)), *(rng.normal(size=rows.size) for rng in streams[:n_gaussian])]
        )
        if self.covariance is None:
            draws = self.mean[rows] + self.std[rows] * noise
        else:
            roots = np.linalg.cholesky(self.covariance[rows])
            draws = self.mean[rows] + np.einsum("nij,nj->ni", roots, noise)
        values = []
        for table, rng in zip(self.log_tables, streams[n_gaussian:], strict=True):
            below = np.exp(table[rows]).cumsum(axis=1)
            values.append((rng.random(rows.size)[:, None] > below / below[:, -1:]).sum(axis=1))
        return np.column_stack([draws, *values]) if values else draws

    def family(self, draws: FloatArray, group: Codes) -> tuple[FloatArray, FloatArray]:
        """Parameters w (samples x terms) and statistics t (draws x terms) of a group of codes."""
        if self.covariance is not None:
            return self._correlated(draws, group)
        codes = [self._one_code(draws, i) for i in group]
        gaussian = [code for i, code in zip(group, codes, strict=True) if i < self.mean.shape[1]]
        tables = [code for i, code in zip(group, codes, strict=True) if i >= self.mean.shape[1]]
        constant = (
            np.sum([parameters[:, 2] for parameters, _ in gaussian], axis=0) if gaussian else np.zeros(self.n_rows)
        )
        both = [(parameters[:, :2], statistics[:, :2]) for parameters, statistics in gaussian] + tables
        parameters, statistics = zip(*both, strict=True)
        return np.column_stack([*parameters, constant]), np.column_stack([*statistics, np.ones(len(draws))])

    def families(self, draws: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Parameters and statistics of every code alone, for codes that are independent given the sample."""
        return [self._one_code(draws, i) for i in range(self.n_codes)]

    def _one_code(self, draws: FloatArray, i: int) -> tuple[FloatArray, FloatArray]:
        if i >= self.mean.shape[1]:
            table = self.log_tables[i - self.mean.shape[1]]
            return table, (draws[:, i, None] == np.arange(table.shape[1])).astype(np.float64)
        centre = self.mean[:, i].mean()
        mean, std, point = self.mean[:, i] - centre, self.std[:, i], draws[:, i] - centre
        precision = 1 / np.square(std)
        constant = -0.5 * np.square(mean) * precision - np.log(std) - LOG_2_PI / 2
        parameters = np.column_stack([-0.5 * precision, mean * precision, constant])
        return parameters, np.column_stack([np.square(point), point, np.ones(point.size)])

    def _correlated(self, draws: FloatArray, group: Codes) -> tuple[FloatArray, FloatArray]:
        """The quadratic form of the group's marginal covariance, term by term."""
        assert self.covariance is not None
        inside = np.array([i for i in group if i < self.mean.shape[1]], dtype=np.intp)
        tables = [self._one_code(draws, i) for i in group if i >= self.mean.shape[1]]
        precision = np.linalg.inv(self.covariance[:, inside[:, None], inside])
        mean, points = (self.mean - self._centre)[:, inside], (draws[:, : self.mean.shape[1]] - self._centre)[:, inside]
        first, second = np.triu_indices(inside.size)
        linear = np.einsum("nij,nj->ni", precision, mean)
        constant = 0.5 * (np.linalg.slogdet(precision)[1] - (linear * mean).sum(axis=1) - inside.size * LOG_2_PI)
        quadratic = precision[:, first, second] * np.where(first == second, -0.5, -1.0)
        parameters = [quadratic, linear, constant, *(parameters for parameters, _ in tables)]
        products = points[:, first] * points[:, second]
        statistics = [products, points, np.ones(len(draws)), *(statistics for _, statistics in tables)]
        return np.column_stack(parameters), np.column_stack(statistics)

    def rounding(self, draws: FloatArray) -> float:
        """Bound on the rounding error of a log density, which is large if narrow posteriors lie far apart."""
        if self.covariance is not None or not self.mean.size:
            return 0.0
        reach = np.abs(draws[:, : self.mean.shape[1]] - self._centre).max(axis=0) / self.std.min(axis=0)
        return float(np.finfo(float).eps * np.square(reach).sum())

    def log_density(self, draws: FloatArray, group: Codes) -> FloatArray:
        """log q(z_S | x_n) (draws x samples), without expanding the square; for independent codes only."""
        total = np.zeros((len(draws), self.mean.shape[0]))
        for i in group:
            if i < self.mean.shape[1]:
                distance = (draws[:, i, None] - self.mean[:, i]) / self.std[:, i]
                total -= 0.5 * np.square(distance) + np.log(self.std[:, i]) + LOG_2_PI / 2
            else:
                total += self.log_tables[i - self.mean.shape[1]][:, draws[:, i].astype(np.intp)].T
        return total

    def own_log_density(self, draws: FloatArray, code: int) -> FloatArray:
        """log q(z_i | x_n) of every draw under the sample of its own row; for independent codes only."""
        if code < self.mean.shape[1]:
            distance = (draws[:, code] - self.mean[:, code]) / self.std[:, code]
            return np.asarray(-0.5 * np.square(distance) - np.log(self.std[:, code]) - LOG_2_PI / 2)
        table = self.log_tables[code - self.mean.shape[1]]
        return np.asarray(table[np.arange(len(draws)), draws[:, code].astype(np.intp)])

    @property
    def _centre(self) -> FloatArray:
        return self.mean.mean(axis=0)


def log_ratios(
    components: Components, draws: FloatArray, rows: Rows, groups: Sequence[Codes], strata: Sequence[tuple[Rows, Rows]]
) -> FloatArray:
    """log q(z_S | x) - log q(z_S | stratum) (draws x groups), for draws that came from these rows.

    ``strata`` pairs indices of draws with the rows that form the mixture q(z_S | stratum); the whole data set is one
    stratum. The draws are distributed over the threads of ``joblib.parallel_config``, whose number does not change the
    result.
    """
    ratios = np.empty((len(draws), len(groups)))
    blocks = [
        (members[start : start + DRAWS_IN_CACHE], inside)
        for members, inside in strata
        for start in range(0, members.size, DRAWS_IN_CACHE)
    ]
    parallel = joblib.Parallel(require="sharedmem")
    if components.rounding(draws) > LARGEST_ROUNDING:
        jobs = [joblib.delayed(_direct)(components, draws[at], rows[at], inside, groups) for at, inside in blocks]
        for (members, _), found in zip(blocks, parallel(jobs), strict=True):
            ratios[members] = -found
        return ratios
    if components.covariance is None and tuple(groups) == groups_of(components.n_codes) and len(groups) > 3:
        families = [_shifted(*family, rows) for family in components.families(draws)]
        jobs = [
            joblib.delayed(_alone_others_all)([(w, t[members]) for w, t in families], inside)
            for members, inside in blocks
        ]
        for (members, _), found in zip(blocks, parallel(jobs), strict=True):
            ratios[members] = -found
        return ratios
    for k, group in enumerate(groups):
        if not group:  # with a single code, the group of all other codes is empty and has no information
            ratios[:, k] = 0.0
            continue
        parameters, statistics = _shifted(*components.family(draws, group), rows)
        jobs = [joblib.delayed(_log_mean_exp)(parameters, statistics[members], inside) for members, inside in blocks]
        for (members, _), found in zip(blocks, parallel(jobs), strict=True):
            ratios[members, k] = -found
    return ratios


def _shifted(parameters: FloatArray, statistics: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """The family with one more term, which subtracts log q(z | x) of the sample that each draw came from."""
    own = np.einsum("st,st->s", statistics, parameters[rows])
    return np.column_stack([parameters, np.ones(len(parameters))]), np.column_stack([statistics, -own])


def _alone_others_all(families: Sequence[tuple[FloatArray, FloatArray]], inside: Rows) -> FloatArray:
    """log 1/N sum_n exp(t . w_n) for the groups of `groups_of` (draws x groups), in one pass over the rows ``inside``.

    The exponent t . w_n of all codes is the sum over codes, and that of all codes except one is the difference.
    """
    n_codes, n_draws = len(families), len(families[0][1])
    total = np.zeros((2 * n_codes + 1, n_draws))
    alone, whole, others = np.empty((3, n_draws, COMPONENTS_IN_CACHE))
    ones = np.ones(COMPONENTS_IN_CACHE)
    together = np.column_stack([statistics for _, statistics in families])
    for start in range(0, inside.size, COMPONENTS_IN_CACHE):
        rows = inside[start : start + COMPONENTS_IN_CACHE]
        parts = [parameters[rows] for parameters, _ in families]
        size = slice(rows.size)
        np.matmul(together, np.column_stack(parts).T, out=whole[:, size])
        for i, (_, statistics) in enumerate(families):
            np.matmul(statistics, parts[i].T, out=alone[:, size])
            np.subtract(whole[:, size], alone[:, size], out=others[:, size])
            total[i] += _summed_exp(alone[:, size], ones)
            total[n_codes + i] += _summed_exp(others[:, size], ones)
        total[-1] += _summed_exp(whole[:, size], ones)
    found = np.log(total / inside.size)
    for k in np.flatnonzero(~np.isfinite(found).all(axis=1)):
        group = groups_of(n_codes)[k]
        parameters = np.column_stack([families[i][0] for i in group])
        found[k] = _log_mean_exp(parameters, np.column_stack([families[i][1] for i in group]), inside)
    return np.asarray(found.T)


def _summed_exp(exponents: FloatArray, ones: FloatArray) -> FloatArray:
    """Sum of exp(exponents) over the last axis; the exponents are overwritten."""
    np.maximum(exponents, LOWEST_EXPONENT, out=exponents)
    with np.errstate(over="ignore"):
        return np.exp(exponents, out=exponents) @ ones[: exponents.shape[1]]


def _log_mean_exp(parameters: FloatArray, statistics: FloatArray, inside: Rows) -> FloatArray:
    """log 1/N sum_n exp(t . w_n) over the rows ``inside``, for a block of draws."""
    whole = inside.size == len(parameters)
    total = np.zeros(len(statistics))
    buffer = np.empty((len(statistics), COMPONENTS_IN_CACHE))
    ones = np.ones(COMPONENTS_IN_CACHE)
    for start in range(0, inside.size, COMPONENTS_IN_CACHE):
        rows = slice(start, start + COMPONENTS_IN_CACHE)
        part = parameters[rows] if whole else parameters[inside[rows]]
        total += _summed_exp(np.matmul(statistics, part.T, out=buffer[:, : len(part)]), ones)
    if np.isfinite(total).all():
        return np.asarray(np.log(total / inside.size))
    # the sum overflowed, because a much narrower posterior lies near a draw: subtract the largest exponent first
    highest = np.full(len(statistics), -np.inf)
    for start in range(0, inside.size, COMPONENTS_IN_CACHE):
        part = parameters[inside[start : start + COMPONENTS_IN_CACHE]]
        np.maximum(highest, (statistics @ part.T).max(axis=1), out=highest)
    statistics = np.column_stack([statistics[:, :-1], statistics[:, -1] - highest])
    return highest + _log_mean_exp(parameters, statistics, inside)


def _direct(components: Components, draws: FloatArray, rows: Rows, inside: Rows, groups: Sequence[Codes]) -> FloatArray:
    """log 1/N sum_n q(z_S | x_n) - log q(z_S | x) (draws x groups), for posteriors too narrow for the matrix product.

    Log densities of single codes are computed once and summed over the codes of every group.
    """
    codes = range(components.n_codes)
    own = np.stack([components.rows(rows).own_log_density(draws, i) for i in codes])
    highest, total = np.full((len(groups), len(draws)), -np.inf), np.zeros((len(groups), len(draws)))
    for start in range(0, inside.size, COMPONENTS_IN_CACHE):
        part = components.rows(inside[start : start + COMPONENTS_IN_CACHE])
        alone = np.stack([part.log_density(draws, (i,)) - own[i][:, None] for i in codes])
        alone = np.maximum(alone, LOWEST_LOG_DENSITY)  # categories that never occur are minus infinity
        for k, group in enumerate(groups):
            exponents = alone[list(group)].sum(axis=0)  # a difference from all codes would cancel
            before, highest[k] = highest[k].copy(), np.maximum(highest[k], exponents.max(axis=1))
            shifted = np.maximum(exponents - highest[k][:, None], LOWEST_EXPONENT)
            total[k] = total[k] * np.exp(before - highest[k]) + np.exp(shifted).sum(axis=1)
    return np.asarray((highest + np.log(total / inside.size)).T)


NEAR_THE_LIMIT = 2.0


@checks_options
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

    samples: Count = 10_000
    seed: Whole = 0
    factor_bins: Several = 20
    most_rows: Count = 10_000

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
