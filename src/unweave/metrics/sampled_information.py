"""Monte Carlo estimates of the information that posteriors carry about samples and factors (metrics of 001, 002).

x is the sample (its row number), y_j a factor and z_S the codes of a set S, drawn from the posterior q(z | x).
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter

import numpy as np
from scipy.special import entr

from unweave.arrays import FloatArray, Labels
from unweave.card import MetricUndefined
from unweave.estimators.information import FactorLabels
from unweave.estimators.mixture import NEAR_THE_LIMIT, Components, MixtureSampling, groups_of
from unweave.estimators.posteriors import FactorDraws, Sampled, SampledFactors, SampleMixtures, WithinValues
from unweave.estimators.protocols import own_or_default
from unweave.estimators.quantised_posterior import aggregated_moments
from unweave.evidence import Evidence, Posterior
from unweave.evidence.splits import renumbered
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import ObservedColumns, factor_entropies, factor_labels, posterior_of, varying

SMALLEST_PROBABILITY = 1e-300
FEWEST_ROWS_PER_VALUE = 10


@memoised(on="codes")
def sample_ratios(evidence: Evidence, estimator: MixtureSampling, alone: bool = False) -> Sampled:
    """Log ratios whose means are I(x, z_S), where S is each single code, then all codes but one, then all codes."""
    components, seeds = _components(posterior_of(evidence, estimator), estimator)
    groups = groups_of(components.n_codes)
    return estimator.sample_ratios(components, seeds, groups[: components.n_codes] if alone else groups)


@memoised(on="codes")
def pair_ratios(evidence: Evidence, estimator: MixtureSampling) -> Sampled:
    """Log ratios whose means are I(x, z_S), where S is each single code, then each pair of codes."""
    components, seeds = _components(posterior_of(evidence, estimator), estimator)
    codes = range(components.n_codes)
    return estimator.sample_ratios(components, seeds, [*zip(codes), *itertools.combinations(codes, 2)])


@memoised(on="both")
def factor_ratios(evidence: Evidence, estimator: MixtureSampling, alone: bool) -> FactorDraws:
    """Log ratios whose means are I(y_j, z_S) and I(x, z_S | y_j), for every factor; None for constant factors."""
    _refuse_tables(evidence)
    components, seeds = _components(posterior_of(evidence, estimator), estimator)
    groups = groups_of(components.n_codes)
    labels = _labels_used(evidence, estimator)
    for name, column in zip(evidence.factor_names, labels, strict=True):
        n_values = int(column.max()) + 1
        if estimator.samples < 2 * n_values:
            raise MetricUndefined(
                f"{estimator.samples} samples are too few for the {n_values} values of factor {name!r}: "
                f"pass MixtureSampling(samples={20 * n_values}) or more."
            )
    return tuple(
        estimator.label_ratios(components, seeds, groups[: components.n_codes] if alone else groups, column)
        if varies and np.ptp(column) > 0
        else None
        for column, varies in zip(labels, varying(evidence), strict=True)
    )


@memoised(on="both")
def sampled_factors(evidence: Evidence, estimator: MixtureSampling, alone: bool = False) -> SampledFactors:
    """I(y_j, z_S) of every factor in nats; with ``alone`` only for single codes."""
    m, d = evidence.n_codes, evidence.n_factors
    n_groups = m if alone else 2 * m + 1
    information = np.full((2 * m + 1, d), np.nan)
    within = np.full((n_groups, d), np.nan)
    draws = factor_ratios(evidence, estimator, alone)
    for j, found in enumerate(draws):
        if found is not None:
            of_factor, of_rest = found
            information[:n_groups, j] = of_factor.mean(of_factor.ratios)
            within[:, j] = of_rest.mean(of_rest.ratios)
    return SampledFactors(
        single=information[:m],
        rest=information[m : 2 * m],
        whole=information[-1],
        within=within[:m],
        within_values=WithinValues(within[-1], tuple(map(np.bincount, _labels_used(evidence, estimator)))),
        draws=draws,
    )


class ObservedPosterior(ObservedColumns):
    """Posterior and factors of an Evidence for the estimators, with memoised results."""

    def factor_entropies(self, estimator: FactorLabels) -> FloatArray:
        """Entropy of the estimator's labels of every factor, in nats."""
        return factor_entropies(self.evidence, estimator)

    def given_sample_entropies(self) -> FloatArray:
        """H(z_i | x) of every code."""
        return given_sample_entropies(posterior_of(self.evidence, self))

    def sample_draws(self, estimator: MixtureSampling) -> Sampled:
        """Log ratios whose means are I(x, z_i) of every code alone."""
        return sample_ratios(self.evidence, estimator, alone=True)

    def sampled_factors(self, estimator: MixtureSampling, alone: bool) -> SampledFactors:
        """I(y_j, z_S) of every factor."""
        return sampled_factors(self.evidence, estimator, alone=alone)

    def numeric_moments(self, estimator: object) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Factors (n x d), posterior means (n x m), and the posterior covariance averaged over samples (m x m)."""
        posterior = posterior_of(self.evidence, estimator)
        if posterior.categories or not all(kind.is_numeric for kind in self.evidence.kinds):
            raise MetricUndefined(
                f"{type(estimator).__name__} needs numeric factors and codes, but some are categorical or circular: "
                "use MixtureSampling."
            )
        covariances = posterior.covariance
        spread = np.diag(np.square(posterior.std).mean(axis=0)) if covariances is None else covariances.mean(axis=0)
        return self.evidence.factors, posterior.mean, spread


def given_sample_entropies(posterior: Posterior) -> FloatArray:
    """Exact H(z_i | x) of every code, in nats; it is a differential entropy for Gaussian codes."""
    gaussian = np.log(posterior.std).mean(axis=0) + 0.5 * math.log(2 * math.pi * math.e)
    tables = [
        float(-(table * np.log(np.maximum(table, SMALLEST_PROBABILITY))).sum(axis=1).mean())
        for table in posterior.categories.values()
    ]
    return np.concatenate([gaussian, tables])


def carried_information(posterior: Posterior) -> FloatArray:
    """I(x, z_i) of every code in nats, as if q(z_i) were Gaussian; this closed form is not bounded by log N."""
    _, spread = aggregated_moments(posterior.mean, posterior.std) if posterior.n_gaussian else (None, np.empty(0))
    tables = [float(entr(table.mean(axis=0)).sum()) for table in posterior.categories.values()]
    entropies = np.concatenate([np.log(spread) + 0.5 * math.log(2 * math.pi * math.e), tables])
    return np.maximum(entropies - given_sample_entropies(posterior), 0.0)


def carried_beyond_limit(posterior: Posterior, n_rows: int) -> float:
    """Information in nats of all codes but the most informative one if it exceeds log N, and 0 otherwise.

    Above log N these codes identify the sample, so the estimates are at their limit.
    """
    carried = carried_information(posterior)
    others = float(carried.sum() - carried.max())
    return others if others > math.log(n_rows) else 0.0


def shared_given_sample(posterior: Posterior) -> FloatArray:
    """Exact I(z_i, z_not_i | x) of every code, in nats; it is 0 unless the posterior has covariances."""
    shared = np.zeros(len(posterior.names))
    if posterior.covariance is not None:
        precision = np.diagonal(np.linalg.inv(posterior.covariance), axis1=1, axis2=2)
        shared[: posterior.n_gaussian] = (0.5 * np.log(np.square(posterior.std) * precision)).mean(axis=0)
    return shared


def limit_caveat(information: float, evidence: Evidence, estimator: object) -> tuple[Finding, ...]:
    """Caveats if ``information`` is close to its limit log N, or if only a subset of the samples was used."""
    n_rows, sampled = n_mixed(evidence, estimator), rows_caveat(evidence, estimator)
    if information < math.log(n_rows) - NEAR_THE_LIMIT:
        return sampled
    return (Finding("information_near_limit", information=information, limit=math.log(n_rows)), *sampled)


def n_mixed(evidence: Evidence, estimator: object) -> int:
    """Number of samples in the mixtures; no estimate exceeds the logarithm of this number."""
    return own_or_default(SampleMixtures.n_mixed, estimator)(evidence.n_rows)


def rows_caveat(evidence: Evidence, estimator: object) -> tuple[Finding, ...]:
    """A caveat if the mixtures consist of a subset of the samples."""
    n_used = n_mixed(evidence, estimator)
    return (Finding("mixtures_sampled_rows", n_rows=n_used, of=evidence.n_rows),) if n_used < evidence.n_rows else ()


def stratum_caveats(evidence: Evidence, within: WithinValues | None) -> tuple[Finding, ...]:
    """A caveat for every factor with too few rows per value to estimate I(x, z_S | y_j)."""
    if within is None:
        return ()
    caveats = []
    for name, sizes, told in zip(evidence.factor_names, within.rows_per_value, within.information, strict=True):
        rows = sizes[sizes > 0]
        if told > math.log(rows.mean()) - NEAR_THE_LIMIT:
            caveats.append(Finding("stratum_near_limit", information=told, n_rows=rows.mean(), factors=[name]))
        elif rows.min() < FEWEST_ROWS_PER_VALUE:
            caveats.append(Finding("rare_value", n_rows=rows.min(), factors=[name]))
    return tuple(caveats)


def _refuse_tables(evidence: Evidence) -> None:
    if evidence.factor_tables:
        first = next(iter(evidence.factor_tables))
        raise MetricUndefined(
            f"MixtureSampling needs a label for every sample, and factor {first!r} is a table of probabilities: "
            "use QuantisedPosterior, or pass its most probable values."
        )


def _labels_used(evidence: Evidence, estimator: MixtureSampling) -> tuple[Labels, ...]:
    """Labels of every factor for the samples that are components of the mixtures."""
    labels, rows = factor_labels(evidence, estimator), estimator.rows_used(evidence.n_rows)
    return labels if rows is None else tuple(renumbered(column[rows]).astype(column.dtype) for column in labels)


def _components(posterior: Posterior, estimator: MixtureSampling) -> tuple[Components, list[int]]:
    """The posterior as mixture components, and for every code a seed that does not depend on the order of the codes."""
    rows = estimator.rows_used(len(posterior.mean))
    posterior = posterior if rows is None else posterior.rows(rows)
    tables = tuple(np.log(np.maximum(table, SMALLEST_PROBABILITY)) for table in posterior.categories.values())
    columns = [(posterior.mean[:, i], posterior.std[:, i]) for i in range(posterior.n_gaussian)]
    digests = [_digest(*column) for column in columns] + [_digest(table) for table in tables]
    seen: Counter[int] = Counter()
    seeds = []
    for digest in digests:
        seeds.append(digest + seen[digest])  # equal codes need independent draws
        seen[digest] += 1
    return Components(posterior.mean, posterior.std, posterior.covariance, tables), seeds


def _digest(*columns: FloatArray) -> int:
    digest = hashlib.blake2b(digest_size=7)
    for column in columns:
        digest.update(np.ascontiguousarray(column).data)
    return int.from_bytes(digest.digest(), "little")
