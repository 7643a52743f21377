"""Bounds on the parts of what one code and all others tell of a factor: shared by the six metrics of 002.

    I(y; z) = R(y; z_l, z_rest) + U(y; z_l) + U(y; z_rest) + C(y; z_l, z_rest)          (002, Eq 1)

R is redundant, U unique and C complementary (synergistic). With a = I(y; z_l), b = I(y; z_rest), c = I(y; z) and the
interaction information i = a + b - c, every definition of the parts that is not negative obeys (002, Eq 7)

    [a - b]+ <= U <= a - [i]+,   [i]+ <= R <= min(a, b),   [-i]+ <= C <= min(a, b) - i

Every bound is summarised as in Eq 6: largest over codes, divided by H(y), averaged over factors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined
from unweave.estimators.information.gaussian_information import GaussianInformation
from unweave.estimators.information.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import NUMERIC, factor_entropies, posterior_of, varying
from unweave.metrics.sampled_information import factor_information, factor_ratios
from unweave.score import Score

DecompositionInformation = MixtureSampling | GaussianInformation
Bound = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

SAMPLING = MixtureSampling(samples=2000)
REFERENCE = "Tokui and Sato (2022), 'Disentanglement Analysis with Partial Information Decomposition' (002)"
COST = "samples x n densities for each factor and each of 2m + 1 groups of codes"
FAILS = "a value of a factor has few rows: all codes together tell every row apart, and seem to tell the factor"
STEP = 1e-6


def positive(numbers: FloatArray) -> FloatArray:
    """[.]+ of the paper."""
    return np.maximum(numbers, 0.0)


@dataclass(frozen=True)
class PartialInformation:
    """I(y_j; z_i) and I(y_j; z_not_i) (codes x factors), I(y_j; z) (factors).

    Sampling scatters, so they are made consistent: not negative, and all codes tell no less than some of them.
    """

    single: FloatArray
    rest: FloatArray
    whole: FloatArray
    caveats: tuple[Finding, ...] = ()

    def bound(self, bound: Bound) -> FloatArray:
        """A bound for every code and factor."""
        single, rest = positive(self.single), positive(self.rest)
        whole = np.maximum(self.whole, np.maximum(single, rest))
        return bound(single, rest, whole)


@memoised(on="both")
def partial_information(evidence: Evidence, estimator: DecompositionInformation) -> PartialInformation:
    """By sampling from the posteriors, or in closed form for factors and codes that are jointly Gaussian."""
    if isinstance(estimator, MixtureSampling):
        found = factor_information(evidence, estimator)
        return PartialInformation(found.single, found.rest, found.whole, found.caveats)
    posterior = posterior_of(evidence, estimator)
    if posterior.categories or any(kind not in NUMERIC for kind in evidence.kinds):
        raise MetricUndefined(
            "GaussianInformation takes numbers, and there are categorical or circular factors or codes: "
            "use MixtureSampling."
        )
    covariances = posterior.covariance
    spread = np.diag(np.square(posterior.std).mean(axis=0)) if covariances is None else covariances.mean(axis=0)
    return PartialInformation(*estimator.information(evidence.factors, posterior.mean, spread))


def summarised(evidence: Evidence, bound: Bound, estimator: DecompositionInformation, normalise: bool) -> Score:
    """Largest over codes, divided by H(y), averaged over factors (002, Eq 6), with its standard error."""
    found = partial_information(evidence, estimator)
    used = varying(evidence)
    divisors = np.ones(evidence.n_factors)
    if normalise:
        if isinstance(estimator, GaussianInformation):
            raise MetricUndefined(
                "Continuous factors have no entropy that would bound a score: pass normalise=False for nats."
            )
        divisors = factor_entropies(evidence, estimator)
    matrix = np.divide(found.bound(bound), divisors, out=np.full(found.single.shape, np.nan), where=used)
    per_factor = np.array([column.max() if varies else np.nan for column, varies in zip(matrix.T, used, strict=True)])
    parts = {"bound_matrix": matrix}
    if isinstance(estimator, MixtureSampling):
        errors = _errors(evidence, bound, estimator, found) / np.where(used, divisors, np.nan)
        parts["standard_error"] = np.sqrt(np.nansum(np.square(errors))) / used.sum()
        parts["standard_error_per_factor"] = errors
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, matrix[:, used].max(axis=1).tolist(), strict=True)),
        parts=parts,
        caveats=found.caveats,
    )


def _errors(evidence: Evidence, bound: Bound, estimator: MixtureSampling, found: PartialInformation) -> FloatArray:
    """Standard error of every factor's largest bound; bounds are piecewise linear, so differences give their slopes."""
    m = evidence.n_codes
    best = np.argmax(np.nan_to_num(found.bound(bound), nan=-np.inf), axis=0)
    errors = np.full(evidence.n_factors, np.nan)
    for j, sampled in enumerate(factor_ratios(evidence, estimator, False)):
        if sampled is None:
            continue
        i, of_factor = int(best[j]), sampled[0]
        at = np.array([found.single[i, j], found.rest[i, j], found.whole[j]])
        slopes = [float(bound(*(at + STEP * unit)) - bound(*(at - STEP * unit))) / (2 * STEP) for unit in np.eye(3)]
        errors[j] = of_factor.standard_error(of_factor.ratios[:, [i, m + i, 2 * m]] @ slopes)
    return errors
