"""Information about a factor in all codes together, and in the most informative unit (code or code group) alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.information.minimal_sufficient.unit_information import unit_information_matrix, units
from unweave.metrics.information.usable_information import held_out_shares, labels_from_training, split
from unweave.metrics.matrices import factor_entropies, varying


@dataclass(frozen=True)
class Together:
    """For every factor: I(Y_i; Z_j) of its best unit j, I(Y_i; Z) of all codes, and H(Y_i); nan if it is constant."""

    alone: FloatArray
    together: FloatArray
    entropies: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def told_together(evidence: Evidence, estimator: Information, joint: JointInformation, seed: int) -> Together:
    """Information about every factor in its best unit and in all codes, by one estimator, so that biases are similar.

    All codes together carry at least as much information as one unit. Where a classifier on all codes with few rows is
    worse than a classifier on the single unit, the estimate of the latter is used for both.
    """
    train, test, caveats = split(evidence, joint, seed)
    best = np.argmax(unit_information_matrix(evidence, estimator, joint, seed), axis=0)
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    alone = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        codes, labels = (
            evidence.codes[:, units(evidence)[best[j]][1]],
            labels_from_training(evidence, j, estimator, train),
        )
        alone[j] = joint.joint_information(codes, labels, train, test)
    shares, _ = held_out_shares(evidence, joint, estimator, seed)
    of_all_codes = np.maximum(shares, 0.0) * factor_entropies(evidence, estimator)
    return Together(alone, np.maximum(of_all_codes, alone), entropies, caveats)
