"""The two most informative codes of every factor, for RMIG and JEMMIG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.posteriors.posterior_protocols import FactorDraws, PosteriorInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import varying
from unweave.metrics.posterior.grid_settings import outside_caveat
from unweave.metrics.sampled_information import ObservedPosterior, rows_caveat, stratum_caveats


@dataclass(frozen=True)
class FactorGaps:
    """I(z_i, y_j) and H(z_i, y_j) (m x d), H(y_j), the most informative code of every factor and its gap to the second.

    ``errors`` are standard errors of the gaps, and ``joint_errors`` those of H(z_best, y) minus the gap. Both are None
    for an estimator without sampling, such as a grid.
    """

    information: FloatArray
    joint_entropies: FloatArray
    factor_entropies: FloatArray
    best: NDArray[np.intp]
    gaps: FloatArray
    errors: FloatArray | None
    joint_errors: FloatArray | None
    caveats: tuple[Finding, ...]


@memoised(on="both")
def factor_gaps(evidence: Evidence, estimator: PosteriorInformation) -> FactorGaps:
    """Gaps in mutual information of all factors, estimated on a grid or by sampling, in nats."""
    found = estimator.factor_information(ObservedPosterior(evidence))
    padded = np.vstack([found.information, np.zeros(evidence.n_factors)])  # with one code, the gap is to 0
    ranked = np.argsort(-padded, axis=0, kind="stable")
    factors = np.arange(evidence.n_factors)
    errors, joint_errors = _errors(found.draws, ranked[0], ranked[1])
    return FactorGaps(
        information=found.information,
        joint_entropies=found.joint_entropies,
        factor_entropies=found.factor_entropies,
        best=np.minimum(ranked[0], evidence.n_codes - 1),
        gaps=padded[ranked[0], factors] - padded[ranked[1], factors],
        errors=errors,
        joint_errors=joint_errors,
        caveats=(
            *stratum_caveats(evidence, found.within),
            *rows_caveat(evidence, estimator),
            *outside_caveat(evidence, estimator.grid),
            *((Finding("one_code"),) if evidence.n_codes == 1 else ()),
        ),
    )


def _errors(
    draws: FactorDraws | None, best: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[FloatArray | None, FloatArray | None]:
    if draws is None:
        return None, None
    errors = np.zeros((2, len(draws)))
    for j, found in enumerate(draws):
        if found is None:
            continue
        of_factor, within = found
        n_codes = within.ratios.shape[1]
        ratios = np.column_stack([of_factor.ratios, np.zeros(len(of_factor.ratios))])
        gap = ratios[:, best[j]] - ratios[:, second[j]]
        errors[0, j] = of_factor.standard_error(gap)
        errors[1, j] = of_factor.standard_error(within.ratios[:, min(best[j], n_codes - 1)] - gap)
    return errors[0], errors[1]


def error_parts(evidence: Evidence, errors: FloatArray | None, divisors: FloatArray) -> dict[str, FloatArray]:
    """Standard errors of the mean over factors and of every factor, for a score's parts; empty without sampling."""
    if errors is None:
        return {}
    used = varying(evidence)
    per_factor = np.divide(errors, divisors, out=np.full(evidence.n_factors, np.nan), where=used)
    of_mean = np.sqrt(np.nansum(np.square(per_factor))) / used.sum()
    return {"standard_error": of_mean, "standard_error_per_factor": per_factor}
