"""What posteriors tell of samples and of factors, by drawing from them: shared by metrics of 001 and 002."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined
from unweave.estimators.information.mixture_density import Components, groups_of
from unweave.estimators.information.mixture_sampling import NEAR_THE_LIMIT, MixtureSampling, Sampled
from unweave.evidence import Evidence, Posterior
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import factor_labels, posterior_of, varying

SMALLEST_PROBABILITY = 1e-300
FEWEST_ROWS_PER_VALUE = 10


@memoised(on="codes")
def sample_ratios(evidence: Evidence, estimator: MixtureSampling, alone: bool = False) -> Sampled:
    """Log ratios whose means are I(x, z_S), for every code alone, all others without it, and all together."""
    components, seeds = _components(posterior_of(evidence, estimator))
    groups = groups_of(components.n_codes)
    return estimator.sample_ratios(components, seeds, groups[: components.n_codes] if alone else groups)


@dataclass(frozen=True)
class FactorInformation:
    """I(y_j, z_S) with its standard error: codes x factors for one code and for all but one, factors for all codes.

    ``within`` is I(x, z_S | y_j) of every code alone (codes x factors).
    """

    single: FloatArray
    single_error: FloatArray
    rest: FloatArray
    rest_error: FloatArray
    whole: FloatArray
    whole_error: FloatArray
    within: FloatArray
    caveats: tuple[Finding, ...] = ()


@memoised(on="both")
def factor_ratios(
    evidence: Evidence, estimator: MixtureSampling, alone: bool
) -> tuple[tuple[Sampled, Sampled] | None, ...]:
    """For every factor that varies, the log ratios whose means are I(y_j, z_S) and I(x, z_S | y_j)."""
    components, seeds = _components(posterior_of(evidence, estimator))
    groups = groups_of(components.n_codes)
    labels = factor_labels(evidence, estimator)
    for name, column in zip(evidence.factor_names, labels, strict=True):
        n_values = int(column.max()) + 1
        if estimator.samples < 2 * n_values:
            raise MetricUndefined(
                f"{estimator.samples} samples are too few for the {n_values} values of factor {name!r}: "
                f"pass MixtureSampling(samples={20 * n_values}) or more."
            )
    return tuple(
        estimator.label_ratios(components, seeds, groups[: components.n_codes] if alone else groups, column)
        if varies
        else None
        for column, varies in zip(labels, varying(evidence), strict=True)
    )


@memoised(on="both")
def factor_information(evidence: Evidence, estimator: MixtureSampling, alone: bool = False) -> FactorInformation:
    """I(y_j, z_S) of every factor; ``alone`` leaves out what several codes know together."""
    m, d = evidence.n_codes, evidence.n_factors
    n_groups = m if alone else 2 * m + 1
    information, errors = np.full((2, 2 * m + 1, d), np.nan)
    within = np.full((n_groups, d), np.nan)
    for j, found in enumerate(factor_ratios(evidence, estimator, alone)):
        if found is not None:
            of_factor, of_rest = found
            information[:n_groups, j] = of_factor.mean(of_factor.ratios)
            errors[:n_groups, j] = of_factor.standard_error(of_factor.ratios)
            within[:, j] = of_rest.mean(of_rest.ratios)
    return FactorInformation(
        single=information[:m],
        single_error=errors[:m],
        rest=information[m : 2 * m],
        rest_error=errors[m : 2 * m],
        whole=information[-1],
        whole_error=errors[-1],
        within=within[:m],
        caveats=_stratum_caveats(evidence, estimator, within[-1]),
    )


def given_sample_entropies(posterior: Posterior) -> FloatArray:
    """H(z_i | x) of every code, exactly: differential for Gaussian codes."""
    gaussian = np.log(posterior.std).mean(axis=0) + 0.5 * math.log(2 * math.pi * math.e)
    tables = [
        float(-(table * np.log(np.maximum(table, SMALLEST_PROBABILITY))).sum(axis=1).mean())
        for table in posterior.categories.values()
    ]
    return np.concatenate([gaussian, tables])


def shared_given_sample(posterior: Posterior) -> FloatArray:
    """I(z_i, z_not_i | x) of every code, exactly: zero unless the posterior has covariances."""
    shared = np.zeros(len(posterior.names))
    if posterior.covariance is not None:
        precision = np.diagonal(np.linalg.inv(posterior.covariance), axis1=1, axis2=2)
        shared[: posterior.n_gaussian] = (0.5 * np.log(np.square(posterior.std) * precision)).mean(axis=0)
    return shared


def limit_caveat(information: float, n_rows: int) -> tuple[Finding, ...]:
    """A caveat when the samples are too few for what the codes tell of them."""
    if information < math.log(n_rows) - NEAR_THE_LIMIT:
        return ()
    return (Finding("information_near_limit", information=information, limit=math.log(n_rows)),)


def _stratum_caveats(evidence: Evidence, estimator: MixtureSampling, within: FloatArray) -> tuple[Finding, ...]:
    caveats = []
    for name, column, told in zip(evidence.factor_names, factor_labels(evidence, estimator), within, strict=True):
        sizes = np.bincount(column)
        rows = sizes[sizes > 0]
        if told > math.log(rows.mean()) - NEAR_THE_LIMIT:
            caveats.append(Finding("stratum_near_limit", information=told, n_rows=rows.mean(), factors=[name]))
        elif rows.min() < FEWEST_ROWS_PER_VALUE:
            caveats.append(Finding("rare_value", n_rows=rows.min(), factors=[name]))
    return tuple(caveats)


def _components(posterior: Posterior) -> tuple[Components, list[int]]:
    """The posterior as mixture components, and a seed for every code that does not depend on its place."""
    tables = tuple(np.log(np.maximum(table, SMALLEST_PROBABILITY)) for table in posterior.categories.values())
    columns = [(posterior.mean[:, i], posterior.std[:, i]) for i in range(posterior.n_gaussian)]
    digests = [_digest(*column) for column in columns] + [_digest(table) for table in tables]
    seen: Counter[int] = Counter()
    seeds = []
    for digest in digests:
        seeds.append(digest + seen[digest])  # equal codes are different draws
        seen[digest] += 1
    return Components(posterior.mean, posterior.std, posterior.covariance, tables), seeds


def _digest(*columns: FloatArray) -> int:
    digest = hashlib.blake2b(digest_size=7)
    for column in columns:
        digest.update(np.ascontiguousarray(column).data)
    return int.from_bytes(digest.digest(), "little")
