"""The two codes that tell most of every factor: shared by RMIG and JEMMIG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined
from unweave.estimators.information.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import factor_entropies, posterior_of, quantised_joint
from unweave.metrics.posterior.grid_settings import PosteriorInformation, outside_caveat
from unweave.metrics.sampled_information import factor_information, factor_ratios, given_sample_entropies


@dataclass(frozen=True)
class FactorGaps:
    """I(z_i, y_j) and H(z_i, y_j) (codes x factors), H(y_j), the best code of every factor and its lead.

    ``errors`` are standard errors of the gaps, ``joint_errors`` of H(z_best, y) less the gap; zero on a grid, which
    draws nothing.
    """

    information: FloatArray
    joint_entropies: FloatArray
    factor_entropies: FloatArray
    best: NDArray[np.intp]
    gaps: FloatArray
    errors: FloatArray
    joint_errors: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def factor_gaps(evidence: Evidence, estimator: PosteriorInformation) -> FactorGaps:
    """Gaps on a grid, or by sampling with their standard errors."""
    if isinstance(estimator, MixtureSampling):
        _refuse_tables(evidence)
        sampled = factor_information(evidence, estimator, alone=True)
        information, entropies = sampled.single, factor_entropies(evidence, estimator)
        given_sample = given_sample_entropies(posterior_of(evidence, estimator))
        joint = entropies + given_sample[:, None] + sampled.within  # H(z, y) = H(y) + H(z | x) + I(x, z | y)
        caveats = sampled.caveats
    else:
        grid = quantised_joint(evidence, estimator)
        information, joint, entropies = grid.factor_information, grid.joint_entropies, grid.factor_entropies
        caveats = outside_caveat(evidence, estimator)
    ranked = np.argsort(-np.vstack([information, np.zeros(evidence.n_factors)]), axis=0, kind="stable")
    padded = np.vstack([information, np.zeros(evidence.n_factors)])  # a lone code is told from none
    factors = np.arange(evidence.n_factors)
    errors, joint_errors = _errors(evidence, estimator, ranked[0], ranked[1])
    return FactorGaps(
        information=information,
        joint_entropies=joint,
        factor_entropies=entropies,
        best=np.minimum(ranked[0], evidence.n_codes - 1),
        gaps=padded[ranked[0], factors] - padded[ranked[1], factors],
        errors=errors,
        joint_errors=joint_errors,
        caveats=(*caveats, *((Finding("one_code"),) if evidence.n_codes == 1 else ())),
    )


def _errors(
    evidence: Evidence, estimator: PosteriorInformation, best: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    errors = np.zeros((2, evidence.n_factors))
    if isinstance(estimator, MixtureSampling):
        for j, found in enumerate(factor_ratios(evidence, estimator, True)):
            if found is None:
                continue
            of_factor, within = found
            ratios = np.column_stack([of_factor.ratios, np.zeros(len(of_factor.ratios))])
            gap = ratios[:, best[j]] - ratios[:, second[j]]
            errors[0, j] = of_factor.standard_error(gap)
            errors[1, j] = of_factor.standard_error(within.ratios[:, min(best[j], evidence.n_codes - 1)] - gap)
    return errors[0], errors[1]


def _refuse_tables(evidence: Evidence) -> None:
    if evidence.factor_tables:
        first = next(iter(evidence.factor_tables))
        raise MetricUndefined(
            f"MixtureSampling needs a label for every sample, and factor {first!r} is a table of probabilities: "
            "use QuantisedPosterior, or pass its most probable values."
        )
