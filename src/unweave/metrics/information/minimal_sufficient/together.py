"""What all codes together tell of a factor, and what the best unit tells alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.estimators.binning import FloatArray
from unweave.evidence import Evidence
from unweave.matrices import Information, factor_entropies, factor_labels, varying
from unweave.memo import memoised
from unweave.metrics.information.minimal_sufficient.units import unit_information_matrix, units
from unweave.metrics.information.usable import Joint, split


@dataclass(frozen=True)
class Together:
    """Per factor: I(Y_i; Z_j) of its best unit j, I(Y_i; Z) of all codes, and H(Y_i); nan where it does not vary."""

    alone: FloatArray
    together: FloatArray
    entropies: FloatArray
    caveats: tuple[str, ...]


@memoised(on="both")
def told_together(evidence: Evidence, estimator: Information, joint: Joint, seed: int) -> Together:
    """Both informations from the multivariate estimator, so that their difference means something.

    All codes tell no less than one of them; where a classifier of many codes and few rows does worse than one of a
    single unit, the latter stands for both.
    """
    train, test, caveats = split(evidence, joint, seed)
    best = np.argmax(unit_information_matrix(evidence, estimator, joint, seed), axis=0)
    labels = factor_labels(evidence, estimator)
    alone, together = np.full((2, evidence.n_factors), np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        members = units(evidence)[best[j]][1]
        alone[j] = joint.joint_information(evidence.codes[:, members], labels[j], train, test)
        together[j] = max(joint.joint_information(evidence.codes, labels[j], train, test), alone[j])
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    return Together(alone, together, entropies, caveats)
